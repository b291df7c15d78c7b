"""What the SDK answers at the beginning of a session: dropped where the front was quicker, and kept for the next start.

Not the front itself: this runs beside the SDK, for as long as it takes the client to have its tools.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial

from sayso.config import Config
from sayso.mcp_server.opening import Opening, Question, RequestId, read
from sayso.mcp_server.prepared import for_any_project, for_this_project

logger = logging.getLogger(__name__)

MOST_LINES = 20
"""A client that has not asked for its tools by then is in no hurry."""

Keep = Callable[[str, bytes], None]
"""Keeps the result of a question for the next start."""


class Replay:
    """Hears every line that comes in and sees every answer that goes out, until the tools have been listed."""

    def __init__(self, answered: Sequence[tuple[Question, bytes]] = (), keep: Keep = lambda _, __: None) -> None:
        self._opening = Opening()
        self._keep = keep
        self._told = {question.request_id: line for question, line in answered}
        self._open: dict[RequestId, Question] = {}
        self._lines = 0
        self.on_other_answer: Callable[[], None] = lambda: None
        """Called when the client was told other tools than there are."""

    @property
    def over(self) -> bool:
        return (self._opening.over or self._lines > MOST_LINES) and not self._open

    def hear(self, line: bytes) -> None:
        self._lines += 1
        if (message := read(line)) and (question := self._opening.question(message)):
            self._open[question.request_id] = question

    def lets_pass(self, request_id: RequestId | None, line: bytes) -> bool:
        """Whether the client is to have this answer; False if it has it already."""
        question = None if request_id is None else self._open.pop(request_id, None)
        if question is None:
            return True
        told = self._told.pop(question.request_id, None)
        result = question.result_in(line)
        if told == line:
            logger.debug("A request of the client was answered before the SDK was there")
            return False
        if result is not None:
            self._keep(question.depends_on, result)
        if told is not None:
            logger.warning("What was kept ready for this client is out of date")
            self.on_other_answer()
        return told is None


def keeper(config: Config, since: float) -> Keep:
    """Keeps results of this start in a thread, because disks can be slow."""
    return lambda depends_on, result: _in_a_thread(partial(_keep, config, since, depends_on, result))


def _keep(config: Config, since: float, depends_on: str, result: bytes) -> None:
    # A path that was given may be relative to the project, and a fault in a tool file names the file.
    given = config.tools_dir is not None or "SAYSO_CONFIG" in os.environ
    only_here = given or os.fsencode(config.project) in result
    places = [str(place) for place in config.read_from]
    if prepared := for_this_project(places) if only_here else for_any_project(places):
        prepared.keep(depends_on, result, since)


def _in_a_thread(work: Callable[[], None]) -> None:
    asyncio.get_running_loop().run_in_executor(None, work)
