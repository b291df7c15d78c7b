"""Finds out whether the verdict that a client was told was the one that counted.

Its own prompt stood beside, and may have been decided just before, or long before: of a Yes there a client says nothing
until the tool has its result. By then the gate has told its verdict and is gone. So it leaves a process behind that
reads on in the file where the client notes what it did, until that says who was first.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from sayso.asks.model import Ask
from sayso.config import Config
from sayso.desks import open_desks
from sayso.errors import NotFound, StoreError
from sayso.gates.client import Aftermath, GateVerdict, Trail
from sayso.gates.open_prompt import STORE_PATIENCE, TRY_AGAIN, notify_overtaken
from sayso.gates.overtaken import note
from sayso.gates.watch import Watch

FOLLOWED = 15 * 60.0
"""Seconds for which the file is read on. Claude Code ends a command after ten minutes, unless it is told otherwise."""


class ToldVerdict:
    """A verdict that a client was told, and the file that says what became of it."""

    def __init__(self, ask: Ask, client: str, verdict: GateVerdict, trail: Trail, config: Config) -> None:
        self._ask, self._pid, self._client = ask.id, ask.asker.pid, client
        self._verdict, self._trail, self._config = verdict, trail, config

    def follow(self) -> None:
        """In a process of its own, which has nothing open that the client would wait for."""
        try:
            if not self._pid or os.fork():
                return
        except OSError:  # the verdict was told: what is lost is that it is seen to
            return
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            with Watch() as watch:
                self.see_through(watch)
        finally:
            os._exit(0)

    def see_through(self, watch: Watch) -> None:
        """Until it is known what became of it, the client ends, or it has been followed for long enough."""
        watch.also({self._pid}, None, self._trail.path)
        end = time.monotonic() + FOLLOWED
        is_over = False
        while not (found := self._trail.after(self._verdict)) and not is_over:
            rest = end - time.monotonic()
            is_over = watch.is_end(watch.pause(min(rest, watch.longest))) or watch.told_to_end
            is_over = is_over or rest <= 0 or not _is_there(self._pid)
        if found and found is not Aftermath.TAKEN:
            self._note(found, watch)

    def _note(self, there: Aftermath, watch: Watch) -> None:
        end = time.monotonic() + STORE_PATIENCE
        while time.monotonic() < end:
            with suppress(StoreError, NotFound), open_desks(self._config) as desks:
                if noted := note(desks, self._ask, there, self._client):
                    notify_overtaken(self._config, noted)
                return
            watch.pause(TRY_AGAIN)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
