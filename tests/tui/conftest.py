"""Places for the tests of the terminal inbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tui.harness import WAIT, Place
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from sayso.clients import IN_A_SHELL
from sayso.tui.app import SaysoApp


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="package", autouse=True)
def _styles_are_read_once() -> Iterator[None]:
    """Every inbox has the same style sheets in one of few themes, and to read them is a fifth of its start."""
    read, known = Stylesheet._parse_rules, dict[object, list[RuleSet]]()

    def read_once(sheet: Stylesheet, css: str, **how: object) -> list[RuleSet]:
        wanted = css, *how.values(), frozenset(sheet._variables.items())
        if wanted not in known:
            known[wanted] = read(sheet, css, **how)  # type: ignore[arg-type]
        return known[wanted]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", read_once)
        yield


@pytest.fixture(autouse=True)
def _what_is_told_for_a_moment_stays_until_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SaysoApp, "NOTIFICATION_TIMEOUT", WAIT)


@pytest.fixture(autouse=True)
def _a_person_runs_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in IN_A_SHELL:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()
