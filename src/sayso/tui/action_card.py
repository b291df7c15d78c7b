"""The card of a permission: everything that would be done, each part in a block that nothing in it can leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from sayso.asks.model import Ask
from sayso.permissions.action import Action, AllowScope, action_of, scopes_of
from sayso.permissions.editing import difference
from sayso.permissions.parts import ActionPart, parts_of, parts_of_asking
from sayso.text import exact, is_read_from_the_right
from sayso.tui.markdown import Block, cut
from sayso.tui.shared import Shared


def action_blocks(shared: Shared, ask: Ask) -> list[Block]:
    """All of it; of a part that is very long the beginning, and what is left out of it."""
    action = action_of(ask)
    if action is None:
        return []
    found = [
        block
        for part in (*parts_of(action), *parts_of_asking(ask, shared.texts.agreeing))
        for block in _part_blocks(shared, part)
    ]
    return [*found, *_how_far(shared, ask)]


def edit_blocks(shared: Shared, ask: Ask, instead: Action) -> list[Block]:
    """All of what a person has made of it, after what they changed."""
    title = Block(content=Content.styled(shared.texts.edited_title, "bold $mark"))
    return [title, *(block for part in _edited_parts(ask, instead) for block in _part_blocks(shared, part))]


def is_whole(action: Action | None) -> bool:
    """Whether the card shows every character, and nothing has to be opened for the rest."""
    texts = [text for part in parts_of(action) for text in (part.about, part.text)] if action else []
    return bool(texts) and not any(cut(text).left_out for text in texts)


def action_text(shared: Shared, ask: Ask) -> str:
    """The whole card as text, for a pager and the clipboard."""
    action = action_of(ask)
    lines = _part_lines(shared, (*parts_of(action), *parts_of_asking(ask, shared.texts.agreeing))) if action else []
    return "\n".join([*lines, *(block.content.plain for block in _how_far(shared, ask))])


def edit_text(shared: Shared, ask: Ask, instead: Action) -> str:
    """The same of what a person has made of it."""
    return "\n".join([shared.texts.edited_title, *_part_lines(shared, _edited_parts(ask, instead))])


def _edited_parts(ask: Ask, instead: Action) -> list[ActionPart]:
    wanted = action_of(ask)
    return [*(difference(wanted, instead) if wanted else ()), *parts_of(instead)]


def _part_lines(shared: Shared, parts: Sequence[ActionPart]) -> list[str]:
    return [
        line
        for part in parts
        for line in (
            _label(shared, part),
            *_barred(part.about, "  > "),
            *_text_lines(shared, part),
            *_turned_around(shared, part),
        )
    ]


def _text_lines(shared: Shared, part: ActionPart) -> list[str]:
    return _barred(part.text, "  │ ") or [f"  {shared.texts.empty_part}"]


def _barred(text: str, start: str) -> list[str]:
    return [start + line for line in text.split("\n")] if text else []


def _part_blocks(shared: Shared, part: ActionPart) -> Iterator[Block]:
    yield Block(content=Content.styled(_label(shared, part), "bold"))
    if part.about:
        yield from _solid(shared, part.about, "", "  > ")
    if part.text:
        yield from _solid(shared, part.text, part.language, "  │ ")
    else:
        yield Block(content=Content(shared.texts.empty_part), first="  ", rest="  ", tight=True)
    for told in _turned_around(shared, part):
        yield Block(content=Content.styled(told, "$mark"), tight=True)


def _turned_around(shared: Shared, part: ActionPart) -> list[str]:
    return [shared.texts.from_the_right] if is_read_from_the_right(part.about + part.text) else []


def _solid(shared: Shared, text: str, language: str, start: str) -> Iterator[Block]:
    shown = cut(text)
    yield Block(content=_code(shown.text, language), first=start, rest=start, solid=True, tight=True)
    if shown.left_out:
        told = shared.texts.cut.format(n=f"{shown.left_out:,}", key=shared.keys.shown("whole"))
        yield Block(content=Content.styled(told, "$mark"), tight=True)


def _code(text: str, language: str) -> Content:
    """In colours, as long as that changes no character of it."""
    if not language:
        return Content(text)
    from sayso.tui.code import coloured  # takes a while to load

    shown = coloured(text, language)
    return shown if shown.plain == text else Content(text)


def _label(shared: Shared, part: ActionPart) -> str:
    texts = shared.texts
    name = str(getattr(texts, f"part_{part.name.name.lower()}"))
    return texts.step_part.format(n=part.step, part=name) if part.step else name


def _how_far(shared: Shared, ask: Ask) -> Iterator[Block]:
    """What a plain allow means, where that is more than this one call."""
    scopes, action, texts = scopes_of(ask), action_of(ask), shared.texts
    if action is None or not scopes or scopes[0] is AllowScope.ONCE:
        return
    told = texts.allows_session if scopes[0] is AllowScope.SESSION else texts.allows_tool
    yield Block(content=Content.styled(told.format(tool=exact(action.tool).replace("\n", "\\n")), "bold $mark"))
