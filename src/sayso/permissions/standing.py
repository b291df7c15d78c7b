"""Yeses that hold for more than the call that asked: by session, and no longer than what they were given for is the
same."""

from __future__ import annotations

from collections.abc import Hashable, Set

MOST_SESSIONS = 100
"""A process that serves more has seen the first of them long ago; what is forgotten is asked again."""


class StandingAllows:
    """Remembers, for as long as its process lives, by which ask something was allowed."""

    def __init__(self, most_sessions: int = MOST_SESSIONS) -> None:
        self._most = most_sessions
        self._sessions: dict[Hashable, dict[Hashable, tuple[Hashable, Set[str], str]]] = {}

    def keep(self, session: Hashable, what: Hashable, terms: Hashable, ask: str, *, knowing: Set[str]) -> None:
        """It holds for `what`, while the `terms` are these and no rule asks but those that were known."""
        self._sessions.setdefault(session, {})[what] = (terms, knowing, ask)
        for oldest in list(self._sessions)[: -self._most]:
            self._sessions.pop(oldest, None)

    def find(self, session: Hashable, what: Hashable, terms: Hashable, *, asked_by: Set[str]) -> str:
        """The ask by which it was allowed; empty if it was not. On other terms, or where another rule asks, it is
        forgotten, also for when all is as it was again. Where fewer rules ask, there is nothing new to agree to."""
        allowed = self._sessions.get(session, {})
        kept, known, ask = allowed.get(what, (terms, asked_by, ""))
        if kept == terms and asked_by <= known:
            return ask
        allowed.pop(what, None)
        return ""
