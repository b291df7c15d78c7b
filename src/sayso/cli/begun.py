"""What was answered so far at the prompts of `sayso answer`: a draft, with which the inbox and the next prompts go
on, so that a lost connection loses no more than the answer at hand.
"""

from __future__ import annotations

from contextlib import suppress

from sayso.asks.draft import Said, from_json, to_json
from sayso.asks.draft import answer as answer_of
from sayso.asks.model import Answer, Ask, Question, fit
from sayso.desks import Desks
from sayso.errors import InvalidInput, StoreError
from sayso.records import replace


class Begun:
    """The answers that a person has given to one ask without sending them."""

    def __init__(self, desks: Desks, ask: Ask) -> None:
        self._desks, self._ask, self._person = desks, ask, desks.config.person
        self._draft = from_json(ask, desks.asks.draft(ask.id, self._person))
        self.given = {question.id: given for question in ask.questions for given in self._complete(question)}

    def _complete(self, question: Question) -> list[Answer]:
        """The answer that was entered, if it is one. Files are sent from where they were attached."""
        said = self._draft.of(question)
        if said.empty or said.attachments:
            return []
        with suppress(InvalidInput):
            return list(fit(replace(self._ask, questions=(question,)), [answer_of(question, said)]))
        return []

    def keep(self, answer: Answer) -> None:
        """This one was given now, perhaps in the place of another."""
        said = self._draft.said.get(answer.question, Said())
        self.given[answer.question] = answer
        self._draft = replace(self._draft, said={**self._draft.said, answer.question: _said(answer, said)})
        with suppress(StoreError):  # what cannot be kept can still be sent
            self._desks.asks.keep_draft(self._ask.id, self._person, to_json(self._ask, self._draft))

    def forget(self) -> None:
        """It was sent, or rejected."""
        with suppress(StoreError):
            self._desks.asks.keep_draft(self._ask.id, self._person, "")


def _said(answer: Answer, before: Said) -> Said:
    return Said(
        chosen=answer.chosen,
        text=answer.text or "",
        own=bool(answer.text),
        note=answer.note,
        skipped=not answer.chosen and not answer.text,
        attachments=before.attachments,
    )
