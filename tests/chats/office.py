"""A store with one person in it, ada, who is told by a chat that is played: real desks, real lines, a real store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from tests.permissions.test_desk import PUSH, wanted

from sayso.asks.model import Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.chats.model import ChatKind
from sayso.config import load
from sayso.desks import Desks
from sayso.permissions.action import Action
from sayso.store import Store

YES_NO = Question(id="1", text="Ship it?", kind=Kind.CONFIRM)
COLOURS = (Option(id="r", label="Red"), Option(id="b", label="Blue", description="as the sky"))
COLOUR = Question(id="1", text="Which colour?", kind=Kind.SELECT, options=COLOURS)
PLACES = Question(
    id="2",
    text="Where?",
    kind=Kind.MULTI_SELECT,
    options=(Option(id="h", label="Here"), Option(id="t", label="There")),
)
NAME = Question(id="1", text="What is it called?", kind=Kind.TEXT)


class Looking(set[str]):
    """Those who look at a page, and how often somebody has asked."""

    asked = 0

    def __contains__(self, person: object) -> bool:
        self.asked += 1
        return super().__contains__(person)


class Office:
    def __init__(self, store: Store, state: Path, *, web_url: str = "") -> None:
        self.store = store
        environ = {"SAYSO_STATE_DIR": str(state), "SAYSO_NOTIFY_AFTER_TYPING": "1ms", "SAYSO_WEB_URL": web_url}
        self.desks = Desks(load(environ=environ, cwd=state), store)
        self.desk, self.chats = self.desks.asks, self.desks.chats
        self.looking = Looking()
        self.desks.accounts.add_user("ada")

    def add(self, kind: ChatKind, access: Mapping[str, str]) -> None:
        self.chats.add(kind, access)

    def while_running(self, work: Callable[[], None], *others: Store) -> None:
        """Do some work while chats are served, also by other processes of the same store."""

        async def run() -> None:
            async with AsyncExitStack() as stack:
                for store in (self.store, *others):
                    service = Desks(self.desks.config, store).chat_service()
                    await stack.enter_async_context(service.running(self.looking.__contains__))
                await asyncio.to_thread(work)

        asyncio.run(run())

    def ask(self, *questions: Question, owner: str = "", project: str = "/home/ada/shop") -> Ask:
        asker = Asker(client="codex", project=project, owner=owner)
        return self.desk.leave(NewAsk(tool="ask_user", questions=questions or (YES_NO,), asker=asker))

    def permission(self, action: Action = PUSH) -> Ask:
        return wanted(self.desk, action)

    def state(self, ask: Ask) -> State:
        return self.desk.get(ask.id).state

    def answer(self, ask: Ask) -> tuple[tuple[str, ...], str | None]:
        """What was chosen and said."""
        given = self.desk.get(ask.id).answer(ask.questions[0].id)
        assert given
        return given.chosen, given.text

    def by(self, ask: Ask) -> tuple[str, str]:
        outcome = self.desk.get(ask.id).outcome
        assert outcome
        return outcome.person, outcome.surface
