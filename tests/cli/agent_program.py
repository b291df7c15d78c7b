"""An agent as a program of its own: a real MCP client that starts a server, asks when told to, and prints the results.

Run as `agent_program.py SERVER MODE`. Each line on its stdin is `ask`, or a command that it runs, as agents do, whose
exit code it prints. What it prints are lines of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

SECONDS = 60
QUESTION = {"prompt": "Which database?", "options": [{"label": "SQLite"}, {"label": "PostgreSQL"}]}


async def obey(server: str, mode: str) -> None:
    parameters = StdioServerParameters(command=server, args=["server"], env=dict(os.environ))
    async with Client(parameters, mode=mode) as client, anyio.create_task_group() as tasks:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            if line == "ask\n":
                tasks.start_soon(ask, client)
            else:
                ran = await anyio.run_process(line.split(), check=False)
                tell({"code": ran.returncode})


async def ask(client: Client) -> None:
    with anyio.fail_after(SECONDS):
        result = await client.call_tool("ask_user_questions", {"questions": [QUESTION]})
    text = "".join(part.text for part in result.content if isinstance(part, TextContent))
    tell({"text": text, "data": result.structured_content, "is_error": result.is_error})


def tell(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    anyio.run(obey, sys.argv[1], sys.argv[2])
