"""The guard around another MCP server: all passes, but each call of a tool goes to the permission desk first."""
