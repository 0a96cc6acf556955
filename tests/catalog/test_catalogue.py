"""The catalogue's data files: complete, consistent, and true to the printed headers."""

from __future__ import annotations

import json
import re
from collections import Counter
from fnmatch import fnmatchcase

import pytest

from opprof_db.catalog import BASIC_INFO, Aggregate, Change, Core, DerivedMetric, Metric, SqlType, load, sql_name
from opprof_db.catalog.load import _change, _metric
from tests.shared import FORMATS, needs_shared

CATALOGUE = load()
HEADER_FAMILIES = ("910B", "310P", "950")
ALL_FAMILIES = (*CATALOGUE.families, BASIC_INFO)
PRINTED_UNITS = {"us": "us", "GB/s": "GB/s", "%": "%", "KB": "KB"}


def headers() -> dict[str, dict[str, list[str]]]:
    """Every CSV header by chip family, as msopprof prints it."""
    found: dict[str, dict[str, list[str]]] = json.loads((FORMATS / "csv_headers.json").read_text("utf-8"))
    return found


def name_of(entry: Metric | DerivedMetric) -> str:
    return f"{entry.family}.{entry.column}"


each_metric = pytest.mark.parametrize("metric", CATALOGUE.metrics, ids=name_of)
each_derived = pytest.mark.parametrize("derived", CATALOGUE.derived, ids=name_of)


def test_families_stand_in_msopprofs_order() -> None:
    assert CATALOGUE.families == (
        "PipeUtilization",
        "Memory",
        "MemoryL0",
        "MemoryUB",
        "L2Cache",
        "ArithmeticUtilization",
        "ResourceConflictRatio",
    )


@needs_shared
@pytest.mark.parametrize("chip", HEADER_FAMILIES)
@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_header_is_the_one_msopprof_prints(family: str, chip: str) -> None:
    assert CATALOGUE.header(family, chip) == tuple(headers()[chip][family])


@needs_shared
def test_columns_of_older_builds_and_special_metric_sets_are_known_but_in_no_header() -> None:
    on_request = {
        "PipeUtilization": [
            *headers()["910B"]["PipeUtilization:MemoryDetail-extra"],
            *headers()["legacy"]["PipeUtilization (where non-zero)"],
        ],
        "ResourceConflictRatio": headers()["legacy"]["ResourceConflictRatio (910B, until CANN 8.5)"],
        "L2Cache": headers()["legacy"]["L2Cache (950, before 2026-01-20)"],
    }
    for family, vendors in on_request.items():
        chip = "950" if family == "L2Cache" else "910B"
        for vendor in vendors:
            metric = CATALOGUE.find(family, vendor)
            assert metric is not None, f"{family} does not know {vendor}"
            assert metric.chips[chip] == 0, vendor


@needs_shared
def test_no_column_is_invented() -> None:
    printed = {vendor for chip in headers().values() for names in chip.values() for vendor in names}
    assert {metric.vendor for metric in CATALOGUE.metrics} == printed


@pytest.mark.parametrize("chip", HEADER_FAMILIES)
@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_places_in_a_header_have_no_gap_and_no_tie(family: str, chip: str) -> None:
    places = sorted(place for m in CATALOGUE.of_family(family) if (place := m.chips.get(chip, 0)) > 0)
    assert places == list(range(1, len(places) + 1))


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_no_sql_column_stands_twice_in_a_family(family: str) -> None:
    counts = Counter(metric.column for metric in CATALOGUE.of_family(family))
    assert [column for column, count in counts.items() if count > 1] == []


@each_metric
def test_sql_name_follows_the_rule(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.column)
    if metric.family != BASIC_INFO:
        assert metric.column == sql_name(metric.vendor)


def test_basic_info_fills_the_columns_of_the_kernels_table() -> None:
    assert {m.vendor: m.column for m in CATALOGUE.of_family(BASIC_INFO)} == {
        "Op Name": "name",
        "Op Type": "op_type",
        "Task Duration(us)": "duration_us",
        "Block Dim": "block_dim",
        "Mix Block Dim": "mix_block_dim",
        "Device Id": "device_id",
        "Pid": "pid",
        "Current Freq": "current_freq_mhz",
        "Rated Freq": "rated_freq_mhz",
    }


@each_metric
def test_entry_explains_itself(metric: Metric) -> None:
    assert len(metric.meaning) >= 20
    assert metric.meaning.endswith(".")
    assert len(metric.source) >= 10
    assert "{" not in metric.meaning


@each_metric
def test_meaning_says_more_than_the_columns_name(metric: Metric) -> None:
    def words(text: str) -> set[str]:
        return set(re.findall(r"[a-z]+", text.lower()))

    assert len(words(metric.meaning) - words(metric.vendor)) >= 5


