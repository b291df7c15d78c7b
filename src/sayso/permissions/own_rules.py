"""The own rules of the person whom a process works for, as a text that they can edit: what another text would have
changed, and saving it. Nobody else may."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sayso import chain
from sayso.asks.desk import AskDesk
from sayso.asks.model import Settler
from sayso.chain import LogEvent, LogKind
from sayso.errors import NotYours
from sayso.permissions.action import Action
from sayso.permissions.like_rule import owns_rules
from sayso.permissions.rules_change import RulesChange, rules_change
from sayso.permissions.rules_here import Rules
from sayso.rules.book import RuleBook
from sayso.rules.own_file import OwnFile, made_ready, read_own
from sayso.rules.rule import RulesFault, RulesFile
from sayso.store import Transaction
from sayso.text import counted

NOT_YOURS = "These are the rules of {owner}, whose account Sayso runs under here. Only {owner} can change them."


@dataclass(frozen=True, kw_only=True)
class EditedRules:
    """A text in the place of the file as it was read: what is wrong with it, else what it would have changed."""

    own: OwnFile
    text: str
    faults: tuple[RulesFault, ...] = ()
    change: RulesChange | None = None


class OwnRules:
    def __init__(self, rules: Rules, asks: AskDesk) -> None:
        self._rules, self._config, self._asks = rules, rules.config, asks

    def is_of(self, person: str) -> bool:
        return owns_rules(self._config, person)

    def book(self, project: Path | None) -> RuleBook:
        """All rules that hold in a project; without one, those that hold in every one."""
        return self._rules.judge.book(project)

    def read(self) -> OwnFile:
        return read_own(self._config.user_rules)

    def look_at(self, own: OwnFile, text: str, decided: Iterable[tuple[LogEvent, Action]]) -> EditedRules:
        """What this text would have made of what was `decided`, oldest first."""
        after = own.with_text(text)
        if after.faults:
            return EditedRules(own=own, text=text, faults=after.faults)
        change = rules_change(self._rules.judge, own.read, after, decided)
        return EditedRules(own=own, text=text, change=change)

    def save(self, own: OwnFile, text: str, by: Settler) -> None:
        """Put the text into the place of the file, if that is still as it was read. InvalidInput says why not."""
        if not self.is_of(by.person):
            raise NotYours(NOT_YOURS.format(owner=self._config.person))
        after = own.with_text(text)
        with made_ready(own, text, self._config.state_dir) as put:
            # Before it is put: whoever is killed in between has logged too much, and never too little.
            self._asks.change(lambda table: _log(table.tx, own.read, after, by, table.now))
            put()


def _log(tx: Transaction, before: RulesFile, after: RulesFile, by: Settler, now: int) -> None:
    tx.wake_only()  # no process waits for an ask because of it
    count = f"{counted(len(before.rules), 'rule')} before, {counted(len(after.rules), 'rule')} now"
    event = LogEvent(
        kind=LogKind.RULES_CHANGED,
        at=now,
        ask=os.urandom(16).hex(),
        owner=by.person,
        title=f"{after.file.name}: {count}",
        person=by.person,
        surface=by.surface,
        rules_file=after.hash,
        about={"file": str(after.file), "before": before.hash},
    )
    chain.append(tx, [event])
