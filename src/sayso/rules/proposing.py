"""The narrowest rule that is of use for actions like one: what `sayso rules suggest` and "allow like this" begin with.

It never proposes what cannot be told for certain: where there is a doubt about an action, there is no rule for it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator

from sayso.rules.book import matches
from sayso.rules.pattern import pattern
from sayso.rules.rule import Effect, Rule
from sayso.rules.use import Command, ToolUse
from sayso.rules.uses import Ground, PlainAction, use_of
from sayso.rules.wrappers import named, risky_options

_WITH_SUBCOMMANDS = {
    **dict.fromkeys(
        named("git cargo go docker podman kubectl terraform helm pip uv poetry brew apt gh make just bun"), 1
    ),
    **dict.fromkeys(named("npm pnpm yarn deno"), 1),
}
"""How many words after the program say what it is to do."""
_RUNS_A_SCRIPT = named("npm pnpm yarn bun")
_PLAIN = re.compile(r"[\w./:@%+,=-]+", re.ASCII)
_ON_PAPER = Ground(leads_to=os.path.normpath)


def like(action: PlainAction) -> tuple[str, ...]:
    """The patterns that would allow this action and the like of it, one for each command; none where no rule should."""
    use = use_of(action, _ON_PAPER)
    found = tuple(dict.fromkeys(_patterns(action, use)))
    return found if found and not use.doubts and would_allow(found, action) else ()


def would_allow(patterns: Iterable[str], action: PlainAction) -> bool:
    """Whether a rule of these patterns would allow an action, wherever that is wanted."""
    rule = Rule(effect=Effect.ALLOW, patterns=tuple(map(pattern, patterns)))
    return matches(rule, use_of(action, _ON_PAPER))


def _patterns(action: PlainAction, use: ToolUse) -> Iterator[str]:
    kind, tool = action["kind"], action["tool"]
    if kind == "shell":
        yield from (f"Bash({_words(words)})" for words in use.commands if _can_be_written(words))
    elif kind in ("edit", "read") and len(use.paths) == 1:
        yield from _path("Edit" if kind == "edit" else "Read", use)
    elif kind == "fetch" and use.domain:
        yield f"WebFetch(domain:{use.domain})"
    elif kind == "command" and use.commands and not use.beyond_words and _can_be_written(use.commands[0]):
        yield f"{tool}({' '.join(use.commands[0])})"
    elif kind in ("mcp", "command", "sequence"):
        yield tool


def _can_be_written(words: Command) -> bool:
    return all(_PLAIN.fullmatch(word) for word in words[: _telling(words)])


def _telling(words: Command) -> int:
    """How many words carry the meaning: the program, what it is to do, and options that matter."""
    count = 1 + _WITH_SUBCOMMANDS.get(words[0], 0)
    if words[0] in _RUNS_A_SCRIPT and words[1:2] == ("run",):
        count += 1
    known = words[0] in _WITH_SUBCOMMANDS and not any(word.startswith("-") for word in words[1:count])
    return min(count, len(words)) if known and _names_all(words, count) else len(words)


def _names_all(words: Command, count: int) -> bool:
    """Whether the first words hold all that a rule must name."""
    return set(risky_options(words)) <= set(words[1:count])


def _words(words: Command) -> str:
    count = _telling(words)
    return " ".join(words[:count]) + (" *" if count < len(words) else "")


def _path(name: str, use: ToolUse) -> Iterator[str]:
    """The folder of the file, or the file itself where that lies at the top of the project or outside of it."""
    (path,) = use.paths
    if not path.real:
        return
    inside = path.real.startswith(f"{path.project}/")
    way = path.real[len(path.project) + 1 :] if inside else f"/{path.real}"
    folder = way.rpartition("/")[0]
    if set(way) & set("[]{}!\\*?"):
        return
    yield f"{name}({folder}/**)" if inside and folder else f"{name}({'/' if inside else ''}{way})"
