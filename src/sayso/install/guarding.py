"""Putting a server that a client has already behind `sayso guard`, in the client's own file, and taking it off again.

Only words are put before those of the server's command, and the same words are taken out again: whatever else has
become of the file meanwhile, every character of it stays.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.errors import CannotEdit
from sayso.install import files
from sayso.install.entry import EntryShape, read_back
from sayso.install.machine import Machine
from sayso.install.notation import at, notation, parsed, with_entry
from sayso.install.part import Done, about
from sayso.install.targets import Scope, Target
from sayso.jsontext import Node, Relaxed
from sayso.text import spelt_out

_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_PROGRAMS = ("sayso", "auq")


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the words of a command stand in a text: its first word, and where the list of the others begins. Without a
    first word by itself, all of them are in the list."""

    first: tuple[int, int] | None
    opening: int | None


@dataclass(frozen=True, kw_only=True)
class GuardedEntry:
    """One server of a client. `guard` are the words that start a guard for it, up to its `--`."""

    target: Target
    path: Path
    steps: tuple[str, ...]
    guard: tuple[str, ...]

    def put(self) -> Done:
        """Put it behind a guard."""
        return Done.CHANGED if self._change(self.added) else Done.ALREADY

    def take_off(self) -> Done:
        return Done.REMOVED if self._change(self.removed) else Done.ABSENT

    def preview(self) -> tuple[str, str]:
        """The file as it is, and as it would be."""
        with about(self.path):
            text = files.as_text(files.content(self.path))
            return text, self.added(text)

    def added(self, text: str) -> str:
        entry = self._found(text)
        argv = _argv(self.target.shape, entry)
        if not argv:
            raise CannotEdit(f"starts no command for {spelt_out(self.steps[-1])}, so there is nothing to guard.")
        if guard_words(argv):
            return text
        if is_ours(argv):
            raise CannotEdit(f"has Sayso itself as {spelt_out(self.steps[-1])}, which needs no guard.")
        wanted = _with_words(self.target.shape, entry, [*self.guard, *argv])
        return self._checked(text, wanted, lambda: self._wrapped(text, entry))

    def removed(self, text: str) -> str:
        entry = at(parsed(self.target.notation, text), self.steps)
        argv = _argv(self.target.shape, entry)
        count = guard_words(argv)
        if not count:
            return text
        wanted = _with_words(self.target.shape, entry, argv[count:])
        return self._checked(text, wanted, lambda: self._unwrapped(text, argv[:count], argv[count + 1 :]))

    def _change(self, change: Callable[[str], str]) -> bool:
        """Whether the file had to be changed."""
        with about(self.path):
            before = files.content(self.path)
            text = files.as_text(before)
            mark = files.BOM if text.startswith(files.BOM) else ""
            after = mark + change(text.removeprefix(mark))
            if after != text:
                files.write(self.path, after.encode(), before)
        return after != text

    def _found(self, text: str) -> Any:
        table = at(parsed(self.target.notation, text), self.steps[:-1])
        names = list(table) if isinstance(table, dict) else []
        if self.steps[-1] not in names:
            known = f"It has {', '.join(map(spelt_out, names))}." if names else "It has none."
            raise CannotEdit(f"has no server {spelt_out(self.steps[-1])}. {known}")
        return table[self.steps[-1]]

    def _checked(self, text: str, wanted: Any, change: Callable[[], str | None]) -> str:
        """The changed text, if it says what it should and nothing else has changed."""
        data = deepcopy(parsed(self.target.notation, text))
        at(data, self.steps[:-1])[self.steps[-1]] = wanted
        try:
            if (after := change()) is not None and _without_empty_words(
                parsed(self.target.notation, after), self
            ) == _without_empty_words(data, self):
                return str(after)
        except (ValueError, CannotEdit):
            pass
        # Reformatted since, perhaps: then the entry is written anew, and still nothing but the entry.
        return with_entry(self.target.notation, text, self.steps, wanted)

    def _wrapped(self, text: str, entry: Any) -> str | None:
        place = self._place(text)
        if place is None:
            return None
        if place.first is None:
            assert place.opening is not None
            return _edited(text, (place.opening, place.opening, _listed(self.guard)))
        words = _listed(self.guard[1:]) + text[slice(*place.first)]
        first = (*place.first, _text(self.guard[0]))
        if place.opening is None:
            return _edited(self._with_list(text, place.first[1], words), first)
        # The blank tells a list that was empty from one that was not there.
        words = f"{words}, " if entry[self.target.shape.args] else f" {words}"
        return _edited(text, first, (place.opening, place.opening, words))

    def _unwrapped(self, text: str, words: Sequence[str], rest: Sequence[str]) -> str | None:
        place = self._place(text)
        if place is None or place.opening is None:
            return None
        if place.first is None:
            return _without(text, place.opening, _listed(words))
        blank = " " if not rest and text[place.opening] == " " else ""
        before = blank + _listed(words[1:])
        first = _TEXT.match(text, place.opening + len(before))
        if first is None or not text.startswith(before, place.opening):
            return None
        end = first.end() + (2 if rest and text.startswith(", ", first.end()) else 0)
        after = _edited(text, (*place.first, first[0]), (place.opening, end, ""))
        return after if rest or blank else self._without_list(after)

    # Where it stands

    def _place(self, text: str) -> _Place | None:
        return _in_toml(text, self) if self.target.notation == "toml" else _in_json(text, self)

    def _with_list(self, text: str, first_ends: int, words: str) -> str:
        """The text with a list of words where there was none, behind the first word."""
        args = self.target.shape.args
        if self.target.notation == "toml":
            end = text.find("\n", first_ends) + 1 or len(text)
            newline = "\r\n" if text[:end].endswith("\r\n") else "\n"
            lead = "" if text[:end].endswith("\n") else newline
            return f"{text[:end]}{lead}{args} = [{words}]{newline}{text[end:]}"
        from sayso.install import in_jsonc

        return in_jsonc.put(text, (*self.steps, args), json.loads(f"[{words}]"))

    def _without_list(self, text: str) -> str:
        args = self.target.shape.args
        if self.target.notation == "toml":
            return re.sub(rf"^{re.escape(args)} = \[\]\r?\n", "", text, count=1, flags=re.M)
        return notation("jsonc").drop(text, (*self.steps, args))


