"""A rule that a person makes of one action: what is proposed, how far it may go, and every reason to refuse it.

What is saved is what was shown: the desk is told the digest of the action, the very text of the rule and how far it
goes, and all of it is checked here once more against the rules as they are then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from sayso.accounts import user_name
from sayso.asks.model import Ask, Asker, Settler
from sayso.asks.quorum import quorum_of
from sayso.chain import LogEvent, LogKind
from sayso.config import Config
from sayso.errors import InvalidInput, Problem
from sayso.permissions import session_rules
from sayso.permissions.action import Action, AllowScope, action_of, scopes_of
from sayso.permissions.rules_here import Rules
from sayso.permissions.session_rules import SessionRule, session_key
from sayso.processes import this_host
from sayso.records import record
from sayso.rules.adding import NOTE, NewRule, ReadyRule, as_rule, made_ready
from sayso.rules.book import Circumstances, RuleBook, Ruling
from sayso.rules.levels import RuleLevel
from sayso.rules.pattern import About
from sayso.rules.proposing import proposals
from sayso.rules.rule import Effect, Rule, RulesFile
from sayso.rules.use import ToolUse
from sayso.store import Transaction
from sayso.text import exact, quoted

MOST_CHARACTERS = 4_000
_LOOKED_INTO = ("shell", "edit", "read", "fetch")
"""The kinds of actions of which a rule has to say more than the name of the tool."""

ELSEWHERE = "its agent works on another machine, whose rules are not here"
WHOLE_TOOL = "an allow of this holds for every call of the tool already"
SEVERAL = "several have to agree to it"
NOT_YOURS = "you decide here for somebody else’s account"
NO_RULE_FOR_IT = "no rule can be made of this"
EMPTY = "write what it is to allow, one pattern on each line, such as Bash(npm test *)."
UNSEEN = "it has characters that cannot be seen."
TOO_LONG = "it has more than {most} characters."
NOT_OFFERED = "a rule of yours cannot go that far here; it can hold for: {offered}."
NOWHERE = "no rule can be made of this here: {why}."
TOO_WIDE = "{pattern} would allow every use of {tool}. Say which, or write that into your file yourself."
NOT_CERTAIN = "no rule can allow this: {why}."
NOT_MEANT = "this rule does not allow what the agent wants to do here."
NOT_BY_A_STAR = (
    "this rule does not allow what the agent wants to do here. A star stands for no word or option that decides what "
    "is run: write it out."
)
NOT_NEEDED = "{pattern} has nothing to do with what the agent wants to do here. Take it out."
STILL_DENIED = "a rule denies it, whatever others allow: {rule} ({place})."
STILL_ASKED = "a rule wants this to be asked, whatever others allow: {rule} ({place})."
FAULTY = "your rules are not used, because there is an error in them: {fault}"


class RuleReach(StrEnum):
    """Where a rule that was made of an action holds."""

    SESSION = "session"
    PROJECT = "project"
    EVERYWHERE = "everywhere"


@record
class LikeRule:
    """The rule as a person reads it, one pattern on each line."""

    text: str
    reach: RuleReach

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.text.split("\n") if line.strip())


@record
class LikeOffer:
    """What a person can begin with: rules, the narrowest first, and how far they may go. Without a reach none can be
    made, and `why_not` says why."""

    texts: tuple[str, ...] = ()
    reaches: tuple[RuleReach, ...] = ()
    why_not: str = ""


@record
class MadeRule:
    """A rule that a person made, and where it is to be: in their file, else in the store."""

    ask: Ask
    rule: LikeRule
    by: Settler
    in_file: ReadyRule | None = None

    def note(self, allowed: Ask, tx: Transaction, add_to_log: Callable[[LogEvent], None]) -> Ask:
        """Log it in the transaction that allows the action; one for a session is kept there too."""
        if self.in_file is None:
            session_rules.add(tx, self._for_session(allowed.changed_at))
        add_to_log(self._event(allowed.changed_at))
        return allowed

    def put(self) -> None:
        """What is in a file counts from now on."""
        if self.in_file:
            self.in_file.put()

    def _for_session(self, now: int) -> SessionRule:
        key = session_key(self.ask.asker)
        assert key is not None
        return SessionRule(
            id=os.urandom(16).hex(),
            patterns=self.rule.patterns,
            ask=self.ask.id,
            person=self.by.person,
            owner=self.ask.asker.owner,
            created_at=now,
            **key,
        )

    def _event(self, now: int) -> LogEvent:
        """Who has made which rule, of which action, and where it stands."""
        asker, action, ready = self.ask.asker, action_of(self.ask), self.in_file
        return LogEvent(
            kind=LogKind.RULE_ADDED,
            at=now,
            ask=self.ask.id,
            digest=self.ask.digest,
            project=asker.project,
            owner=asker.owner,
            tool=action.tool if action else self.ask.tool,
            client=asker.client,
            session=asker.session,
            person=self.by.person,
            surface=self.by.surface,
            rule=", ".join(self.rule.patterns),
            rules_file=ready.hash if ready else "",
            scope=self.rule.reach.value,
            about={"file": str(ready.rule.file), "line": ready.rule.line} if ready else None,
        )


def owns_rules(config: Config, person: str) -> bool:
    """Whether this is the person whose account this process runs under, by the name that they have here."""
    return person in (config.person, user_name(config.person))


class LikeRules:
    """Rules that are made of actions, by the person whom this process works for."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._config = rules, rules.config

    def offer(self, ask: Ask, person: str) -> LikeOffer:
        action = action_of(ask)
        if action is None:
            return LikeOffer(why_not=NO_RULE_FOR_IT)
        if why_not := _why_nowhere(ask):
            return LikeOffer(why_not=why_not)
        use = self._use(action, ask.asker)
        if use.doubts:
            return LikeOffer(why_not=use.doubts[0])
        reaches = self._reaches(ask.asker, person)
        if not reaches:
            return LikeOffer(why_not=NOT_YOURS)
        texts = ("\n".join(patterns) for patterns in proposals(action.plain, use))
        return LikeOffer(texts=tuple(texts), reaches=reaches)

    def refusal(self, ask: Ask, rule: LikeRule, person: str) -> str:
        """Why this rule cannot be made; empty when it can."""
        try:
            self.check(ask, rule, person)
        except InvalidInput as error:
            return " ".join(problem.text for problem in error.problems)
        return ""

    def check(self, ask: Ask, rule: LikeRule, person: str) -> None:
        """InvalidInput unless the rule allows this action, and no other rule has the last word."""
        offer = self.offer(ask, person)
        action = action_of(ask)
        if action is None or offer.why_not:
            raise _invalid(NOWHERE.format(why=offer.why_not or NO_RULE_FOR_IT))
        if rule.reach not in offer.reaches:
            raise _invalid(NOT_OFFERED.format(offered=", ".join(offer.reaches)))
        _check_text(rule)
        made = as_rule(self._new(rule, ask.asker))
        self._check_meaning(made, action, ask.asker)
        self._check_others(made, action, ask.asker)

    def is_asked(self, event: LogEvent, past: Action) -> bool:
        """Whether the rules that there are leave to a person what was decided then."""
        ruling = self._rules.judge.ruling_on_paper(past.plain, event.project, event.client, machine=event.agent)
        return ruling.effect is Effect.ASK

    @contextmanager
    def made_ready(self, ask: Ask, rule: LikeRule, by: Settler) -> Iterator[MadeRule]:
        """The rule with all done for it but the last step: in the person's file, or for a session in the store."""
        if rule.reach is RuleReach.SESSION:
            yield MadeRule(ask=ask, rule=rule, by=by)
            return
        new = self._new(rule, ask.asker, _note(ask, by))
        with made_ready(self._config.user_rules, new, self._config.state_dir) as ready:
            yield MadeRule(ask=ask, rule=rule, by=by, in_file=ready)

    def _new(self, rule: LikeRule, asker: Asker, note: str = "") -> NewRule:
        project = os.path.realpath(asker.project) if rule.reach is RuleReach.PROJECT else ""
        return NewRule(patterns=rule.patterns, project=project, note=note)

    def _use(self, action: Action, asker: Asker) -> ToolUse:
        return self._rules.judge.use(action.plain, asker.project)

    def _reaches(self, asker: Asker, person: str) -> tuple[RuleReach, ...]:
        own = owns_rules(self._config, person)
        project = os.path.realpath(asker.project) if asker.project else "/"
        there = {
            RuleReach.SESSION: session_key(asker) is not None,
            RuleReach.PROJECT: own and project != "/",
            RuleReach.EVERYWHERE: own,
        }
        return tuple(reach for reach, is_there in there.items() if is_there)

    def _check_meaning(self, rule: Rule, action: Action, asker: Asker) -> None:
        """It is about this action, all of it, and about nothing that was not shown."""
        use = self._use(action, asker)
        for each in rule.patterns:
            if each.name == "*" or (each.about is About.NOTHING and action.kind in _LOOKED_INTO):
                raise _invalid(TOO_WIDE.format(pattern=quoted(each.text), tool=each.name))
        ruling = _judged([_file(rule)], use, asker)
        if ruling.effect is not Effect.ALLOW:
            not_meant = NOT_BY_A_STAR if _fails_by_a_star(rule, use) else NOT_MEANT
            raise _invalid(NOT_CERTAIN.format(why=ruling.why) if ruling.is_in_doubt else not_meant)
        for each in rule.patterns:
            if not any(each.covers_command(use, words) for words in use.commands or ((),)):
                raise _invalid(NOT_NEEDED.format(pattern=quoted(each.text)))

    def _check_others(self, rule: Rule, action: Action, asker: Asker) -> None:
        """Nothing that denies or asks is stronger."""
        book = self._rules.judge.book(Path(asker.project))
        ruling = _judged([*book.files, _file(rule)], self._use(action, asker), asker)
        if ruling.effect is Effect.ALLOW:
            return
        if ruling.faults and not ruling.is_denied:
            raise _invalid(FAULTY.format(fault=ruling.faults[0]))
        if not ruling.rules:
            raise _invalid(NOT_CERTAIN.format(why=ruling.why))
        text = STILL_DENIED if ruling.is_denied else STILL_ASKED
        raise _invalid(text.format(rule=ruling.patterns[0], place=ruling.rules[0].place))


