"""Device against simulator: figures that can be worked out by hand, and the real pair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from opprof_db.analysis.modes import WARNING, Modes, modes, table
from opprof_db.errors import UsageError
from opprof_db.warehouse import opening
from tests.builders.device import CoreLoad, Launch
from tests.builders.simulator import Instruction, SimulatedCore, SimulatorKernel, SimulatorRun
from tests.conftest import Warehouse
from tests.shared import CORPUS, needs_shared

CLOCK = 1650.0


def device(waits: dict[str, float] | None = None, **more: object) -> Launch:
    """Two vector cores of 100 us at 1650 MHz: MTE2 80 us, vec 40 us, MTE3 10 us each."""
    cores = [
        CoreLoad("vector0", 100.0, {"mte2": 0.8, "vec": 0.4, "mte3": 0.1, "scalar": 0.2}, waits=waits or {})
        for _ in range(2)
    ]
    return Launch("add_custom", "vector", 101.0, [[core] for core in cores], **more)  # type: ignore[arg-type]


def calls(cycles: int, number: int = 1) -> Sequence[tuple[int, int]]:
    return [(at * cycles, (at + 1) * cycles) for at in range(number)]


def core(name: str, *, vec: int, mte2: int, mte3: int = 0, wait: int = 0, own: int = 0) -> SimulatedCore:
    flag = "PIPE:MTE2,TRIGGERPIPE:V,FLAGID:0,"
    held = [
        Instruction("VADD", 0x10, "VECTOR", calls(vec)),
        Instruction("MOV_OUT_TO_UB", 0x20, "MTE2", calls(mte2)),
        Instruction("ADD_IMM", 0x30, "SCALAR", calls(10)),
    ]
    held += [Instruction("MOV_UB_TO_OUT", 0x40, "MTE3", calls(mte3))] if mte3 else []
    held += [Instruction("WAIT_FLAG", 0x50, "VECTOR", calls(wait), flag)] if wait else []
    held += [Instruction("SET_FLAG", 0x60, "VECTOR", calls(own), "PIPE:V,TRIGGERPIPE:MTE3,FLAGID:1,")] if own else []
    return SimulatedCore(name, held)


def simulated(*cores: SimulatedCore) -> SimulatorRun:
    return SimulatorRun({("add_custom", 0): SimulatorKernel(list(cores), CLOCK)})


@pytest.fixture
def pair(warehouse: Warehouse, tmp_path: Path) -> Iterator[object]:
    """Takes both runs in and sets them side by side: kernel 1 is the device's."""

    def made(launch: Launch, run: SimulatorRun, kernel: str | None = "add_custom") -> Modes:
        warehouse.ingest(launch.write(tmp_path / "OPPROF_20260501100000_AAAAAAAAAAAAAAAA"))
        folder = tmp_path / "OPPROF_20260502100000_BBBBBBBBBBBBBBBB"
        run.write(folder)
        warehouse.ingest(folder, conditions={"kernel": kernel} if kernel else {})
        with opening.reading(warehouse.path) as connection:
            return modes(connection, 1, None if kernel else 2)

    yield made


def test_times_and_cycles_stand_side_by_side_with_their_ratio(pair) -> None:
    found = pair(device(), simulated(core("core0.veccore0", vec=66000, mte2=33000, mte3=16500)))
    by_pipe = {one.pipe: one for one in found.pipes}
    mte2 = by_pipe["mte2"]
    assert mte2.device_time_us == pytest.approx(80.0, abs=1e-5)
    assert mte2.device_cycles == pytest.approx(80 * 1650, rel=1e-5)
    assert (mte2.simulator_cycles, mte2.simulator_cores, mte2.device_cores) == (33000, 1, 2)
    assert mte2.simulator_us == pytest.approx(20.0)
    assert mte2.ratio == pytest.approx(4.0, rel=1e-5)
    assert mte2.cycle_ratio == pytest.approx(4.0, rel=1e-5)
    assert by_pipe["vec"].ratio == pytest.approx(1.0, rel=1e-5)
    assert mte2.simulator_busy_us is None  # there is no trace
    assert found.warning == WARNING
    assert {mode for mode, _, _ in found.blind} == {"device", "simulator"}


def test_orders_name_the_pairs_that_agree_and_those_that_do_not(pair) -> None:
    found = pair(device(), simulated(core("core0.veccore0", vec=66000, mte2=33000, mte3=16500)))
    (order,) = found.orders
    assert order.device == ("mte2", "vec", "scalar", "mte3")
    assert order.simulator == ("vec", "mte2", "mte3", "scalar")
    assert order.same_first is False
    assert ("mte2", "vec") in order.differ
    assert ("mte2", "mte3") in order.agree
    # MTE2 is four times as long as simulated, the vector unit just as long: contention.
    assert any("mte2 grows 4.00 times as much as vec" in sentence for sentence in found.says)


def test_pipes_too_close_to_call_are_no_disagreement(pair) -> None:
    found = pair(device(), simulated(core("core0.veccore0", vec=66000, mte2=65000)))
    (order,) = found.orders
    assert ("mte2", "vec") in order.tied
    assert order.same_first is None


