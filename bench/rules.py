"""How long rules take to decide about a shell line and an edit, few of them and a thousand, in turns."""

from __future__ import annotations

import os.path
import time
from pathlib import Path

from sayso.rules.book import Circumstances, RuleBook
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules
from sayso.rules.uses import Ground, use_of

LINE = "git status --short && npm test -- --watch=false 2>&1 | head -20"
FEW, MANY = 10, 1_000


def book(rules: int) -> RuleBook:
    """Rules of every kind, the ones that decide last."""
    own = ["Bash(git status *)", "Bash(npm test *)", "Bash(head *)", "Edit(src/**)"]
    effects = ("deny", "ask", "allow")
    texts = [f'[[rule]]\n{effects[n % 3]} = ["Bash(tool{n} run *)", "Edit(part{n}/**)"]' for n in range(rules - 1)]
    texts.append(f"[[rule]]\nallow = {own}")
    read = read_rules("\n".join(texts).encode(), Path("rules.toml"), RuleLevel.PERSON)
    assert not read.faults
    return RuleBook([read])


def decided(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds that both take with a thousand rules, and with ten."""
    shell = {"kind": "shell", "tool": "Bash", "folder": "/project", "data": {"input": {"command": LINE}}}
    edit = {"kind": "edit", "tool": "Edit", "folder": "/project", "data": {"input": {"file_path": "src/a.py"}}}
    ground, where = Ground(leads_to=os.path.normpath), Circumstances(project="/project")
    many, few = book(MANY), book(FEW)

    def seconds(rules: RuleBook) -> float:
        begun = time.perf_counter()
        for action in (shell, edit):
            ruling = rules.judge(use_of(action, ground), where)
            assert ruling.effect == "allow"
        return time.perf_counter() - begun

    pairs = [(seconds(many), seconds(few)) for _ in range(rounds)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
