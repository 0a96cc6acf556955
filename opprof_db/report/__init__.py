"""Reports: Jinja templates and figures over plain data from the analysis; nothing is computed here."""
