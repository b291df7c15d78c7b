"""Patterns of rules, spelt as Claude Code spells them: `Bash(git push *)`, `Edit(infra/**)`, `mcp__github__get_issue`.

Each can be held against a use in two ways. `covers` is for allowing: it is certain that all of the use is meant.
`concerns` is for asking and denying: the use may be meant, however it is written.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import takewhile

from sayso.records import record
from sayso.rules.risky_options import risky_options
from sayso.rules.starred import Line, Paths, Piece, Star, line, pieces_of_path
from sayso.rules.use import Command, ToolUse, UsedPath
from sayso.text import closest

BETWEEN = "\0"
"""Stands between the words of a command, which may hold spaces themselves."""

_SPELT = re.compile(r"(?P<name>[A-Za-z_*][\w*.-]*)(?:\((?P<about>.*)\))?", re.DOTALL | re.ASCII)
_PATHS = frozenset(("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Grep", "Glob"))
_READING = frozenset(("Read", "Grep", "Glob"))
_NAMES_ALONE = frozenset(("WebSearch", "ExitPlanMode", "Task", "Agent", "Skill", "TodoWrite", "LS", "NotebookRead"))

_SPELT_ELSEWHERE = {
    **{
        name.lower(): name
        for name in ("Bash", "WebFetch", "WebSearch", "Edit", "MultiEdit", "Write", "NotebookEdit", *_READING)
    },
    **dict.fromkeys(("run_shell_command", "shell", "run_command", "execute_command", "terminal"), "Bash"),
    **dict.fromkeys(("replace", "str_replace", "str_replace_editor", "insert", "patch"), "Edit"),
    **dict.fromkeys(("write_file", "create"), "Write"),
    "notebook_edit": "NotebookEdit",
    **dict.fromkeys(("read_file", "view", "show_file", "zoom_image"), "Read"),
    **dict.fromkeys(("grep_search", "search_file_content", "rg"), "Grep"),
    **dict.fromkeys(("list_directory", "list"), "LS"),
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
}
"""Names that other clients have for what is called so here."""
_OF_AGENTS = frozenset(("Bash", "WebFetch")) | _PATHS | _NAMES_ALONE


class About(StrEnum):
    """What stands in the brackets of a pattern."""

    NOTHING = "nothing"
    WORDS = "words"
    PATH = "path"
    DOMAIN = "domain"


@record
class Pattern:
    """`text` is the whole of it as it is written, `spec` what stands in its brackets."""

    text: str
    name: str
    about: About = About.NOTHING
    spec: str = ""

    @property
    def first_word(self) -> str:
        """What the one program begins with that it can be about, in small letters; empty where there are several."""
        first = _words(self.spec)[:1] if self.about is About.WORDS else []
        named = _unquoted(first[0]).lower().split() if first and not _has_star(first[0]) else []
        return named[0] if named else ""

    @property
    def perhaps_meant(self) -> str:
        """The name under which agents' own tools are known here, where it is spelt as other clients do: then it is
        about a tool of a tool file alone."""
        named = _SPELT_ELSEWHERE.get(self.name.lower(), "")
        if not named and self.name[0].isupper() and self.name not in _OF_AGENTS:
            named = closest(self.name, _OF_AGENTS)
        return "" if named == self.name else named

    @property
    def is_of_reading(self) -> bool:
        return self.name in _READING

    def covers(self, use: ToolUse) -> bool:
        """Whether all of the use is certainly meant, but for what is said of single commands (`covers_command`)."""
        if not self._is_surely_of(use.names):
            return False
        match self.about:
            case About.NOTHING:
                return True
            case About.PATH:
                return bool(use.paths) and all(self.covers_path(path) for path in use.paths)
            case About.DOMAIN:
                return self._domain(use.domain, self.spec)
            case About.WORDS:
                return bool(use.commands) and all(self.covers_command(use, words) for words in use.commands)

    def covers_command(self, use: ToolUse, words: Command) -> bool:
        """Whether this one command of the use is certainly meant."""
        if self.about is not About.WORDS:
            return self.covers(use)
        return self._is_surely_of(use.names) and not use.beyond_words and self.means(words)

    def means(self, words: Command) -> bool:
        """Whether exactly this command is meant, with every option that matters named."""
        if self.about is not About.WORDS:
            return self.about is About.NOTHING
        whole = BETWEEN.join(words)
        fits = any(each.fits(whole) for each in self._exact)
        return fits and all(option in self._named_words for option in risky_options(words))

    def concerns(self, use: ToolUse) -> bool:
        """Whether the use may be meant, or part of it."""
        if self.about is About.PATH and any(map(self.concerns_path, use.possible)):
            return True
        if not self.is_of(use.strict_names):
            return False
        match self.about:
            case About.NOTHING:
                return True
            case About.PATH:
                return any(self.concerns_path(path) for path in use.paths)
            case About.DOMAIN:
                wanted = (self.spec, f"*.{self.spec}")
                return any(self._domain(each, spec) for each in (use.domain, *use.other_domains) for spec in wanted)
            case About.WORDS:
                return any(self.concerns_command(words) for words in use.forms)

    def concerns_command(self, words: Command) -> bool:
        return any(each.fits(whole) for each in self._loose for whole in _as_lines(words))

    def concerns_path(self, path: UsedPath) -> bool:
        """Whether this path, or a folder that it is in, may be meant, with or without links."""
        ways = [way for way in (path.real, path.named) if way]
        tops = dict.fromkeys((path.project, path.folder, *path.around))
        seen = [found for way in ways for top in tops if (found := self._seen(way, top))]
        # A name without a folder is meant wherever it is.
        names = [] if self._is_absolute or self._is_anchored else [way.rpartition("/")[2] for way in ways]
        return any(self._path_below.fits(each) for each in (*seen, *names))

    def may_be_below(self, folder: UsedPath) -> bool:
        """Whether what is meant may lie in a folder, as far as that can be told without a look into it."""
        if not self._is_absolute and not self._is_anchored:
            return True
        tops = ("/",) if self._is_absolute else dict.fromkeys((folder.project, folder.folder, *folder.around))
        return folder.real is None or any(
            _meet(_parts_of(way), (*_parts_of(top), *self._certain_parts))
            for way in (folder.real, folder.named)
            for top in tops
        )

    @cached_property
    def _certain_parts(self) -> tuple[str, ...]:
        """The folders that the path begins with, as far as no star is in them."""
        import os.path

        spec = os.path.realpath(os.path.expanduser("~")) + self.spec[1:] if self.spec.startswith("~/") else self.spec
        return tuple(takewhile(lambda part: not set(part) & set("*?"), _parts_of(spec)))

    @property
    def wherever(self) -> tuple[Piece, ...]:
        """Of every path that may be meant, and perhaps of others, from the root or from anywhere in it."""
        own = self._path_or_folder
        return own if self._is_absolute or own[:1] == (Star.FOLDERS,) else (Star.FOLDERS, *own)

    def is_of(self, names: frozenset[str]) -> bool:
        return self.name in names or ("*" in self.name and any(map(self._named.fits, names)))

    def _is_surely_of(self, names: frozenset[str]) -> bool:
        """The same, where a name can be read in one way only: `mcp__a__b__c` may be of a server `a` or of `a__b`."""
        if "*" not in self.name or self.name == "*":
            return self.is_of(names)
        parts = self.name.count("__")
        return self.is_of(frozenset(name for name in names if name.count("__") == parts and "___" not in name))

    def covers_path(self, path: UsedPath) -> bool:
        seen = self._seen(path.real, path.project) if path.real else None
        if not seen or not self._path.fits(seen):
            return False
        return not path.is_whole_folder or self.spec.endswith("**")

    def _seen(self, way: str, project: str) -> str | None:
        """The way to a file as this pattern sees it: from the root, or from the project. None where it is not there."""
        if self._is_absolute:
            return way
        if way == project:
            return "."
        return way[len(project) + 1 :] if way.startswith(f"{project.rstrip('/')}/") else None

    @property
    def _is_absolute(self) -> bool:
        return self.spec.startswith(("//", "~/"))

    @property
    def _is_anchored(self) -> bool:
        return "/" in self.spec.rstrip("/")

    @cached_property
    def _named_words(self) -> frozenset[str]:
        """The words that stand there as they are, without quotes."""
        return frozenset(_unquoted(word) for word in _WORD.findall(self.spec) if not _has_star(word))

    @cached_property
    def _named(self) -> Line:
        parts = re.split(r"(\*)", self.name)
        return line((Star.ANYTHING if part == "*" else part, False) for part in parts)

    @cached_property
    def _exact(self) -> tuple[Line, ...]:
        return _command(self.spec, BETWEEN)

    @cached_property
    def _loose(self) -> tuple[Line, ...]:
        # A disk that does not tell letters by their case finds the same program.
        return _command(self.spec, " ", loosely=True)

    @cached_property
    def _path(self) -> Paths:
        return Paths([self._path_pieces], below=False, in_any_case=False)

    @cached_property
    def _path_below(self) -> Paths:
        return Paths([self._path_or_folder], below=True, in_any_case=True)

    @property
    def _path_or_folder(self) -> tuple[Piece, ...]:
        """Without what says that all below it is meant."""
        *before, last = self._path_pieces
        ends = before and isinstance(before[-1], str) and before[-1].endswith("/") and last is Star.ANYTHING
        if not ends:
            return (*before, last)
        *before, folder = before
        return (*before, *filter(None, [str(folder)[:-1]]))

    @cached_property
    def _path_pieces(self) -> tuple[Piece, ...]:
        import os.path

        spec = self.spec
        if spec.startswith("~/"):
            return pieces_of_path(os.path.realpath(os.path.expanduser("~")) + spec[1:])
        spec = spec[1:] if spec.startswith("//") else spec.removeprefix("./").removeprefix("/")
        anywhere = () if self._is_absolute or self._is_anchored else (Star.FOLDERS,)
        return (*anywhere, *pieces_of_path(spec))

    @staticmethod
    def _domain(domain: str, wanted: str) -> bool:
        if wanted.startswith("*."):
            return domain.endswith(wanted[1:])
        return bool(domain) and domain == wanted


def _parts_of(path: str) -> tuple[str, ...]:
    """In letters of whatever case."""
    return tuple(part for part in path.casefold().split("/") if part not in ("", "."))


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of them lies in the other, or they are the same."""
    return all(part == there for part, there in zip(one, other, strict=False))


