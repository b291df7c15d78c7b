"""The permission desk: the only place that says allow. Each verdict is one compare-and-set and one event.

Rules are looked at first. What they leave to a person is asked, and an allow is then for the digest of the action that
was shown; whoever shows something else than what is wanted can only say no. Doubt is a no.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from sayso import chain, sent_once
from sayso.action_data import digest_of
from sayso.asks.desk import AskDesk
from sayso.asks.happening import TOO_LATE
from sayso.asks.model import ALLOWING, DENYING, Answer, Ask, Asker, Outcome, Settler, State
from sayso.asks.quorum import Quorum, is_agreed, quorum_of, who_agreed
from sayso.asks.settling import settle, who_was_first
from sayso.asks.table import AskTable
from sayso.config import system_user
from sayso.errors import AlreadySettled, InvalidInput, NotFound, Problem, Problems, check_text
from sayso.permissions.action import Action, AllowScope, action_of, original_of, scopes_of, takes_changes
from sayso.permissions.execution import note_handed_over
from sayso.permissions.ruled import (
    RuledAction,
    asked_because,
    asked_by,
    demand_of,
    denied_because,
    rule_data,
    ruling_events,
)
from sayso.permissions.verdict import AllowedAction, Decision
from sayso.records import replace
from sayso.store import Transaction

if TYPE_CHECKING:
    from sayso.permissions.delegations import Delegation
    from sayso.permissions.like_rule import LikeRule, LikeRules
    from sayso.permissions.own_rules import OwnRules
    from sayso.permissions.rules_here import Rules
    from sayso.permissions.session_rules import SessionRule
    from sayso.rules.book import Ruling
    from sayso.rules.rule import Rule

_MOST_LOOKED_AT = 100
_YES = "a yes"

OTHER_ACTION = "{given} is not the digest of what the agent wants to do. Look at it again: `sayso show {id}`."
NOT_OFFERED = "{given} is not offered for this; it can be allowed for: {offered}."
OTHER_EDIT = "what you allowed is not what your edit comes to now. Look at the edited action again."
NO_CHANGES = "what this would run cannot be changed here. Deny it, and say what to do instead."
NOT_ALONE = "several have to agree to this, so nobody can make a rule of it. Allow it: that is one yes."
NO_PERMISSION = "this asks for no permission. Answer it instead."


T = TypeVar("T")


class PermissionDesk:
    """Decides about the permissions among the asks of a desk."""

    def __init__(self, asks: AskDesk, rules: Rules | None = None) -> None:
        self._asks, self._rules = asks, rules

    def by_rules(self, action: Action, asker: Asker) -> RuledAction:
        """What the rules say about it. An allow or a deny is logged here and now; nobody is asked or woken for it."""
        ruling = self.ruling(action, asker)
        if ruling is None:
            return RuledAction()
        if ruling.effect == "ask":
            quorum = self.quorum(ruling.demanding, asker)
            return RuledAction(
                asked=asked_because(ruling),
                demanded=ruling.is_demanded,
                asking_rules=tuple(rule_data(rule) for rule in ruling.rules if rule.effect == "ask"),
                quorum=quorum,
            )
        verdict = os.urandom(16).hex()
        self._log_ruling(ruling, action, asker, verdict)
        if ruling.effect == "deny":
            return RuledAction(denied=denied_because(ruling))
        return RuledAction(allowed=AllowedAction(action=action, ask=verdict))

    def ruling(self, action: Action, asker: Asker, table: AskTable | None = None) -> Ruling | None:
        """The same without a word to anybody; None where there are no rules at all. Within a change, by its table."""
        return self._rules.ruling(action, asker, self._given(asker, table)) if self._rules else None

    def may_be_strict(self, asker: Asker) -> bool:
        """Whether rules may deny or ask for something of this asker's that needs nobody's say-so otherwise."""
        return self._rules is not None and self._rules.may_be_strict(asker)

    def quorum(self, rules: Sequence[Rule], asker: Asker, table: AskTable | None = None) -> Quorum | None:
        """Who has to agree by these rules that demand something; None where there are none. Within a change, by its
        table."""
        demands = tuple(map(demand_of, rules))
        if not demands or self._rules is None:
            return None
        from sayso.permissions import agreeing, delegations

        whose = asker.owner or ("" if asker.agent else system_user())
        named = {name for demand in demands for name in (*demand.people, *demand.escalate_to)}
        one_machine = self._rules.is_one_machine

        def work(table: AskTable) -> Quorum:
            users = [row for row in table.tx.all("users") if row["revoked_at"] is None]
            account = agreeing.account_of(table.tx, whose)
            people = {row["name"] if row["name"] in named else row["account"] or row["name"] for row in users}
            return Quorum(
                demands=demands,
                whose=account,
                other_names=tuple(row["name"] for row in users if account and row["account"] == account),
                all_people=tuple(sorted({*people, system_user()})) if one_machine else (),
                stand_ins=tuple(each.delegate for each in delegations.now(table) if each.person in named),
            )

        return self._read(work, table)

    def _log_ruling(self, ruling: Ruling, action: Action, asker: Asker, verdict: str) -> None:
        keeps = self._rules is not None and self._rules.keeps_texts

        def work(tx: Transaction, now: int) -> None:
            tx.wake_only()  # no process waits for an ask because of it
            events = ruling_events(ruling, action, asker, verdict, now)
            told = events if keeps else [replace(event, title="", why="") for event in events]
            chain.append(tx, told, [action.plain] if keeps else [])

        self._asks.change(lambda table: work(table.tx, table.now))

    def allow(
        self,
        ask_id: str,
        digest: str,
        by: Settler,
        scope: AllowScope | None = None,
        changed_input: Mapping[str, Any] | None = None,
        edited_digest: str = "",
    ) -> Ask:
        """Allow the action that was shown, which `digest` names; without a scope as far as a plain allow goes. With
        another input, the action with that is what is allowed; where it was shown too, `edited_digest` names it.
        Where the rules say who has to agree, this is one yes: it is allowed with the last one that is needed."""
        more: list[Quorum] = []
        """What the rules demand for what a person has made of it."""

        def outcome(table: AskTable, ask: Ask) -> Outcome:
            action = _shown(ask, digest)
            if changed_input is not None:
                action = _changed(ask, action, changed_input, edited_digest)
                more[:] = self._demanded_of_edit(action, ask.asker, table)
            return _allowed(ask, action, scope)

        def work(table: AskTable) -> Ask:
            ask = table.get(ask_id)
            if not ask.state.answerable:
                return settle(table, ask_id, State.ANSWERED, by, partial(outcome, table))
            given, quorum = outcome(table, ask), quorum_of(ask)
            for each in more:
                quorum = quorum.joined_with(each) if quorum else each
            if quorum is None:
                return settle(table, ask_id, State.ANSWERED, by, lambda _: given)
            return _agreed(table, ask, quorum, given, by)

        return self._decide(ask_id, by, _YES, work)

    def take_back(self, ask_id: str, by: Settler) -> Ask:
        """Take a yes back that is not the last one that was needed."""

        def work(table: AskTable) -> Ask:
            ask = table.get(ask_id)
            if not ask.state.answerable:
                raise AlreadySettled(who_was_first(ask, table.now))
            from sayso.permissions import agreeing

            sent_once.take(table.tx, by.attempt, table.now)
            return agreeing.take_back(table, ask, by)

        return self._decide(ask_id, by, "a yes taken back", work)

    def allow_like(self, ask_id: str, digest: str, by: Settler, rule: LikeRule) -> Ask:
        """Allow the action that was shown, once, and by a rule from now on what is like it. Where that rule cannot be
        made, nothing is decided."""
        self._asks.release_the_dead()
        with self._noting_refusals(ask_id, by, _YES):
            ask = self._asks.get(ask_id)
            if ask.state.answerable:
                _allowed_once(ask, digest)
                self.likes.check(ask, rule, by.person)
            with self.likes.made_ready(ask, rule, by) as made:
                once = partial(_allowed_once, digest=digest)
                allowed = self._asks.change(
                    lambda table: made.note(settle(table, ask_id, State.ANSWERED, by, once), table.tx, table.add_to_log)
                )
                made.put()
        return allowed

    @cached_property
    def likes(self) -> LikeRules:
        """What rules can be made of actions."""
        from sayso.permissions.like_rule import LikeRules

        assert self._rules is not None
        return LikeRules(self._rules)

    @cached_property
    def own_rules(self) -> OwnRules:
        """The person's own file of rules."""
        from sayso.permissions.own_rules import OwnRules

        assert self._rules is not None
        return OwnRules(self._rules, self._asks)

    def end_session_rule(self, rule: SessionRule, by: Settler) -> bool:
        """Take it back. Whether it held until now."""
        from sayso.permissions import session_rules

        return self._asks.change(lambda table: session_rules.end(table.tx, rule, by, table.now))

    def _given(self, asker: Asker, table: AskTable | None) -> Sequence[SessionRule]:
        from sayso.permissions import session_rules

        key = session_rules.session_key(asker)
        return self._read(lambda table: session_rules.of_session(table.tx, key, table.now), table) if key else ()

    def _read(self, work: Callable[[AskTable], T], table: AskTable | None) -> T:
        """What there is to be read: by the table of the change that this is part of, if it is."""
        return work(table) if table else self._asks.read(work)

    def deny(self, ask_id: str, by: Settler, because: str = "") -> Ask:
        """Deny it; the agent is told why."""
        problems = Problems()
        check_text(problems, "because", because)
        problems.check()

        def work(table: AskTable) -> Ask:
            return settle(table, ask_id, State.ANSWERED, by, lambda ask: _denied(ask, because))

        return self._decide(ask_id, by, "a no", work)

    def delegate(self, person: str, to: str, until: int) -> None:
        """Let another decide in this person's place until then, and see what that person is asked by name."""
        from sayso.permissions import delegations

        self._asks.change(lambda table: delegations.begin(table, person, to, until))

    def end_delegation(self, person: str) -> bool:
        """Whether there was one."""
        from sayso.permissions import delegations

        return self._asks.change(lambda table: delegations.end(table, person))

    def delegations(self) -> list[Delegation]:
        """Those that hold now."""
        from sayso.permissions import delegations

        return self._asks.read(delegations.now)

    def note_decided_elsewhere(self, ask_id: str, by: Settler, how: str) -> Ask:
        """Its client has decided by a prompt of its own, which says nothing about what people decide here."""
        outcome = Outcome(verdict=Decision.ELSEWHERE, reason=how)
        return self._asks.change(lambda table: settle(table, ask_id, State.CANCELLED, by, lambda _: outcome))

    def allow_again(self, action: Action, asker: Asker, ruled: RuledAction) -> bool:
        """Whether a person has allowed this session of this very process the same action from then on, and no other
        rule asks by now. If so, it is logged that its client is told once more."""
        if not ruled.accepts_earlier_yes:
            return False
        return self._asks.change(lambda table: _again(table.tx, table.get, action, asker, ruled, table.now))

    def note_handed_over(self, allowed: AllowedAction, asker: Asker) -> None:
        """Log that a client is about to be told that it may. Before it is: whoever is killed in between has logged too
        much, and never too little."""
        self._asks.change(lambda table: note_handed_over(table.tx, allowed, asker, table.now))

    def _demanded_of_edit(self, edited: Action, asker: Asker, table: AskTable) -> list[Quorum]:
        """Rules looked at what the agent wants. What a person has made of it, nobody has held against them yet."""
        ruling = self.ruling(edited, asker, table)
        if ruling and ruling.effect == "deny":
            raise _invalid("changed_input", denied_because(ruling))
        quorum = self.quorum(ruling.demanding, asker, table) if ruling and ruling.effect == "ask" else None
        return [quorum] if quorum else []

    def _decide(self, ask_id: str, by: Settler, said: str, work: Callable[[AskTable], Ask]) -> Ask:
        # Nobody is told of a verdict whose call is over; a wait of a dead process is none.
        self._asks.release_the_dead()
        with self._noting_refusals(ask_id, by, said):
            return self._asks.change(work)

    @contextmanager
    def _noting_refusals(self, ask_id: str, by: Settler, said: str) -> Iterator[None]:
        """Log what was said, and why it did not count."""
        try:
            yield
        except AlreadySettled as error:
            self._note_refusal(ask_id, by, f"{TOO_LATE}, {said}: {error}")
            raise
        except InvalidInput as error:
            self._note_refusal(ask_id, by, f"{said}: {error}")
            raise

    def _note_refusal(self, ask_id: str, by: Settler, why: str) -> None:
        with suppress(NotFound):
            self._asks.note_refusal(ask_id, by, why)


