"""Commands that only read, from start to end, each in turns with an empty Python process and on a store of ten asks.

Usage: python -m bench.starts [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.tables import ratio, setting, table

from sayso.asks.model import Asker, NewAsk, Question
from sayso.config import load
from sayso.desks import open_desks

EMPTY = "python -I -c pass"
COMMANDS = {
    "list": ["list"],
    "list --count": ["list", "--count"],
    "show": ["show", "ID"],
    "config": ["config"],
    "agents": ["agents"],
    "log": ["log"],
    "ops list": ["ops", "list"],
    "rules": ["rules"],
    "--help": ["--help"],
    "completion of a word": [],
}
ASKS = 10
ROUNDS = 20
_PROGRAM = Path(sys.executable).parent / "sayso"


def in_turns(names: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Seconds that each takes, and that the empty process takes beside them."""
    with _home() as (env, ask):
        found: dict[str, list[float]] = {name: [] for name in (EMPTY, *names)}
        for _ in range(rounds):
            found[EMPTY].append(_seconds([sys.executable, "-I", "-c", "pass"], env))
            for name in names:
                words = [ask if word == "ID" else word for word in COMMANDS[name]]
                completes = (
                    {} if words else {"_SAYSO_COMPLETE": "zsh_complete", "COMP_WORDS": "sayso l", "COMP_CWORD": "1"}
                )
                found[name].append(_seconds([str(_PROGRAM), *words], {**env, **completes}))
    return found


def beside_empty(name: str, rounds: int) -> tuple[list[float], list[float]]:
    found = in_turns([name], rounds)
    return found[name], found[EMPTY]


@contextmanager
def _home() -> Iterator[tuple[dict[str, str], str]]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "SAYSO_STATE_DIR": f"{folder}/state"}
        with open_desks(load(environ=env, cwd=Path(folder))) as desks:
            for number in range(ASKS):
                asked = (Question(id="1", text=f"Which of the {number}?"),)
                ask = desks.asks.leave(NewAsk(tool="bench", questions=asked, asker=Asker(client="bench", pid=number)))
        yield env, ask.id


def _seconds(command: Sequence[str], env: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, env=env, cwd=env["HOME"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    found = {name: statistics.median(taken) for name, taken in in_turns(tuple(COMMANDS), rounds).items()}
    rows = [[name, f"{taken * 1000:.0f} ms", ratio(taken, found[EMPTY])] for name, taken in found.items()]
    print(f"{setting()}\n\n{table(['command', 'start to end', 'empty Pythons'], rows)}")


if __name__ == "__main__":
    main()
