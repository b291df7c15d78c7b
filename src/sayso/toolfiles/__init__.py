"""Tool files: JSON that turns a command into typed tools, and a call of such a tool into words to execute."""
