"""opprof-db: a SQLite warehouse for Ascend operator profiles written by msopprof."""

__version__ = "0.1.0"
