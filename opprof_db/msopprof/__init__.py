"""Readers for what msopprof writes: folder layout, device CSVs, simulator CSVs, traces, visualize_data.bin.

They yield plain typed records and issues (problems found, with file, line, column and raw text)
and know no database.
"""
