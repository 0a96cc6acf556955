"""Writes runs as a database in the shape of msprof's own (source: msprof profile_data_file_references_db.md)."""
