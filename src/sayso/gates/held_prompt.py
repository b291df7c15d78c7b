"""A hook that waits for what becomes of its prompt: decided here or there, out of time, or its client gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sayso.asks.model import Ask, State
from sayso.gates.client import DecidedThere, GateClient, GateVerdict, OwnPrompt, Prompt, Trail
from sayso.gates.open_prompt import LEFT_TO_CLIENT, OpenPrompt, notify
from sayso.gates.prompts import is_seen_there
from sayso.gates.watch import GateNews, Watch
from sayso.terminals import terminal_of

if TYPE_CHECKING:
    from sayso.desks import Desks

CLIENT_ENDED, LET_GO = "its client has ended", "its client let go of it"
FAILED = "its gate failed"
LAST_WORDS = 0.5
"""Seconds that a client has to write down how it was decided, when it ends its hook."""


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

    def hold_on(self, tell: Callable[[GateVerdict], bool]) -> None:
        """`tell` tells the client a verdict, and says whether it has it."""
        self._tell = tell
        notify(self._desks.config, self._opened.ask)
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
            elif ask and is_seen_there(self._prompt, ask, self._desks):
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
        return self._opened.hand_over(ask, self._tell)
