"""Ingest: discover -> read -> write one run in one transaction."""