def _why_nowhere(ask: Ask) -> str:
    """Why no rule can be made of this at all; empty when one can."""
    asker = ask.asker
    if asker.agent or asker.host not in ("", this_host()):
        return ELSEWHERE
    if quorum_of(ask):
        return SEVERAL
    return "" if AllowScope.ONCE in scopes_of(ask) else WHOLE_TOOL


def _check_text(rule: LikeRule) -> None:
    if not rule.patterns:
        raise _invalid(EMPTY)
    if len(rule.text) > MOST_CHARACTERS:
        raise _invalid(TOO_LONG.format(most=f"{MOST_CHARACTERS:,}"))
    if any(exact(line) != line or not line.isprintable() for line in rule.patterns):
        raise _invalid(UNSEEN)


def _judged(files: Sequence[RulesFile], use: ToolUse, asker: Asker) -> Ruling:
    where = Circumstances(project=os.path.realpath(asker.project), agent=asker.client)
    return RuleBook(files).judge(use, where)


def _file(rule: Rule) -> RulesFile:
    return RulesFile(file=Path("rule"), level=RuleLevel.PERSON, rules=(rule,))


def _fails_by_a_star(rule: Rule, use: ToolUse) -> bool:
    """Whether a command begins with what is before a star, so that the star would have to stand for the rest."""
    heads = [each.text.partition("(")[2].partition("*")[0].split() for each in rule.patterns if "*" in each.text]
    return any(head and list(words[: len(head)]) == head for head in heads for words in use.commands)


def _note(ask: Ask, by: Settler) -> str:
    """What stands above it in the file."""
    action = action_of(ask)
    when = time.strftime("%Y-%m-%d %H:%M")
    return f"{NOTE} {when} by {by.person or 'you'} for {action.title if action else ask.tool} (ask {ask.id[:8]})"


def _invalid(text: str) -> InvalidInput:
    return InvalidInput([Problem(path="rule", text=text)])
