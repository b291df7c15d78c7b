"""Shell lines taken apart: which simple commands a line runs, and whether that is certain.

The grammar says how a line is built; every word, and every blank between words, is then looked at once more by itself,
because a grammar and a shell do not always agree. Whatever is not plainly understood is a doubt, and a line with a
doubt is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from sayso.records import record
from sayso.rules import readers, wrappers
from sayso.rules.first_words import without_git_options
from sayso.rules.programs import named
from sayso.rules.use import Command

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_CHARACTERS = 20_000
DEEPEST = 12
"""How often lines may be within lines."""

MOST_TRIED = 200
"""How many words, or how many from one on, are looked at in case they are a command."""

TOO_DEEP = "it is too long or too deep to be taken apart"

UNKNOWN = "\x01"
"""Stands in a word for what only the shell will know."""

_STATEMENTS = named(
    "program list pipeline redirected_statement subshell compound_statement negated_command if_statement elif_clause "
    "else_clause while_statement for_statement do_group"
)
_SIGNS = named("; & && || | |& ( ) { } ! if then elif else fi while until for in do done") | {"\n"}
_RESERVED = named("if then elif else fi case esac for select while until do done in function coproc { } [[ ]] !")
_CHANGING = named(
    "eval source . alias unalias enable hash trap set shopt export declare typeset local readonly unset let bind "
    "emulate complete compgen mapfile readarray read getopts fc history coproc"
)
"""What changes the meaning of later words, or runs a text that is not looked at here."""
_HARMLESS = (
    r"(?:CI|DEBUG|VERBOSE|TZ|LANG|LANGUAGE|LC_[A-Z]+|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|"
    r"NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|"
    r"PYTHONHASHSEED)"
)
"""Variables that do not change which program runs. Most lines set none, so it is compiled when it is wanted."""
_CALM = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*")
_NOTHING = re.compile(rb"")
_BRACES = re.compile(r"[^{]*\{.*(?:,|\.\.)", re.DOTALL)
_BLANK = re.compile(rb"(?:[ \t]|\\\n)*")
_BLANK_LINES = re.compile(rb"(?:[ \t\n]|\\\n)*")
_PLAIN = re.compile(r"(?:\\[ -~]|[!#%*-/0-:=?@A-Z\[\]^_a-z{}~])+")
_NAME = re.compile(r"[A-Za-z0-9_./+:@%~^,\[\]-]+")
_HIDDEN_OPTION = re.compile(r"-[^=]*\$")
_STARRED_OPTION = re.compile(r"[*?\[]|-[^=]*[*?\[]")
_STARRED_IN_ZSH = re.compile(r"(?<!\\)\^.*|(?:\\.|[^\\])#+")
_REVISION = re.compile(r"(?:(?:HEAD|@|[0-9a-f]{7,40})(?:[\^~]\d*)*(?:\.{2,3}(?!$))?){1,2}(?::[\w./-]*)?")
"""What git knows. Such a zsh looks for files whose names begin so."""
_CALCULATED = re.compile(rf"\A[^\[]*\[.*(?:`|\$[({{])|\$\{{?\w+\}}?[\[:]|(?:\$[?$]|{UNKNOWN}\w*)\[", re.DOTALL)
"""What zsh, but no other shell, may take for a sum, and run what is in its brackets, or for a part of a variable. In
`"$x[i]"` the sum is what `i` holds."""
_CODED = re.compile(r"%[0-9A-Fa-f]{2}")
_PLAIN_VALUE = re.compile(r"[\w.,:/+@%-]*", re.ASCII)
_TIED = named("path fpath cdpath manpath mailpath argv status prompt psvar watch signals")
"""Variables of zsh that are others by another name, `path` is PATH, or that it reads itself."""
_STEADY = re.compile(r"\$(?:HOME|\{HOME\}|\?|\$)")
"""Expansions that no line can have changed, and that are one word."""
_STEADY_IN_QUOTES = re.compile(r"\$(?:HOME|\{HOME\}|PWD|\{PWD\}|\?|\$)")


@record
class ShellLine:
    """`commands` are all that must be allowed; `forms` every form in which one of them may be denied."""

    commands: tuple[Command, ...] = ()
    forms: tuple[Command, ...] = ()
    doubts: tuple[str, ...] = ()
    in_turn: tuple[Command, ...] = ()
    """The commands as often, and in the order, as they stand there."""
    moves: tuple[Command, ...] = ()
    """The commands by which it changes to other folders, in this order."""
    starred: tuple[str, ...] = ()
    """With stars, the words that come to several files only in a zsh that is set so: `^x` are all but x, `x#` some."""
    hides_paths: bool = False
    """Whether its words may come to other files than they name."""
    reads_below: bool = False
    """Whether it reads what is in folders, or in files that others name."""


def taken_apart(line: str) -> ShellLine:
    """All simple commands of a line, those of lines within it included."""
    found = _Found()
    _line(line, found, 0)
    moves = tuple(words for words in found.commands if words[0] in ("cd", "chdir", "pushd", "popd"))
    return ShellLine(
        commands=tuple(dict.fromkeys(found.commands)),
        forms=tuple(dict.fromkeys(found.forms)),
        doubts=tuple(dict.fromkeys(found.doubts)),
        starred=tuple(dict.fromkeys(found.starred)),
        hides_paths=found.hides_paths,
        in_turn=tuple(found.commands),
        moves=moves,
        reads_below=any(map(readers.reads_below, found.commands)),
    )


def forms_of(words: Command) -> tuple[Command, ...]:
    """Every form in which a rule may deny a command that runs without a shell."""
    found = _Found()
    _command(words, found, 0)
    return tuple(dict.fromkeys(found.forms))


class _Found:
    def __init__(self, tried: set[Command] | None = None) -> None:
        self.commands: list[Command] = []
        self.forms: list[Command] = []
        self.doubts: list[str] = []
        self.starred: list[str] = []
        self.hides_paths = False
        self.tried: set[Command] = set() if tried is None else tried
        """What may be a command, and was looked at already."""


@record
class _Word:
    text: str
    loose: bool = False
    """Whether it holds something unknown that may come to several words."""
    globs: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether it is one word, and not an option that nobody sees."""
        before, unknown, _ = self.text.partition(UNKNOWN)
        begins = bool(before) and (not before.startswith("-") or "=" in before)
        hidden = _HIDDEN_OPTION.match(self.text) or (self.globs and _STARRED_OPTION.match(self.text))
        return not self.loose and (begins or not unknown) and not hidden


