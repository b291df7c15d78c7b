"""The pages of the rules: those that hold, and the person's own file as a text, with what another one would have
changed of the last 30 days.

What is saved is what was shown. The form carries a mark of the file as it was read and of the text; a text that was
changed since, or belongs to another state of the file, is only shown again. It all works without scripts.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.asks.model import Asker
from sayso.asks.truth import session_of
from sayso.clock import now_ms
from sayso.errors import InvalidInput
from sayso.permissions.hindsight import LOOKED_BACK, MOST_LOOKED_AT
from sayso.permissions.own_rules import NOT_YOURS, EditedRules
from sayso.permissions.quorum_words import who
from sayso.permissions.ruled import demand_of
from sayso.permissions.session_rules import SessionRule
from sayso.records import replace
from sayso.rules.levels import RuleLevel, rules_places
from sayso.rules.own_file import CHANGED, OwnFile, without_rule
from sayso.rules.rule import Rule, RulesFile
from sayso.text import exact, exact_diff, one_line
from sayso.web.diff_block import diff_block
from sayso.web.fields import Fields
from sayso.web.pages import page
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of

LOOK, SAVE, REMOVE = "look", "save", "remove"
"""What the buttons are called."""
NOT_SHOWN = "You changed the text, so nothing was saved yet. Look at what it would change now, then save it."
CHANGED_SINCE = f"{CHANGED} Your text is kept below, with what saving it would change in the file as it is now."
GONE_SINCE = "Your file was changed meanwhile, so no rule was taken out. This is how it is now."
_AROUND = 3
"""Lines that a diff shows around what differs."""
_MOST_UNSEEN = 10

_LEVELS = {
    RuleLevel.MACHINE: "The machine’s",
    RuleLevel.PERSON: "Yours",
    RuleLevel.PROJECT: "The project’s",
}


@dataclass(frozen=True, kw_only=True)
class ShownRules:
    """The rules of one level: its file, where there is one. The page knows them by `id`."""

    id: str
    level: RuleLevel
    title: str
    path: str
    file: RulesFile | None


async def show(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    render = partial(_show, request, site, visitor, await _projects(site, visitor))
    return await site.do(render)


async def _projects(site: Site, visitor: Visitor) -> list[str]:
    """Whose rules can be looked at: folders of this machine are nobody's business but its owner's."""
    if not site.permissions.own_rules.is_of(visitor.user):
        return []
    return await site.do(site.desks.log.projects, visitor.user)


def _show(request: Request, site: Site, visitor: Visitor, projects: Sequence[str]) -> Response:
    wanted = request.query_params.get("project", "")
    project = wanted if wanted in projects else ""
    own, rules = site.permissions.own_rules.is_of(visitor.user), site.desks.session_rules()
    counts = site.desks.log.decided_by_rules(now_ms() - LOOKED_BACK, visitor.user)
    return page(
        request,
        "rules.html",
        visitor,
        levels=_levels(site, project, own=own),
        given=[rule for rule in rules if rule.owner in ("", visitor.user)],
        own=own,
        own_hash=site.permissions.own_rules.read().hash,
        owner=site.config.person,
        projects=projects,
        project=project,
        saved="saved" in request.query_params,
        ended="ended" in request.query_params,
        rules=RulesWording(counts),
    )


def _levels(site: Site, project: str, *, own: bool) -> list[ShownRules]:
    folder = Path(project) if project else None
    files = {file.file: file for file in site.permissions.own_rules.book(folder).files}
    titles = _LEVELS if own else {**_LEVELS, RuleLevel.PERSON: f"Those of {site.config.person}"}
    places = rules_places(site.config, folder)
    shown = [(level.value, level, path) for level, path in places.items()]
    around = [path for path in files if path not in places.values()]
    shown += [(f"around-{number}", RuleLevel.PROJECT, path) for number, path in enumerate(around, start=1)]
    return [
        ShownRules(id=name, level=level, title=titles[level], path=str(path), file=files.get(path))
        for name, level, path in shown
    ]


class RulesWording:
    """How rules are told."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def decided(self, rule: Rule) -> int:
        return self._counts.get(f"{rule.effect.value} {rule.text}", 0)

    def decided_for_session(self, rule: SessionRule) -> int:
        return self._counts.get(f"allow {', '.join(rule.patterns)}", 0)

    def only(self, rule: Rule) -> list[str]:
        """Where and for whom it holds alone, and who has to agree."""
        when = rule.when
        told = (
            f"only in {', '.join(map(exact, when.projects))}" if when.projects else "",
            f"only for {exact(', '.join(when.agents))}" if when.agents else "",
            f"only in the sandbox {when.sandbox}" if when.sandbox else "",
            "only as plain words" if when.plain else "",
            "" if rule.approvers.is_anyone else f"must agree: {exact(who(demand_of(rule)))}",
        )
        return [one_line(each, 400) for each in told if each]

    def session(self, rule: SessionRule) -> str:
        return session_of(Asker(session=rule.session))


