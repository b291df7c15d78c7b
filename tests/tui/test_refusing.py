"""Saying no: to all of it with a reason, or to one question until it is explained."""

from __future__ import annotations

import os
import socket

import pytest
from tests.tui.harness import FOUR, NAME, Place, select

from sayso.asks.model import Asker, NewAsk, State
from sayso.processes import name_of

pytestmark = pytest.mark.anyio


async def test_an_ask_is_rejected_with_a_reason(place: Place) -> None:
    held = place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("x")
        await anna.sees("Reject all 4 questions?")
        await anna.type("ask me tomorrow")
        await anna.press("enter")
        ended = await place.outcome(held)
        await anna.sees("Rejected. Waiting for claude-code to")
    assert ended.state is State.REJECTED
    assert ended.outcome is not None
    assert ended.outcome.reason == "ask me tomorrow"


async def test_an_ask_is_rejected_without_a_reason(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("x")
        await anna.sees("You can leave this empty.")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.reason == ""


async def test_going_back_from_the_question_why_rejects_nothing(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("x")
        await anna.sees("Reject this question?")
        await anna.press("escape")
        await anna.sees_not("Reject this question?")
        await anna.sees("1. Red")
    assert place.now(held).state is State.PENDING


async def test_the_agent_is_asked_to_explain_one_question(place: Place) -> None:
    held = place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("tab")
        await anna.sees("Where should it run?")
        await anna.press("e")
        await anna.sees("Ask the agent to explain question 2")
        await anna.type("What does Dublin cost?")
        await anna.press("enter")
        ended = await place.outcome(held)
        await anna.sees("Handed back with a request to explain. Waiting")
    assert ended.state is State.REJECTED
    assert ended.outcome is not None
    assert ended.outcome.reason == (
        "Please elaborate on question 2 of 4 (Where should it run?) and ask again. What does Dublin cost?"
    )


async def test_both_ways_out_of_a_dialog_can_be_clicked(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("x")
        await anna.click("esc goes back")
        await anna.sees_not("Reject this question?")
        assert place.now(held).state is State.PENDING
        await anna.press("x")
        await anna.click("enter confirms")
        assert (await place.outcome(held)).state is State.REJECTED


async def test_an_agent_cannot_answer_itself_through_an_inbox_it_has_started(place: Place) -> None:
    us = name_of(os.getpid())
    assert us is not None
    asker = Asker(client="sly", project="/p", host=socket.gethostname(), pid=us.pid, started=us.started)
    held = place.desk.hold(NewAsk(tool="ask_user", questions=(NAME,), asker=asker))
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("yes, do it")
        await anna.press("enter", "enter")
        await anna.sees("an agent may not settle its own")
        await anna.press("x", "enter")
        await anna.sees("Not sent")
    assert place.now(held).state is State.PENDING
    assert "refused" in {event.kind for event in place.desk.events(held.ask.id)}
