"""An agent as a program of its own: a real MCP client that starts a server, asks one question, and prints the result.

Run as `agent_program.py SERVER MODE`. Each line on its stdin is a command it runs, as agents do; its exit code is
told on stderr.
"""

from __future__ import annotations

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

SECONDS = 60
QUESTION = {"prompt": "Which database?", "options": [{"label": "SQLite"}, {"label": "PostgreSQL"}]}


async def ask(server: str, mode: str) -> CallToolResult:
    parameters = StdioServerParameters(command=server, args=["server"], env=dict(os.environ))
    with anyio.fail_after(SECONDS):
        async with Client(parameters, mode=mode) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(obey)
            result = await client.call_tool("ask_user_questions", {"questions": [QUESTION]})
            tasks.cancel_scope.cancel()
    return result


async def obey() -> None:
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        ran = await anyio.run_process(line.split(), check=False)
        print(f"code={ran.returncode}", file=sys.stderr, flush=True)


def main() -> None:
    result = anyio.run(ask, sys.argv[1], sys.argv[2])
    text = "".join(part.text for part in result.content if isinstance(part, TextContent))
    print(json.dumps({"text": text, "data": result.structured_content, "is_error": result.is_error}))


if __name__ == "__main__":
    main()
