"""Agents that Talk speaks with by an adapter: a process of ours that starts the agent and speaks its protocol.

The lines between Talk and an adapter are the same for all of them; `adapters/line.py` is the other end.
"""

from __future__ import annotations

import base64
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sayso.agents.agent import ParsedLine, PersonLine, mapping, number, shortened, words
from sayso.agents.model import Ending, EventKind, NewEvent, Run, Spoken
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.running.isolated import BOOT, SOURCES

_MODULE = "sayso.adapters.__main__"
_TOLD = frozenset(
    {
        *(EventKind.STARTED, EventKind.DELTA, EventKind.TEXT, EventKind.THINKING, EventKind.TOOL),
        *(EventKind.TOOL_RESULT, EventKind.NOTICE, EventKind.USAGE, EventKind.COMMANDS),
        *(EventKind.OFFERS, EventKind.ELSEWHERE),
    }
)
"""What an adapter may say that has happened; the rest Talk knows by itself."""


class Adapted(ABC):
    """Knows how to start an adapter, to speak to it, and what its lines mean."""

    label: str
    install: str
    reads: Used
    keeps_out: bool
    protocol: str
    """The adapter's name for it."""
    steers = False

    @abstractmethod
    def command(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile]
    ) -> Sequence[str]:
        """What the adapter starts."""

    def argv(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile] = ()
    ) -> list[str]:
        order = self.order(config, run, line, kept_out)
        # In the agent's environment and folder, of which nothing must become part of the adapter.
        python = [sys.executable, "-E", "-P", "-X", "utf8", "-c", BOOT, SOURCES]
        return [*python, _MODULE, self.spoken_with(run), json.dumps(order)]

    def spoken_with(self, run: Run) -> str:
        """The adapter's name for the protocol of this run."""
        return self.protocol

    def order(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile]
    ) -> Mapping[str, object]:
        """What the adapter is started with: the fields of AdapterOrder."""
        options = run.options
        return {
            "label": self.label,
            "install": self.install,
            "command": list(self.command(config, run, line, kept_out)),
            "session": "" if run.to_copy else run.session,
            "copies": run.to_copy,
            "copied_to": run.choices.copied_to if run.to_copy else "",
            "model": options.model,
            "mode": options.permission_mode,
            "asks": line is not None,
        }

    def greeting(self) -> bytes:
        return b""  # an adapter begins by itself

    def spoken(self, name: str, said: Spoken) -> bytes:
        text = said.text.encode(errors="replace").decode()
        pictures = [f"data:{each.media};base64,{base64.b64encode(each.data).decode()}" for each in said.pictures]
        more = {"pictures": pictures} if pictures else {}
        return json.dumps({"say": said.what, "name": name, "text": text, **more}).encode() + b"\n"

    def hear(self, said: Mapping[str, Any]) -> ParsedLine:
        taken = said.get("taken")
        ended = said.get("ended")
        ending = _ending(ended) if isinstance(ended, Mapping) else None
        return ParsedLine(
            events=(*_event(said), *_result(ending)),
            session=words(said.get("session")),
            ending=ending,
            taken=tuple(words(name) for name in taken) if isinstance(taken, list) else (),
            done=words(said.get("done")),
            refused=shortened(words(said.get("refused")), 2_000),
        )


def _event(said: Mapping[str, Any]) -> Iterator[NewEvent]:
    kind = said.get("event")
    if isinstance(kind, str) and kind in _TOLD:
        yield NewEvent(kind=EventKind(kind), body=mapping(said.get("body")))


def _ending(ended: Mapping[str, Any]) -> Ending:
    return Ending(
        message=shortened(words(ended.get("message")), 2_000),
        cost_usd=number(ended.get("cost_usd")),
        turns=int(number(ended.get("turns")) or 0) or None,
    )


def _result(ending: Ending | None) -> Iterator[NewEvent]:
    if ending:
        body = {"cost_usd": ending.cost_usd, "turns": ending.turns, "error": bool(ending.message)}
        yield NewEvent(kind=EventKind.RESULT, body={**body, "text": ending.message})
