"""One command as text to read: what it is and how it stands, and what it prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from sayso.operations.reader import View
from sayso.running.capture import STREAMS
from sayso.running.output import OutputLines
from sayso.text import one_line
from sayso.tui.commandlist import standing
from sayso.tui.markdown import Block
from sayso.tui.shared import Shared


@dataclass(frozen=True, kw_only=True)
class CommandSnapshot:
    """What was found of one command at one look: the end of one stream, and the sizes of both."""

    view: View
    stream: str
    lines: OutputLines
    printed: tuple[int, ...]
    here: bool


def facts(shared: Shared, view: View, words: str) -> Sequence[Block]:
    """What is executed, its steps, where, and how it stands."""
    operation = view.operation
    blocks = [
        Block(content=Content.styled(one_line(operation.tool, 200), "bold")),
        Block(content=Content.styled(standing(shared, operation), "$mark"), tight=True),
    ]
    if operation.permission:
        told = shared.texts.allow_or_deny.format(key=shared.keys.shown("open"))
        blocks.append(Block(content=Content.styled(told, "$muted"), tight=True))
    if words:
        blocks.append(Block(content=Content(one_line(words, 2000)), first="$ ", rest="  "))
    for number, step in enumerate(view.steps, 1):
        told = f"{number}. {one_line(step.tool, 60)}: {standing(shared, step)}"
        blocks.append(Block(content=Content(told), tight=number > 1))
    place = {"folder": one_line(operation.cwd, 300), "host": one_line(operation.host, 80)}
    blocks.append(Block(content=Content.styled(shared.texts.command_in.format(**place), "$muted")))
    if reason := operation.status.text if operation.status else "":
        blocks.append(Block(content=Content(one_line(reason, 600)), tight=True))
    return blocks


def printed(shared: Shared, snapshot: CommandSnapshot) -> Sequence[Block]:
    """The end of a stream, as it is now."""
    texts, lines = shared.texts, snapshot.lines
    if not snapshot.here:
        told = texts.output_elsewhere.format(host=one_line(snapshot.view.part.host, 80))
        return [Block(content=Content.styled(told, "$muted"))]
    sizes = " · ".join(f"{name} {size:,}" for name, size in zip(STREAMS, snapshot.printed, strict=True))
    title = texts.output_title.format(stream=snapshot.stream, sizes=sizes)
    blocks = [Block(content=Content.styled(title, "bold $primary"))]
    if lines.offset:
        left_out = texts.output_before.format(n=f"{lines.offset:,}", key=shared.keys.shown("whole"))
        blocks.append(Block(content=Content.styled(left_out, "$muted"), tight=True))
    text = (lines.text + lines.unfinished).rstrip("\n")
    nothing = Block(content=Content.styled(texts.output_nothing, "$muted"), tight=True)
    return [*blocks, Block(content=Content(text), solid=True, tight=True) if text else nothing]