async def show_edit(request: Request) -> Response:
    visitor = await required_browser(request)
    site = _owners_site(request, visitor)
    own = await site.do(site.permissions.own_rules.read)
    return await _edit_page(request, visitor, own, EditedRules(own=own, text=own.text), fresh=True)


async def edit(request: Request) -> Response:
    """Show what a text would change, or save it."""
    visitor, fields = await sent_form(request)
    site = _owners_site(request, visitor)
    own = await site.do(site.permissions.own_rules.read)
    if fields.one("settle") == REMOVE:
        return await _remove(request, visitor, own, fields)
    text = fields.one("text")
    if fields.one("settle") == SAVE and text == own.text:  # by a press of before, of which no reply came
        return RedirectResponse("/rules?saved=1", 303)
    edited = await _look(site, visitor, own, text)
    if fields.one("settle") != SAVE:
        refused = "" if fields.one("file") == own.hash else CHANGED_SINCE
        return await _edit_page(request, visitor, own, edited, refused=refused)
    if refused := _refusal(own, edited, fields):
        return await _edit_page(request, visitor, own, edited, refused=refused)
    try:
        await site.do(site.permissions.own_rules.save, own, text, visitor.settler)
    except InvalidInput as error:
        refused = " ".join(problem.text for problem in error.problems)
        return await _edit_page(request, visitor, own, edited, refused=refused)
    return RedirectResponse("/rules?saved=1", 303)


async def end_given(request: Request) -> Response:
    """End a rule that holds for one session."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    for rule in await site.do(site.desks.session_rules):
        if rule.id == fields.one("rule") and rule.owner in ("", visitor.user):
            await site.do(site.permissions.end_session_rule, rule, visitor.settler)
    return RedirectResponse("/rules?ended=1", 303)


def _owners_site(request: Request, visitor: Visitor) -> Site:
    """The site, for the person whose rules these are. Nobody else can even look at the text."""
    site = site_of(request)
    if not site.permissions.own_rules.is_of(visitor.user):
        raise HTTPException(403, NOT_YOURS.format(owner=site.config.person))
    return site


async def _remove(request: Request, visitor: Visitor, own: OwnFile, fields: Fields) -> Response:
    line = fields.one("line")
    unchanged = EditedRules(own=own, text=own.text)
    if fields.one("file") != own.hash:
        return await _edit_page(request, visitor, own, unchanged, refused=GONE_SINCE)
    try:
        text = without_rule(own, int(line) if line.isdecimal() and len(line) < 9 else 0)
    except InvalidInput as error:
        return await _edit_page(request, visitor, own, unchanged, refused=error.problems[0].text)
    return await _edit_page(request, visitor, own, await _look(site_of(request), visitor, own, text))


async def _look(site: Site, visitor: Visitor, own: OwnFile, text: str) -> EditedRules:
    """Held against what everybody's agents wanted on this store: the file holds for all of them. Only what is the
    visitor's own can be opened."""
    found = await site.do(site.desks.log.decided_actions, now_ms() - LOOKED_BACK)
    mine = ("", visitor.user)
    decided = [(event if event.owner in mine else replace(event, ask=""), action) for event, action in found]
    return await site.read(site.permissions.own_rules.look_at, own, text, decided)


def _mark(own: OwnFile, text: str) -> str:
    """Names exactly this text, in the place of exactly that one."""
    return hashlib.sha256(f"{own.hash}\0{text}".encode()).hexdigest()


def _refusal(own: OwnFile, edited: EditedRules, fields: Fields) -> str:
    """Why what was sent is not saved; empty when it is what was shown, and can be."""
    if own.why_not:
        return own.why_not
    if fields.one("file") != own.hash:
        return CHANGED_SINCE
    if edited.faults:
        return "There is an error in the text, so nothing was saved."
    return "" if fields.one("mark") == _mark(own, edited.text) else NOT_SHOWN


async def _edit_page(
    request: Request, visitor: Visitor, own: OwnFile, edited: EditedRules, *, refused: str = "", fresh: bool = False
) -> Response:
    render = partial(
        page,
        request,
        "rules_edit.html",
        visitor,
        status=422 if refused else 200,
        own=own,
        edited=edited,
        changed=edited.text != own.text,
        diff=_diff(own.text, edited.text),
        unseen=_unseen(edited.text),
        mark=_mark(own, edited.text),
        refused=refused,
        fresh=fresh,
        most=MOST_LOOKED_AT,
        keeps=site_of(request).config.history,
    )
    return await site_of(request).read(render)


def _diff(before: str, after: str) -> Markup:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=_AROUND)
    return diff_block(exact_diff("\n".join(list(lines)[2:])))


def _unseen(text: str) -> list[str]:
    """Lines with characters that cannot be seen, with these spelt out."""
    lines = [f"{number}: {exact(line)}" for number, line in enumerate(text.split("\n"), start=1) if exact(line) != line]
    return lines[:_MOST_UNSEEN]