def _agreed(table: AskTable, ask: Ask, quorum: Quorum, given: Outcome, by: Settler) -> Ask:
    """One yes of those that are needed. With the last of them it is allowed, to do this once."""
    from sayso.permissions import agreeing  # seldom; gates do without

    written = agreeing.agree(table, ask, quorum, given, by)
    if is_agreed(written, given.digest):
        everyone = replace(by, person=who_agreed(written))
        once = replace(given, scope=AllowScope.ONCE, answers=_as_answers(ask, ALLOWING))
        return settle(table, ask.id, State.ANSWERED, everyone, lambda _: once)
    sent_once.take(table.tx, by.attempt, table.now)
    return written


def _again(
    tx: Transaction, get: Callable[[str], Ask], action: Action, asker: Asker, ruled: RuledAction, now: int
) -> bool:
    for row in tx.all("log_allowing", digest=action.digest, most=_MOST_LOOKED_AT):
        event = chain.read(row).event
        if (event.session, event.scope) == (asker.session, AllowScope.SESSION) and _holds(get, event.ask, asker, ruled):
            note_handed_over(tx, AllowedAction(action=action, ask=event.ask), asker, now)
            return True
    return False


def _holds(get: Callable[[str], Ask], ask_id: str, asker: Asker, ruled: RuledAction) -> bool:
    """Whether what was allowed then goes on for this session, which is the same while its client's process is."""
    with suppress(NotFound):
        ask = get(ask_id)
        same = all(
            getattr(ask.asker, name) == getattr(asker, name) for name in ("client", "host", "pid", "started", "run")
        )
        # What may have been denied in the client's own prompt is asked again.
        stands = ask.outcome is not None and not ask.outcome.void and not ask.outcome.noted
        known = ruled.asked_by <= asked_by(ask)
        return bool(asker.session and asker.pid) and same and stands and known
    return False


