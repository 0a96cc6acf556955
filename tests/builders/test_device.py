"""The builders write what msopprof writes: today's and older headers, every byte of the form, figures that agree."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opprof_db.catalog import BASIC_INFO, load
from tests.builders import builds, kernels
from tests.builders.builds import CANN_8_0, CANN_8_5, MEMORY_DETAIL, TODAY, Build
from tests.builders.device import GIB_PER_KIB_US, CoreLoad, DeviceRun, Launch, Layout, folder_name
from tests.builders.figures import Figures
from tests.shared import CORPUS, needs_shared

FAMILIES = load().families
LAUNCHES: dict[str, Callable[[], Launch]] = {
    "vector": kernels.vector,
    "cube": kernels.cube,
    "mix": kernels.mix,
    "310P": kernels.aicore,
    "950 vector": lambda: kernels.on_950(kernels.vector()),
    "950 mix": lambda: kernels.on_950(kernels.mix()),
}
Row = dict[str, str]


def table(text: str) -> list[Row]:
    """Rows by header; the empty last cell is dropped."""
    header, *rows = csv.reader(text.splitlines())
    return [dict(zip(header[:-1], row[:-1], strict=True)) for row in rows]


def number(row: Row, column: str) -> float:
    return float(row[column])


@pytest.fixture(params=LAUNCHES)
def launch(request: pytest.FixtureRequest) -> Launch:
    return LAUNCHES[request.param]()


def test_headers_are_the_catalogues_and_every_line_ends_in_a_comma(launch: Launch) -> None:
    for family in (*FAMILIES, BASIC_INFO):
        text = launch.basic_info() if family == BASIC_INFO else launch.family(family)
        lines = text.split("\n")
        assert lines.pop() == ""
        assert lines[0] == ",".join(load().header(family, launch.chip)) + ","
        assert {line.count(",") for line in lines} == {lines[0].count(",")}
        assert all(line.endswith(",") for line in lines)


def test_cells_are_printed_by_the_type_of_their_column(launch: Launch) -> None:
    forms = {"INTEGER": r"\d+|NA", "REAL": r"\d+\.\d{6}|NA", "TEXT": r"\w+"}
    for family in FAMILIES:
        for row in table(launch.family(family)):
            for column, text in row.items():
                metric = load().find(family, column)
                assert metric is not None
                assert re.fullmatch(forms[metric.type], text), (family, column, text)


def test_the_model_has_a_figure_for_every_column_of_the_catalogue() -> None:
    cube, vector = (Figures(kernels.mix(), core) for core in kernels.mix().blocks[0][:2])
    today = {name for family in FAMILIES for name in load().header(family, "950")}
    for metric in load().metrics:
        if metric.family in FAMILIES and not metric.is_key and metric.vendor not in today:
            values = [figures.value(metric.vendor) for figures in (cube, vector)]
            assert any(value is not None for value in values), metric.vendor


def test_the_other_kind_of_core_is_not_applicable_and_the_own_kind_is() -> None:
    for family in FAMILIES:
        for row in table(kernels.mix().family(family)):
            other = "aiv_" if row["sub_block_id"] == "cube0" else "aic_"
            for column, text in row.items():
                if column.startswith(("aic_", "aiv_")):
                    assert (text == "NA") == column.startswith(other), (family, column)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("vector", [(0, "vector0"), (1, "vector0")]),
        ("cube", [(0, "cube0"), (1, "cube0")]),
        ("mix", [(0, "cube0"), (0, "vector0"), (0, "vector1"), (1, "cube0"), (1, "vector0"), (1, "vector1")]),
    ],
)
def test_one_row_per_core(kind: str, rows: list[tuple[int, str]]) -> None:
    built: Launch = getattr(kernels, kind)(blocks=2)
    for family in FAMILIES:
        found = [(int(row["block_id"]), row["sub_block_id"]) for row in table(built.family(family))]
        assert found == rows


def test_a_310p_kernel_is_one_row_of_sums_with_times_scaled_back() -> None:
    (row,) = table(kernels.aicore(blocks=12).family("PipeUtilization"))
    assert "block_id" not in row
    # 12 blocks on 8 cores are two rounds.
    assert number(row, "aic_time(us)") == pytest.approx(number(row, "aic_total_cycles") / 1080 * 2 / 12, rel=1e-6)
    assert "Mix Block Dim" not in table(kernels.aicore().basic_info())[0]


def test_time_is_cycles_by_frequency_and_the_same_in_every_family(launch: Launch) -> None:
    if launch.chip == "310P":
        pytest.skip("scaled, see above")
    seen = set()
    for family in FAMILIES:
        for at, row in enumerate(table(launch.family(family))):
            kind = "aic" if row["sub_block_id"] == "cube0" else "aiv"
            cycles = int(row[f"{kind}_total_cycles"])
            assert number(row, f"{kind}_time(us)") == pytest.approx(cycles / 1650, rel=1e-6)
            seen.add((at, cycles))
    assert len(seen) == sum(map(len, launch.blocks))


@pytest.mark.parametrize("kind", ["vector", "mix", "950 vector", "950 mix"])
def test_volume_by_bandwidth_is_the_time_the_bandwidth_is_over(kind: str) -> None:
    built = LAUNCHES[kind]()
    for row in table(built.family("Memory")):
        if row["sub_block_id"] == "cube0":
            continue
        time = number(row, "aiv_time(us)") if built.op_type == "vector" else built.duration_us or 0
        volume = number(row, "GM_to_UB_datas(KB)")
        assert number(row, "aiv_gm_to_ub_bw(GB/s)") == pytest.approx(volume / time * GIB_PER_KIB_US, rel=1e-6)


def test_ratios_of_vector_kernels_and_of_the_950_are_over_the_cores_own_time() -> None:
    for built in (kernels.vector(), kernels.on_950(kernels.mix())):
        for row in table(built.family("PipeUtilization")):
            if row["sub_block_id"] != "cube0":
                share = number(row, "aiv_vec_time(us)") / number(row, "aiv_time(us)")
                assert number(row, "aiv_vec_ratio") == pytest.approx(share, abs=2e-6)


def test_ratios_of_910b_mix_kernels_are_over_the_whole_microseconds_of_the_task() -> None:
    for row in table(kernels.mix(duration=120.9).family("PipeUtilization")):
        if row["sub_block_id"] == "cube0":
            assert number(row, "aic_cube_ratio") == pytest.approx(number(row, "aic_cube_time(us)") / 120, abs=1e-6)


def test_a_mix_kernel_below_a_microsecond_prints_no_ratios() -> None:
    rows = table(kernels.mix(duration=0.9).family("PipeUtilization"))
    assert {row["aic_cube_ratio"] for row in rows} == {"0.000000", "NA"}


def test_nothing_by_nothing_is_zero_on_910b_and_not_applicable_on_950() -> None:
    idle = kernels.vector(idle=(0,))
    assert table(idle.family("PipeUtilization"))[0]["aiv_mte2_active_bw(GB/s)"] == "0.000000"
    assert table(kernels.on_950(idle).family("PipeUtilization"))[0]["aiv_mte2_active_bw(GB/s)"] == "NA"


def test_usage_is_against_one_cores_peak_and_clamped() -> None:
    core = CoreLoad("vector0", 10.0, volumes_kib={"gm_to_ub": 1024.0, "ub_to_gm": 1e6})
    (row,) = table(Launch("k", "vector", 11.0, [[core]]).family("Memory"))
    peak = load().chip("910B4").gm_to_ub_core_peak_gib_s  # type: ignore[union-attr]
    expected = 100 * number(row, "aiv_gm_to_ub_bw(GB/s)") / (peak or 0)
    assert number(row, "GM_to_UB_bw_usage_rate(%)") == pytest.approx(expected, rel=1e-6)
    assert row["UB_to_GM_bw_usage_rate(%)"] == "100.000000"


def test_cache_rates_are_hits_over_requests_and_requests_are_the_volume() -> None:
    for row in table(kernels.vector().family("L2Cache")):
        hits = int(row["aiv_r0_read_cache_hit"]) + int(row["aiv_r1_read_cache_hit"])
        misses = int(row["aiv_r0_read_cache_miss_allocate"]) + int(row["aiv_r1_read_cache_miss_allocate"])
        assert number(row, "aiv_read_hit_rate(%)") == pytest.approx(100 * hits / (hits + misses), rel=1e-6)
        assert (hits + misses) * 0.125 == 512.75


def test_basic_info_counts_the_vector_cores_of_a_mix_kernel_only() -> None:
    (mixed,), (plain,) = table(kernels.mix(blocks=3).basic_info()), table(kernels.vector().basic_info())
    assert (mixed["Mix Block Dim"], plain["Mix Block Dim"]) == ("6", "NA")
    assert plain["Task Duration(us)"] == "60.000000"


@pytest.mark.parametrize(("printed", "frequency"), [("1500", 1500), ("N/A", 1650), ("-1", 1650), (None, 1650)])
def test_times_are_by_the_current_frequency_where_it_is_known(printed: str | None, frequency: int) -> None:
    built = kernels.vector(current_freq=printed)
    assert table(built.basic_info())[0]["Current Freq"] == (printed or "1650")
    row = table(built.family("MemoryUB"))[0]
    assert number(row, "aiv_time(us)") == pytest.approx(int(row["aiv_total_cycles"]) / frequency, rel=1e-6)


def test_any_cell_can_be_overridden_in_one_row_or_in_all() -> None:
    built = kernels.vector(blocks=2)
    built.overrides |= {
        ("PipeUtilization", "aiv_vec_ratio", 1): "",
        ("PipeUtilization", "aiv_time(us)", None): "1.5",
        (BASIC_INFO, "Pid", 0): "-7",
    }
    rows = table(built.family("PipeUtilization"))
    assert (rows[0]["aiv_vec_ratio"] != "", rows[1]["aiv_vec_ratio"]) == (True, "")
    assert [row["aiv_time(us)"] for row in rows] == ["1.5", "1.5"]
    assert table(built.basic_info())[0]["Pid"] == "-7"


def test_columns_of_instrumented_950_runs_hold_figures_with_memory_detail_only() -> None:
    for build, known in ((TODAY, False), (MEMORY_DETAIL, True)):
        built = kernels.on_950(kernels.vector(build=Build(memory_detail=build.memory_detail)))
        row = table(built.family("Memory"))[0]
        assert (row["UB_to_GM_datas(KB)"] != "NA") is known
        assert row["GM_to_UB_datas(KB)"] != "NA"


@pytest.mark.parametrize(("build", "columns"), [(CANN_8_0, 28), (CANN_8_5, 34), (TODAY, 48), (MEMORY_DETAIL, 50)])
def test_variants_of_pipe_utilization_have_their_number_of_columns(build: Build, columns: int) -> None:
    assert len(build.header("PipeUtilization", "910B")) == columns


REAL = {
    "gemv-910B3-device/OPPROF_20250304222326_WHJPXTHYGIMBZNZI": CANN_8_0,
    "attention-bwd-910B/round_001": CANN_8_5,
    "attention-bwd-910B/round_006": CANN_8_5,
    "cummin-910B2/round_002/OPPROF_20260522155410_KNNIUXUQKCPVXVCH": CANN_8_5,
    "swiglu-910B/OPPROF_20261009144644_SOXRTVMQRWFNNDWS": TODAY,
}


@needs_shared
@pytest.mark.corpus
@pytest.mark.parametrize(("run", "build"), REAL.items())
def test_headers_of_real_captures_are_those_of_their_build(run: str, build: Build) -> None:
    for path in sorted((CORPUS / run).glob("*.csv")):
        header = path.read_text().splitlines()[0].split(",")[:-1]
        assert header == build.header(path.stem, "910B"), path.name


def replay(folder: Path, build: Build) -> Launch:
    """A launch whose cores did what a real capture says."""
    (basic,) = table((folder / "OpBasicInfo.csv").read_text())
    memory, pipes, conflicts = (
        table((folder / f"{name}.csv").read_text()) for name in ("Memory", "PipeUtilization", "ResourceConflictRatio")
    )
    rated = int(basic["Rated Freq"])
    blocks: dict[str, list[CoreLoad]] = {}
    for row, pipe, conflict in zip(memory, pipes, conflicts, strict=True):
        kind = "aic" if row["sub_block_id"] == "cube0" else "aiv"
        cycles = int(row[f"{kind}_total_cycles"])
        form = re.compile(rf"{kind}_(\w+)_time\(us\)")
        core = CoreLoad(
            row["sub_block_id"],
            cycles / rated,
            {m[1]: float(pipe[name]) * rated / cycles for name in pipe if (m := form.fullmatch(name))},
            {
                name.partition("_datas")[0].lower(): float(text)
                for name, text in row.items()
                if "_to_" in name and "_datas" in name and text != build.not_applicable
            },
        )
        assert conflict["block_id"] == row["block_id"]
        blocks.setdefault(row["block_id"], []).append(core)
    return Launch(
        basic["Op Name"], basic["Op Type"], float(basic["Task Duration(us)"]), list(blocks.values()),
        rated_freq=rated, build=build, peaks_of="Ascend910B1",
    )  # fmt: skip


@needs_shared
@pytest.mark.corpus
@pytest.mark.parametrize(("run", "build"), REAL.items())
def test_figures_of_real_captures_follow_from_their_counters(run: str, build: Build) -> None:
    folder = CORPUS / run
    built = replay(folder, build)
    form = re.compile(
        r"\w+_(time\(us\)|total_cycles|\w+_time\(us\)|(?!icache)\w+_ratio|(mte2|mte3|fixpipe)_active_bw.*"
        r"|ub_to_gm_bw.*|gm_to_ub_bw.*|l1_write_bw.*|to_\w+_datas.*)"
    )
    compared = 0
    for family in ("PipeUtilization", "Memory", "MemoryUB"):
        real = table((folder / f"{family}.csv").read_text())
        ours = table(built.family(family))
        for real_row, our_row in zip(real, ours, strict=True):
            for name, text in real_row.items():
                if form.fullmatch(name) and text != build.not_applicable:
                    assert float(our_row[name]) == pytest.approx(float(text), rel=2e-6, abs=1.1e-6), (family, name)
                    compared += 1
    assert compared > 20


def names(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*.csv")}


def test_one_launch_collapses_into_the_runs_folder(tmp_path: Path) -> None:
    run = DeviceRun([kernels.vector(families=("Memory",))]).write(tmp_path)
    assert names(run) == {"OpBasicInfo.csv", "Memory.csv"}
    assert (run / "dump" / "op_basic_info.txt").read_text().startswith("Op Name=add_custom\nBlock Dim=8\n")


@pytest.mark.parametrize(
    ("layout", "devices", "folders"),
    [
        (None, (0, 0), {"a/0", "a/1"}),
        (None, (0, 3), {"device0/a/0", "device3/a/0"}),
        (Layout.DEVICES, (0, 0), {"device0/a/0", "device0/a/1"}),
        (Layout.DEVICE_NUMBERS, (0, 3), {"0/a/0", "3/a/0"}),
    ],
)
def test_several_launches_get_folders_and_names_with_17_digits(
    tmp_path: Path, layout: Layout | None, devices: tuple[int, ...], folders: set[str]
) -> None:
    launches = [kernels.vector("a", blocks=1, device_id=device) for device in devices]
    run = DeviceRun(launches, layout=layout).write(tmp_path)
    parts = {name.rpartition("/") for name in names(run)}
    assert {folder for folder, _, _ in parts} == folders
    stamps = {(folder, re.fullmatch(r"\w+_(\d{17})\.csv", name)[1]) for folder, _, name in parts}  # type: ignore[index]
    assert len(stamps) == len({stamp for _, stamp in stamps}) == len(folders)


def test_a_long_kernel_name_is_cut_in_the_folder_and_whole_in_the_table(tmp_path: Path) -> None:
    name = "Fused" * 60
    run = DeviceRun([kernels.vector(name, blocks=1, families=("Memory",))], layout=Layout.OPERATORS).write(tmp_path)
    (folder,) = (path.name for path in run.iterdir())
    assert folder == folder_name(name) and len(folder) == 117
    (basic,) = run.rglob("OpBasicInfo_*.csv")
    assert table(basic.read_text())[0]["Op Name"] == name


def test_more_files_and_empty_tables_can_be_asked_for(tmp_path: Path) -> None:
    built = kernels.vector(blocks=1, basic_rows=0, soc=None, files={"visualize_data.bin": b"\0", "trace.json": b"{}"})
    run = DeviceRun([built]).write(tmp_path)
    assert (run / "visualize_data.bin").read_bytes() == b"\0"
    assert len((run / "OpBasicInfo.csv").read_text().splitlines()) == 1
    assert not (run / "dump").exists()


def test_a_build_keeps_what_it_does_not_name() -> None:
    assert builds.TODAY.header("Memory", "950") == list(load().header("Memory", "950"))
