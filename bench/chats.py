"""From the moment when Telegram says that a button was pressed to the moment when the agent has the answer, beside the
same answer given at the desk. Both take turns in one run; the bot's API is on loopback."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bench.tables import print_ways
from tests.chats.servers.telegram import TOKEN, Sent, Telegram, telegram

from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Question, Settler, State
from sayso.chats.model import ChatKind
from sayso.config import load
from sayso.desks import Desks, open_desks

T = TypeVar("T")
PATIENCE = 30.0
PERSON = Settler(person="ada", surface="bench")


async def measured(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each answer by a button, and of each at the desk."""
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as name, telegram() as server:
        config = load(environ={"SAYSO_STATE_DIR": f"{name}/state"}, cwd=Path(name))
        with open_desks(config) as desks, open_desks(config) as agents:
            desks.accounts.add_user("ada")
            desks.chats.add(ChatKind.TELEGRAM, {"token": TOKEN, "server": server.address})
            async with desks.chat_service().running(lambda _: False):
                return await asyncio.to_thread(_take_turns, rounds, desks, agents, server)


def _take_turns(rounds: int, desks: Desks, agents: Desks, server: Telegram) -> tuple[list[float], list[float]]:
    ada, pressed, by_hand = server.user(501, "ada"), [], []
    ada.writes(desks.chats.make_code(ChatKind.TELEGRAM, "ada"))
    _message(server)
    for number in range(rounds):
        update, ended = _answered(agents, f"by a button {number}", lambda _: ada.presses(_message(server), "Yes"))
        pressed.append(ended - server.told_at[update])
        began, ended = _answered(agents, f"by hand {number}", lambda ask: _answer(desks, server, ask))
        by_hand.append(ended - began)
    return pressed, by_hand


def _answer(desks: Desks, server: Telegram, ask: Ask) -> float:
    """When it began to be answered at the desk, after it was told in the chat as well."""
    _message(server)
    began = time.perf_counter()
    desks.asks.answer(ask.id, [Answer(question="1", chosen=("yes",))], PERSON)
    return began


def _answered(agents: Desks, text: str, answer: Callable[[Ask], T]) -> tuple[T, float]:
    """Ask and have it answered. What came of that, and when the process of the agent had the answer."""
    rung = threading.Event()
    listener = agents.listen(rung.set)
    try:
        question = Question(id="1", text=text, kind=Kind.CONFIRM)
        ask = agents.asks.leave(NewAsk(tool="ask_user", questions=(question,), asker=Asker(client="bench")))
        done = answer(ask)
        while agents.asks.get(ask.id).state is not State.ANSWERED:
            assert rung.wait(PATIENCE)
            rung.clear()
        return done, time.perf_counter()
    finally:
        listener.close()


def _message(server: Telegram) -> Sent:
    """The next new message; those that change and what is said of presses are left out."""
    while not isinstance(found := server.next(), Sent) or found.edits:
        pass
    return found


def main() -> None:
    print_ways(__doc__ or "", measured, "Telegram's word to the agent's process", "the same answer, given at the desk")


if __name__ == "__main__":
    os.environ.pop("SAYSO_STORE", None)
    main()
