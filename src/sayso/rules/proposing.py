"""Rules that are of use for actions like one: what `sayso rules suggest` and "Allow like this" begin with.

It never proposes what cannot be told for certain: where there is a doubt about an action, there is no rule for it.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Iterator

from sayso.rules.book import matches
from sayso.rules.pattern import pattern
from sayso.rules.risky_options import risky_options
from sayso.rules.rule import Effect, Rule
from sayso.rules.use import Command, ToolUse, UsedPath
from sayso.rules.uses import PLAIN_WORD, Ground, PlainAction, use_of
from sayso.text import exact

_MAY_GO_ON = {
    **dict.fromkeys(("ls", "pytest"), ""),
    "git": "status|log|diff|show|blame|shortlog|ls-files|rev-parse|describe|add",
    "npm": "test|run NAME",
    "pnpm": "test|run NAME",
    "yarn": "test|run NAME",
    "bun": "test|run NAME",
    "cargo": "test|build|check|clippy",
    "go": "test|build|vet",
    "docker": "ps|images",
    "gh": "pr view|pr list|pr diff|pr checks|pr status|issue view|issue list|issue status|run view|run list",
}
"""Commands that do the same whatever words follow, but for options that a star does not stand for. Of any other, a
further word may be another deed (`git branch -D`, `make test deploy`): nothing wider than the same is proposed."""
_ON_PAPER = Ground(leads_to=os.path.normpath)

Patterns = tuple[str, ...]
"""Those of one rule."""
_Written = Callable[[Command], str]
"""The words of a command as a pattern has them; empty where it cannot."""


def proposals(action: PlainAction, use: ToolUse) -> tuple[Patterns, ...]:
    """Rules that would allow this action, the narrowest first: for nothing but the same, and for the like of it."""
    same, alike = _rule(action, use, _exactly, _whole_path), _rule(action, use, _words, _folder)
    # What cannot be named as it is has no rule to begin with: a wider one in that place would pass for it.
    return tuple(dict.fromkeys(found for found in (same, alike) if found)) if same else ()


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
    elif kind in ("mcp", "command", "sequence") and "*" not in tool:
        yield tool


def _can_be_read(patterns: Patterns) -> bool:
    """Whether each is seen for what it is, and means something to those who read rules."""
    try:
        return all(text.isprintable() and exact(text) == text and pattern(text) for text in patterns)
    except ValueError:
        return False


# Commands


def _telling(words: Command) -> int:
    """How many words say what is done, so that any may follow; 0 where nothing is known of what follows."""
    if words[0] not in _MAY_GO_ON:
        return 0
    for verb in _MAY_GO_ON[words[0]].split("|"):
        told = verb.split()
        given = words[1 : 1 + len(told)]
        if len(given) == len(told) and all(map(_is_said, given, told)):
            return 1 + len(told)
    return 0


def _is_said(word: str, told: str) -> bool:
    """The name of a script may be any."""
    return word == told or (told == "NAME" and not word.startswith("-"))


def _names_all(words: Command, count: int) -> bool:
    """Whether the first words hold all that a rule must name."""
    return set(risky_options(words)) <= set(words[1:count])


def _words(words: Command) -> str:
    """The words that say what is done, and whatever may follow; every word where that might do something else."""
    count = _telling(words)
    known = 0 < count < len(words) and _names_all(words, count)
    if not known or not all(map(PLAIN_WORD.fullmatch, words[:count])):
        return _exactly(words)
    return f"{' '.join(words[:count])} *"


def _exactly(words: Command) -> str:
    """Every word, in quotes where it is more than letters."""
    told = [_in_quotes(word) for word in words]
    return " ".join(told) if all(told) else ""


def _in_quotes(word: str) -> str:
    if PLAIN_WORD.fullmatch(word):
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
    if not path.real or path.real == "/" or set(path.real) & set("[]{}!\\*?"):
        return ""
    below = "**" if path.is_whole_folder else ""
    if path.real == path.project:
        return below
    if not path.real.startswith(f"{path.project}/"):
        return "/".join(filter(None, (f"/{path.real}", below)))
    way = path.real[len(path.project) + 1 :]
    return "/".join(filter(None, (way if "/" in way or below else f"/{way}", below)))
