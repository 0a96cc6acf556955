"""An installed wheel, away from the checkout, creates and upgrades databases by itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.shared import ROOT

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_migrations_views_and_catalogue(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "migrations").rglob("*.py"):
        assert f"opprof_db/_bundled/migrations/{path.relative_to(ROOT / 'migrations').as_posix()}" in names
    for path in (ROOT / "sql").rglob("*.sql"):
        assert f"opprof_db/_bundled/sql/{path.relative_to(ROOT / 'sql').as_posix()}" in names
    for path in (ROOT / "opprof_db" / "agents" / "skill_templates").rglob("*.j2"):
        assert path.relative_to(ROOT).as_posix() in names
    assert {"opprof_db/py.typed", "opprof_db/catalog/metrics.toml"} <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def test_the_installed_command_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    run(tmp_path / "venv" / "bin" / "pip", "install", "--quiet", wheel, cwd=tmp_path)
    command = tmp_path / "venv" / "bin" / "opprof-db"
    shutil.copytree(ROOT / "examples" / "out", tmp_path / "out")
    assert "6 new" in run(command, "ingest", "out", cwd=tmp_path)
    assert "add_custom" in run(command, "query", "SELECT operator FROM top_kernels LIMIT 1", cwd=tmp_path)
    fixture = sorted((ROOT / "tests" / "fixtures" / "databases").glob("*.db"))[0]
    shutil.copy(fixture, tmp_path / "old.db")
    assert "schema" in run(command, "db", "upgrade", "--db", "old.db", cwd=tmp_path)
    assert "sound" in run(command, "db", "check", "--db", "old.db", cwd=tmp_path)
