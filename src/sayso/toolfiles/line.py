"""A command line in the making: each checked value becomes words of its own, standard input, or a file.

No value can become an option: where a program would take it for one, the value is bound to its flag or refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from sayso.errors import Problem
from sayso.records import record
from sayso.text import quoted
from sayso.toolfiles.arguments import as_text
from sayso.toolfiles.leaves import CLEAR, Leaf
from sayso.toolfiles.model import Livelog, OptionSpec

MAX_WORD = 128 * 1024 - 1
"""The longest argument that Linux passes to a program, in bytes."""

_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


@record
class ArgumentFile:
    """A value that is passed as a file, to be written before the command starts."""

    path: Path
    content: bytes

    def write(self) -> None:
        """Make the file, for its owner only. One that is there already is never written over."""
        with open(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(self.content)


def command_line(leaf: Leaf, given: Mapping[str, object], folder: Path) -> CommandLine:
    """The line of a call whose values have been checked. Its `problems` are values that no word can carry safely."""
    line = CommandLine(folder=folder, env=dict(leaf.settings.env))
    for segment in leaf.segments:
        line.words += segment.words
        if leaf.positional_args_first and segment is leaf.segments[-1]:
            line.positionals(leaf, given)
        for spec in () if leaf.livelog else segment.options:
            if spec.name in given:
                line.option(spec, given[spec.name])
    if not leaf.positional_args_first:
        line.positionals(leaf, given)
    if leaf.livelog:
        line.log_source(leaf.livelog, given)
    return line


class CommandLine:
    def __init__(self, *, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.env = folder, env
        self.words: list[str] = []
        self.stdin: str | None = None
        self.files: list[ArgumentFile] = []
        self.before: list[str] = []
        self.problems: list[Problem] = []

    def option(self, spec: OptionSpec, value: object) -> None:
        if spec.file_arg:
            self.bound(spec, self.file(spec, value), spec.file_flag or spec.flag)
        elif spec.style == "stdin":
            self.feed(spec, value)
        elif spec.type == "boolean" and spec.style in (None, "flag"):
            self.words += [spec.flag] if value else []
        elif spec.style == "separate" and isinstance(value, list):
            self.words += [spec.flag] if value else []
            self.plain(spec, value)
        else:
            for text in self.texts(spec, value):
                self.bound(spec, text, spec.flag)

    def positionals(self, leaf: Leaf, given: Mapping[str, object]) -> None:
        guarded = False
        for spec in leaf.positional_args:
            value = given.get(spec.name)
            if value is None or value == []:
                continue
            if spec.style == "stdin":
                self.feed(spec, value)
                continue
            if not guarded and (leaf.end_of_options or spec.end_of_options):
                self.words.append("--")
                guarded = True
            if guarded:
                self.words += [self.file(spec, value)] if spec.file_arg else self.texts(spec, value)
            else:
                self.plain(spec, self.file(spec, value) if spec.file_arg else value)

    def texts(self, spec: OptionSpec, value: object) -> list[str]:
        """The words of a value, without the flag: one for each element, or one for all of them."""
        items = value if isinstance(value, list) else [value]
        texts = [self.text(spec, item) for item in items]
        if spec.style != "csv" or not texts:
            return texts
        for index, text in enumerate(texts):
            if "," in text:
                self.refuse(f"{spec.name}[{index}]", f"is {quoted(text)}; its comma would split it in two. Remove it.")
        return [",".join(texts)]

    def text(self, spec: OptionSpec, item: object) -> str:
        text = as_text(item)
        if len(text.encode()) > MAX_WORD - len(spec.flag) - 1:
            self.refuse(spec.name, f"is {len(text.encode()):,} bytes long; an argument holds {MAX_WORD:,}. Shorten it.")
        return f"./{text}" if spec.is_path and text.startswith("-") else text

    def bound(self, spec: OptionSpec, text: str, flag: str) -> None:
        """A flag with its value: two words, or one where the value would be taken for an option."""
        if spec.style == "equals" or (_risky(text) and spec.style != "separate" and flag.startswith("--")):
            self.words.append(f"{flag}={text}")
        elif _risky(text):
            self.refuse_option(spec.name, text)
        else:
            self.words += [flag, text]

    def plain(self, spec: OptionSpec, value: object) -> None:
        """Words without a flag or a guard."""
        texts = self.texts(spec, value)
        for index, text in enumerate(texts):
            if _risky(text):
                self.refuse_option(f"{spec.name}[{index}]" if isinstance(value, list) else spec.name, text)
        self.words += texts

    def feed(self, spec: OptionSpec, value: object) -> None:
        """Standard input: a text as it is, the elements of an array as lines."""
        if not isinstance(value, list):
            self.stdin = as_text(value)
            return
        lines = [as_text(item) for item in value]
        for index, text in enumerate(lines):
            if "\n" in text:
                self.refuse(f"{spec.name}[{index}]", "holds a line break, and each element is one line. Remove it.")
        self.stdin = "".join(f"{text}\n" for text in lines)

    def file(self, spec: OptionSpec, value: object) -> str:
        path = self.folder / f"argument-{len(self.files)}-{spec.name.lstrip('-')}"
        self.files.append(ArgumentFile(path=path, content=as_text(value).encode()))
        return str(path)

    def log_source(self, livelog: Livelog, given: Mapping[str, object]) -> None:
        """The words of a followed log; those that name a parameter which is not given fall away."""
        start = list(self.words)
        for template in livelog.source_args:
            word = _filled(template, given)
            if word is not None and _risky(word) and not template.startswith("-"):
                self.refuse_option(str(_PLACEHOLDER.findall(template)[0]), word)
            self.words += [] if word is None else [word]
        filled = {name: _filled(template, given) for name, template in livelog.env.items()}
        self.env.update({name: value for name, value in filled.items() if value is not None})
        if given.get(CLEAR.name):
            self.before = [*start, *livelog.clear_command]

    def refuse(self, path: str, text: str) -> None:
        self.problems.append(Problem(path=path, text=text))

    def refuse_option(self, path: str, text: str) -> None:
        self.refuse(
            path, f"is {quoted(text)}, which the program would take for an option. Give one that begins otherwise."
        )


def _risky(text: str) -> bool:
    """Whether a program could take the word for an option. A lone dash is a name for standard input."""
    return text.startswith("-") and text != "-"


def _filled(template: str, given: Mapping[str, object]) -> str | None:
    names = _PLACEHOLDER.findall(template)
    if any(given.get(name) in (None, "") for name in names):
        return None
    return _PLACEHOLDER.sub(lambda match: as_text(given[match[1]]), template)
