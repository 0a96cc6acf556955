"""``python -m opprof_db`` and the ``opprof-db`` command."""

from opprof_db.cli.app import main

if __name__ == "__main__":
    main()
