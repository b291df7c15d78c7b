"""The commands that somebody looks at in a browser: whoever looks is told that there is more to read, or news of them.

The events say how much there is, not what it is; pages fetch it. So one look serves all, however far each has read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from sayso.bridge import Patience, in_thread
from sayso.errors import NotFound, SaysoError
from sayso.operations.reader import LOOK_SECONDS, OperationReader, View
from sayso.running.capture import STREAMS
from sayso.text import json_line

logger = logging.getLogger(__name__)

Tell = Callable[[bytes], None]
_PAUSE = 2.0
"""Seconds to wait after the store could not be reached."""


@dataclass
class _Watched:
    """One command: who looks, how it was last found in the store, and what was last told of it."""

    tells: set[Tell] = field(default_factory=set)
    view: View | None = None
    told: bytes = b""


class Watching:
    """All commands that are looked at through this process."""

    def __init__(self, reader: OperationReader) -> None:
        self._reader = reader
        self._watched: dict[str, _Watched] = {}
        self._news = asyncio.Event()
        self._rings = 0

    def begin(self, operation_id: str, tell: Tell) -> None:
        watched = self._watched.setdefault(operation_id, _Watched())
        watched.tells.add(tell)
        if watched.told:
            tell(watched.told)
        self.ring()

    def end(self, tell: Tell) -> None:
        for operation_id, watched in list(self._watched.items()):
            watched.tells.discard(tell)
            if not watched.tells:
                del self._watched[operation_id]

    def ring(self) -> None:
        """The store has changed: look at it again, not only at what was printed."""
        self._rings += 1
        for watched in self._watched.values():
            watched.view = None
        if self._watched:
            self._news.set()

    async def run(self) -> None:
        """Endless until cancelled: after each ring; and several times a second while a command that is looked at runs,
        because nothing rings when it prints."""
        self.ring()
        while True:
            async with Patience(LOOK_SECONDS if self._prints() else None):
                await self._news.wait()
            self._news.clear()
            try:
                for operation_id, watched in list(self._watched.items()):
                    await self._look(operation_id, watched)
            except SaysoError as error:
                logger.warning("Cannot look at the commands just now: %s", error)
                self.ring()
                await asyncio.sleep(_PAUSE)

    def _prints(self) -> bool:
        """Whether any of them may print something. What is not here, or has ended, cannot."""
        views = [watched.view for watched in self._watched.values()]
        return any(view is None or not view.operation.state.ended for view in views)

    async def _look(self, operation_id: str, watched: _Watched) -> None:
        rings = self._rings
        try:
            view, event = await in_thread(self._event, operation_id, watched.view)
        except NotFound:
            # Deleted, because it ended long ago. There will be no news of it.
            self._watched.pop(operation_id, None)
            return
        # What was found while it rang may be old already.
        watched.view = view if rings == self._rings else None
        if event != watched.told:
            watched.told = event
            for tell in list(watched.tells):
                tell(event)

    def _event(self, operation_id: str, known: View | None) -> tuple[View, bytes]:
        view = known or self._reader.view(operation_id)
        printed = dict(zip(STREAMS, self._reader.printed(view.part), strict=True))
        data = {
            "id": operation_id,
            "mark": view.mark,
            "open": not view.operation.state.ended,
            "part": view.part.id,
            "printed": printed,
        }
        return view, f"event: command\ndata: {json_line(data)}\n\n".encode()
