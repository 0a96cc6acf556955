"""The program works without a network and never asks for one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.hard.kill import EXAMPLES
from tests.shared import ROOT

NO_SOCKETS = """
import socket, sys

def refuse(*_, **__):
    raise AssertionError("a socket was asked for")

class Refused(socket.socket):
    __init__ = refuse

socket.socket, socket.create_connection, socket.getaddrinfo = Refused, refuse, refuse
sys.argv = ["opprof-db", *sys.argv[1:]]
from opprof_db.cli.app import main
main()
"""


def test_commands_need_no_socket(tmp_path: Path) -> None:
    database = tmp_path / "opprof.db"
    for arguments in (
        ["ingest", EXAMPLES],
        ["runs"],
        ["show", "1"],
        ["query", "SELECT * FROM top_kernels"],
        ["diagnose", "1"],
        ["kb", "search", "double buffer"],
        ["db", "info"],
        ["db", "check"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", NO_SOCKETS, *map(str, arguments), "--db", str(database)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert "a socket was asked for" not in done.stderr, (arguments, done.stderr)
        assert done.returncode in (0, 1), (arguments, done.stderr)
