"""For language models: a skill to install and an MCP server, both thin layers over the warehouse."""
