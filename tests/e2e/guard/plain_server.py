"""A small MCP server of plain lines, for tests that look at bytes and processes. What it hears goes to a file.

Its folder holds `tools.json`, which it lists, and gets `heard`, `pids` and whatever its tool `write` is told to write.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            able = {"tools": {"listChanged": True}}
            info = {"name": "plain", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": able, "serverInfo": info}
        case "tools/list":
            return {"tools": json.loads((FOLDER / "tools.json").read_text())}
        case "tools/call":
            return call(params["name"], params.get("arguments") or {})
    return {"said": method, "params": params}


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    match tool:
        case "write":
            (FOLDER / arguments["file"]).write_text(arguments["text"])
        case "end":
            os._exit(int(arguments["code"]))
        case "environment":
            return {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]}
    return {"content": [{"type": "text", "text": "done"}]}


def main() -> None:
    child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, start_new_session=True)
    (FOLDER / "pids").write_text(f"{os.getpid()} {child.pid}")
    print("the server has begun", file=sys.stderr, flush=True)
    with (FOLDER / "heard").open("ab", buffering=0) as heard:
        for line in sys.stdin.buffer:
            heard.write(line)
            for message in [found] if isinstance(found := json.loads(line), dict) else found:
                if "id" in message and "method" in message:
                    told = result_of(message["method"], message.get("params") or {})
                    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": told}), flush=True)


if __name__ == "__main__":
    main()
