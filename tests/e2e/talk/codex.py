"""A stand-in for `codex exec --json`: says how it was started and what it was told."""

from __future__ import annotations

import json
import sys


def put(**message: object) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    flags = sys.argv[1:]
    assert flags[:2] == ["exec", "--json"], flags
    assert flags[-1] == "-", flags
    prompt = sys.stdin.read()
    resumed = "resume" in flags
    put(type="thread.started", thread_id=flags[-2] if resumed else "0199-thread")
    put(type="turn.started")
    command = {"id": "item_0", "type": "command_execution", "command": "ls"}
    put(type="item.started", item={**command, "status": "in_progress"})
    put(type="item.completed", item={**command, "aggregated_output": "a.py\n", "exit_code": 0, "status": "completed"})
    put(type="item.completed", item={"id": "item_1", "type": "reasoning", "text": "Hm."})
    told = f"{'Again' if resumed else 'First'}: {prompt}"
    put(type="item.completed", item={"id": "item_2", "type": "agent_message", "text": told})
    put(type="turn.completed", usage={"input_tokens": 1, "output_tokens": 1})


if __name__ == "__main__":
    main()
