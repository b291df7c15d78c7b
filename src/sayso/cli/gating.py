"""What `sayso gate` does, whoever read its arguments. Imports little: an agent waits for each of its prompts."""

from __future__ import annotations

import sys

from sayso.gates.claude_code import ClaudeCode
from sayso.gates.client import GateClient
from sayso.gates.gate import serve

CLIENTS: dict[str, type[GateClient]] = {"claude-code": ClaudeCode}


def run(name: str) -> None:
    """Serve one prompt of this client. A fault of ours is no decision: its own prompt goes on."""
    if name == "codex":
        from sayso.gates import codex

        codex.serve()
        return
    client = CLIENTS[name]()
    try:
        serve(client)
    except Exception as error:  # the top: whatever it is, nothing was allowed by it
        print(f"sayso gate: {error}. {client.title}'s own prompt decides.", file=sys.stderr)
