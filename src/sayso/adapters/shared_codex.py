"""Codex by the server that it shares with terminals, as tried with 0.166: a session that somebody has begun in a
terminal, in which Talk takes part.

What is said here is a message in that session, and the terminal shows it; what is said there is told here. What the
session asks is for its terminal and for the gate of the server (`gates/codex_gate.py`), so nothing is answered here.
"""

from __future__ import annotations

from sayso.adapters.codex import CodexAdapter
from sayso.adapters.codex_items import ended
from sayso.adapters.line import PersonSaid
from sayso.adapters.rpc import Json, RequestId
from sayso.agents.agent import items, mapping, shortened, text_event, words
from sayso.agents.model import EventKind, NewEvent
from sayso.gates.codex_server import WORDS_OF_NO

AS_IN_THE_TERMINAL = "What this session may do, and its model, is set in its terminal."


class SharedCodexAdapter(CodexAdapter):
    def join(self) -> None:
        # The last turn tells what was said so far in the one that goes on, if one does.
        last = {"limit": 1, "itemsView": "full"}
        wanted = {"threadId": self.order.session, "excludeTurns": True, "initialTurnsPage": last}
        self.agent.request("thread/resume", wanted, self._joined, self._not_joined)

    def _joined(self, result: Json) -> None:
        super()._joined(result)
        status = mapping(mapping(result.get("thread")).get("status"))
        turns = items(mapping(result.get("initialTurnsPage")).get("data"))
        if status.get("type") == "active" and turns and turns[0].get("status") == "inProgress":
            self._go_on_with(turns[0])
        elif not self.has_waiting:
            self.talk.ended()

    def _go_on_with(self, turn: Json) -> None:
        """A turn goes on: tell what has happened in it so far."""
        self._turn = words(turn.get("id"))
        for item in items(turn.get("items")):
            self._begin_item(item, earlier=True)
            if item.get("status") not in (None, "inProgress") or item.get("type") in ("agentMessage", "reasoning"):
                self._commands.discard(words(item.get("id")))
                self.talk.tell(ended(item))

    def _begin_item(self, item: Json, *, earlier: bool = False) -> None:
        """With what was said in a terminal, before the message that begins this turn here or while it goes on."""
        name = words(item.get("clientId"))
        if item.get("type") == "userMessage" and not self.is_of_talk(name):
            text = "\n\n".join(filter(None, (words(part.get("text")) for part in items(item.get("content")))))
            self.talk.tell(self._said_elsewhere(name, text, {"earlier": True} if earlier else {}))
        super()._begin_item(item)

    def _said_elsewhere(self, name: str, text: str, more: dict[str, bool]) -> tuple[NewEvent, ...]:
        if name.startswith(WORDS_OF_NO):
            return text_event(EventKind.NOTICE, f"{self.order.label} is told: {shortened(text, 2_000)}")
        return text_event(EventKind.ELSEWHERE, shortened(text), by_person=True, **more)

    # Somebody in the terminal may begin a turn at the same moment: what is ours is known by its name.

    def _named(self, said: PersonSaid) -> dict[str, str]:
        return {"clientUserMessageId": said.name}

    def _note_begun(self, turn: Json) -> None:
        starts_with, self._starts_with = self._starts_with, None
        super()._note_begun(turn)
        self._starts_with = starts_with

    def _note_given(self, item: Json) -> None:
        super()._note_given(item)
        if self._starts_with and self._starts_with.name == item.get("clientId"):
            self.talk.taken(self._starts_with.name)
            self._starts_with = None

    def _end_turn(self, turn: Json) -> None:
        starts_with = self._starts_with if turn.get("id") != self._accepted else None
        if starts_with:
            self._starts_with = None
        super()._end_turn(turn)
        self._starts_with = self._starts_with or starts_with

    def choose(self, said: PersonSaid) -> None:
        self.talk.done(said.name, refused=AS_IN_THE_TERMINAL)

    def _end_commands(self) -> None:
        """As Esc in the terminal does, an interrupt leaves what it has begun."""
        self.talk.ended("Interrupted.")

    def _be_asked(self, request: RequestId, method: str, params: Json) -> None:
        """Whatever is answered here would be answered for the terminal."""
