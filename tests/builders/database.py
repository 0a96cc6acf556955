"""The fixture database of the present schema: ``python -m tests.builders.database tests/fixtures/databases``.

Run once per released schema version; the files of earlier versions are never written again.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path

from opprof_db.analysis import work as works
from opprof_db.analysis.diagnose import diagnose, store
from opprof_db.ingest.finding import find
from opprof_db.ingest.options import IngestOptions
from opprof_db.ingest.service import ingest
from opprof_db.warehouse import migrate, opening
from opprof_db.warehouse.connection import transaction
from opprof_db.warehouse.upkeep import compact
from tests.builders.bin import simulator_bin
from tests.builders.examples import infer_310p, simulated_trace, transfers
from tests.builders.simulator import SimulatorRun, example_kernel


def write(folder: Path) -> Path:
    """Write the fixture: a vector run with a bad cell and a label, a 310P run, a simulator run with a bin."""
    path = folder / f"schema_{migrate.revisions()[-1]}.db"
    if path.exists():
        raise FileExistsError(path)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name)
        bad = transfers(fixed=True)
        bad.overrides["PipeUtilization", "aiv_vec_ratio", 0] = "broken"
        bad.write(runs / "OPPROF_20260512111842_GHTRWQPLKMXNVBZC")
        infer_310p().write(runs / "OPPROF_20260515170921_ZXCVBNMASDFGHJKL")
        simulated = example_kernel()
        simulated.bin = simulator_bin([core.name for core in simulated.cores])
        simulated.trace = simulated_trace(1850.0).text().decode()
        SimulatorRun({("add_custom", 0): simulated}).write(runs / "OPPROF_20260516102233_QPWOEIRUTYALSKDJ")
        with opening.writing(path, create=True) as connection:
            for _ in ingest(connection, path, find([runs]), IngestOptions(labels={"branch": "main"})):
                pass
            with transaction(connection, path):
                for (kernel_id,) in connection.execute("SELECT id FROM kernels").fetchall():
                    store(connection, diagnose(connection, kernel_id))
                works.store(connection, "add_custom", works.Work(bytes_total=480 * 2.0**20))
            # Where this machine keeps its temporary files is nobody's business.
            connection.execute("UPDATE run_locations SET path = '/runs/' || run_id")
            compact(connection, path)
    with closing(migrate.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