def entries_in(target: Target, scope: Scope, machine: Machine, guard: Sequence[str], name: str) -> list[GuardedEntry]:
    """Where a client may have a server of this name: Claude Code has a table for each project besides."""
    path = target.file(machine, scope)
    tables = [target.table]
    if target.key == "claude-code" and scope is Scope.USER:
        tables.insert(0, ("projects", os.path.realpath(machine.project), *target.table))
    return [GuardedEntry(target=target, path=path, steps=(*table, name), guard=tuple(guard)) for table in tables]


def guarded_in(target: Target, scope: Scope, machine: Machine) -> Iterator[GuardedEntry]:
    """The servers of a client that are behind a guard. Nothing where its file cannot be read."""
    for place in entries_in(target, scope, machine, (), ""):
        try:
            table = at(parsed(target.notation, files.as_text(files.content(place.path))), place.steps[:-1])
        except CannotEdit:
            return
        for name, entry in table.items() if isinstance(table, dict) else ():
            argv = _argv(target.shape, entry)
            if count := guard_words(argv):
                steps, words = (*place.steps[:-1], name), tuple(argv[:count])
                yield GuardedEntry(target=target, path=place.path, steps=steps, guard=words)


def guard_words(argv: Sequence[str]) -> int:
    """How many words of a command are those of a guard before it: 0 where it has none."""
    for place in range(1, len(argv) - 4):
        is_guard = (argv[place], argv[place + 1], argv[place + 3]) == ("guard", "--name", "--")
        if is_guard and Path(argv[place - 1]).stem in _PROGRAMS:
            return place + 4
    return 0


def is_ours(argv: Sequence[str]) -> bool:
    """Whether it starts a server of Sayso's own."""
    return any(Path(word).stem in _PROGRAMS and "server" in argv[place + 1 :] for place, word in enumerate(argv))


def _argv(shape: EntryShape, entry: Any) -> list[str]:
    found = read_back(shape, "", entry)
    return found.server.argv if found else []


def _with_words(shape: EntryShape, entry: Any, argv: Sequence[str]) -> dict[str, Any]:
    words = {shape.command: list(argv)} if not shape.args else {shape.command: argv[0], shape.args: list(argv[1:])}
    return {**entry, **words}


def _without_empty_words(data: Any, entry: GuardedEntry) -> Any:
    """An empty list of words and none at all are the same command."""
    data = deepcopy(data)
    found, args = at(data, entry.steps), entry.target.shape.args
    if isinstance(found, dict) and args and not found.get(args):
        found.pop(args, None)
    return data


def _in_json(text: str, entry: GuardedEntry) -> _Place | None:
    node: Node | None = Relaxed(text).root()
    for step in entry.steps:
        node = _member(node, step)
    command, words = _member(node, entry.target.shape.command), _member(node, entry.target.shape.args)
    if command is None:
        return None
    if not entry.target.shape.args:
        return _Place(first=None, opening=command.start + 1)
    return _Place(first=(command.start, command.end), opening=words.start + 1 if words else None)


def _member(node: Node | None, step: str) -> Node | None:
    found = [child.node for child in node.children if child.step == step] if node else []
    return found[-1] if found else None


def _in_toml(text: str, entry: GuardedEntry) -> _Place | None:
    from sayso.install.in_toml import own_lines

    span = own_lines(text, entry.steps)
    if span is None:
        return None
    shape = entry.target.shape
    first = re.compile(rf"^[ \t]*{shape.command}[ \t]*=[ \t]*(?={_TEXT.pattern})", re.M).search(text, *span)
    words = re.compile(rf"^[ \t]*{shape.args}[ \t]*=[ \t]*\[", re.M).search(text, *span)
    value = _TEXT.match(text, first.end()) if first else None
    if value is None:
        return None
    return _Place(first=value.span(), opening=words.end() if words else None)


def _text(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def _listed(words: Sequence[str]) -> str:
    return "".join(f"{_text(word)}, " for word in words)


def _edited(text: str, *edits: tuple[int, int, str]) -> str:
    """The text with something else from one place to another."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _without(text: str, place: int, words: str) -> str | None:
    return _edited(text, (place, place + len(words), "")) if text.startswith(words, place) else None
