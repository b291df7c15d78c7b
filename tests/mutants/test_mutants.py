"""The tests of the tests: what is made wrong is wrong everywhere it should be, and nowhere after."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import warm
from tests.cli.conftest import new_home
from tests.cli.program import Home
from tests.mutants.calls import calls_in
from tests.mutants.copies import with_calls, with_mutant
from tests.mutants.making import Mutant, make_wrong, mutants_of

from sayso import cli, text
from sayso.text import iso_time


@pytest.fixture
def told() -> Iterator[dict[str, str]]:
    warm.forget_parents()
    yield warm.TOLD
    warm.TOLD.clear()
    warm.forget_parents()


@pytest.fixture
def home() -> Iterator[Home]:
    with new_home() as home:
        yield home


def _mutant(file: str | None, name: str, what: str) -> Mutant:
    assert file
    return next(each for each in mutants_of(Path(file)) if each.name == name and each.what.startswith(what))


def test_one_thing_is_made_wrong_at_a_time_and_right_again() -> None:
    wrong = [each for each in mutants_of(Path(text.__file__)) if each.name == "iso_time"]
    assert [each.what for each in wrong[:2]] == ["Is is IsNot", "1000 is 1001"]
    undo = make_wrong(wrong[1])
    assert iso_time(2_002) == "1970-01-01T00:00:02.000Z"
    undo()
    assert iso_time(2_002) == "1970-01-01T00:00:02.002Z"


def test_it_is_wrong_in_forked_programs_too(told: dict[str, str], home: Home) -> None:
    told[warm.MUTANTS] = with_mutant(_mutant(cli.__file__, "_tell_version", "without"))
    assert home.run("--version").out == ""
    told.clear()
    warm.forget_parents()
    assert home.run("--version").out.startswith("sayso ")


def test_what_forked_programs_call_counts_for_the_test(told: dict[str, str], home: Home, tmp_path: Path) -> None:
    told[warm.MUTANTS] = with_calls(tmp_path)
    assert home.run("--version").code == 0
    called = calls_in(tmp_path)[0]
    assert (cli.__file__, inspect.getsourcelines(cli._tell_version)[1]) in called
    assert (cli.__file__, inspect.getsourcelines(cli._help)[1]) not in called
