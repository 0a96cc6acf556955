"""The MCP server: tools over ``access``, spoken over stdin and stdout. Names and arguments as agents know them."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer

from opprof_db import __version__
from opprof_db.agents.access import Access, answer

INSTRUCTIONS = (
    "A warehouse of Ascend operator profiles (msopprof). Find the run and kernel with list_runs and list_kernels, "
    "take a named query or a view (list_tables, get_schema) before a table, and aggregate or limit every statement. "
    "NULL is not zero; printed bandwidths and ratios are never summed or averaged; AIC and AIV stay apart; GB/s means "
    "GiB/s. Give evidence (statement and rows), then advice."
)


def build(access: Access) -> MCPServer:
    """The server with its tools."""
    server = MCPServer("opprof-db", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")

    @server.tool(structured_output=False)
    def list_tables(db_path: str | None = None) -> str:
        """List views and tables with their purpose. Views come first: ask them rather than tables."""
        return answer(access.tables, db_path)

    @server.tool(structured_output=False)
    def get_schema(table_name: str) -> str:
        """Columns with units and meaning of a view, table or named query; * stands for anything in the name."""
        return answer(access.schema, table_name)

    @server.tool(structured_output=False)
    def execute_sql(query: str, db_path: str | None = None) -> str:
        """Run one SELECT. Aggregate, or use ORDER BY … LIMIT 20: an answer holds 500 rows and 100 KB at most."""
        return answer(access.sql, db_path, query)

    @server.tool(structured_output=False)
    def execute_sql_to_csv(query: str, output_csv_path: str, db_path: str | None = None) -> str:
        """Run one SELECT and write all rows to a new CSV file in the server's output folder."""
        return answer(access.sql_to_csv, db_path, query, output_csv_path)

    @server.tool(structured_output=False)
    def list_runs(limit: int = 20, db_path: str | None = None) -> str:
        """The newest runs: chip, launches, total time, labels."""
        sql = "SELECT * FROM run_overview ORDER BY started_at DESC, run_id DESC LIMIT :limit"
        return answer(access.sql, db_path, sql, {"limit": limit})

    @server.tool(structured_output=False)
    def list_kernels(run_id: int | None = None, limit: int = 20, db_path: str | None = None) -> str:
        """The slowest launches, of one run or of all: operator, duration, blocks, cores, frequency."""
        sql = (
            "SELECT * FROM kernel_overview WHERE :run_id IS NULL OR run_id = :run_id"
            " ORDER BY duration_us DESC, kernel_id LIMIT :limit"
        )
        return answer(access.sql, db_path, sql, {"run_id": run_id, "limit": limit})

    @server.tool(structured_output=False)
    def named_query(name: str, parameters: dict[str, Any] | None = None, db_path: str | None = None) -> str:
        """Run a named query, for example slowest_kernels with {"limit": 5}; get_schema(name) gives its parameters."""
        return answer(access.named, db_path, name, parameters)

    return server


def serve(access: Access) -> None:
    """Serve until the client goes away."""
    build(access).run("stdio")
