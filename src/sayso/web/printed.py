"""What a command printed, line by line as its page shows it, with the colours that the program meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sayso.running.excerpt import StreamText
from sayso.running.looks import ColouredRun


@dataclass(frozen=True, kw_only=True)
class PrintedLine:
    """One line; `skipped` bytes before it were not kept. Where both streams wrote to it, it counts as stderr's."""

    runs: list[ColouredRun] = field(default_factory=list)
    is_error: bool = False
    skipped: int = 0


def printed_lines(parts: Iterable[StreamText]) -> Iterator[PrintedLine]:
    line = PrintedLine()
    for part in parts:
        if part.skipped:
            if line.runs:
                yield line
            line = PrintedLine(skipped=part.skipped)
        for run in part.runs:
            for text in run.text.splitlines(keepends=True):
                line.runs.append(ColouredRun(text, classes(run.look)))
                if part.stream == "stderr" and not line.is_error:
                    line = PrintedLine(runs=line.runs, is_error=True, skipped=line.skipped)
                if text.endswith("\n"):
                    yield line
                    line = PrintedLine()
    if line.runs or line.skipped:
        yield line


def plain_lines(text: str) -> list[PrintedLine]:
    """The lines of one stream for itself."""
    return [PrintedLine(runs=[ColouredRun(line)]) for line in text.splitlines(keepends=True)]


def classes(look: str) -> str:
    """How the stylesheet calls a look."""
    return " ".join(f"look-{word}" for word in look.split())


def is_numbered(first: int | None, parts: Sequence[StreamText]) -> bool:
    """Whether it is known which lines these are."""
    return first is not None and not any(part.skipped for part in parts)
