"""A client's prompt on its way to the inbox and back: as a permission, or as the questions of Claude's own tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from sayso.asks.model import Ask, Asker, NewAsk, Settler, State
from sayso.asks.quorum import quorum_of
from sayso.config import Config
from sayso.dialects import approve
from sayso.dialects.dialect import ToolReply
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt
from sayso.permissions.action import Action, differing_parts
from sayso.permissions.ruled import LEFT_TO_PEOPLE, RuledAction
from sayso.permissions.verdict import Decision, allowed_by, verdict_of
from sayso.terminals import terminal_of

if TYPE_CHECKING:
    from sayso.desks import Desks


class AskedPrompt(Protocol):
    """What is put to people for a prompt."""

    new: NewAsk
    doing: str
    """What the agent is at, in one line."""

    def decided_before(self) -> GateVerdict | None:
        """What need not be asked again."""
        ...

    def verdict(self, ask: Ask) -> GateVerdict | None:
        """What the client is told once the ask has ended; None for nothing, so that its own prompt decides. An allow is
        logged as handed over before it is."""
        ...

    def withdraw(self, ask: Ask, by: Settler, how: str) -> None:
        """It was decided in the client's own prompt."""
        ...


def asked(prompt: Prompt, asker: Asker, config: Config, desks: Desks) -> AskedPrompt:
    kind = AskedQuestions if prompt.permission.is_question else AskedPermission
    return kind(prompt, asker, config, desks)


class AskedPermission:
    def __init__(self, prompt: Prompt, asker: Asker, config: Config, desks: Desks) -> None:
        self._prompt, self._asker, self._config, self._desks = prompt, asker, config, desks
        self._action = self._as_it_is()
        self.new = self._ask(LEFT_TO_PEOPLE)
        self.doing = self._action.title

    def decided_before(self) -> GateVerdict | None:
        """By rules, or by a person for the rest of the session."""
        permissions = self._desks.permissions
        ruled = permissions.by_rules(self._action, self._asker)
        if ruled.denied:
            return GateVerdict(allowed=False, given={}, message=ruled.denied)
        if ruled.allowed or permissions.allow_again(self._action, self._asker, ruled):
            return GateVerdict(allowed=True, given=self._prompt.permission.given)
        self.new = self._ask(ruled)
        return None

    def verdict(self, ask: Ask) -> GateVerdict | None:
        found = verdict_of(ask)
        # Who has to agree is not left to whoever sits at that terminal: undecided, that is a no.
        left_to_client = self._prompt.own_prompt is not OwnPrompt.NEVER and quorum_of(ask) is None
        if found is None or (found.decision is Decision.UNDECIDED and left_to_client):
            return None
        changed = self._changed(ask) if found.allowed else ()
        if changed:
            self._desks.asks.void(ask.id, f"changed after it was shown: {' and '.join(changed)}")
        elif allowed := allowed_by(ask):
            self._desks.permissions.note_handed_over(allowed, self._asker)
        return _read(approve.decision(ask, changed))

    def withdraw(self, ask: Ask, by: Settler, how: str) -> None:
        self._desks.permissions.note_decided_elsewhere(ask.id, by, how)

    def _ask(self, ruled: RuledAction) -> NewAsk:
        return approve.ask_for(
            self._action,
            self._asker,
            self._config,
            ruled,
            takes_changes=self._prompt.takes_changes,
            subagent=self._prompt.subagent,
        )

    def _changed(self, ask: Ask) -> tuple[str, ...]:
        """What is not as it was shown to whoever allowed it."""
        as_edited = approve.turned_links(ask, self._prompt.folder)
        return (*differing_parts(self._action, self._as_it_is()), *as_edited)

    def _as_it_is(self) -> Action:
        """What the agent wants to do, as things stand now."""
        return approve.wanted_here(self._prompt.permission, self._prompt.folder)


class AskedQuestions:
    def __init__(self, prompt: Prompt, asker: Asker, config: Config, desks: Desks) -> None:
        self._prompt, self._desks = prompt, desks
        given = {"tool_name": prompt.permission.tool, "input": dict(prompt.permission.given)}
        self._request = approve.question_tool().read(given, asker, config)
        self.new = self._request.new
        self.doing = ""

    def decided_before(self) -> GateVerdict | None:
        return None

    def verdict(self, ask: Ask) -> GateVerdict | None:
        if ask.state is State.TIMED_OUT and self._prompt.own_prompt is not OwnPrompt.NEVER:
            return None
        from sayso.asks.handed_files import with_files  # a gate that need not ask is there for every tool call

        return _read(self._request.render(with_files(self._desks.asks, self._desks.config.attachments_dir, ask)))

    def withdraw(self, ask: Ask, by: Settler, how: str) -> None:
        self._desks.asks.withdraw(ask.id, by, how)


def _read(reply: ToolReply) -> GateVerdict:
    """What the `approve` tool would tell its client."""
    said = json.loads(reply.text)
    allowed = said["behavior"] == "allow"
    return GateVerdict(allowed=allowed, given=said["updatedInput"] if allowed else {}, message=said.get("message", ""))


def is_seen_there(prompt: Prompt, ask: Ask | NewAsk, desks: Desks) -> bool:
    """Whether the person is there to see the client's own prompt, which comes only once the gate has ended. What
    several have to agree to is not left to one of them."""
    is_held_back = prompt.own_prompt is OwnPrompt.AFTERWARDS and quorum_of(ask) is None
    return is_held_back and not desks.presence.is_away(desks.config.person, terminal_of(ask.asker.pid))
