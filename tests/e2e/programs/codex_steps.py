"""What the scripted model of a real Codex has it do: a command, a question of its own, a tool of an MCP server."""

from __future__ import annotations

from tests.e2e.programs.model import Json, use

QUESTION: Json = {
    "id": "harbour",
    "header": "Harbour",
    "question": "Which harbour?",
    "options": [{"label": "North", "description": "cold"}, {"label": "South", "description": "far"}],
}
SHOP = """\
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    told = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "shop", "version": "1"}},
        "tools/list": {"tools": [{"name": "deploy", "description": "", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "It is deployed."}]},
    }
    if "id" in said:
        print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": told.get(said["method"], {})}), flush=True)
"""


def run(call: str, line: str) -> Json:
    """A command that is to run outside of the sandbox, which the model has to ask for."""
    given = {"cmd": line, "sandbox_permissions": "require_escalated", "justification": "Needed"}
    return use("exec_command", call, given)
