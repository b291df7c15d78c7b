"""Commands that only read, from start to end, each in turns with an empty Python process.

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
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from bench.tables import ratio, setting, table
from tests.operations.works import Works

from sayso.asks.model import Answer, Asker, NewAsk, Question, Settler
from sayso.config import load
from sayso.desks import open_desks
from sayso.store import open_store

EMPTY = "python -I -c pass"
READING = (
    *("--version", "--help", "list", "list --count", "list --snoozed", "list --json", "show ASK", "history", "agents"),
    *("log", "log stats", "log verify", "ops list", "ops show COMMAND", "ops output COMMAND"),
    *("rules", "rules test", "rules check Bash(ls)", "rules suggest", "rules import claude-code"),
    *("tools list", "tools schema", "tools validate", "trust --list", "trust --show", "project list"),
    *("user list", "chat list", "token list", "config", "completion bash"),
)
OTHERS = ("completion of a word",)
"""What click does for us, which takes four empty processes to import."""
ASKS = 10
ROUNDS = 20
_PROGRAM = Path(sys.executable).parent / "sayso"
_RULES = """
[[rule]]
allow = ["Bash(git status)", "Bash(ls *)"]

[[rule]]
deny = ["Bash(git push --force *)"]
because = "history is shared"
"""


@cache
def in_turns(rounds: int, *names: str) -> Mapping[str, Sequence[float]]:
    """Seconds that each takes, and that the empty process takes beside them."""
    with _home() as (env, ids):
        found: dict[str, list[float]] = {name: [] for name in (EMPTY, *names)}
        for _ in range(rounds):
            found[EMPTY].append(_seconds([sys.executable, "-I", "-c", "pass"], env))
            for name in names:
                found[name].append(_seconds(*_command(name, ids, env)))
    return found


def _command(name: str, ids: Mapping[str, str], env: Mapping[str, str]) -> tuple[list[str], Mapping[str, str]]:
    if name == "completion of a word":
        return [str(_PROGRAM)], {**env, "_SAYSO_COMPLETE": "zsh_complete", "COMP_WORDS": "sayso l", "COMP_CWORD": "1"}
    return [str(_PROGRAM), *(ids.get(word, word) for word in name.split(" "))], env


@contextmanager
def _home() -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Ten asks are open and ten are answered, a command has ended; there are rules and a tool file."""
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "SAYSO_STATE_DIR": f"{folder}/state"}
        config = load(environ=env, cwd=Path(folder))
        config.user_rules.parent.mkdir(parents=True, exist_ok=True)
        config.user_rules.write_text(_RULES)
        subprocess.run(
            [_PROGRAM, "tools", "init", "--user", "git"], env=env, cwd=folder, capture_output=True, check=True
        )
        with open_desks(config) as desks:
            for number in range(2 * ASKS):
                asked = (Question(id="1", text=f"Which of the {number}?"),)
                ask = desks.asks.leave(NewAsk(tool="bench", questions=asked, asker=Asker(client="bench", pid=number)))
                if number % 2:
                    desks.asks.answer(ask.id, [Answer(question="1", text="this")], Settler(person="p", surface="s"))
        with closing(open_store(config)) as store:
            works = Works(store, config.operations_dir)
            ran = works.end(works.run("git", "status", printed="nothing to commit\n"))
        yield env, {"ASK": ask.id, "COMMAND": ran.id}


def _seconds(command: Sequence[str], env: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    # Some exit with a code that says what they found.
    subprocess.run(command, env=env, cwd=env["HOME"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begun


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    measured = in_turns(rounds, *READING, *OTHERS)
    found = {name: statistics.median(taken) for name, taken in measured.items()}
    rows = [[name, f"{taken * 1000:.0f} ms", ratio(taken, found[EMPTY])] for name, taken in found.items()]
    print(f"{setting()}\n\n{table(['command', 'start to end', 'empty Pythons'], rows)}")


if __name__ == "__main__":
    main()
