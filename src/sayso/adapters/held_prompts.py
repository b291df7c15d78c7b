"""What an agent asks through its adapter, held until it is decided: rules first, then people, in every inbox and in the
conversation. Whatever goes wrong is a no, and never an allow.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.adapters.rpc import FAULTS, RequestId
from sayso.clients import RUN_VARIABLE
from sayso.errors import NotFound, SaysoError
from sayso.records import record, replace

if TYPE_CHECKING:
    from sayso.asks.model import Ask, Asker
    from sayso.config import Config
    from sayso.desks import Desks
    from sayso.gates.client import GateVerdict
    from sayso.gates.open_prompt import OpenPrompt
    from sayso.gates.prompts import AskedPrompt

    Making = Callable[[Asker, Config, Desks], AskedPrompt]
    Telling = Callable[[GateVerdict], bool]

NOBODY_CAN_BE_ASKED = "This agent was started without a line to the user, so this was not allowed."
GAVE_UP = "It is not known what the user decided, so this was not allowed. That is not a decision of theirs."
FAILED = "its adapter failed"
UNDECIDED = "Nobody answered. Do not assume an answer."


@record
class AskingSession:
    """Whose prompts these are: the agent as it calls itself to MCP servers, and as people call it."""

    client: str
    title: str
    version: str = ""
    session: str = ""
    pid: int = 0


class HeldPrompts:
    """The open prompts of one agent, by the ids of its requests. The store is opened with the first of them. `ring`
    ends the wait of this process, from any thread."""

    def __init__(self, ring: Callable[[], None], *, asks: bool) -> None:
        self._ring, self._asks = ring, asks
        self._open: dict[RequestId, tuple[OpenPrompt, Telling]] = {}
        self._to_close = ExitStack()

    def put(self, request: RequestId, who: AskingSession, make: Making, tell: Telling) -> None:
        """Have it decided what `make` makes of a request. `tell` is called once with the verdict, at once or later,
        unless the prompt is dropped; it says whether somebody was there to take it."""
        if not self._asks:
            tell(_denied(NOBODY_CAN_BE_ASKED))
            return
        try:
            self._put(request, who, make, tell)
        except (*FAULTS, OSError) as error:
            self.drop(request, FAILED)
            tell(_denied(f"Sayso could not put this to the user, so it was not allowed: {error}"))

    def _put(self, request: RequestId, who: AskingSession, make: Making, tell: Telling) -> None:
        from sayso.gates.gate import note_at_work
        from sayso.gates.open_prompt import OpenPrompt, notify

        config, desks = self._desks
        asker = self._asker(who)
        question = make(asker, config, desks)
        note_at_work(desks, question)
        if verdict := question.decided_before():
            tell(verdict)
            return
        opened = OpenPrompt(who.title, who.client, question, desks.asks.hold(question.new), desks)
        self._open[request] = opened, tell
        self._show_in_run(asker.run, opened.ask)
        notify(config, opened.ask)

    def _asker(self, who: AskingSession) -> Asker:
        from sayso.asks.askers import asker_here
        from sayso.processes import name_of

        config, desks = self._desks
        run = desks.runs.on_line(os.environ.get(RUN_VARIABLE, ""))
        if run is None:
            raise NotFound("The conversation of this agent is not in the store")
        asker = asker_here(
            name_of(who.pid), config.project_name, client=who.client, version=who.version, session=who.session
        )
        return replace(asker, owner=run.user, run=run.id)

    def _show_in_run(self, run: str, ask: Ask) -> None:
        """It is in the inbox whatever becomes of that."""
        try:
            self._desks[1].runs.note_ask(run, ask.id)
        except SaysoError as error:
            print(f"sayso: ask {ask.id} is not shown in its conversation: {error}", file=sys.stderr)

    @cached_property
    def _desks(self) -> tuple[Config, Desks]:
        from sayso.config import load
        from sayso.desks import open_desks
        from sayso.gates.asker import project_of

        config = load(cwd=project_of(Path.cwd()))
        desks = self._to_close.enter_context(open_desks(config))
        self._to_close.callback(desks.listen_for_own(self._ring).close)
        return config, desks

    def look(self) -> None:
        """Tell what has been decided by now."""
        for request, (opened, tell) in list(self._open.items()):
            try:
                self._look(request, opened, tell)
            except (*FAULTS, OSError) as error:
                print(f"sayso: ask {opened.ask.id} cannot be told: {error!r}", file=sys.stderr)
                if request in self._open:
                    self._tell(request, tell, GAVE_UP)

    def _look(self, request: RequestId, opened: OpenPrompt, tell: Telling) -> None:
        ask = opened.look()
        if opened.is_given_up:
            self._tell(request, tell, GAVE_UP)
        elif ask and not _is_open(ask):
            self._hand_over(request, opened, ask, tell)

    def _hand_over(self, request: RequestId, opened: OpenPrompt, ask: Ask, tell: Telling) -> None:
        def told(verdict: GateVerdict) -> bool:
            del self._open[request]
            return tell(verdict)

        if opened.hand_over(ask, told) and request in self._open:
            self._tell(request, tell, UNDECIDED)

    def _tell(self, request: RequestId, tell: Telling, why: str) -> None:
        del self._open[request]
        tell(_denied(why))

    def drop(self, request: RequestId, why: str) -> None:
        """Nobody waits for it any more."""
        if found := self._open.pop(request, None):
            found[0].leave(why)

    def drop_all(self, why: str) -> None:
        for request in list(self._open):
            self.drop(request, why)

    def rest(self) -> float | None:
        """Seconds until something has to be looked at by itself; None while nothing is open."""
        if not self._open:  # nothing of that is loaded yet
            return None
        from sayso.gates.open_prompt import next_look

        return next_look(opened for opened, _ in self._open.values())

    def close(self, why: str) -> None:
        self.drop_all(why)
        self._to_close.close()


def _is_open(ask: Ask) -> bool:
    from sayso.asks.model import State

    return ask.state is State.PENDING


def _denied(why: str) -> GateVerdict:
    from sayso.gates.client import GateVerdict

    return GateVerdict(allowed=False, given={}, message=why)
