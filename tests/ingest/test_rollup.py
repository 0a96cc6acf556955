"""The roll-up against numbers computed by hand; AIC and AIV never mixed, idle cores left out and named."""

from __future__ import annotations

import pytest

from opprof_db.ingest.rollup import core_table, derive, roll_up
from opprof_db.msopprof.device_csv import FamilyData, read_family

MIX = (
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_mte2_instructions,aiv_time(us),aiv_total_cycles,"
    "aiv_mte2_instructions,GM_to_UB_datas(KB),GM_to_L1_datas(KB),\n"
    "0,cube0,10.0,18000,4,NA,NA,NA,NA,64.0,\n"
    "0,vector0,NA,NA,NA,8.0,14400,10,40.0,NA,\n"
    "0,vector1,NA,NA,NA,6.0,10800,30,80.0,NA,\n"
    "1,cube0,20.0,36000,6,NA,NA,NA,NA,36.0,\n"
    "1,vector0,NA,NA,NA,0.05,90,0,0.0,NA,\n"
)


@pytest.fixture
def mix() -> FamilyData:
    return read_family("Memory", MIX.encode())


def statistics(data: FamilyData, column: str, kind: str) -> tuple:
    idle = {(core.block_id, core.sub_block_id) for core in core_table([data]) if core.idle}
    (row,) = [row for row in roll_up(data, idle) if row.metric.column == column and row.kind == kind]
    return row.n, row.n_idle, row.sum, row.mean, row.min, row.max, row.std, row.max_block_id, row.max_sub_block_id


def test_times_have_a_mean_and_no_sum(mix: FamilyData) -> None:
    assert statistics(mix, "aic_time_us", "aic") == (2, 0, None, 15.0, 10.0, 20.0, 5.0, 1, "cube0")


def test_idle_cores_count_in_sums_only(mix: FamilyData) -> None:
    """vector0 of block 1 is busy for 0.05 of 8 us, less than 1 %."""
    assert statistics(mix, "aiv_time_us", "aiv") == (3, 1, None, 7.0, 6.0, 8.0, 1.0, 0, "vector0")
    assert statistics(mix, "aiv_total_cycles", "aiv")[:4] == (3, 1, 25290.0, 12600.0)
    assert statistics(mix, "gm_to_ub_datas_kb", "aiv") == (3, 1, 120.0, 60.0, 40.0, 80.0, 20.0, 0, "vector1")


def test_idle_cores_are_named(mix: FamilyData) -> None:
    assert [(core.block_id, core.sub_block_id) for core in core_table([mix]) if core.idle] == [(1, "vector0")]


def test_ratios_are_neither_summed_nor_averaged() -> None:
    data = read_family(
        "PipeUtilization",
        b"block_id,sub_block_id,aiv_time(us),aiv_vec_ratio,\n0,vector0,5.0,0.5,\n1,vector0,5.0,0.7,\n",
    )
    assert statistics(data, "aiv_vec_ratio", "aiv") == (2, 0, None, None, 0.5, 0.7, None, 1, "vector0")


def test_na_cells_are_left_out_and_the_place_of_the_maximum_stays_right() -> None:
    data = read_family(
        "PipeUtilization",
        b"block_id,sub_block_id,aiv_time(us),aiv_vec_time(us),\n"
        b"0,vector0,5.0,NA,\n1,vector0,5.0,1.0,\n2,vector0,5.0,NA,\n3,vector0,5.0,3.0,\n",
    )
    assert statistics(data, "aiv_vec_time_us", "aiv") == (2, 0, None, 2.0, 1.0, 3.0, 1.0, 3, "vector0")


def test_kernel_bandwidth_is_volume_over_task_duration(mix: FamilyData) -> None:
    rows = derive([mix], roll_up(mix, set()), 25.0, "mix")
    derived = {(row.metric.column, row.kind): row.value for row in rows}
    assert derived["gm_to_ub_kernel_bw_gb_s", "aiv"] == pytest.approx(120.0 * 1024 / 25e-6 / 2**30)
    assert derived["aiv_mte2_kb_per_instruction", "aiv"] == 120.0 / 40
    assert derived["aic_mte2_kb_per_instruction", "aic"] == 100.0 / 10


def test_a_derived_figure_without_all_its_columns_or_a_duration_is_not_made(mix: FamilyData) -> None:
    names = {row.metric.column for row in derive([mix], roll_up(mix, set()), None, "mix")}
    assert "gm_to_ub_kernel_bw_gb_s" not in names
    assert "aiv_mte2_kb_per_instruction" in names
    assert "read_main_memory_kernel_bw_gb_s" not in names


def test_the_real_frequency_is_the_slowest_core_over_the_duration_and_only_where_it_holds() -> None:
    data = read_family(
        "PipeUtilization",
        b"block_id,sub_block_id,aiv_time(us),aiv_total_cycles,\n0,vector0,19.0,34200,\n1,vector0,10.0,18000,\n",
    )
    rows = roll_up(data, set())
    values = [row.value for row in derive([data], rows, 20.0, "vector") if row.metric.column == "aiv_real_freq_mhz"]
    assert values == [1710.0]
    assert not [row for row in derive([data], rows, 20.0, "mix") if row.metric.column == "aiv_real_freq_mhz"]


def test_values_near_the_end_of_a_double_overflow_nothing() -> None:
    data = read_family(
        "Memory",
        b"block_id,sub_block_id,aiv_time(us),GM_to_UB_datas(KB),aiv_mte2_instructions,\n"
        b"0,vector0,1e308,1.7e308,1,\n1,vector0,1.7e308,1.6e308,1,\n",
    )
    assert statistics(data, "gm_to_ub_datas_kb", "aiv")[2:7] == (None, None, 1.6e308, 1.7e308, None)
    assert statistics(data, "aiv_time_us", "aiv")[2:7] == (None, None, 1e308, 1.7e308, None)
    assert derive([data], roll_up(data, set()), 1e-300, "vector") == []


def test_the_order_of_rows_changes_nothing() -> None:
    header, *rows = MIX.splitlines()
    backwards = read_family("Memory", "\n".join([header, *reversed(rows)]).encode())
    forwards = read_family("Memory", MIX.encode())

    def key(data: FamilyData) -> set[tuple]:
        return {(r.metric.column, r.kind, r.n, r.sum, r.mean, r.min, r.max, r.std) for r in roll_up(data, set())}

    assert key(backwards) == key(forwards)