def pattern(text: str) -> Pattern:
    """Read a pattern. ValueError says what is wrong with it."""
    found = _SPELT.fullmatch(text.strip())
    if not found:
        raise ValueError("it must be the name of a tool, or a name with brackets such as Bash(git status *)")
    name, spec = found["name"], found["about"]
    if "*" in name and name != "*" and not re.fullmatch(r"mcp__[A-Za-z0-9_.-]+__[\w*.-]+", name):
        raise ValueError("only the tools of an MCP server may be named with a star: mcp__SERVER__get_*")
    if spec is None:
        return Pattern(text=text, name=_whole_server(name))
    if not spec.strip():
        raise ValueError(f"there is nothing in the brackets; write {name} for every use of it")
    if name in _PATHS:
        return Pattern(text=text, name=name, about=About.PATH, spec=_checked_path(spec.strip()))
    if name == "WebFetch":
        return Pattern(text=text, name=name, about=About.DOMAIN, spec=_checked_domain(spec.strip()))
    if name.startswith("mcp__") or name == "*" or name in _NAMES_ALONE or (name[0].isupper() and name != "Bash"):
        near = "" if name in _OF_AGENTS else closest(name, _OF_AGENTS)
        hint = f"write {near}, if you mean that" if near else f"write {name} alone"
        raise ValueError(f"nothing is known of what stands in the brackets of {name}; {hint}")
    if spec.strip() == "*":
        return Pattern(text=text, name=name)
    return Pattern(text=text, name=name, about=About.WORDS, spec=_checked_words(spec.strip()))