def test_a_wait_the_simulator_shows_is_explained_by_whom_it_waits_for(pair) -> None:
    found = pair(device({"vec": 0.4}), simulated(core("core0.veccore0", vec=40000, mte2=90000, wait=40000)))
    wait = next(one for one in found.waits if one.pipe == "vec")
    assert wait.outcome == "explained"
    assert [(source.producer, source.cycles) for source in wait.sources] == [("mte2", 40000)]
    assert wait.simulator_share == pytest.approx(40000 / 90000)
    assert "waits for mte2" in wait.sentence


def test_a_wait_behind_its_own_work_is_told_from_one_for_others(pair) -> None:
    found = pair(device({"vec": 0.4}), simulated(core("core0.veccore0", vec=40000, mte2=90000, own=40000, wait=90)))
    (wait,) = [one for one in found.waits if one.pipe == "vec"]
    assert wait.outcome == "own queue"
    assert wait.queue_share == pytest.approx(40000 / 90000)


def test_a_wait_the_simulator_does_not_show_is_laid_to_what_it_cannot_see(pair) -> None:
    found = pair(device({"vec": 0.4}), simulated(core("core0.veccore0", vec=40000, mte2=90000, wait=90)))
    (wait,) = [one for one in found.waits if one.pipe == "vec"]
    assert wait.outcome == "not seen"
    assert "L2 or DDR" in wait.sentence


def test_without_flags_the_wait_could_not_be_looked_at(pair) -> None:
    found = pair(device({"vec": 0.4}), simulated(core("core0.veccore0", vec=40000, mte2=90000)))
    (wait,) = [one for one in found.waits if one.pipe == "vec"]
    assert wait.outcome == "could not look"


def test_simulated_cores_that_did_nothing_do_not_water_down_the_means(pair) -> None:
    idle = [core(f"core{at}.veccore0", vec=10, mte2=20) for at in range(1, 9)]
    found = pair(device(), simulated(core("core0.veccore0", vec=66000, mte2=33000), *idle))
    assert next(one for one in found.pipes if one.pipe == "vec").simulator_cycles == 66000
    assert any("2 cores worked on the device, 1 in the simulator" in text for text in found.cautions)


def test_a_named_counterpart_may_be_unnamed_and_is_said_to_be_the_users_word(pair) -> None:
    found = pair(device(), simulated(core("core0.veccore0", vec=66000, mte2=33000)), kernel=None)
    assert (found.device_kernel_id, found.simulator_kernel_id) == (1, 2)
    assert any("is your word" in text for text in found.cautions)


def test_every_cited_number_is_in_its_view(pair, warehouse: Warehouse) -> None:
    found = pair(device({"vec": 0.4}), simulated(core("core0.veccore0", vec=40000, mte2=90000, wait=40000)))
    cited = [item for one in (*found.pipes, *found.waits) for item in one.evidence]
    assert cited
    for item in cited:
        where = " AND ".join(f"{column} = ?" for column in item.row)
        sql = f"SELECT {item.column} FROM {item.table} WHERE {where}"
        assert warehouse.value(sql, *item.row.values()) == pytest.approx(item.value)


def test_two_of_a_kind_and_no_counterpart_are_refused(warehouse: Warehouse, tmp_path: Path) -> None:
    for day in (1, 2):
        launch = device(pid=day)
        warehouse.ingest(launch.write(tmp_path / f"OPPROF_2026050{day}100000_AAAAAAAAAAAAAAA{day}"))
    with opening.reading(warehouse.path) as connection:
        with pytest.raises(UsageError, match="both of the device"):
            modes(connection, 1, 2)
        with pytest.raises(UsageError, match="no simulator launch of add_custom"):
            modes(connection, 1)


@needs_shared
def test_the_real_pair_says_that_transfers_are_what_the_simulator_makes_too_fast(warehouse: Warehouse) -> None:
    warehouse.ingest(CORPUS / "gemv-910B3-device", CORPUS / "gemv-910B3-simulator")
    device_id, simulator_id = (
        warehouse.value("SELECT id FROM kernels WHERE mode = ?", mode) for mode in ("device", "simulator")
    )
    with opening.reading(warehouse.path) as connection:
        found = modes(connection, device_id, simulator_id)  # type: ignore[arg-type]
        assert modes(connection, simulator_id, device_id) == found  # type: ignore[arg-type]
    by_pipe = {one.pipe: one for one in found.pipes}
    assert {one.core_kind for one in found.pipes} == {"aiv"}  # the cube cores did nothing in either mode
    assert by_pipe["mte2"].device_cores == 40
    assert by_pipe["mte2"].simulator_cores == 4
    assert by_pipe["mte2"].ratio > 2 * by_pipe["vec"].ratio  # type: ignore[operator]
    (order,) = found.orders
    assert (order.device[0], order.simulator[0], order.same_first) == ("mte2", "vec", False)
    assert any("mte2 grows" in sentence for sentence in found.says)
    assert any("AIC: in both modes" in sentence for sentence in found.says)
    outcomes = {wait.pipe: wait.outcome for wait in found.waits}
    assert outcomes == {"mte2": "own queue", "vec": "own queue", "mte3": "small"}
    assert any("traces of the cores that worked are missing or of idle cores" in text for text in found.cautions)
    columns, rows = table(found)
    assert len(rows) == 4
    assert json.loads(json.dumps(rows))[0][:2] == ["aiv", "vec"]
    assert len(columns) == len(rows[0])
