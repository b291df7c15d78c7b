"""What a guard adds to what passes through it: the same small server, alone and behind `sayso guard`, in turns."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.wire import Client, server

GUARD = Path(sys.executable).with_name("sayso")
RULES = '[[rule]]\nallow = ["mcp__bench__nothing"]\n'
SERVER = """
import json, sys
tool = {"name": "nothing", "description": "Does nothing.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    given = json.loads(line)
    if "id" in given:
        told = {"content": [], "tools": [tool], "capabilities": {}, "protocolVersion": "2025-06-18", "serverInfo": {}}
        wanted = {"tools/list": ["tools"], "tools/call": ["content"], "initialize": list(told)[2:]}
        result = {name: told[name] for name in wanted.get(given["method"], [])}
        print(json.dumps({"jsonrpc": "2.0", "id": given["id"], "result": result}), flush=True)
"""
ASIDE = 20
"""Rounds at first that count for nothing."""


def requests(rounds: int) -> tuple[list[float], list[float]]:
    """The durations of a request that is no call of a tool, behind a guard and without one."""
    return _measured(rounds, "ping")


def allowed_calls(rounds: int) -> tuple[list[float], list[float]]:
    """The same for calls that a rule allows, each of which is logged."""
    return _measured(rounds, "tools/call", name="nothing", arguments={})


def _measured(rounds: int, method: str, **params: object) -> tuple[list[float], list[float]]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as name, ExitStack() as stack:
        folder = Path(name).resolve()
        command = [sys.executable, "-c", SERVER]
        env = _prepared(folder, command)
        guarded = [str(GUARD), "guard", "--name", "bench", "--", *command]
        clients = [stack.enter_context(server(words, env=env, cwd=folder)) for words in (guarded, command)]
        for client in clients:
            client.shake_hands()
            client.request("tools/list")
        pairs = [[_lasts(client, method, **params) for client in clients] for _ in range(rounds + ASIDE)][ASIDE:]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _lasts(client: Client, method: str, **params: object) -> float:
    begun = time.perf_counter()
    client.request(method, **params)
    return time.perf_counter() - begun


def _prepared(folder: Path, command: list[str]) -> dict[str, str]:
    """A person who has accepted the server's tools, and whose rules allow them."""
    from sayso.guard.calls import GuardedServer
    from sayso.guard.tools import AcceptedTools

    offered = {"name": "nothing", "description": "Does nothing.", "inputSchema": {"type": "object"}}
    bench = GuardedServer(name="bench", command=tuple(command), folder=str(folder))
    AcceptedTools(folder / "state" / "guarded").accept(bench, {"nothing": offered}, "bench")
    (folder / "sayso").mkdir()
    (folder / "sayso" / "rules.toml").write_text(RULES)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SAYSO_", "CLAUDE"))}
    return {**kept, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state")}


def main() -> None:
    """Prints the middle of each, in milliseconds."""
    for title, measure in (("other requests", requests), ("calls that a rule allows", allowed_calls)):
        behind, alone = (sorted(samples)[len(samples) // 2] * 1000 for samples in measure(300))
        print(json.dumps({"what": title, "behind_ms": round(behind, 3), "alone_ms": round(alone, 3)}))


if __name__ == "__main__":
    main()
