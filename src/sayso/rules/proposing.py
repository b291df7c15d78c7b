"""Rules that are of use for actions like one: what `sayso rules suggest` and "Allow like this" begin with.

It never proposes what cannot be told for certain: where there is a doubt about an action, there is no rule for it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Iterator

from sayso.rules.book import matches
from sayso.rules.pattern import pattern
from sayso.rules.rule import Effect, Rule
from sayso.rules.use import Command, ToolUse, UsedPath
from sayso.rules.uses import Ground, PlainAction, use_of
from sayso.rules.wrappers import named, risky_options
from sayso.text import exact

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

Patterns = tuple[str, ...]
"""Those of one rule."""
_Written = Callable[[Command], str]
"""The words of a command as a pattern has them; empty where it cannot."""


def proposals(action: PlainAction, use: ToolUse) -> tuple[Patterns, ...]:
    """Rules that would allow this action, the narrowest first: for nothing but the same, and for the like of it."""
    told = (_rule(action, use, _exactly, _whole_path), _rule(action, use, _words, _folder))
    return tuple(dict.fromkeys(found for found in told if found))


def like(action: PlainAction) -> Patterns:
    """The patterns that would allow this action and the like of it, one for each command; none where no rule should."""
    return _rule(action, use_of(action, _ON_PAPER), _words, _folder)


def would_allow(patterns: Iterable[str], action: PlainAction) -> bool:
    """Whether a rule of these patterns would allow an action, wherever that is wanted."""
    return covers(patterns, use_of(action, _ON_PAPER))


def covers(patterns: Iterable[str], use: ToolUse) -> bool:
    """The same of what is made of an action already."""
    return matches(Rule(effect=Effect.ALLOW, patterns=tuple(map(pattern, patterns))), use)


def _rule(action: PlainAction, use: ToolUse, words: _Written, way: Callable[[UsedPath], str]) -> Patterns:
    found = tuple(dict.fromkeys(_patterns(action, use, words, way)))
    return found if found and not use.doubts and _can_be_read(found) and covers(found, use) else ()


def _patterns(action: PlainAction, use: ToolUse, words: _Written, way: Callable[[UsedPath], str]) -> Iterator[str]:
    kind, tool = action["kind"], action["tool"]
    if kind == "shell":
        yield from (f"Bash({written})" for each in use.commands if (written := words(each)))
    elif kind in ("edit", "read") and len(use.paths) == 1:
        yield from (f"{'Edit' if kind == 'edit' else 'Read'}({found})" for path in use.paths if (found := way(path)))
    elif kind == "fetch" and use.domain:
        yield f"WebFetch(domain:{use.domain})"
    elif kind == "command" and use.commands and not use.beyond_words:
        yield from (f"{tool}({written})" for each in use.commands if (written := _exactly(each)))
    elif kind in ("mcp", "command", "sequence"):
        yield tool


def _can_be_read(patterns: Patterns) -> bool:
    """Whether each is seen for what it is, and means something to those who read rules."""
    try:
        return all(text.isprintable() and exact(text) == text and pattern(text) for text in patterns)
    except ValueError:
        return False


# Commands


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
    """The words that carry meaning, and whatever may follow."""
    count = _telling(words)
    if not all(_PLAIN.fullmatch(word) for word in words[:count]):
        return ""
    return " ".join(words[:count]) + (" *" if count < len(words) else "")


def _exactly(words: Command) -> str:
    """Every word, in quotes where it is more than letters."""
    told = [_in_quotes(word) for word in words]
    return " ".join(told) if all(told) else ""


def _in_quotes(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    quote = next((quote for quote in "'\"" if quote not in word), "")
    return f"{quote}{word}{quote}" if quote else ""


# Files


def _folder(path: UsedPath) -> str:
    """The folder of the file, or the file itself where that lies at the top of the project or outside of it."""
    way = _whole_path(path)
    if not way or path.is_whole_folder or way.startswith("/"):
        return way
    return f"{way.rpartition('/')[0]}/**"


def _whole_path(path: UsedPath) -> str:
    """The file as a pattern names it, or all of the folder."""
    if not path.real or set(path.real) & set("[]{}!\\*?"):
        return ""
    below = "**" if path.is_whole_folder else ""
    if path.real == path.project:
        return below
    if not path.real.startswith(f"{path.project}/"):
        return "/".join(filter(None, (f"/{path.real}", below)))
    way = path.real[len(path.project) + 1 :]
    return "/".join(filter(None, (way if "/" in way or below else f"/{way}", below)))
