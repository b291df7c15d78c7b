"""What is pasted stays one piece: no escape in it is taken for a key, whatever follows.

Textual reads on after an escape within a paste and hands what it does not know on as keys: they could leave a
question, or decide it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message

_ESCAPE = "\x1b"
_BEGINS, _ENDS = "\x1b[200~", "\x1b[201~"
"""What a terminal sends around a paste."""


class PasteKeepingParser(XTermParser):
    """Leaves every escape out of a paste, other than the one of its end."""

    def __init__(self, debug: bool = False) -> None:
        self._pasting, self._begun = False, ""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        kept = "".join(self._kept(data))
        # Nothing at all would be the end of the input.
        return super().feed(kept) if kept or not data else ()

    def _kept(self, data: str) -> Iterator[str]:
        for character in data:
            yield from self._within(character) if self._pasting else self._outside(character)

    def _outside(self, character: str) -> Iterator[str]:
        yield character
        self._begun = _begun_with(_BEGINS, self._begun, character)
        if self._begun == _BEGINS:
            self._pasting, self._begun = True, ""

    def _within(self, character: str) -> Iterator[str]:
        before, self._begun = self._begun, _begun_with(_ENDS, self._begun, character)
        if self._begun == _ENDS:
            self._pasting, self._begun = False, ""
            yield _ENDS
        elif len(self._begun) <= len(before):
            yield (before + character).replace(_ESCAPE, "")


def _begun_with(sign: str, begun: str, character: str) -> str:
    """How much of the sign has come, with this character."""
    if sign.startswith(begun + character):
        return begun + character
    return character if sign.startswith(character) else ""


def keep_pastes_whole() -> None:
    """Have the terminal's input read in this way. Textual has no other place to say so."""
    vars(linux_driver)["XTermParser"] = PasteKeepingParser
