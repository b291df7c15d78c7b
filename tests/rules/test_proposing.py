"""The narrowest rule that would be of use for actions like one."""

from __future__ import annotations

import pytest

from sayso.rules.proposing import like, would_allow
from sayso.rules.uses import example


@pytest.mark.parametrize(
    ("action", "proposed"),
    [
        ("Bash(npm test)", ["Bash(npm test)"]),
        ("Bash(npm test -- --watch)", ["Bash(npm test *)"]),
        ("Bash(npm run build --silent)", ["Bash(npm run build *)"]),
        ("Bash(git log --oneline -5)", ["Bash(git log *)"]),
        ("Bash(git -C x log)", ["Bash(git -C x log)"]),
        ("Bash(git diff --output=x)", ["Bash(git diff --output=x)"]),
        ("Bash(./build.sh prod)", ["Bash(./build.sh prod)"]),
        ("Bash(rm -rf build)", ["Bash(rm -rf build)"]),
        ("Bash(git status && npm test)", ["Bash(git status)", "Bash(npm test)"]),
        ("Bash(timeout 5 npm test)", ["Bash(npm test)"]),
        ("Bash(git status > x)", []),
        ("Bash(ls $X)", []),
        ("Bash(sudo rm x)", ["Bash(sudo rm x)"]),
        ("Edit(src/app/a.py)", ["Edit(src/app/**)"]),
        ("Edit(README.md)", ["Edit(/README.md)"]),
        ("Edit(.git/config)", []),
        ("Read(/etc/hosts)", ["Read(//etc/hosts)"]),
        ("WebFetch(https://docs.example.com/x)", ["WebFetch(domain:docs.example.com)"]),
        ("mcp__github__get_issue", ["mcp__github__get_issue"]),
        ("deploy(./deploy.sh staging)", ["deploy(./deploy.sh staging)"]),
    ],
)
def test_it_names_the_words_that_carry_meaning_and_the_folder_of_an_edit(action: str, proposed: list[str]) -> None:
    assert list(like(example(action, "/project"))) == proposed


def test_what_it_would_have_matched_can_be_told() -> None:
    patterns = like(example("Bash(npm test -- x)", "/project"))
    assert would_allow(patterns, example("Bash(npm test)", "/elsewhere"))
    assert not would_allow(patterns, example("Bash(npm publish)", "/project"))
