"""What a browser without an open page is told: of an ask, that it is settled, of a turn in Talk that has ended.

All of it is encrypted for that browser. Texts of agents are made safe here; a browser shows them as plain text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from sayso.agents.model import Conversation, RunState
from sayso.asks.mark import mark
from sayso.asks.model import Ask, Kind
from sayso.asks.words import headline, who_wants
from sayso.text import exact, one_line
from sayso.web import talk_wording
from sayso.web.markdown import plain_line
from sayso.wishes import NewsKind

DAY = 86_400
MOST_OPTIONS = 3
LONGEST_OPTION = 20
LONGEST_QUESTION = 160
"""Characters that every platform shows of a notification, and of a button in one. Longer questions are opened."""


@dataclass(frozen=True, kw_only=True)
class PushMessage:
    """One message for all browsers of a person. A later one of the same topic takes its place."""

    topic: str
    kind: NewsKind
    project: str
    data: dict[str, Any]
    ask: str = ""
    """The ask that it is about, as long as it is open."""
    urgency: str = "high"

    def as_bytes(self, waiting: int) -> bytes:
        """With how many things wait in all, for the icon of the installed page."""
        return json.dumps({**self.data, "waiting": waiting}, ensure_ascii=False).encode(errors="replace")


def of_ask(ask: Ask) -> PushMessage:
    kind = NewsKind.PERMISSION if ask.is_permission else NewsKind.QUESTION
    data = {
        "tag": ask.id,
        "title": who_wants(ask),
        "body": _whole_question(ask) or headline(ask, 200),
        "path": f"asks/{ask.id}",
        "shown": mark(ask),
        "options": options(ask),
    }
    project = PurePath(ask.asker.project).name
    return PushMessage(topic=ask.id, kind=kind, project=project, data=data, ask=ask.id)


def of_settled(told: PushMessage) -> PushMessage:
    """That an ask needs nobody any more: the notification of it goes."""
    data = {"tag": told.topic, "title": told.data["title"], "body": "It is settled.", "path": "./", "settled": True}
    return PushMessage(topic=told.topic, kind=told.kind, project=told.project, data=data, urgency="normal")


def of_turn(conversation: Conversation) -> PushMessage:
    """That the agent has ended its turn, or failed."""
    run = conversation.latest
    said = "is done" if run.state is RunState.COMPLETED else "failed"
    project = talk_wording.project(run)
    data = {
        "tag": run.conversation,
        "title": f"{talk_wording.agent(run)} in {project} {said}",
        "body": one_line(talk_wording.title(conversation), 160),
        "path": f"talk/{run.conversation}",
    }
    return PushMessage(topic=run.id, kind=NewsKind.TURN, project=run.project.name, data=data, urgency="normal")


def options(ask: Ask) -> list[str]:
    """What can be answered from the notification: all options of a question that it shows whole, or none. Never a
    permission: what would be done is not shown there."""
    if ask.is_permission or not _whole_question(ask):
        return []
    choices = ask.questions[0].choices
    labels = [option.label for option in choices]
    fit = all(_is_plain(label, LONGEST_OPTION) for label in labels) and not any(each.is_explained for each in choices)
    return labels if fit and 2 <= len(labels) <= MOST_OPTIONS and len(set(labels)) == len(labels) else []


def _whole_question(ask: Ask) -> str:
    """All that is asked, where a notification shows all of it; else empty."""
    if len(ask.questions) != 1 or ask.questions[0].kind not in (Kind.SELECT, Kind.CONFIRM):
        return ""
    question = ask.questions[0]
    parts = dict.fromkeys(part for part in (ask.title, question.title, question.text) if part)
    whole = ": ".join(parts)
    # What its page shows in another way, such as with a line through a word, is read there.
    same = question.text == plain_line(question.text)
    return whole if same and _is_plain(whole, LONGEST_QUESTION) else ""


def _is_plain(text: str, most: int) -> bool:
    """Whether a text reads the same wherever it is shown: one short line with nothing in it that cannot be seen."""
    return 0 < len(text) <= most and text == exact(text) and text == " ".join(text.split())
