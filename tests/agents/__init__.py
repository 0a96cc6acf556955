"""Skill and MCP server."""
