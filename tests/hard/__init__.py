"""Drivers that try to break the program: kills, crowds, failing storage, hostile files, endless inputs."""
