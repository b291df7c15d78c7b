"""Asking people about calls and tools, in a thread beside the loop that carries lines.

It begins with the first thing that has to be asked: most of what this needs is large, and a client that only looks
never waits for it. Imports next to nothing itself.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from sayso.config import Config
from sayso.guard.calls import GuardedCall, GuardedServer
from sayso.guard.passage import GuardOutcome, Passage
from sayso.protocol.messages import Json, RequestId
from sayso.protocol.request import ClientInfo

if TYPE_CHECKING:
    from sayso.guard.permits import Permits

logger = logging.getLogger(__name__)

CLOSING_SECONDS = 8.0
"""How long an ending guard waits for what is yet to be told to the store."""

Work = Callable[["Permits"], None]


class Asking:
    """Hands over what is to be asked, and posts what came of it to the loop."""

    def __init__(self, config: Config, server: GuardedServer, post: Callable[[Callable[[], None]], None]) -> None:
        self._config, self._server, self._post = config, server, post
        self._passage: Passage | None = None
        self._thread: threading.Thread | None = None
        self._permits: Permits | None = None
        self._work: deque[Work] = deque()
        self._stopped = False

    def tells(self, passage: Passage) -> None:
        """Who is told what came of it, in the loop's own thread."""
        self._passage = passage

    def ask(self, call: GuardedCall) -> None:
        self._do(lambda permits: permits.ask(call))

    def withdraw(self, call: GuardedCall) -> None:
        self._do(lambda permits: permits.withdraw(call))

    def offer(self, action: Json, client: ClientInfo) -> None:
        self._do(lambda permits: permits.offer(action, client))

    def void(self, outcome: GuardOutcome, why: str) -> None:
        self._do(lambda permits: permits.void(outcome, why))

    def stop(self) -> None:
        """Withdraw all that is open; nothing is asked from now on."""
        if not self._stopped:
            if self._thread:
                self._do(lambda permits: permits.stop())
            self._stopped = True

    def close(self) -> None:
        """The same, and wait a moment until the store knows."""
        self.stop()
        if self._thread:
            self._thread.join(CLOSING_SECONDS)

    # What comes of it, told from the other thread

    def decided(self, key: RequestId, outcome: GuardOutcome) -> None:
        self._tell(lambda passage: passage.decided(key, outcome))

    def accepted(self, outcome: GuardOutcome) -> None:
        self._tell(lambda passage: passage.accepted(outcome))

    def still_held(self, key: RequestId, waited: float) -> None:
        self._tell(lambda passage: passage.still_held(key, waited))

    def _tell(self, what: Callable[[Passage], None]) -> None:
        passage = self._passage
        if passage:
            self._post(lambda: what(passage))

    # The thread

    def _do(self, work: Work) -> None:
        if self._stopped:
            return
        self._work.append(work)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sayso-asking", daemon=True)
            self._thread.start()
        elif permits := self._permits:
            permits.wake(self._drain)

    def _run(self) -> None:
        try:
            from sayso.guard.permits import serve

            serve(self._config, self._server, self, self._begin)
        except Exception as error:
            # The top of a thread: without it, every call would wait for ever.
            logger.exception("Asking failed; no call is passed on any more")
            why = str(error)
            self._tell(lambda passage: passage.give_up(why))

    def _begin(self, permits: Permits) -> None:
        # In this order: whoever finds no permits there has handed over before this drain.
        self._permits = permits
        self._drain()

    def _drain(self) -> None:
        while self._work and self._permits:
            self._work.popleft()(self._permits)
