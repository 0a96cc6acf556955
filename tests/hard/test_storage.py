"""Storage that fails: one line that says what and what to do, the exit code of database problems, nothing lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import small
from tests.hard.content import content, unsound
from tests.hard.kill import EXAMPLES
from tests.shared import ROOT

WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Makes root obey the permissions of files, as other users do."""


def opprof(*arguments: object, obeying: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command; ``obeying``: permissions count, whoever runs the tests."""
    prefix = WITHOUT_RIGHTS if obeying and os.geteuid() == 0 else []
    return subprocess.run(
        [*prefix, sys.executable, "-m", "opprof_db", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )


def said(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """It failed with this code, in at most two lines, with these words and a remedy."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert lines[0].startswith("opprof-db: "), lines
    assert 2 <= len(lines) <= 3, lines
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "opprof.db"
    assert opprof("ingest", EXAMPLES, "--db", path).returncode == 0
    return path


@pytest.fixture
def closed(tmp_path: Path, filled: Path) -> Iterator[Path]:
    """A folder that may not be written, with a warehouse in it that may not be written either."""
    if os.geteuid() == 0 and (shutil.which("setpriv") is None or opprof("--version", obeying=True).returncode):
        pytest.skip("root obeys no permissions here, and setpriv is not at hand")
    folder = tmp_path / "closed"
    folder.mkdir()
    shutil.copy(filled, folder / "opprof.db")
    assert opprof("db", "backup", folder / "copy.db", "--db", filled).returncode == 0
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def test_a_file_that_may_not_be_written_is_said_and_stays(closed: Path, tmp_path: Path) -> None:
    before = content(closed / "copy.db")
    run = small.run(tmp_path / "OPPROF_x", "7.5")
    for arguments in (["ingest", run], ["forget", "1", "--yes"], ["db", "compact"], ["label", "1", "a=b"]):
        said(opprof(*arguments, "--db", closed / "copy.db", obeying=True), 4, "cannot be", "folder")
    assert content(closed / "copy.db") == before


def test_a_folder_that_may_not_be_written_takes_no_new_warehouse(closed: Path, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_x", "7.5")
    done = opprof("ingest", run, "--db", closed / "new.db", obeying=True)
    said(done, 4, "cannot be opened", "check that the folder exists and may be read and written")
    assert not (closed / "new.db").exists()


def test_a_warehouse_in_a_closed_folder_says_how_to_read_it_and_the_advice_works(closed: Path) -> None:
    """Write-ahead logging needs side files even for reading; a backup has no such log."""
    said(opprof("runs", "--db", closed / "opprof.db", obeying=True), 4, "read-only", "opprof-db db backup")
    answer = opprof("query", "SELECT count(*) FROM runs", "--db", closed / "copy.db", "-f", "csv", obeying=True)
    assert (answer.returncode, answer.stdout.split()) == (0, ["count(*)", "6"])


def test_a_backup_into_a_closed_folder_is_said(closed: Path, filled: Path) -> None:
    said(opprof("db", "backup", closed / "b.db", "--db", filled, obeying=True), 4, "the backup of", "permissions")
    assert not (closed / "b.db").exists()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="opprof-disk-"))
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        folder.rmdir()
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


def test_a_full_disk_is_said_and_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    database = small_disk / "opprof.db"
    assert opprof("ingest", EXAMPLES / "before", "--db", database).returncode == 0
    before = content(database)
    free = os.statvfs(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (max(free.f_bavail * free.f_frsize - 64 * 1024, 0)))
    said(opprof("ingest", EXAMPLES, "--db", database), 4, "disk is full", "what was committed before is safe")
    said(opprof("db", "backup", small_disk / "copy.db", "--db", database), 4, "free space")
    assert not (small_disk / "copy.db").exists()
    assert content(database) == before
    assert unsound(database) == []
    ballast.unlink()
    assert opprof("ingest", EXAMPLES / "after", "--db", database).returncode == 0


def test_no_room_for_temporary_files_is_said(small_disk: Path, filled: Path) -> None:
    """VACUUM and large traces go through TMPDIR."""
    free = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(b"x" * (free.f_bavail * free.f_frsize))
    before = content(filled)
    done = opprof("db", "compact", "--db", filled, TMPDIR=str(small_disk), SQLITE_TMPDIR=str(small_disk))
    if done.returncode:
        said(done, 4, "full")
    assert content(filled) == before


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.98])
def test_a_truncated_file_is_said_and_not_touched(filled: Path, tmp_path: Path, share: float) -> None:
    cut = tmp_path / "cut.db"
    data = filled.read_bytes()
    cut.write_bytes(data[: int(len(data) * share)])
    for arguments in (["db", "check"], ["ingest", EXAMPLES]):
        done = opprof(*arguments, "--db", cut)
        assert done.returncode == 4, (arguments, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
    assert "damaged" in opprof("runs", "--db", cut).stderr or share > 0.5


@pytest.mark.parametrize("page", [0, 1, 2, 5, 30])
def test_a_page_of_rubbish_is_found_by_check(filled: Path, tmp_path: Path, page: int) -> None:
    bad = tmp_path / "bad.db"
    data = bytearray(filled.read_bytes())
    begin = page * 8192 + (100 if page == 0 else 0)  # the file's own header stays
    data[begin : begin + 400] = b"\xa5" * 400
    bad.write_bytes(data)
    for arguments in (["db", "check"], ["runs"], ["kernels"], ["db", "info"], ["show", "1"]):
        done = opprof(*arguments, "--db", bad)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr, (arguments, done.stderr)
        assert done.returncode in (0, 2, 4), (arguments, done.stderr)
        if arguments == ["db", "check"]:
            assert done.returncode == 4, done.stdout


def test_a_stale_wal_beside_a_copied_file_changes_nothing_unseen(filled: Path, tmp_path: Path) -> None:
    """A log of another database does not fit the salt of this one; SQLite passes over it."""
    other = tmp_path / "other.db"
    keep = sqlite3.connect(other)
    keep.execute("PRAGMA journal_mode = WAL")
    keep.execute("CREATE TABLE t (x)")
    keep.execute("INSERT INTO t VALUES (1)")
    keep.commit()
    before = content(filled)
    copy = tmp_path / "copy.db"
    shutil.copy(filled, copy)
    shutil.copy(f"{other}-wal", f"{copy}-wal")
    keep.close()
    done = opprof("db", "check", "--db", copy)
    if done.returncode == 0:
        assert content(copy) == before
    else:
        said(done, 4)


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    connection = sqlite3.connect(theirs)
    connection.execute("CREATE TABLE bookmarks (url)")
    connection.commit()
    connection.close()
    before = theirs.read_bytes()
    for arguments in (["ingest", EXAMPLES], ["runs"], ["db", "info"], ["db", "compact"], ["db", "upgrade"]):
        said(opprof(*arguments, "--db", theirs), 4, "of another program", "the file was not touched")
    assert theirs.read_bytes() == before


def test_a_newer_file_is_refused_untouched(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    said(opprof("runs", "--db", filled), 4, "newer", "upgrade opprof-db")


@pytest.mark.parametrize("kind", ["folder", "fifo", "device", "missing"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/null")
    done = opprof("runs", "--db", path)
    assert done.returncode == 4, done.stderr
    assert "internal error" not in done.stderr
