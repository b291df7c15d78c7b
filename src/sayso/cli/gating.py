"""What `sayso gate` does, whoever read its arguments. Imports little: an agent waits for each of its prompts."""

from __future__ import annotations

import sys

from sayso.gates.client import GateClient
from sayso.gates.gate import serve

CLIENTS = ("claude-code", "codex", "copilot", "opencode", "qwen")


def run(name: str) -> None:
    """Serve one prompt of this client. A fault of ours is no decision: its own prompt goes on."""
    client = _client(name)
    try:
        serve(client)
    except Exception as error:  # the top: whatever it is, nothing was allowed by it
        print(f"sayso gate: {error}. {client.title}'s own prompt decides.", file=sys.stderr)


def _client(name: str) -> GateClient:
    """Only the one that is named is imported."""
    match name:
        case "codex":
            from sayso.gates.codex import CodexHook

            return CodexHook()
        case "copilot":
            from sayso.gates.copilot import Copilot

            return Copilot()
        case "opencode":
            from sayso.gates.opencode import Opencode

            return Opencode()
        case "qwen":
            from sayso.gates.qwen import Qwen

            return Qwen()
    from sayso.gates.claude_code import ClaudeCode

    return ClaudeCode()
