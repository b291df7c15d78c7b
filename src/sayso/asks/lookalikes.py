"""Agents of the same name in a project of the same name, of whom more has to be said to tell them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sayso.asks.model import Asker
from sayso.asks.truth import session_name, session_of, short_sessions


class Lookalikes:
    """Knows the agents of one list, and what tells each from the others in it."""

    def __init__(self, askers: Iterable[Asker] = ()) -> None:
        self._askers: defaultdict[tuple[str, str], dict[tuple[str, str, int], Asker]] = defaultdict(dict)
        self._known: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self._short: dict[tuple[str, str], Mapping[str, str]] = {}
        for asker in askers:
            self._askers[_name(asker)][asker.branch, asker.session, asker.pid] = asker

    def _agents(self, name: tuple[str, str]) -> set[tuple[str, str]]:
        """The agents of this name, by branch and session. Of a long list only what is in view is asked for."""
        if name not in self._known:
            askers = self._askers[name].values()
            self._known[name] = {(asker.branch, session_name(asker) or session_of(asker)) for asker in askers}
        return self._known[name]

    def branch(self, asker: Asker) -> str:
        """Its branch, where others are on another."""
        others = {branch for branch, _ in self._agents(_name(asker))}
        return asker.branch if len(others) > 1 else ""

    def session(self, asker: Asker) -> str:
        """Its session, where there are others."""
        name = _name(asker)
        if len(self._agents(name)) < 2:
            return ""
        if name not in self._short:
            self._short[name] = short_sessions(session for _, session in self._agents(name))
        return self._short[name].get(session_name(asker)) or session_of(asker)

    def share_a_branch(self, asker: Asker) -> bool:
        """Whether only the session tells it from another."""
        return sum(branch == asker.branch for branch, _ in self._agents(_name(asker))) > 1


def _name(asker: Asker) -> tuple[str, str]:
    """Projects are told by the last part of their path."""
    return asker.client, asker.project.rpartition("/")[2]
