"""A store that goes away and comes back: said plainly, nothing lost, no new store made in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.tui.harness import NAME, Place, select, until

from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, Said, from_json, to_json
from sayso.asks.model import State
from sayso.errors import AlreadySettled, ConfigError, StoreFull
from sayso.records import replace
from sayso.tui import inbox
from sayso.tui.app import SaysoApp
from sayso.tui.shared import UnsavedDraft
from sayso.tui.unsaved import keep_each, losses

pytestmark = pytest.mark.anyio


def no_space(*_: object, **__: object) -> None:
    raise StoreFull("No space is left.")


def take_away(place: Place) -> None:
    for file in sorted(place.config.state_dir.glob("sayso.db*")):
        file.rename(file.with_name(f"away-{file.name}"))


def put_back(place: Place) -> None:
    for file in sorted(place.config.state_dir.glob("away-*")):
        file.rename(file.with_name(file.name.removeprefix("away-")))


async def test_a_store_that_is_gone_is_said_to_be_and_is_taken_up_again_when_it_is_back(place: Place) -> None:
    place.ask(select("First?"))
    async with place.inbox() as anna:
        take_away(place)
        await anna.sees("The store has been unreachable since", "First?")
        assert not place.config.database.exists()
        put_back(place)
        await anna.sees_not("The store has been unreachable")
        place.desk.release_all()
        await anna.sees("agent not waiting")
        await until(place.desk.open_surfaces, anna.screen)


async def test_what_is_typed_while_the_store_is_away_is_kept_when_it_is_back(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        take_away(place)
        await anna.sees("The store has been unreachable since")
        await anna.type("billing")
        await anna.press("enter", "enter")
        await anna.sees("Not sent", "billing")
        await anna.press("escape")
        put_back(place)
        await anna.sees_not("The store has been unreachable")
        await until(lambda: "billing" in place.desk.draft(held.ask.id, "anna"), anna.screen)
        assert place.now(held).state is State.PENDING


async def test_something_else_in_the_place_of_the_store_is_explained(place: Place) -> None:
    async with place.inbox() as anna:
        take_away(place)
        place.config.database.write_text("this is no database, and longer than a header of sixteen bytes")
        await anna.sees("is damaged or is not a Sayso store")
        await anna.sees_not("Nothing is lost")
        put_back(place)
        await anna.sees_not("The store has been unreachable")


async def test_an_inbox_that_is_opened_on_a_full_disk_shows_what_is_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise StoreFull("No space is left.")

    place.ask(select("First?"))
    with monkeypatch.context() as full:
        full.setattr(AskDesk, "show_up", no_space)
        async with place.inbox((120, 30)) as anna:
            await anna.sees("First?", "you can read, but not answer.", "No space is left.")
            place.ask(select("Second?"))
            await anna.sees("Second?", "you can read, but not answer.")
            full.undo()
            await anna.sees_not("you can read, but not answer.")
            await until(place.desk.open_surfaces, anna.screen)


async def test_an_inbox_can_be_opened_before_its_store_can(tmp_path: Path) -> None:
    place = Place(tmp_path)
    take_away(place)
    place.config.database.mkdir()
    async with place.inbox() as anna:
        await anna.sees("The store cannot be read since")
        place.config.database.rmdir()
        put_back(place)
        await anna.sees("No questions.")
    place.close()


async def test_a_wrong_setting_of_the_store_ends_the_inbox_with_its_explanation(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.environ["SAYSO_STORE"] = "mysql://nope"
    app = SaysoApp(place.config, environ=place.environ)
    async with app.run_test() as pilot:
        await until(lambda: app.failure, lambda: "the failure")
        await pilot.pause(0)
    assert isinstance(app.failure, ConfigError)
    assert "SAYSO_STORE" in str(app.failure)
    place.close()


async def test_who_quits_is_told_first_what_is_not_saved_and_leaves_it_by_quitting_once_more(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        take_away(place)
        await anna.sees("The store has been unreachable since")
        await anna.type("billing")
        await anna.press("ctrl+q")
        await anna.sees(
            "Not quit yet, because something is not saved.", "It is for: What should the service be called?"
        )
        await anna.press_after(0.2, "ctrl+q")
        assert anna.app.is_running, "a held key is no second one"
        await anna.press("ctrl+q")
        assert not anna.app.is_running
    assert losses(anna.app.shared, anna.app.told_unsaved) == [
        "Lost, because it could not be saved: What should the service be called?: billing"
    ]
    put_back(place)


async def test_what_was_entered_elsewhere_meanwhile_stays_beside_what_could_not_be_saved(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        with monkeypatch.context() as full:
            full.setattr(AskDesk, "keep_draft", no_space)
            await anna.type("billing")
            await until(lambda: held.ask.id in anna.app.shared.board.unsaved, anna.screen)
        elsewhere = Draft(said={"name": Said(text="invoices")})
        place.desk.keep_draft(held.ask.id, "anna", to_json(held.ask, elsewhere))
        await anna.press("ctrl+q")
    kept = from_json(held.ask, place.desk.draft(held.ask.id, "anna")).of(NAME).text
    assert all(each in kept for each in ("billing", "invoices")), kept


async def test_what_is_too_large_for_a_full_disk_keeps_nothing_else_from_being_saved(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = AskDesk.keep_draft

    def has_little_space(desk: AskDesk, ask_id: str, person: str, body: str, **options: Any) -> str:
        if "large" in body:
            raise StoreFull("No space is left.")
        return keep(desk, ask_id, person, body, **options)

    asks = [place.ask(replace(NAME, text=f"{number}?")).ask for number in range(3)]
    drafts = {
        ask.id: UnsavedDraft(ask=ask, body=to_json(ask, Draft(said={"name": Said(text=text)})), over="")
        for ask, text in zip(asks, ("small", "large", "little"), strict=True)
    }
    monkeypatch.setattr(AskDesk, "keep_draft", has_little_space)
    assert list(keep_each(place.desk, "anna", drafts)) == [asks[0].id, asks[2].id]
    assert place.desk.drafts("anna") == {asks[0].id, asks[2].id}


async def test_an_answer_that_cannot_be_sent_keeps_its_person_from_quitting_until_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "SECONDS_TO_UNDO", 600)
    held = place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.sees("1-2 answer")
        with monkeypatch.context() as full:
            full.setattr(AskDesk, "answer", no_space)
            full.setattr(AskDesk, "keep_draft", no_space)
            await anna.press("2", "q")
            await anna.sees("Not quit yet, because something is not saved.", "It is for: First?", "Blue: sent in")
            assert anna.app.is_running
        await anna.press("q")
        assert not anna.app.is_running
    assert losses(anna.app.shared, anna.app.told_unsaved) == []
    assert place.now(held).state is State.ANSWERED


async def test_who_quits_is_told_that_somebody_else_was_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*_: object, **__: object) -> None:
        raise AlreadySettled("Already answered by ben.")

    place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.sees("1-2 answer")
        monkeypatch.setattr(AskDesk, "answer", too_late)
        await anna.press("2", "q")
        await anna.sees("Not sent: Already answered by ben.")
        assert anna.app.is_running
        await anna.press("q")
        assert not anna.app.is_running
