"""Builders of exact msopprof output. Headers come from the catalogue; real captures stay outside the repository."""
