"""Typer commands: argument parsing and printing, nothing else."""
