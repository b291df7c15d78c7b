"""The history: what ended and how, found again, read again, copied."""

from __future__ import annotations

import pytest
from tests.asks.samples import permission_ask
from tests.tui.harness import DATABASE, NAME, Place, select, until

from sayso.asks.model import CLIENT_FORM, Answer, Asker, NewAsk, Settler
from sayso.dialects import approve
from sayso.permissions.desk import PermissionDesk
from sayso.records import replace
from sayso.tui.asklist import AskList

pytestmark = pytest.mark.anyio

BEN = Settler(person="ben", surface="browser")


@pytest.fixture
def past(place: Place) -> Place:
    """A place where three asks have ended."""
    first = place.ask(replace(DATABASE, text="Which store?"), project="/srv/shop")
    place.desk.answer(first.ask.id, [Answer(question="db", chosen=("lite",), note="for now")], BEN)
    place.desk.delivered(first)
    second = place.ask(NAME, project="/srv/api")
    place.desk.reject(second.ask.id, "no name is needed", BEN)
    third = place.ask(select("Too late?"), timeout_ms=10_000)
    place.desk.time_out(third)
    return place


async def test_an_answer_through_a_clients_form_is_told_as_that(place: Place) -> None:
    held = place.ask(NAME)
    by = Settler(person=f"someone at {held.ask.asker.client}", surface=CLIENT_FORM)
    place.desk.answer(held.ask.id, [Answer(question="name", text="Ada")], by)
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("h")
        await anna.sees(
            f"answered through {held.ask.asker.client}'s own form", "answered through the client's own form"
        )


async def test_the_history_tells_how_each_ask_ended_by_whom_and_where(past: Place) -> None:
    async with past.inbox(size=(120, 40)) as anna:
        await anna.press("h")
        await anna.sees("History", "answered by ben in the browser", "rejected by ben in the browser", "timed out")
        await anna.press("end")
        await anna.sees(
            "1. Database", "Which store?", "→ SQLite", "→ Note: for now", "received by the agent", "What happened"
        )
        await anna.press("up")
        await anna.sees("Reason: no name is needed", "not yet received by the agent")


@pytest.mark.finding("F-51")
async def test_the_history_tells_what_was_allowed_from_what_was_denied(place: Place) -> None:
    for command, chosen in (("rm -rf one", "allow"), ("rm -rf two", "deny")):
        wanted = approve.Permission(tool="Bash", given={"command": command})
        held = place.desk.hold(permission_ask(wanted, Asker(client="claude", session=command)))
        desk = PermissionDesk(place.desk)
        if chosen == "allow":
            desk.allow(held.ask.id, held.ask.digest, BEN)
        else:
            desk.deny(held.ask.id, BEN)
            place.desk.note_of_client(held.ask.id, "Its own record says that it was done")
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("h")
        await anna.sees(
            "allowed by ben in the browser",
            "denied by ben in the browser",
            "│ rm -rf two",
            "denied by ben in the browser",
        )
        await anna.sees("Its own record says that it was done.", "noted what its client's own record says")


async def test_on_a_small_screen_the_record_takes_the_place_of_the_list(past: Place) -> None:
    async with past.inbox() as anna:
        await anna.press("h")
        await anna.sees("rejected by ben")
        await anna.press("down", "enter")
        await anna.sees("Reason: no name is needed")
        await anna.sees_not("Too late?")
        await anna.press("escape")
        await anna.sees("Too late?")
        await anna.press("escape")
        await anna.sees_not("History")


async def test_questions_answers_and_reasons_can_be_searched(past: Place) -> None:
    async with past.inbox() as anna:
        await anna.press("h")
        await anna.sees("Which store?")
        await anna.press("/")
        await anna.type("NAME IS NEEDED")
        await anna.sees_not("Which store?")
        await anna.sees("What should the service be called?")
        await anna.type(" zzz")
        await anna.sees("Nothing found.")


async def test_the_history_can_be_filtered_by_outcome_and_by_project(past: Place) -> None:
    async with past.inbox() as anna:
        await anna.press("h")
        await anna.sees("Which store?", "Too late?")
        await anna.press("f")
        await anna.sees_not("Too late?")
        await anna.sees("History · answered", "Which store?")
        await anna.press("f")
        await anna.sees("History · rejected")
        await anna.sees_not("Which store?")
        await anna.press("p")
        await anna.sees("History · project api · rejected")


async def test_a_record_is_copied_with_questions_and_answers(past: Place) -> None:
    async with past.inbox() as anna:
        await anna.press("h")
        await anna.sees("Which store?")
        await anna.press("end", "c")
        await anna.sees("Copied.")
        assert anna.app.clipboard == "1. Which store?\n   → SQLite\n   → Note: for now"


async def test_what_timed_out_can_be_answered_from_the_history(past: Place) -> None:
    async with past.inbox() as anna:
        await anna.press("h")
        await anna.sees("Too late?")
        await anna.press("enter")
        await anna.sees("timed out,")
        await anna.press("enter")
        await anna.sees("1. Red", "You can still answer, late")


async def test_an_empty_history_says_so(place: Place) -> None:
    async with place.inbox() as anna:
        await anna.press("h")
        await anna.sees("Nothing has ended yet.")


async def test_a_long_history_is_fetched_as_it_is_scrolled_through(place: Place) -> None:
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    for number in range(150):
        ask = place.desk.leave(NewAsk(tool="t", questions=(NAME,), asker=asker, title=f"Ask {number:03}"))
        place.desk.cancel(ask.id, BEN)
    async with place.inbox() as anna:
        await anna.press("h")
        await anna.sees("> Ask 149")
        await anna.press("end")
        await anna.sees("> Ask 050")
        await until(lambda: len(anna.app.screen.query_one(AskList).items) == 150, anna.screen)
        await anna.press("end")
        await anna.sees("> Ask 000")


async def test_an_ask_whose_texts_were_not_kept_is_still_told_of(place: Place) -> None:
    held = place.ask(NAME)
    place.desk.answer(held.ask.id, [Answer(question="name", text="x")], BEN)
    forgetful = type(place.desk)(place.store, keeps_history=lambda _: False)
    forgetful.delivered(held)
    async with place.inbox() as anna:
        await anna.press("h")
        await anna.sees("The texts were not kept.", "answered by ben in the browser")


async def test_the_outcomes_that_the_history_is_filtered_by_tell_an_allow_from_a_deny(place: Place) -> None:
    for command, decide in (("rm -rf one", "allow"), ("rm -rf two", "deny")):
        wanted = approve.Permission(tool="Bash", given={"command": command})
        held, desk = place.desk.hold(permission_ask(wanted, Asker(client="claude"))), PermissionDesk(place.desk)
        if decide == "allow":
            desk.allow(held.ask.id, held.ask.digest, BEN)
        else:
            desk.deny(held.ask.id, BEN)
    answered = place.ask(NAME)
    place.desk.answer(answered.ask.id, [Answer(question="name", text="Ada")], BEN)
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("h")
        await anna.sees("rm -rf one", "rm -rf two", "What should the service")
        shown = {
            "answered": ["What should the service"],
            "rejected": [],
            "allowed": ["rm -rf one"],
            "denied": ["rm -rf two"],
        }
        for outcome, found in shown.items():
            await anna.press("f")
            await anna.sees(f"History · {outcome}")
            wanted_now = set(found)
            await until(lambda wanted_now=wanted_now: _found(anna.screen()) == wanted_now, anna.screen)  # type: ignore[misc]


def _found(screen: str) -> set[str]:
    return {text for text in ("rm -rf one", "rm -rf two", "What should the service") if text in screen}
