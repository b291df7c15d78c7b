"""What the line at the foot of a conversation tells, gathered from the events as they come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sayso.agents.costs import Cost
from sayso.agents.model import EventKind, Run, RunEvent
from sayso.records import replace


@dataclass(frozen=True, kw_only=True)
class AgentUse:
    """What the agent itself has said last: its model, and how much of its context is in use, in tokens."""

    model: str = ""
    used: int | None = None
    window: int | None = None

    def after(self, events: Iterable[RunEvent]) -> AgentUse:
        found = self
        for event in events:
            match event.kind:
                case EventKind.STARTED:
                    found = replace(found, model=event.body.get("model") or found.model)
                case EventKind.USAGE:
                    used, window = event.body.get("used"), event.body.get("window")
                    found = replace(found, used=used or found.used, window=window or found.window)
        return found

    @property
    def percent(self) -> int | None:
        """How full its context is."""
        return min(round(100 * self.used / self.window), 100) if self.used and self.window else None


@dataclass(frozen=True, kw_only=True)
class TalkStatus:
    """How a conversation stands: its latest run, whether that waits for the person, what all of it has cost so far."""

    run: Run
    waits: bool
    cost: Cost | None
    use: AgentUse
    worked_ms: int = 0
    """How long the turns have taken that have ended."""

    @property
    def key(self) -> tuple[object, ...]:
        """Another one whenever the line reads differently, but for the time."""
        return self.run.id, self.run.version, self.waits, self.cost, self.use, self.worked_ms
