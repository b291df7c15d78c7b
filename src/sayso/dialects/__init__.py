"""Dialects: each way agents have learnt to ask, mapped to an ask and back. No MCP library is needed here."""