@each_metric
def test_unit_agrees_with_the_printed_one(metric: Metric) -> None:
    printed = [unit for unit in re.findall(r"\(([^)]+)\)", metric.vendor) if unit in PRINTED_UNITS]
    assert ([metric.unit] if metric.unit in PRINTED_UNITS.values() else []) == printed
    assert (metric.unit_base is not None) == (metric.unit in {"us", "GB/s", "KB"})


@each_metric
def test_bandwidths_ratios_and_rates_are_never_put_together(metric: Metric) -> None:
    if metric.unit in {"GB/s", "%", "ratio"}:
        assert metric.aggregate is Aggregate.NEVER
        assert metric.denominator in CATALOGUE.denominators
    else:
        assert metric.denominator is None


@each_metric
def test_volumes_and_counts_are_summed_and_times_take_the_slowest_core(metric: Metric) -> None:
    if metric.family == BASIC_INFO or metric.is_key:
        assert metric.aggregate is Aggregate.NEVER
    elif metric.unit == "us":
        assert metric.aggregate is Aggregate.MAX
    elif metric.unit in {"KB", "count", "cycles", "requests", "operations"}:
        assert metric.aggregate is Aggregate.SUM
    else:
        assert metric.unit in {"GB/s", "%", "ratio"}


@each_metric
def test_type_follows_the_printed_form(metric: Metric) -> None:
    if metric.unit in {"us", "GB/s", "%", "KB", "ratio"}:
        assert metric.type is SqlType.REAL
    elif metric.column in {"sub_block_id", "name", "op_type"}:
        assert metric.type is SqlType.TEXT
    else:
        assert metric.type is SqlType.INTEGER


@each_metric
def test_core_follows_the_prefix(metric: Metric) -> None:
    prefix = metric.column.partition("_")[0]
    assert metric.core is {"aic": Core.AIC, "aiv": Core.AIV}.get(prefix, Core.BOTH)


PIPE_IN_NAME = re.compile(r"ai[cv]_(cube|vec|mte1|mte2|mte3|fixpipe|scalar)_")


@pytest.mark.parametrize("metric", [m for m in CATALOGUE.metrics if PIPE_IN_NAME.match(m.column)], ids=name_of)
def test_pipe_is_the_one_in_the_name(metric: Metric) -> None:
    named = PIPE_IN_NAME.match(metric.column)
    assert named is not None
    assert metric.pipe == named[1]


def test_every_denominator_that_is_explained_is_used() -> None:
    assert set(CATALOGUE.denominators) == {m.denominator for m in CATALOGUE.metrics if m.denominator}


@pytest.mark.parametrize(
    ("family", "vendor", "chip", "metric_set"),
    [
        ("Memory", "UB_to_GM_datas(KB)", "910B", "Memory"),
        ("Memory", "UB_to_GM_datas(KB)", "950", "MemoryDetail"),
        ("MemoryUB", "aiv_ub_read_bw_gm(GB/s)", "950", "MemoryDetail"),
        ("PipeUtilization", "aic_mte1_active_bw(GB/s)", "910B", "MemoryDetail"),
        ("PipeUtilization", "aic_mte1_active_bw(GB/s)", "950", "PipeUtilization,Memory"),
        ("PipeUtilization", "aiv_mte2_active_bw(GB/s)", "910B", "PipeUtilization,Memory"),
        ("PipeUtilization", "aiv_mte2_time(us)", "950", "PipeUtilization"),
    ],
)
def test_says_which_metric_set_to_collect(family: str, vendor: str, chip: str, metric_set: str) -> None:
    metric = CATALOGUE.find(family, vendor)
    assert metric is not None
    assert metric.metric_set_on(chip) == metric_set


@each_metric
def test_metric_set_names_only_chips_that_have_the_column(metric: Metric) -> None:
    sets = metric.metric_set or {}
    assert sets.keys() <= metric.chips.keys()
    known = {*CATALOGUE.families, "MemoryDetail"}
    assert {part for text in sets.values() for part in text.split(",")} <= known


def test_header_cells_are_matched_exactly() -> None:
    assert CATALOGUE.find("Memory", "GM_to_UB_datas(KB)") is not None
    assert CATALOGUE.find("Memory", "gm_to_ub_datas(KB)") is None
    assert CATALOGUE.find("MemoryUB", "GM_to_UB_datas(KB)") is None


@each_derived
def test_derived_metric_reads_columns_of_its_family(derived: DerivedMetric) -> None:
    entries = {m.column: m for m in CATALOGUE.of_family(derived.family)}
    for column in (*derived.numerator, *derived.denominator):
        if column == "duration_us":
            assert derived.denominator == ("duration_us",)
            continue
        entry = entries[column]
        assert set(derived.chips) <= entry.chips.keys(), column
        assert entry.core in {derived.core, Core.BOTH}, f"{column} is of the other core kind"


