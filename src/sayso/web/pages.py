"""Rendering: the templates, what every page needs, and how a person wants pages to look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sayso.agents.model import EventKind
from sayso.asks.crowds import Crowd, Entry, short_name
from sayso.asks.mark import mark
from sayso.asks.model import Kind, State
from sayso.clock import now_ms
from sayso.dialects.operation_replies import how
from sayso.operations.operation import Operation
from sayso.permissions.action import action_of
from sayso.permissions.verdict import verdict_of
from sayso.roster import AgentAtWork
from sayso.text import exact, iso_time, isolated, lasting, one_line, printable
from sayso.web import (
    agent_wording,
    cards,
    command_wording,
    entries,
    markdown,
    permission_card,
    printed,
    row_wording,
    talk_wording,
    tool_wording,
    wording,
)
from sayso.web.boards import DRAWN, listing_mark
from sayso.web.conversations import Talked
from sayso.web.fields import MOST_BYTES
from sayso.web.icons import icon
from sayso.web.packing import pack
from sayso.web.private_path import door_of, own_path
from sayso.web.sessions import Visitor

THEMES = {"auto": "As this device", "light": "Light", "dark": "Dark"}
AFTER = {"stay": "Show me what I sent", "next": "Go on with the next question"}
KEYS = {"on": "On", "off": "Off"}
SNOOZES = {"20m": "20 minutes", "1h": "1 hour", "3h": "3 hours", "tomorrow": "Tomorrow, 8:00"}
LOOK_COOKIE = "sayso_look"
LOOK_LIFE = 365 * 86_400


@dataclass(frozen=True, kw_only=True)
class Appearance:
    """What a person chose for this browser."""

    theme: str = "auto"
    after: str = "stay"
    keys: str = "on"

    def __str__(self) -> str:
        return f"{self.theme}.{self.after}.{self.keys}"


def appearance(theme: str = "", after: str = "", keys: str = "") -> Appearance:
    """What these words choose; for each that is none, what holds where nobody has chosen."""
    return Appearance(
        theme=theme if theme in THEMES else "auto",
        after=after if after in AFTER else "stay",
        keys=keys if keys in KEYS else "on",
    )


def look_of(request: Request) -> Appearance:
    return appearance(*request.cookies.get(LOOK_COOKIE, "").split(".")[:3])


def page(
    request: Request, template: str, visitor: Visitor | None = None, *, status: int = 200, **context: Any
) -> Response:
    """A whole page."""
    html = (
        _environment()
        .get_template(template)
        .render(
            visitor=visitor,
            look=look_of(request),
            door=door_of(request.scope),
            path=own_path(request.scope),
            this_page=_this_page(request),
            now=now_ms(),
            **context,
        )
    )
    response = HTMLResponse(html, status)
    return pack(request.scope, response) if visitor else response


def _this_page(request: Request) -> str:
    """The page itself, as its links name it."""
    path = own_path(request.scope).lstrip("/") or "./"
    return f"{path}?{request.url.query}" if request.url.query else path


def row(entry: Entry, user: str) -> str:
    """An ask, or all of an agent that has many open, as one row of this person's inbox."""
    return _environment().get_template("entry.html").render(entry=entry, user=user, now=now_ms())


def command_row(operation: Operation, words: Callable[[Operation], str]) -> str:
    """A command as one row of the list. `words` tells what was executed."""
    return _environment().get_template("command_row.html").render(operation=operation, words=words, now=now_ms())


def agent_row(agent: AgentAtWork, words: Callable[[Operation], str]) -> str:
    """An agent at work as one row of the list."""
    return _environment().get_template("agent_row.html").render(agent=agent, words=words, now=now_ms())


def conversation_row(talked: Talked) -> str:
    """A conversation as one row of the list."""
    return _environment().get_template("conversation_row.html").render(talked=talked, now=now_ms())


def fragment(template: str, **context: Any) -> Markup:
    """A part of a page."""
    return Markup(_environment().get_template(template).render(now=now_ms(), **context))  # noqa: S704


@cache
def asset(name: str) -> str:
    """The address of a static file below the page's base, different for each content so that browsers may keep it."""
    content = (resources.files("sayso.web") / "static" / name).read_bytes()
    return f"static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


def ago(at: int, now: int) -> Markup:
    """A moment in the past, told by how long ago it was; exactly on hover. A script keeps it true."""
    shown = Markup('<time datetime="{}" title="{}" data-relative>{} ago</time>')
    return shown.format(iso_time(at), wording.moment(at), wording.span(now - at))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sayso.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        # Else each row would have its files looked at for changes.
        auto_reload=False,
    )
    environment.globals |= {
        "asset": asset,
        "icon": icon,
        "listing_mark": listing_mark,
        "kind_of": row_wording.kind_of,
        "size_of": row_wording.size_of,
        "options_in_row": row_wording.options_in_row,
        "ago": ago,
        "headline": wording.headline,
        "subject": wording.subject,
        "question_in_heading": wording.question_in_heading,
        "takes_a_press": entries.takes_a_press,
        "client": wording.client,
        "project": wording.project,
        "whereabouts": wording.whereabouts,
        "about": wording.about,
        "at_work": agent_wording,
        "session": wording.session,
        "branch": wording.branch,
        "agent_of": lambda ask: "" if ask.is_permission else short_name(ask.asker.crowd),
        "how_many": wording.how_many,
        "standing": wording.standing,
        "settled_by": wording.settled_by,
        "too_late": wording.too_late,
        "handover": wording.handover,
        "reading_side": wording.reading_side,
        "answering_side": wording.answering_side,
        "chosen_labels": wording.chosen_labels,
        "not_chosen": wording.not_chosen,
        "passed_over": wording.passed_over,
        "why_not": wording.why_not,
        "said_in_short": cards.said,
        "happened": wording.happened,
        "problem_of": wording.problem_of,
        "question_name": wording.question_name,
        "permission_card": permission_card.card_of,
        "edited_parts": permission_card.edited_parts,
        "row_card": permission_card.row_card_of,
        "own_yes": permission_card.own_yes,
        "shown_parts": permission_card.shown_parts,
        "shown_difference": permission_card.shown_difference,
        "verdict": verdict_of,
        "wanted_action": action_of,
        "command": command_wording,
        "how": how,
        "printed_lines": printed.printed_lines,
        "plain_lines": printed.plain_lines,
        "tool": tool_wording,
        "talk": talk_wording,
        "shown_mark": mark,
        "EventKind": EventKind,
        "Kind": Kind,
        "State": State,
        "THEMES": THEMES,
        "AFTER": AFTER,
        "KEYS": KEYS,
        "SNOOZES": SNOOZES,
        "DRAWN": DRAWN,
        "MOST_SENT": MOST_BYTES,
    }
    environment.tests["a_crowd"] = lambda entry: isinstance(entry, Crowd)
    environment.filters |= {
        "markdown": markdown.shown,
        "label": wording.label,
        "with_code": markdown.with_code,
        "cut": wording.cut,
        "unbroken": markdown.unbroken,
        "line": one_line,
        "isolated": isolated,
        "span": wording.span,
        "moment": wording.moment,
        "lasting": lasting,
        "printable": printable,
        "exact": exact,
        "iso": iso_time,
    }
    return environment
