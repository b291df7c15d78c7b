"""The pages of the log of permissions: what was allowed and denied, with filters, and all about one of them."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from sayso.asks import words
from sayso.asks.model import ITS_CALL
from sayso.chain import LogEntry, LogKind
from sayso.clock import now_ms
from sayso.permissions import log_words
from sayso.permissions.log import LoggedOutcome
from sayso.permissions.log_stats import LogStats, took_words
from sayso.permissions.log_words import edited, ran, rule_place, subject, what, why
from sayso.text import counted, isolated, one_line
from sayso.web.pages import page
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import Site, site_of
from sayso.web.wording import NAME_WIDTH, Standing

PAGE = 50
_DAY = 86_400_000
SINCE = {"1d": (_DAY, "Last day"), "7d": (7 * _DAY, "Last 7 days"), "30d": (30 * _DAY, "Last 30 days")}
_TONES = {LogKind.ALLOWED: "done", LogKind.DENIED: "refused", LogKind.TOO_LATE: "late", LogKind.REFUSED: "late"}
_RAN = {
    log_words.RUN: "ran",
    log_words.IN_PART: "ran in part",
    log_words.HANDED_OVER: "handed to its client",
    log_words.NOT_RUN: "did not run",
}
_HOW_FAR = {"": "", "once": "", "everywhere": "everywhere"}
_RULES = (LogKind.RULE_ADDED, LogKind.RULE_ENDED)
_NUMBER = re.compile(r"[0-9]{1,15}")


async def show_list(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    asked = request.query_params
    since, project, denied = asked.get("since", ""), asked.get("project", ""), asked.get("denied") == "1"
    found = await site.do(
        site.desks.log.outcomes,
        since=now_ms() - SINCE[since][0] if since in SINCE else 0,
        project=project or None,
        person=visitor.user,
        only_refused=1 if denied else None,
        before=int(asked["before"]) if _NUMBER.fullmatch(asked.get("before", "")) else None,
        most=PAGE + 1,
    )
    wanted = {"since": since, "project": project, "denied": "1" if denied else ""}
    older = {**wanted, "before": found[PAGE - 1].entry.seq} if len(found) > PAGE else {}
    return page(
        request,
        "log.html",
        visitor,
        outcomes=found[:PAGE],
        spans={name: label for name, (_, label) in SINCE.items()},
        projects=await site.do(site.desks.log.projects, visitor.user),
        since=since,
        project=project,
        denied=denied,
        older=f"log?{urlencode(older)}" if older else "",
        stats=None if project or denied or "before" in asked else await _stats(site, visitor, since),
        took=took_words,
        log=LogWording(visitor.user),
    )


async def _stats(site: Site, visitor: Visitor, since: str) -> LogStats:
    now = now_ms()
    return await site.do(site.desks.log.stats, now - SINCE.get(since, SINCE["7d"])[0], now, visitor.user)


async def show(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    found = await site.do(site.desks.log.whole, request.path_params["ask"], visitor.user)
    return page(
        request,
        "logged.html",
        visitor,
        first=found.entries[0].event,
        entries=found.entries,
        actions=found.actions,
        lost=found.lost,
        log=LogWording(visitor.user),
    )


class LogWording:
    """How entries are told to one person."""

    def __init__(self, user: str) -> None:
        self._user = user

    def standing(self, entry: LogEntry) -> Standing:
        kind = entry.event.kind
        word = "nobody decided" if kind is LogKind.UNDECIDED else what(entry)
        return Standing(word=word.capitalize(), tone=_TONES.get(kind, "quiet"))

    def title(self, entry: LogEntry) -> str:
        return one_line(subject(entry), 200)

    def by(self, entry: LogEntry) -> str:
        """Who, and where."""
        event = entry.event
        if event.surface == ITS_CALL:
            return ""
        person = "you" if event.person == self._user else one_line(event.person or event.rule, NAME_WIDTH)
        where = f" {words.place(event.surface, NAME_WIDTH)}" if event.surface else ""
        return f"by {person}{where}" if person else ""

    def ran(self, outcome: LoggedOutcome) -> str:
        """Whether exactly that ran."""
        times = f", {outcome.ran} times" if outcome.ran > 1 else ""
        others = f"; {counted(outcome.others, 'other call')} under it" if outcome.others else ""
        return f"{_RAN[said]}{times}{others}" if (said := ran(outcome)) else ""

    def why(self, outcome: LoggedOutcome) -> str:
        return one_line(why(outcome), 300)

    def line(self, entry: LogEntry) -> str:
        """What else is known of one entry."""
        event = entry.event
        far = _HOW_FAR.get(event.scope, f"for {event.scope}")
        operation = f"operation {event.operation}" if event.operation else ""
        changes = f"edited: {', '.join(edited(entry))}" if edited(entry) else ""
        rule = isolated(one_line(subject(entry), 300)) if event.kind in _RULES else ""
        known = (rule, self.by(entry), far, rule_place(entry), operation, changes, isolated(one_line(event.why, 300)))
        return "; ".join(filter(None, known))