def _shown(ask: Ask, digest: str) -> Action:
    """The action that is wanted, if it is the one that was shown."""
    action = _wanted(ask)
    if not digest or not digest == ask.digest == action.digest:
        raise _invalid("digest", OTHER_ACTION.format(given=digest[:16] or "nothing", id=ask.id[:8]))
    return action


def _wanted(ask: Ask) -> Action:
    action = action_of(ask)
    if action is None:
        raise _invalid("", NO_PERMISSION)
    return action


def _changed(ask: Ask, action: Action, given: Mapping[str, Any], digest: str) -> Action:
    if not takes_changes(ask):
        raise _invalid("changed_input", NO_CHANGES)
    from sayso.permissions.editing import changed  # comparing texts takes its time to import

    instead = changed(action, given)
    if digest and digest != instead.digest:
        raise _invalid("edited_digest", OTHER_EDIT)
    return instead


def _allowed(ask: Ask, action: Action, scope: AllowScope | None) -> Outcome:
    offered = scopes_of(ask)
    if scope is not None and scope not in offered:
        raise _invalid("scope", NOT_OFFERED.format(given=scope, offered=", ".join(offered)))
    how_far = scope or offered[0]
    # By their digests: to Python 1, 1.0 and true are the same, to who gets them they are not.
    edited = action.digest != digest_of(original_of(ask))
    return Outcome(
        answers=_as_answers(ask, ("always",) if how_far is AllowScope.SESSION else ALLOWING),
        verdict=Decision.ALLOWED,
        digest=action.digest,
        scope=how_far,
        changed=action.plain if edited else None,
        changed_title=action.title if edited else "",
    )


def _allowed_once(ask: Ask, digest: str) -> Outcome:
    if quorum_of(ask):
        raise _invalid("rule", NOT_ALONE)
    return _allowed(ask, _shown(ask, digest), AllowScope.ONCE)


def _denied(ask: Ask, because: str) -> Outcome:
    action = _wanted(ask)
    answers = tuple(replace(answer, note=because) for answer in _as_answers(ask, DENYING))
    return Outcome(answers=answers, verdict=Decision.DENIED, digest=action.digest, reason=because)


def _as_answers(ask: Ask, meant: Sequence[str]) -> tuple[Answer, ...]:
    """The verdict as an answer to the ask's question, for those who read answers."""
    chosen = {question.id: next(filter(question.option, meant), "") for question in ask.questions}
    return tuple(Answer(question=question, chosen=(option,)) for question, option in chosen.items() if option)


def _invalid(path: str, text: str) -> InvalidInput:
    return InvalidInput([Problem(path=path, text=text)])
