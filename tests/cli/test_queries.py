"""``opprof-db queries`` as a user runs it."""

from __future__ import annotations

import json

from opprof_db.warehouse.queries import query_files
from tests.conftest import Cli


def test_all_queries_are_listed_without_a_warehouse(cli: Cli) -> None:
    done = cli("queries")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["name", "parameters", "purpose"]
    assert [line.split()[0] for line in lines[1:]] == [query.name for query in query_files()]


def test_queries_are_found_by_part_of_name_or_purpose_and_by_pattern(cli: Cli) -> None:
    def names(*arguments: str) -> list[str]:
        return [item["name"] for item in json.loads(cli("queries", *arguments, "-f", "json").stdout)]

    assert names("double buffering") == ["double_buffering"]
    assert names("hot_*") == ["hot_instructions", "hot_lines"]
    assert names("TOP_KERNELS") == ["top_kernels"]


def test_json_has_parameters_with_types_and_defaults(cli: Cli) -> None:
    (item,) = json.loads(cli("queries", "top_kernels", "-f", "json").stdout)
    assert item["parameters"][0] == {
        "name": "limit",
        "type": "integer",
        "required": False,
        "default": 10,
        "meaning": "how many launches",
    }
    assert next(iter(item["columns"])) == "kernel_id"
    assert item["sql"].startswith("SELECT")


def test_one_query_is_printed_whole_and_runs_as_it_stands(cli: Cli) -> None:
    done = cli("queries", "roofline", "--sql")
    assert done.stdout.startswith("-- Where do kernels stand under their roofs?")
    assert done.stdout.endswith("LIMIT :limit;\n")


def test_sql_of_several_or_of_none_is_refused(cli: Cli) -> None:
    several = cli("queries", "hot", "--sql")
    assert (several.returncode, several.stdout) == (2, "")
    assert "give one name" in several.stderr
    none = cli("queries", "slow_coers")
    assert none.returncode == 2
    assert "did you mean slow_cores" in none.stderr


def test_a_whole_name_counts_before_parts_of_others(cli: Cli) -> None:
    assert cli("queries", "roofline", "--sql").returncode == 0
    assert cli("queries", "memory_traffic", "--sql").stdout.startswith("-- What moves")
