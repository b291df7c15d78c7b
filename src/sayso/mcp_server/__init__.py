"""The MCP server: the face that agents see, on every version of the protocol."""
