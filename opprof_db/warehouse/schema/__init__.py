"""The tables, one module per subject; ``tables.py`` puts them together."""