@each_derived
def test_derived_metric_is_made_of_totals_only(derived: DerivedMetric) -> None:
    entries = {m.column: m for m in CATALOGUE.of_family(derived.family)}
    for column in (*derived.numerator, *derived.denominator):
        assert column == "duration_us" or entries[column].aggregate is not Aggregate.NEVER


@pytest.mark.parametrize("derived", [d for d in CATALOGUE.derived if d.unit == "%"], ids=name_of)
def test_rate_counts_its_hits_among_its_requests(derived: DerivedMetric) -> None:
    assert set(derived.numerator) < set(derived.denominator)
    assert derived.scale == 100.0


def test_derived_names_hide_no_column() -> None:
    names = Counter(d.column for d in CATALOGUE.derived)
    assert max(names.values()) == 1
    assert names.keys().isdisjoint({m.column for m in CATALOGUE.metrics})


def test_kernel_bandwidth_turns_kib_per_us_into_gib_per_s() -> None:
    (bandwidth,) = [d for d in CATALOGUE.derived if d.column == "gm_to_ub_kernel_bw_gb_s"]
    # 1 GiB moved in one second
    assert bandwidth.scale * 2**20 / 1e6 == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("change", CATALOGUE.changes, ids=lambda c: f"{c.date}-{c.family}")
def test_change_names_columns_that_exist(change: Change) -> None:
    assert re.fullmatch(r"2026-\d\d-\d\d", change.date)
    columns = [m.column for m in CATALOGUE.metrics if change.family in {None, m.family}]
    for pattern in change.columns:
        assert any(fnmatchcase(column, pattern) for column in columns), pattern


def test_changes_are_in_order_of_time_and_name_known_chips() -> None:
    dates = [change.date for change in CATALOGUE.changes]
    assert dates == sorted(dates)
    assert set(dates) == {
        "2026-01-16", "2026-01-20", "2026-01-22", "2026-01-26", "2026-03-03",
        "2026-04-16", "2026-05-30", "2026-06-03", "2026-07-20",
    }  # fmt: skip
    named = {chip for change in CATALOGUE.changes for chip in change.chips}
    assert named <= {chip.family for chip in CATALOGUE.chips}


@pytest.mark.parametrize("spelling", ["Ascend910B2", "910B2", " ascend910b2 "])
def test_chip_is_found_however_the_soc_is_spelt(spelling: str) -> None:
    chip = CATALOGUE.chip(spelling)
    assert chip is not None
    assert (chip.soc, chip.aic_cores, chip.aiv_cores, chip.sim_clock_mhz) == ("Ascend910B2", 24, 48, 1800.0)


@pytest.mark.parametrize("soc", [None, "", "Ascend910B", "910B22", "Ascend"])
def test_chip_that_is_not_listed_is_not_guessed(soc: str | None) -> None:
    assert CATALOGUE.chip(soc) is None


def test_socs_are_listed_once_and_print_a_known_header() -> None:
    socs = [chip.soc.lower() for chip in CATALOGUE.chips]
    assert len(socs) == len(set(socs))
    assert {(chip.family, chip.header_family) for chip in CATALOGUE.chips} == {
        ("910B", "910B"), ("910_93", "910B"), ("310P", "310P"), ("310B", "910B"), ("950", "950"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("soc", "clock"),
    [("Ascend910B1", 1850), ("Ascend910B4", 1650), ("Ascend310P7", 550), ("Ascend950PR_9599", 1800),
     ("Ascend950PR_958b", 1650), ("Ascend310B4", 500), ("Ascend910_9391", 1850)],
)  # fmt: skip
def test_simulator_clock_of_a_soc(soc: str, clock: float) -> None:
    chip = CATALOGUE.chip(soc)
    assert chip is not None
    assert chip.sim_clock_mhz == clock


def test_one_core_peaks_differ_by_chip() -> None:
    peaks = {
        soc: chip.gm_to_ub_core_peak_gib_s
        for soc in ("910B1", "910B3", "910B4", "950PR_9599", "950DT_9571", "910_9391")
        if (chip := CATALOGUE.chip(soc)) is not None
    }
    assert peaks == {
        "910B1": 220.06, "910B3": 214.11, "910B4": 195.27,
        "950PR_9599": 177.96, "950DT_9571": 163.13, "910_9391": None,
    }  # fmt: skip


def test_misspelt_key_in_an_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="denomnator"):
        _metric({"family": "Memory", "vendor": "x", "denomnator": "core_cycles"})
    with pytest.raises(ValueError, match="colums"):
        _change({"date": "2026-01-16", "colums": []})
