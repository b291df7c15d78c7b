"""An answer that was given by one key, before it is sent."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.asks.draft import Draft, Said
from sayso.asks.model import Ask

SECONDS_TO_UNDO = 5
"""How long an answer can be taken back before it is sent."""


@dataclass(frozen=True, kw_only=True)
class HeldAnswer:
    """An answer that is sent in so many seconds, unless the person takes it back."""

    ask: Ask
    chosen: str
    seconds: int

    @property
    def draft(self) -> Draft:
        return Draft().put(self.ask.questions[0], Said(chosen=(self.chosen,)))
