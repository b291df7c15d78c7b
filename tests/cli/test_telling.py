"""Whoever asks where nobody looks has the person told, whichever command it is that asks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests import warm
from tests.cli.program import BIN, SECONDS, SOMEONE, Home
from tests.cli.test_gate import HEADLESS, prompt
from tests.cli.test_tools import SLEEPER, write_tool
from tests.running.processes import eventually

from sayso.asks.quorum import deciders
from sayso.tui.settling import turned_down


def with_command(home: Home) -> tuple[Home, Path]:
    """A person who is told by a command that prints something too, and what it was told."""
    told, script = home.folder / "told", home.folder / "notify.sh"
    told.touch()
    script.write_text(f"cat >> {told}; echo printed")
    extra = {"SAYSO_NOTIFY_COMMAND": f"sh {script}", "SAYSO_NOTIFY_AFTER_TYPING": "1ms", **HEADLESS}
    return Home(folder=home.folder, extra=extra), told


def started(home: Home, words: list[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    process = warm.start([BIN / "sayso", *words], stdin=pipe, stdout=pipe, stderr=pipe, cwd=home.project, env=home.env)
    assert process.stdin
    process.stdin.write(json.dumps(prompt(home)).encode() if words[0] == "gate" else b"")
    process.stdin.close()
    process.stdin = None
    return process


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "Deploy?", "--confirm"],
        ["tools", "run", "sleeper", "script=true"],
        ["gate", "claude-code"],
    ],
    ids=lambda words: words[0],
)
def test_whoever_asks_where_nobody_looks_has_the_person_told_once(home: Home, words: list[str]) -> None:
    write_tool(home, {**SLEEPER, "approve": "always"})
    home, told = with_command(home)
    process = started(home, words)
    ask = home.wait_for_ask()
    eventually(lambda: ask.id[:8] in told.read_text())
    with home.desk() as desk:
        turned_down(desk, ask, "no", SOMEONE)
    out, _ = process.communicate(timeout=SECONDS)
    assert b"printed" not in out
    assert told.read_text().count(ask.id[:8]) == 1


def test_whoever_is_asked_as_well_because_nobody_has_decided_is_told_then(home: Home) -> None:
    rules = home.folder / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    more = 'approvers = ["mira"]\nescalate = { after = "2s", to = ["ada"] }'
    rules.write_text(f'[[rule]]\nask = ["Bash(make *)"]\n{more}')
    home, told = with_command(home)
    process = started(home, ["gate", "claude-code"])
    ask = home.wait_for_ask()
    eventually(lambda: ask.id[:8] in told.read_text())
    assert "ada" in deciders(home.ask_of(ask)), "told before there was anything to decide"
    process.terminate()
    process.communicate(timeout=SECONDS)


def test_whoever_takes_up_what_was_asked_before_has_nobody_told_again(home: Home) -> None:
    home, told = with_command(home)
    first = started(home, ["ask", "Which one?", "-o", "a", "-o", "b"])
    ask = home.wait_for_ask()
    eventually(lambda: ask.id[:8] in told.read_text())
    first.kill()
    first.communicate(timeout=SECONDS)
    again = started(home, ["ask", "Which one?", "-o", "a", "-o", "b"])
    assert again.stderr
    assert b"is taken up again" in again.stderr.readline()
    with home.desk() as desk:
        turned_down(desk, ask, "no", SOMEONE)
    again.communicate(timeout=SECONDS)
    assert told.read_text().count(ask.id[:8]) == 1