@cache
def _parser() -> Parser:
    # Only now: it takes its time to import, and most gates see no shell line.
    from tree_sitter import Language, Parser

    return Parser(Language(_grammar()))


def _grammar() -> object:
    """Only what is compiled of its package: the rest imports what reads files, which takes as long as all else here."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    package = PathFinder.find_spec("tree_sitter_bash")
    places = package.submodule_search_locations if package else None
    compiled = PathFinder.find_spec("tree_sitter_bash._binding", places)
    if compiled is None or compiled.loader is None:
        import tree_sitter_bash

        return tree_sitter_bash.language()
    binding = module_from_spec(compiled)
    compiled.loader.exec_module(binding)
    return binding.language()


def _line(line: str, found: _Found, depth: int) -> None:
    if len(line) > MOST_CHARACTERS or depth > DEEPEST:
        found.doubts.append(TOO_DEEP)
        return
    if not _CALM.fullmatch(line):
        found.doubts.append("it has characters that cannot be seen")
    try:
        source = line.encode()
    except UnicodeEncodeError:
        found.doubts.append("it has characters that are none")
        return
    if not line.strip():
        found.doubts.append("there is no command in it")
        return
    root = _parser().parse(source).root_node
    if root.has_error:
        found.doubts.append("it cannot be taken apart with certainty")
        # For those who deny it: as it is written, and each part of it.
        found.forms += [tuple(part.split()) for part in (line, *re.split(r"[|&;()<>\n`{}]+", line)) if part.strip()]
    if source[: root.start_byte].strip(b" \t\n") or source[root.end_byte :].strip(b" \t\n"):
        found.doubts.append("it cannot be taken apart with certainty")
    _Walk(source, found, depth).statement(root)


class _Walk:
    """Goes through the tree of one line."""

    def __init__(self, source: bytes, found: _Found, depth: int) -> None:
        self._source, self._found, self._depth = source, found, depth

    def statement(self, node: Node) -> None:
        match node.type:
            case "command":
                self._command(node)
            case "variable_assignment":
                self._assignment(node)
            case "file_redirect":
                self._redirect(node)
            case "comment":
                pass
            case kind if kind in _STATEMENTS:
                self._gaps(node, _BLANK_LINES)
                for child in node.children:
                    self._part(node, child)
            case kind:
                self._doubt(f"it has a {kind.replace('_', ' ')} in it, which is not looked into")
                self._within(node)

    def _part(self, node: Node, child: Node) -> None:
        """A part of a statement: another one, a word of a loop, or a sign."""
        if node.type == "for_statement" and child.is_named and child.type not in ("do_group", "comment"):
            if child.type != "variable_name":
                self._see_sums([self._word(child)])
            elif not re.fullmatch(r"[a-z]{1,12}", _text(child)) or _text(child) in _TIED:
                self._doubt("it sets a variable that may change what runs")
        elif child.is_named:
            self.statement(child)
        elif child.type not in _SIGNS:
            self._doubt(f"it has a {child.type} in it, which is not looked into")

    def _within(self, node: Node) -> None:
        """The commands in what is not understood: somebody may deny one of them."""
        for child in node.children:
            if child.type in _STATEMENTS or child.type == "command":
                self.statement(child)
            else:
                self._within(child)

    def _command(self, node: Node) -> None:
        self._gaps(node, _BLANK)
        words: list[_Word] = []
        for child in node.children:
            match child.type:
                case "variable_assignment":
                    self._assignment(child)
                case "file_redirect":
                    self._redirect(child)
                case "command_name":
                    words.append(self._word(child.children[0]) if child.child_count == 1 else self._strange(child))
                case _:
                    words.append(self._word(child))
        if not words:
            return
        self._see_sums(words)
        if not all(word.is_certain for word in words):
            self._doubt("it has words that only the shell will know")
        self._found.hides_paths |= any(word.globs or UNKNOWN in word.text for word in words) and (
            words[0].text not in readers.WITHOUT_CONTENTS
        )
        _command(tuple(word.text for word in words), self._found, self._depth)

    def _see_sums(self, words: Iterable[_Word]) -> None:
        if any(_CALCULATED.search(word.text) for word in words):
            self._doubt("a shell may run what is in its brackets")

    def _assignment(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None or name.type != "variable_name" or not re.fullmatch(_HARMLESS, _text(name)):
            self._doubt("it sets a variable that may change what runs")
        value = node.child_by_field_name("value")
        if value is not None and not _PLAIN_VALUE.fullmatch(self._word(value).text):
            self._doubt("it sets a variable that may change what runs")

    def _redirect(self, node: Node) -> None:
        text = _text(node)
        if not re.fullmatch(r"[012]?>&[12]|[12]?>>?[ \t]*/dev/null|&>>?[ \t]*/dev/null|0?<[ \t]*/dev/null", text):
            self._doubt("it reads from or writes to a file")
        self._within(node)

    # Words

    def _word(self, node: Node) -> _Word:
        text = _text(node)
        match node.type:
            case "word" | "number":
                return self._plain(text)
            case "raw_string":
                self._see(text)
                return _Word(text=text[1:-1]) if re.fullmatch(r"'[^']*'", text) else self._strange(node)
            case "string":
                return self._quoted(node)
            case "concatenation":
                self._gaps(node, _NOTHING)
                bare = "".join(_text(child) for child in node.children if child.type == "word")
                strange = _BRACES.match(bare) or text.startswith("=")
                return self._strange(node) if strange else _joined(map(self._word, node.children))
            case "simple_expansion" | "expansion" if _STEADY.fullmatch(text):
                return _Word(text=text)
            case "simple_expansion":
                return _Word(text=UNKNOWN, loose=True)
            case "expansion" if re.fullmatch(r"\$\{\w+\}", text):
                return _Word(text=UNKNOWN, loose=True)
            case "command_substitution" if text.startswith("$("):
                self._substitution(node)
                return _Word(text=UNKNOWN, loose=True)
        return self._strange(node)

    def _plain(self, text: str) -> _Word:
        if not _PLAIN.fullmatch(text) or text.startswith("#") or _BRACES.match(text):
            self._doubt("it has words that are not plain")
        # To zsh, `=ls` is the path of ls.
        if (text.startswith("~") and not re.match(r"~(?:/|$)", text)) or re.match(r"=(?!=?$)", text):
            self._doubt("it has words that only the shell will know")
        in_zsh = "" if _REVISION.fullmatch(text) else _STARRED_IN_ZSH.sub("*", text)
        if in_zsh not in ("", text):
            self._found.starred.append(in_zsh)
            if _STARRED_OPTION.match(in_zsh):
                self._doubt("it has words that only the shell will know")
        globs = re.search(r"(?<!\\)[*?\[]", in_zsh) is not None
        return _Word(text=re.sub(r"\\(.)", r"\1", text), globs=globs)

    def _quoted(self, node: Node) -> _Word:
        """A text in double quotes: what is between what the shell fills in is taken as it stands."""
        whole = _text(node)
        if len(whole) < 2 or not (whole.startswith('"') and whole.endswith('"')):
            return self._strange(node)
        told, at = "", node.start_byte + 1
        for child in node.children[1:-1]:
            if child.type == "string_content":
                continue
            told += self._literal(self._source[at : child.start_byte])
            told += self._filled_in(child)
            at = child.end_byte
        told += self._literal(self._source[at : node.end_byte - 1])
        return _Word(text=told)

    def _filled_in(self, child: Node) -> str:
        text = _text(child)
        if _STEADY_IN_QUOTES.fullmatch(text):
            return text
        here = _text_of_here_document(text)
        if here is None:
            return self._word(child).text
        self._see(here)
        self._found.forms.append(("cat",))
        return here

    def _literal(self, source: bytes) -> str:
        text = source.decode(errors="replace")
        if not re.fullmatch(r"(?:\\.|[^\\\"`$]|\$(?=[\s.,:;)/]|$))*", text, re.DOTALL):
            self._doubt("it has words that are not plain")
        self._see(text)
        return re.sub(r"\\(?:\n|([$`\"\\]))", lambda found: found[1] or "", text)

    def _see(self, text: str) -> None:
        if not text.replace("\n", "").replace("\t", "").isprintable():
            self._doubt("it has characters that cannot be seen")

    def _substitution(self, node: Node) -> None:
        self._gaps(node, _BLANK_LINES)
        if self._depth > DEEPEST:
            self._doubt(TOO_DEEP)
            return
        inner = _Walk(self._source, self._found, self._depth + 1)
        for child in node.children:
            if child.is_named:
                inner.statement(child)

    def _strange(self, node: Node) -> _Word:
        self._doubt("it has words that are not plain")
        self._within(node)
        return _Word(text=UNKNOWN, loose=True)

    # Looking twice

    def _gaps(self, node: Node, blank: re.Pattern[bytes]) -> None:
        """See that between the parts of a node there is nothing that a shell would read otherwise."""
        ends = [node.start_byte, *(child.end_byte for child in node.children)]
        begins = [*(child.start_byte for child in node.children), node.end_byte]
        gaps = [self._source[end:begin] for end, begin in zip(ends, begins, strict=True)]
        # A line that goes on by a backslash goes on in the middle of a word, unless there is a blank.
        joined = any(b"\\\n" in gap and not gap.replace(b"\\\n", b"") for gap in gaps)
        if joined or not all(blank.fullmatch(gap) for gap in gaps):
            self._doubt("it cannot be taken apart with certainty")
        words = [child for child in node.children if child.type != "file_redirect"]
        if node.type == "command" and any(one.end_byte == other.start_byte for one, other in pairwise(words)):
            self._doubt("it cannot be taken apart with certainty")

    def _doubt(self, why: str) -> None:
        self._found.doubts.append(why)


def _command(words: Command, found: _Found, depth: int) -> None:
    """Note one simple command, and those that it would run."""
    name = words[0]
    found.forms += _forms(words)
    if not _NAME.fullmatch(name) or name in _RESERVED:
        found.doubts.append("the program is not named plainly")
    if name in _CHANGING:
        found.doubts.append(f"`{name}` may change what other words mean")
    inside = wrappers.inside(words)
    found.doubts += inside.doubts
    if inside.is_command:
        found.commands.append(words)
    for inner in inside.commands:
        if depth > DEEPEST:
            found.doubts.append(TOO_DEEP)
            return
        _command(inner, found, depth + 1)
    for line in inside.lines:
        _line(line, found, depth + 1)
    for maybe in inside.possible:
        _possibly(maybe, found, depth)
    for variable in inside.variables:
        if not re.fullmatch(_HARMLESS, variable):
            found.doubts.append("it sets a variable that may change what runs")
    if name.lower() != name:
        _in_small_letters(words, found, depth)


def _possibly(words: Command, found: _Found, depth: int) -> None:
    """Note what words would run if they were a command, and the first of them if it were a line: for those who deny
    it."""
    if words in found.tried:
        return
    found.tried.add(words)
    if depth > DEEPEST or len(found.tried) > MOST_TRIED:
        found.doubts.append(TOO_DEEP)
        return
    meant = _Found(found.tried)
    _command(words, meant, depth + 1)
    if not _NAME.fullmatch(words[0]):
        _line(words[0], meant, depth + 1)
    found.forms += meant.forms
    found.doubts += (doubt for doubt in meant.doubts if doubt == TOO_DEEP)


def _in_small_letters(words: Command, found: _Found, depth: int) -> None:
    """On a disk that does not tell letters by their case, `GIT` is git and `BASH -c` a shell: what those would run may
    be denied, and is not certain."""
    meant = _Found(found.tried)
    _command((words[0].lower(), *words[1:]), meant, depth)
    found.forms += meant.forms
    found.doubts += meant.doubts


def _forms(words: Command) -> Iterator[Command]:
    yield words
    if any(map(_CODED.search, words)):
        from urllib.parse import unquote  # only now: few words are addresses

        # In an address, letters can be written by their numbers.
        yield (words[0], *map(unquote, words[1:]))
    if "/" in words[0]:
        words = (words[0].rpartition("/")[2], *words[1:])
        yield words
    if words[0] == "git":
        yield from without_git_options(words)


def _joined(words: Iterable[_Word]) -> _Word:
    parts = list(words)
    return _Word(
        text="".join(part.text for part in parts),
        loose=any(part.loose for part in parts),
        globs=any(part.globs for part in parts),
    )


def _text_of_here_document(substitution: str) -> str | None:
    """What `$(cat <<'END'` and some lines come to, as agents write the messages of commits: these lines. None where a
    shell might find the end of that elsewhere: bash 3 looks for it by signs and quotes alone."""
    first, *lines = substitution.split("\n")
    found = re.fullmatch(r"\$\(cat[ \t]+<<[ \t]*'(\w+)'[ \t]*", first)
    body = "\n".join(lines[:-2])
    if not found or lines[-2:-1] != [found[1]] or lines[-1].strip(" \t") != ")" or found[1] in lines[:-2]:
        return None
    without_comments = re.sub(r"(?m)(?:^|(?<=[ \t]))#.*$", "", body)
    if set(body) & set('"`$\\') or not (_is_in_pairs(body) and _is_in_pairs(without_comments)):
        return None
    return body.rstrip("\n")


def _is_in_pairs(text: str) -> bool:
    """Whether each bracket and quote in it has its other half."""
    depths = list(accumulate({"(": 1, ")": -1}.get(each, 0) for each in text))
    return text.count("'") % 2 == 0 and min(depths, default=0) == 0 and depths[-1:] in ([], [0])


def _text(node: Node) -> str:
    text: bytes = node.text or b""
    return text.decode(errors="replace")
