"""How an ask is told in a line or two: what it is about, where it comes from, how it stands."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.asks import words
from sayso.asks.crowds import Crowd
from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import CALLED_OFF, CLIENT_FORM, OUT_OF_TIME, Answer, Ask, Outcome, Question, State
from sayso.asks.truth import Handover, Listening, handover, listening, stops_waiting_at
from sayso.clock import Clock
from sayso.presence import Whereabouts
from sayso.text import age, one_line
from sayso.tui.markdown import plain_line
from sayso.tui.texts import Texts

if TYPE_CHECKING:
    from sayso.operations.operation import Operation
    from sayso.permissions.verdict import Decision

NAME_WIDTH = 40
"""The most characters of a client's, project's or host's name."""
WIDEST_TAB = 24
"""The most characters of what a question is called, where several stand side by side."""
_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000


@dataclass(frozen=True, kw_only=True)
class Wording:
    """Says things about asks in one language, by one clock."""

    texts: Texts
    clock: Clock

    def headline(self, ask: Ask) -> str:
        """What an ask is about: its title, or the words of its first question."""
        told = words.headline(ask, 300, plain_line) or self.texts.history_wiped
        wanted = re.fullmatch(r"Allow (.+)\?", told) if ask.wanted is not None else None
        return self.texts.allow_this.format(what=wanted[1]) if wanted else told

    def client(self, ask: Ask | Operation) -> str:
        return one_line(ask.asker.client, NAME_WIDTH) or self.texts.unknown_client

    def project(self, ask: Ask | Operation) -> str:
        return words.project_name(ask.asker, NAME_WIDTH) or self.texts.unknown_project

    def host(self, ask: Ask) -> str:
        return one_line(ask.asker.host, NAME_WIDTH)

    def apart(self, ask: Ask, others: Lookalikes) -> list[str]:
        """What tells this agent from others of the same name in the same project, what matters most first."""
        branch, session = one_line(others.branch(ask.asker), NAME_WIDTH), others.session(ask.asker)
        parts = [
            self.texts.branch.format(branch=branch) if branch else "",
            self.texts.session.format(session=session) if session else "",
        ]
        return parts[::-1] if others.share_a_branch(ask.asker) else parts

    def questions(self, ask: Ask) -> str:
        count = len(ask.questions)
        if ask.is_permission:
            return self.texts.one_permission
        return self.texts.one_question if count == 1 else self.texts.questions.format(n=count)

    def how_many(self, crowd: Crowd) -> str:
        """What an agent has open: `3000 questions`."""
        return self.texts.one_question if crowd.size == 1 else self.texts.questions.format(n=crowd.size)

    def crowd_standing(self, crowd: Crowd) -> str:
        if not crowd.attended:
            return self.standing(crowd.newest)
        return self.texts.one_waiting if crowd.attended == 1 else self.texts.waiting.format(n=crowd.attended)

    def crowds(self, crowds: Sequence[Crowd]) -> str:
        """How many asks are told together, and of whom."""
        size = sum(crowd.size for crowd in crowds)
        if len(crowds) == 1:
            return self.texts.many_of_one.format(n=size, client=self.client(crowds[0].newest))
        return self.texts.many_of_some.format(n=size, agents=len(crowds))

    def age(self, since: int) -> str:
        """How long ago. Less than a minute is now: numbers that run all the time draw the eye for nothing."""
        passed = self.clock() - since
        return age(passed) if passed >= _MINUTE else self.texts.now

    def age_lasts(self, since: int) -> int:
        """Milliseconds until `age` reads differently."""
        passed = max(self.clock() - since, 0)
        unit = _unit(max(passed, _MINUTE))
        return unit - passed % unit

    def standing(self, ask: Ask) -> str:
        """Whether the agent waits, and for how long still."""
        end = stops_waiting_at(ask)
        if end is None:
            return {
                Listening.WAITING: self.texts.stands_waiting,
                Listening.IN_FORM: self.texts.stands_in_form,
                Listening.AT_WORK: self.texts.stands_at_work,
                Listening.NOT_WAITING: self.texts.stands_unattended,
                Listening.TIMED_OUT: self.texts.stands_timed_out,
            }[listening(ask)]
        left = end - self.clock()
        return self.texts.stands_until.format(span=age(left) if left >= _SECOND else "0s")

    def standing_lasts(self, ask: Ask) -> int | None:
        """Milliseconds until `standing` reads differently by itself; None when it does not."""
        end = stops_waiting_at(ask)
        if end is None:
            return None
        left = end - self.clock()
        return left % _unit(left) + 1 if left >= _SECOND else None

    def state(self, state: State) -> str:
        return str(getattr(self.texts, f"state_{state.value}"))

    def when(self, milliseconds: int | None) -> str:
        """A moment: the time of today, the date of other days."""
        if milliseconds is None:
            return ""
        then, now = time.localtime(milliseconds / 1000), time.localtime(self.clock() / 1000)
        same_day = (then.tm_year, then.tm_yday) == (now.tm_year, now.tm_yday)
        return time.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M", then)

    def absence(self, said: Whereabouts) -> str:
        """That the person has said they are away."""
        if said.until is None:
            return self.texts.you_are_away
        return self.texts.you_are_away_until.format(until=self.when(said.until))

    def truth(self, ask: Ask | None) -> str:
        """What a person answering this ask must know, beyond the usual. Nothing while the agent waits."""
        match ask.state if ask else None:
            case None:
                return self.texts.truth_missing
            case State.PENDING if ask is not None:
                return self._truths[listening(ask)]
            case State.TIMED_OUT:
                return self.texts.truth_timed_out
            case State.SUPERSEDED:
                return self.texts.truth_superseded
            case State.EXPIRED if ask is not None and ask.abandoned:
                return self.texts.truth_abandoned
            case State.EXPIRED:
                return self.texts.truth_expired
        assert ask is not None
        if ask.let_go:
            return self.texts.truth_let_go.format(why=self._let_go(ask))
        return self.texts.truth_settled.format(
            state=self.state(ask.state), when=self.when(ask.ended_at), by=self._by(ask)
        )

    @property
    def _truths(self) -> dict[Listening, str]:
        texts = self.texts
        return {
            Listening.WAITING: "",
            Listening.IN_FORM: texts.truth_in_form,
            Listening.AT_WORK: texts.truth_at_work,
            Listening.NOT_WAITING: texts.truth_unattended,
        }

    def ending(self, ask: Ask) -> str:
        """How it ended: a permission was allowed or denied, everything else is in its state."""
        from sayso.permissions.verdict import verdict_of  # only once the history is read

        verdict = verdict_of(ask)
        if verdict and verdict.allowed and verdict.edited:
            return self.texts.permission_edited
        return self.end(verdict.decision if verdict else ask.state)

    def end(self, how: State | Decision) -> str:
        from sayso.permissions.verdict import Decision

        if isinstance(how, State):
            return self.state(how)
        return {
            Decision.ALLOWED: self.texts.permission_allowed,
            Decision.DENIED: self.texts.permission_denied,
            Decision.UNDECIDED: self.texts.permission_undecided,
            Decision.ELSEWHERE: self.texts.permission_elsewhere,
            Decision.NOT_DONE: self.texts.permission_not_done,
        }[how]

    def told(self, settled: Ask, done: str) -> str:
        """What was done, and whether the agent hears of it: `sent`, `rejected` and the like, said for the person."""
        if settled.is_permission and settled.state.answerable:
            from sayso.permissions.quorum_words import progress

            said = self.texts.yes_taken_back if done == "yes_taken_back" else self.texts.agreed
            return said.format(progress=progress(settled))
        verdict = f"{self.ending(settled).capitalize()}." if settled.is_permission else ""
        if verdict and done == "rule_added":
            verdict += f" {self.texts.rule_added}"
        return f"{verdict or getattr(self.texts, done)} {self.heard(settled)}"

    def heard(self, settled: Ask) -> str:
        """Whether the agent has been told."""
        texts = self.texts
        said = {
            Handover.RECEIVED: texts.handed_over,
            Handover.NO_EFFECT: texts.no_effect,
            Handover.ON_ITS_WAY: texts.on_its_way,
            Handover.AT_ITS_FORM: texts.at_its_form,
            Handover.TO_BE_FETCHED: texts.to_be_fetched,
            Handover.TOO_LATE: texts.too_late,
            Handover.KEPT: texts.kept_for,
            Handover.KEPT_FOR_SESSION: texts.kept_for_session,
        }[handover(settled)]
        void = one_line(settled.outcome.void, 200) if settled.outcome else ""
        return said.format(client=self.client(settled), why=void)

    def settled_by(self, ask: Ask) -> str:
        """Who ended it and where, for the history."""
        if ask.let_go:
            return f"{self.ending(ask)}: {self._let_go(ask)}"
        if ask.outcome is None or not ask.outcome.person:
            return self.ending(ask)
        told = f"{self.ending(ask)} {self._by(ask)}"
        return f"{told} ({self.texts.late})" if ask.outcome.late else told

    def _let_go(self, ask: Ask) -> str:
        """Why its call took it back."""
        known = {OUT_OF_TIME: self.texts.call_out_of_time, CALLED_OFF: self.texts.call_called_off}
        return known.get(ask.withdrawn, self.texts.call_ended)

    def _by(self, ask: Ask) -> str:
        outcome = ask.outcome or Outcome()
        if outcome.surface == CLIENT_FORM:
            return self.texts.by_form.format(client=self.client(ask))
        return self.said_by(outcome.person, outcome.surface)

    def said_by(self, person: str, surface: str) -> str:
        """`by ada at the command line`."""
        return self.texts.by.format(person=one_line(person, NAME_WIDTH) or "?", place=self._place(surface))

    def _place(self, surface: str) -> str:
        texts = self.texts
        known = {"browser": texts.in_browser, "terminal": texts.in_terminal, "command line": texts.at_command_line}
        return known.get(surface) or texts.in_another.format(surface=one_line(surface, NAME_WIDTH) or "?")

    def option(self, question: Question, option_id: str) -> str:
        """An option's label; yes and no in the person's language."""
        found = question.option(option_id)
        if question.kind.value == "confirm" and found:
            return self.texts.yes if option_id == "yes" else self.texts.no
        return one_line(found.name, 500) if found else "?"

    def question_title(self, place: int, question: Question) -> str:
        return one_line(question.title, WIDEST_TAB) or self.texts.question_n.format(n=place + 1)

    def answer_lines(self, question: Question, answer: Answer) -> list[str]:
        """What was said to a question, a line each. Nothing when it was left out."""
        lines = [self.option(question, option.id) for option in question.choices if option.id in answer.chosen]
        if answer.text is not None:
            lines.append(answer.text)
        if answer.note:
            lines.append(f"{self.texts.note}: {answer.note}")
        lines += [f"{self.texts.attached}: {each.name}" for each in answer.attachments]
        return lines


def _unit(milliseconds: int) -> int:
    """The unit in which such a span is told."""
    return next((unit for unit in (_DAY, _HOUR, _MINUTE) if milliseconds >= unit), _SECOND)
