"""The SQLite warehouse: tables, migrations, writer, read-only access. It knows no CSV."""
