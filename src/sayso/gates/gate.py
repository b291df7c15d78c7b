"""One prompt of a client, from its hook to the inbox and back.

The inbox and the client's own prompt are open at the same time, and the first verdict wins. Whatever goes wrong here is
no decision: nothing is printed, and the client's own prompt goes on as if there were no gate.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sayso.asks.model import Ask, NewAsk, State
from sayso.asks.quorum import quorum_of
from sayso.config import Config, load
from sayso.desks import Desks, open_desks
from sayso.errors import StoreError
from sayso.gates.asker import asker_of, project_of
from sayso.gates.client import DecidedThere, GateClient, OwnPrompt, Prompt, Trail
from sayso.gates.open_prompt import LEFT_TO_CLIENT, OpenPrompt, notify
from sayso.gates.prompts import AskedPrompt, asked
from sayso.gates.watch import GateNews, Watch
from sayso.terminals import terminal_of

if TYPE_CHECKING:
    from sayso.gates.afterwards import ToldVerdict

CLIENT_ENDED, LET_GO = "its client has ended", "its client let go of it"
FAILED = "its gate failed"
LAST_WORDS = 0.5
"""Seconds that a client has to write down how it was decided, when it ends its hook."""


def serve(client: GateClient) -> None:
    """Read the event that the client hands to its hook, and print the verdict, if there is one."""
    with Watch() as watch:
        event = json.loads(sys.stdin.buffer.read() or b"{}")
        is_for_us = isinstance(event, dict) and not client.stands_back(event, os.environ)
        told = _decide(client, event, watch) if is_for_us else None
    if told:
        told.follow()


def _decide(client: GateClient, event: Mapping[str, Any], watch: Watch) -> ToldVerdict | None:
    """A verdict of which it is to be seen whether it counted."""
    prompt = client.read(event, os.environ)
    trail = client.trail(event, prompt)
    config = load(cwd=project_of(prompt.folder))
    with open_desks(config) as desks:
        opened = _ask(client, prompt, trail, desks, watch)
    if not (opened and opened.told and trail and trail.path.exists() and prompt.own_prompt is OwnPrompt.BESIDE):
        return None
    from sayso.gates.afterwards import ToldVerdict  # only now: a gate that waits is smaller without

    return ToldVerdict(opened.ask, client.title, opened.told, trail, config)


def _ask(client: GateClient, prompt: Prompt, trail: Trail | None, desks: Desks, watch: Watch) -> OpenPrompt | None:
    """The prompt that stood in the inbox, once it no longer does; None where it never did."""
    asker = asker_of(client, prompt, desks.config)
    question = asked(prompt, asker, desks.config, desks)
    if verdict := question.decided_before():
        _write(client.told(verdict, prompt))
        note_at_work(desks, question)
        return None
    if _is_seen_there(prompt, question.new, desks):
        note_at_work(desks, question)
        return None
    if watch.told_to_end:
        return None
    opened = OpenPrompt(client.title, client.name, question, desks.asks.hold(question.new), desks)
    note_at_work(desks, question)
    watch.also({asker.pid, os.getppid()}, sys.stdout.fileno(), trail.path if trail else None)
    HeldPrompt(client, prompt, opened, trail, desks, watch).hold_on(desks.config)
    return opened


def _is_seen_there(prompt: Prompt, ask: Ask | NewAsk, desks: Desks) -> bool:
    """Whether the person is there to see the client's own prompt, which comes only once the gate has ended. What
    several have to agree to is not left to one of them."""
    is_held_back = prompt.own_prompt is OwnPrompt.AFTERWARDS and quorum_of(ask) is None
    return is_held_back and not desks.presence.is_away(desks.config.person, terminal_of(ask.asker.pid))


class HeldPrompt:
    """A hook that waits for what becomes of its prompt."""

    def __init__(
        self,
        client: GateClient,
        prompt: Prompt,
        opened: OpenPrompt,
        trail: Trail | None,
        desks: Desks,
        watch: Watch,
    ) -> None:
        self._client, self._prompt, self._opened = client, prompt, opened
        self._trail, self._desks, self._watch = trail, desks, watch
        self._since = time.monotonic()

    def hold_on(self, config: Config) -> None:
        notify(config, self._opened.ask)
        is_held_back = self._prompt.own_prompt is OwnPrompt.AFTERWARDS
        listen = self._desks.listen if is_held_back else self._desks.listen_for_own
        listener = listen(self._watch.ring)
        if is_held_back:
            self._watch.also_keys(terminal_of(self._opened.ask.asker.pid))
        try:
            self._wait()
        except BaseException:
            self._opened.leave(FAILED)
            raise
        finally:
            listener.close()

    def _wait(self) -> None:
        """Endless: until a person decides here or there, or is there to be asked, its time is over, or its client
        ends."""
        while True:
            if there := self._decided_there():
                return self._opened.withdraw(there)
            ask = self._opened.look()
            if ask and ask.state is not State.PENDING:
                if self._hand_over(ask):
                    return None
            elif ask and _is_seen_there(self._prompt, ask, self._desks):
                return self._opened.leave(LEFT_TO_CLIENT)
            if self._opened.is_given_up:
                return None
            match self._watch.wait(self._opened.rest()):
                case GateNews.TOLD_TO_END:
                    return self._end()
                case GateNews.CLIENT_GONE:
                    return self._opened.leave(CLIENT_ENDED)

    def _decided_there(self) -> DecidedThere | None:
        if self._watch.told_of_yes:
            return DecidedThere.ANSWERED if self._prompt.permission.is_question else DecidedThere.ALLOWED
        return self._trail.look() if self._trail else None

    def _end(self) -> None:
        """The client has ended its hook. Where its own prompt stood beside it, that is a No, unless the client says
        otherwise or just waits no more."""
        there = self._last_words()
        stood_beside = self._prompt.own_prompt is OwnPrompt.BESIDE
        waits_no_more = not stood_beside or time.monotonic() - self._since > self._client.patience
        if there is None and waits_no_more:
            self._opened.leave(LET_GO)
        else:
            self._opened.withdraw(there or DecidedThere.DENIED)

    def _last_words(self) -> DecidedThere | None:
        end = time.monotonic() + (LAST_WORDS if self._trail else 0)
        while not (there := self._decided_there()) and time.monotonic() < end:
            self._watch.pause(end - time.monotonic())
        return there

    def _hand_over(self, ask: Ask) -> bool:
        """Tell the verdict, unless it is known by now that the client has one. Whether that is over."""
        if there := self._decided_there():
            self._opened.let_go(there)
            return True
        return self._opened.hand_over(ask, lambda verdict: _write(self._client.told(verdict, self._prompt)))


def _write(told: Mapping[str, Any]) -> bool:
    """Whether somebody was there to take it."""
    rest = memoryview(json.dumps(told).encode())
    try:
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]
    except OSError:
        return False
    return True


def note_at_work(desks: Desks, question: AskedPrompt) -> None:
    """Have it known what this agent is at."""
    with suppress(StoreError):
        desks.roster.note_gate(question.new.asker, question.doing)
