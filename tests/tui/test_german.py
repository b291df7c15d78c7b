"""The terminal inbox in German: also what lower layers say, and our own words around what agents wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import permission_ask
from tests.tui.harness import Place, select

from sayso.asks.model import Asker
from sayso.cli import texts
from sayso.dialects import approve

pytestmark = pytest.mark.anyio

WORDS = {"Allow", "Deny", "Other", "Note", "choose", "back", "help", "left", "waiting", "reject", "cannot"}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("SAYSO_LANGUAGE", "de")
    for cached in (texts.language, texts.catalogue, texts._templates):
        cached.cache_clear()
    place = Place(tmp_path, language="de")
    yield place
    place.close()
    for cached in (texts.language, texts.catalogue, texts._templates):
        cached.cache_clear()


async def test_a_permission_is_german_but_for_what_the_agent_wants(german: Place) -> None:
    wanted = approve.Permission(tool="Bash", given={"command": "git push"})
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    german.desk.hold(permission_ask(wanted, asker))
    async with german.inbox((110, 40), translated=texts.translated) as anna:
        await anna.sees("Bash: git push erlauben?")
        await anna.open()
        await anna.sees("1. Erlauben", "2. Verweigern", "Genau das für den Rest der Sitzung erlauben")
        await anna.sees("Dasselbe Werkzeug mit derselben Eingabe.", "Mit einer Anmerkung oder stattdessen")
        assert WORDS & set(anna.screen().replace(".", " ").split()) == set()


async def test_the_words_of_an_agents_question_are_told_as_they_are(german: Place) -> None:
    german.ask(select("Allow or deny?"))
    async with german.inbox((110, 40), translated=texts.translated) as anna:
        await anna.open()
        await anna.sees("Allow or deny?", "1. Red")


async def test_what_a_lower_layer_refuses_is_told_in_german(german: Place) -> None:
    german.ask(select())
    async with german.inbox((110, 40), translated=texts.translated) as anna:
        await anna.open()
        await anna.press("f")
        await anna.sees("Pfad eines Bildes oder einer Datei")
        await anna.type("gone.txt")
        await anna.press("enter")
        await anna.sees('"gone.txt" lässt sich nicht lesen')
