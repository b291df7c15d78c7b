"""A permission as its card shows it, on its page, in Talk and in a row of the inbox: the whole action in blocks
that no content can leave, what of it must be opened before it can be allowed, and the ways to decide."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from sayso.asks.model import Ask
from sayso.asks.quorum import has_agreed, quorum_of, yeses_of
from sayso.errors import InvalidInput
from sayso.permissions.action import Action, AllowScope, action_of, asking_rules, scopes_of, takes_changes
from sayso.permissions.editing import difference, edited, to_edit
from sayso.permissions.parts import ActionPart, PartName, parts_of, parts_of_asking
from sayso.permissions.quorum_words import still_awaited
from sayso.permissions.verdict import verdict_of
from sayso.records import replace
from sayso.web.diff_block import diff_block, plain_block
from sayso.web.fields import Fields

LONG_LINES, LONG_CHARACTERS = 24, 2_000
"""A part that has more is folded until somebody opens it."""
ROW_LINES, ROW_CHARACTERS = 7, 360
"""An action that has no more is shown whole in the row of a list, and can be decided there."""
_MARGIN_LABEL, _MARGIN_CHARACTERS = 24, 160
"""A part that has no more, on one line, stands beside its name."""

ALLOW, DENY, EDIT, LOOK, AS_ASKED, TAKE_BACK = "allow-", "deny", "edit", "look", "as-asked", "take-back"
"""What the buttons are called; that of an allow is followed by how far it goes."""
NOT_SHOWN = "What you allowed is not what the agent wants to do now. Read it again, then decide."
WORDS_OF_A_NO = "You wrote why not, so this cannot be allowed. Deny it, or empty that field to allow it."
EDIT_NOT_SHOWN = "What you edited is not what was shown to you. Look at the edited action, then decide."
EDIT_BEGUN = "You began to edit this, so it cannot be allowed as it is. Open it: go on with your edit, or take it back."
UNCHANGED = "You changed nothing: this is what was asked for."
NOT_OPENED = "Not all of it was open: {parts}. Open every part and read it, then decide."

SESSION, RUN = "for the rest of the session", "for the rest of the run"
"""How long an allow holds: a session in a terminal goes on after all runs that take part in it."""
_SCOPES = {
    AllowScope.ONCE: "Allow",
    AllowScope.SESSION: "Allow this exact thing {}",
    AllowScope.TOOL: "Allow every call of this tool for the rest of the session",
}


@dataclass(frozen=True, kw_only=True)
class ShownPart:
    """One block. `mark` names it among those that were opened."""

    name: PartName
    label: str
    block: Markup
    lines: int
    characters: int
    mark: str
    in_margin: bool
    link: str = ""
    """Where more of it is shown."""

    @property
    def long(self) -> bool:
        return self.lines > LONG_LINES or self.characters > LONG_CHARACTERS


@dataclass(frozen=True, kw_only=True)
class Way:
    """A button that allows it."""

    value: str
    label: str


@dataclass(frozen=True, kw_only=True)
class PermissionCard:
    digest: str
    parts: tuple[ShownPart, ...]
    ways: tuple[Way, ...]
    editable: bool = False
    agreed: tuple[str, ...] = ()
    """Those who have agreed already, where others have to as well."""
    needs_several: bool = False
    """Whether the rules say who has to agree: no rule can be made of such a thing."""

    def unopened(self, seen: Collection[str]) -> list[ShownPart]:
        return [part for part in self.parts if part.long and part.mark not in seen]


@dataclass(frozen=True, kw_only=True)
class Editing:
    """What a person makes of an action: the text as they typed it, of one field of its input or of all of it as JSON;
    and once they looked at it, what is wrong with that, or the card of what it comes to, with what they changed."""

    field: str
    text: str
    problem: str = ""
    action: Action | None = None
    card: PermissionCard | None = None
    changes: tuple[ShownPart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EditedParts:
    """An action as it was allowed, where that is not as it was asked for."""

    title: str
    parts: tuple[ShownPart, ...]


def how_long(ask: Ask) -> str:
    """How long an allow holds that is for more than once."""
    return RUN if ask.asker.run else SESSION


def card_of(ask: Ask) -> PermissionCard | None:
    """None for what asks for no permission."""
    action = action_of(ask)
    if action is None:
        return None
    ways = tuple(Way(value=f"{ALLOW}{scope}", label=_SCOPES[scope].format(how_long(ask))) for scope in scopes_of(ask))
    parts = (*shown_parts(action), *(_with_link(_shown(part), ask) for part in parts_of_asking(ask)))
    agreed = tuple(yes.person for yes in yeses_of(ask))
    several = quorum_of(ask) is not None
    return PermissionCard(
        digest=ask.digest, parts=parts, ways=ways, editable=takes_changes(ask), agreed=agreed, needs_several=several
    )


def own_yes(ask: Ask, person: str) -> str:
    """What somebody is told who has agreed, where others have to as well; else nothing."""
    return f"You have agreed. {still_awaited(ask)}" if has_agreed(ask, person) else ""


def edited_parts(ask: Ask) -> EditedParts | None:
    """What a person has made of an action and allowed; None where they allowed it as it was, or not at all."""
    found = verdict_of(ask)
    if not found or not found.allowed or not found.edited or not found.action:
        return None
    return EditedParts(title=found.action.title, parts=tuple(shown_parts(found.action)))


def editing_of(ask: Ask, text: str | None) -> Editing | None:
    """The edit of a permission, begun with this text or not yet; None where it cannot be edited."""
    action = action_of(ask)
    if action is None or not takes_changes(ask) or not ask.state.answerable:
        return None
    form = to_edit(action)
    return Editing(field=form.field, text=form.text if text is None else text)


def looked_at(ask: Ask, begun: Editing) -> Editing:
    """The same with what it comes to, or with what is wrong with it."""
    action = action_of(ask)
    assert action is not None
    try:
        instead = edited(action, begun.text)
    except InvalidInput as error:
        return replace(begun, problem=str(error))
    if instead.digest == ask.digest:
        return replace(begun, problem=UNCHANGED)
    way = Way(value=f"{ALLOW}{scopes_of(ask)[0]}", label="Allow as edited")
    card = PermissionCard(digest=instead.digest, parts=tuple(shown_parts(instead)), ways=(way,))
    return replace(begun, action=instead, card=card, changes=tuple(shown_difference(action, instead)))


def row_card_of(ask: Ask) -> PermissionCard | None:
    """The card of a permission that a row can show whole. Of any other, nothing is drawn: it may be very long."""
    action = action_of(ask)
    texts = [part.text for part in parts_of(action)] if action else []
    fits = sum(map(len, texts)) <= ROW_CHARACTERS and sum(map(_lines, texts)) <= ROW_LINES
    return card_of(ask) if fits else None


def shown_parts(action: Action) -> Iterator[ShownPart]:
    """The whole action."""
    return (_shown(part) for part in parts_of(action))


def _with_link(part: ShownPart, ask: Ask) -> ShownPart:
    """What the rules say leads to the first rule that says it."""
    if part.name is not PartName.RULES or not (rules := asking_rules(ask)):
        return part
    where = urlencode({"project": ask.asker.project})
    return replace(part, link=f"rules?{where}#rule-{rules[0]['level']}-{rules[0]['line']}")


def shown_difference(before: Action, after: Action) -> Iterator[ShownPart]:
    """What a person has made of the one in the other."""
    return (_shown(part) for part in difference(before, after))


def wanted_scope(fields: Fields) -> AllowScope | None:
    """How far the form allows it; None if it does not."""
    pressed = fields.one("settle")
    return next((scope for scope in AllowScope if pressed == f"{ALLOW}{scope}"), None)


def refusal(card: PermissionCard, editing: Editing | None, fields: Fields) -> str:
    """Why what was sent cannot be an allow; empty when it can."""
    if fields.one("digest") != card.digest:
        return NOT_SHOWN
    shown = editing.card if editing else card
    if shown is None or fields.one("edited") != (shown.digest if editing else ""):
        return editing.problem if editing and editing.problem else EDIT_NOT_SHOWN
    if fields.one("q0-note").strip():
        return WORDS_OF_A_NO
    return unopened_refusal(shown, fields)


def unopened_refusal(shown: PermissionCard, fields: Fields) -> str:
    """Which parts nobody has opened; empty when all were."""
    unopened = shown.unopened(fields.all("seen"))
    return NOT_OPENED.format(parts=", ".join(part.label for part in unopened)) if unopened else ""


def _shown(part: ActionPart) -> ShownPart:
    text = part.text
    lines, characters = _lines(text), len(text)
    return ShownPart(
        name=part.name,
        label=part.label,
        block=diff_block(text) if part.language == "diff" and text else plain_block(text),
        lines=lines,
        characters=characters,
        mark=hashlib.sha256(f"{part.label}\0{text}".encode()).hexdigest()[:16],
        in_margin=_fits_beside(part),
    )


def _lines(text: str) -> int:
    """How many there are; the end of the last one begins no other."""
    return max(text.count("\n") + (not text.endswith("\n")), 1)


def _fits_beside(part: ActionPart) -> bool:
    short = len(part.label) <= _MARGIN_LABEL and len(part.text) <= _MARGIN_CHARACTERS
    return short and "\n" not in part.text and not part.language