def _whole_server(name: str) -> str:
    """`mcp__github` means all tools of that server."""
    return f"{name}__*" if re.fullmatch(r"mcp__(?:(?!__).)+", name) else name


def _checked_words(spec: str) -> str:
    """In Claude Code, `:*` at the end is another way to write ` *`."""
    spec = spec.removesuffix(":*").rstrip() + " *" if spec.endswith(":*") else spec
    if not _words(spec):
        raise ValueError("quotes are not closed")
    return spec


def _checked_path(spec: str) -> str:
    if set(spec) & set("[]{}!\\") or "//" in spec[1:] or ".." in spec.split("/"):
        raise ValueError(
            "in a path `*`, `**` and `?` have a meaning; `[`, `{`, `!`, a backslash and `..` are not known"
        )
    if spec.startswith("~") and not spec.startswith("~/"):
        raise ValueError("only the home of your own can be named: ~/...")
    return spec + "**" if spec.endswith("/") else spec


def _checked_domain(spec: str) -> str:
    kind, _, name = spec.partition(":")
    if kind != "domain" or not re.fullmatch(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*", name.strip(), re.IGNORECASE):
        raise ValueError("it must be WebFetch(domain:example.com) or WebFetch(domain:*.example.com)")
    return name.strip().lower()


_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+""", re.DOTALL)


def _words(spec: str) -> list[str]:
    """The words of a command's pattern, quotes and all; none where quotes are not closed."""
    return _WORD.findall(spec) if re.fullmatch(rf"\s*(?:{_WORD.pattern}\s*)*", spec, re.DOTALL) else []


@lru_cache(16)
def _as_lines(words: Command) -> frozenset[str]:
    """A command for patterns that take one blank for several: every pattern is held against the same few."""
    line = re.sub(r"\s", " ", " ".join(words))
    return frozenset({line, _BLANKS.sub(" ", line)})


def _command(spec: str, between: str, *, loosely: bool = False) -> tuple[Line, ...]:
    """` *` at the end is for any further words, or none. Loosely, one blank is as good as several, and the program may
    be in letters of another case."""
    words = _words(spec)
    has_rest = len(words) > 1 and words[-1] == "*"
    told, last = list[tuple[Piece, bool]](), ""
    for place, word in enumerate(words[:-1] if has_rest else words):
        for text in (*([between] if place else []), *_starred_word(word)):
            if text is None:
                told.append((Star.ANYTHING, False))
                last = ""
                continue
            if loosely:
                text = _BLANKS.sub(" ", text)
                text = text.removeprefix(" ") if last == " " else text
            last = text[-1:] or last
            told.append((text, loosely and not place))
    lines = (told, [*told, (between, False), (Star.ANYTHING, False)]) if has_rest else (told,)
    return tuple(map(line, lines))


_BLANKS = re.compile(r"\s+")

_PIECE = re.compile(
    r"""(?P<star>\*)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|\\(?P<escaped>.)|(?P<other>.)""", re.DOTALL
)


def _starred_word(word: str) -> list[str | None]:
    """Its texts, None for each star."""
    told = ("double", "single", "escaped", "other", "star")
    return [
        None if piece["star"] else next(text for text in piece.group(*told) if text is not None)
        for piece in _PIECE.finditer(word)
    ]


def _has_star(word: str) -> bool:
    return any(piece["star"] for piece in _PIECE.finditer(word))


def _unquoted(word: str) -> str:
    return "".join(
        piece["double"] or piece["single"] or piece["escaped"] or piece["other"] or ""
        for piece in _PIECE.finditer(word)
    )
