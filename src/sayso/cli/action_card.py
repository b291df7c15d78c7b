"""The card of a permission in a terminal: everything that would be done, each part in a block that nothing in it can
leave, and the one prompt that takes a yes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sayso.asks.model import Ask
from sayso.cli.terminal import barred, bold, forget_typed_ahead, put, put_pages, read_line
from sayso.cli.texts import tr, translated
from sayso.permissions.action import Action, AllowScope, action_of, scopes_of
from sayso.permissions.parts import ActionPart, parts_of, parts_of_asking
from sayso.permissions.verdict import verdict_of
from sayso.text import exact, is_read_from_the_right

READING_SECONDS = 0.7


def action_card(ask: Ask) -> list[str]:
    """All of it, as lines; none where its texts were not kept."""
    action = action_of(ask)
    if action is None:
        return []
    why = [line for part in parts_of_asking(ask, tr) for line in _part_lines(part)]
    return [*action_lines(action), *why, *_how_far(scopes_of(ask)[:1], exact(action.tool))]


def action_lines(action: Action) -> list[str]:
    return [line for part in parts_of(action) for line in _part_lines(part)]


def difference_lines(before: Action, after: Action) -> list[str]:
    """What a person has made of the one in the other."""
    from sayso.permissions.editing import difference  # comparing texts takes its time to import

    return [line for part in difference(before, after) for line in _part_lines(part)]


def edited_lines(ask: Ask) -> list[str]:
    """What a person has made of what was wanted, and allowed; nothing where they changed nothing."""
    verdict, wanted = verdict_of(ask), action_of(ask)
    if verdict is None or not verdict.edited or verdict.action is None or wanted is None:
        return []
    said = bold(tr("As edited, with the digest {digest}:", digest=verdict.digest))
    return ["", said, *difference_lines(wanted, verdict.action), *action_lines(verdict.action)]


def edit_card(ask: Ask, instead: Action) -> list[str]:
    """All of what a person has made of it, and what they changed; no more than that is allowed with it."""
    wanted = action_of(ask)
    changes = difference_lines(wanted, instead) if wanted else []
    told = tr("As you edited it:") if changes else tr("You changed nothing:")
    return [bold(told), *changes, *action_lines(instead), *_how_far(scopes_of(ask)[:1], exact(instead.tool))]


def _how_far(scopes: Sequence[AllowScope], tool: str) -> Iterator[str]:
    """What a plain allow means, where that is more than this one call."""
    if AllowScope.SESSION in scopes:
        yield bold(tr("Allowing it holds for the same action for the rest of this session."))
    if AllowScope.TOOL in scopes:
        yield bold(
            tr("Allowing it holds for every call of this tool, whatever its input, for the rest of this session:")
        )
        yield from barred(tool)


def confirmed_by_person(card: Sequence[str], prompt: str = "") -> bool:
    """Whether the person at this terminal allows what this shows them to the end. What they type before it could
    be read counts for nothing, and there is no default."""
    wanted = prompt or tr("Allow exactly this? y allows it, anything else leaves it open: ")
    if not put_pages(card):
        return False
    forget_typed_ahead()
    shown = time.monotonic()
    while (line := read_line(wanted)) is not None:
        if line.strip().lower() not in ("y", "yes"):
            return False
        if time.monotonic() - shown >= READING_SECONDS:
            return True
        put(tr("That was typed before this could be read, so it counts for nothing. Type it again."))
    return False


def _part_lines(part: ActionPart) -> Iterator[str]:
    label = translated(part.name)
    yield bold(tr("Step {n}: {part}", n=part.step, part=label) if part.step else label)
    # A name, such as that of a file, is the agent's as well.
    yield from barred(part.about, "    > ") if part.about else ()
    yield from barred(part.text) if part.text else [f"    {tr('(empty)')}"]
    if is_read_from_the_right(part.about + part.text):
        yield tr(
            "Some letters here are read from the right: your terminal may show what stands between them the other way "
            "round. The page of `sayso web` shows everything where it is written."
        )
