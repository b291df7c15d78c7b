"""What commands and click say of themselves, in the person's language. Imports nothing that reads commands."""

from __future__ import annotations

import re

from sayso.cli.texts import catalogue, mark, tr, translated

EXPLAINED = re.compile(r"( +\S.*?)( {2,})(\S.*)")
"""A line of an example with words beside it."""
_CLICKS_OWN = re.compile(rf"\b(?:{mark('OPTIONS')}|{mark('COMMAND')}|{mark('ARGS')})\b")
_EXTRA = re.compile(r"(.*?)  \[(.*)\]", re.DOTALL)


def on_one_line(text: str) -> str:
    """A paragraph as the catalogue has it."""
    return " ".join(text.split())


def usage_shown(words: str) -> str:
    """What follows the name of a command."""
    return _CLICKS_OWN.sub(lambda found: tr(found[0]), words)


def paragraph_shown(text: str) -> str:
    if not text.startswith("\b"):
        return catalogue().get(on_one_line(text), text)
    return "\n".join(map(_example_line, text.split("\n")))


def option_shown(text: str) -> str:
    """What is said beside an option, with what click adds in brackets."""
    if found := _EXTRA.fullmatch(text):
        return f"{translated(found[1])}  [{found[2].replace('default: ', tr('default: '))}]"
    return translated(text)


def _example_line(line: str) -> str:
    if found := EXPLAINED.fullmatch(line):
        return f"{found[1]}{found[2]}{translated(found[3])}"
    return translated(line)
