"""What language models get: a skill folder that teaches, and an MCP server that answers."""
