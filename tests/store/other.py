"""Another process on the same store, for tests to command: one JSON line in, one JSON line out."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from sayso.asks.desk import AskDesk
from sayso.store import Store

_ROOT = Path(__file__).parents[2]
_SECONDS = 120


class OtherProcess:
    """Runs commands in a process of its own. Leaving kills it, as SIGKILL does."""

    def __init__(self, place: str | Path) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.store.other", str(place)],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": ""},
        )

    def __enter__(self) -> OtherProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def do(self, command: str, *arguments: object) -> Any:
        """Have it done, and wait for what came of it."""
        self.begin(command, *arguments)
        return self.result()

    def begin(self, command: str, *arguments: object) -> None:
        assert self._child.stdin
        self._child.stdin.write(json.dumps([command, *arguments]).encode() + b"\n")
        self._child.stdin.flush()

    def result(self) -> Any:
        assert self._child.stdout
        assert select.select([self._child.stdout], [], [], _SECONDS)[0], "the other process says nothing"
        return json.loads(self._child.stdout.readline())

    def kill(self) -> None:
        self._child.send_signal(signal.SIGKILL)
        self._child.wait(_SECONDS)
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe:
                pipe.close()


def _commands(store: Store) -> dict[str, Any]:
    from tests.asks.samples import BEN, ask, own_text

    desk = AskDesk(store)

    def leave_and_die(text: str) -> None:
        """Killed after the commit, and before it rings for it."""
        from sayso.store import sqlite

        setattr(sqlite, "ring_all", lambda *_: os.kill(os.getpid(), signal.SIGKILL))  # noqa: B010
        desk.leave(ask(text))

    return {
        "process": lambda: store.bell().process,
        "wait": lambda seconds: store.bell().wait(seconds),
        "hold": lambda text: desk.hold(ask(text)).ask.id,
        "leave": lambda text: desk.leave(ask(text)).id,
        "leave_and_die": leave_and_die,
        "answer": lambda ask_id, text: desk.answer(ask_id, own_text(text), BEN).version,
        "inbox": lambda: [one.id for one in desk.inbox()],
    }


def _open(place: str) -> Store:
    if place.startswith("postgresql:"):
        from sayso.store.postgres import PostgresStore

        return PostgresStore(place)
    from sayso.store.sqlite import SqliteStore

    return SqliteStore(Path(place))


def _main() -> None:
    commands = _commands(_open(sys.argv[1]))
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        print(json.dumps(commands[command](*arguments)), flush=True)


if __name__ == "__main__":
    _main()
