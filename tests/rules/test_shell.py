"""Shell lines under a fixed set of rules: nothing that should be asked is allowed, nothing that is denied gets by."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

import pytest

from sayso.rules.book import Circumstances, RuleBook
from sayso.rules.levels import RuleLevel
from sayso.rules.reading import read_rules
from sayso.rules.rule import Effect
from sayso.rules.uses import Ground, use_of

HERE = Path(__file__).parent
PROJECT = "/project"


def spelt(line: str) -> str:
    return re.sub(r"\\(\\|[ntr]|x..|u....)", lambda found: found[0].encode().decode("unicode_escape"), line)


def corpus() -> list[tuple[Effect, str]]:
    found = []
    for entry in (HERE / "corpus.txt").read_text("utf-8").splitlines():
        verdict, _, line = entry.partition(" ")
        if verdict not in ("#", ""):
            found.append((Effect(verdict.rstrip("*")), spelt(line) if verdict.endswith("*") else line))
    return found


def book() -> RuleBook:
    file = read_rules((HERE / "corpus.toml").read_bytes(), HERE / "corpus.toml", RuleLevel.PERSON)
    assert file.faults == ()
    return RuleBook([file])


def verdict(rules: RuleBook, line: str) -> Effect:
    action = {"kind": "shell", "tool": "Bash", "folder": PROJECT, "data": {"input": {"command": line}}}
    use = use_of(action, Ground(leads_to=os.path.normpath))
    return rules.judge(use, Circumstances(project=PROJECT)).effect


def test_every_line_of_the_corpus_has_its_verdict() -> None:
    lines, rules = corpus(), book()
    assert len(lines) > 400
    wrong = [
        (line, f"is {found}, not {meant}") for meant, line in lines if (found := verdict(rules, line)) is not meant
    ]
    assert wrong == []


@pytest.mark.parametrize("around", ["{}; ls", "ls && {}", "({})", "if ls; then {}; fi", "{} | head", "! {}"])
def test_what_is_asked_or_denied_by_itself_is_never_allowed_as_part_of_a_line(around: str) -> None:
    rules = book()
    parts = [line for meant, line in corpus() if meant is not Effect.ALLOW and not line.endswith("\\")]
    assert [line for line in parts if verdict(rules, around.format(line)) is Effect.ALLOW] == []
