"""Programs that run other programs: what a command really runs, as far as that can be told from its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile

from sayso.records import record, replace
from sayso.rules.first_words import subcommands
from sayso.rules.programs import MOST_TRIED, RUN_BY_SECOND, RUNNERS, USUAL_FOLDERS, named
from sayso.rules.readers import only_reads
from sayso.rules.use import Command


@record
class Inside:
    """What a command runs."""

    commands: tuple[Command, ...] = ()
    lines: tuple[str, ...] = ()
    """Texts that a shell takes apart."""
    possible: tuple[Command, ...] = ()
    """What it may run, where each word may be a line of its own: of interest to those who deny it."""
    variables: tuple[str, ...] = ()
    """What it sets for them."""
    doubts: tuple[str, ...] = ()
    is_command: bool = True
    """Whether it does something itself that has to be allowed."""


def inside(words: Command) -> Inside:
    """What a command runs. One that is not found in the usual way may do something else by the same name."""
    folder, _, name = words[0].rpartition("/")
    found = _inside(name, words)
    return found if folder in USUAL_FOLDERS else replace(found, is_command=True)


def _inside(name: str, words: Command) -> Inside:
    if name == "command" and words[1:2] in (("-v",), ("-V",)):
        return Inside()
    if name in _TRANSPARENT:
        return _transparent(name, words)
    if name in RUNNERS or name in _LATER:
        return Inside(possible=_tails(words))
    if begins := [place for does, place in subcommands(words) if does in RUN_BY_SECOND]:
        return Inside(possible=_tails(words[min(begins) :]))
    if name == "git":
        return Inside(possible=tuple(_by_git(words)))
    if name in _SHELLS:
        return _shell(words)
    match name:
        case "env":
            return _env(words)
        case "xargs":
            return _xargs(words)
        case "find":
            return _find(words)
        case "test" | "[":
            return _test(words)
        case "printf":
            return _printf(words)
        case "exit" | "logout" | "return" | "break" | "continue" | "shift":
            return Inside(doubts=_sums(name, words[1:]))
        case "alias":
            return Inside(possible=tuple((word.partition("=")[2],) for word in words[1:] if "=" in word))
        case "eval":
            return Inside(lines=(" ".join(words[1:]),))
    return Inside()


_TRANSPARENT: dict[str, tuple[str, int]] = {
    "timeout": (r"--preserve-status|--foreground|-v|--verbose|-k=|--kill-after=.*|-s=|--signal=.*", 1),
    "nice": (r"-n=|-n-?\d+|-\d+|--adjustment=-?\d+", 0),
    "ionice": (r"-c=|-c\d|-n=|-n\d|-t", 0),
    "nohup": (r"", 0),
    "time": (r"-p", 0),
    "stdbuf": (r"-[ioe]=|-[ioe][0L\d]\w*|--(?:input|output|error)=\w+", 0),
    "setsid": (r"-w|--wait|-f|--fork|-c|--ctty", 0),
    "command": (r"-p", 0),
    "builtin": (r"", 0),
    "exec": (r"", 0),
}
"""Programs that run the rest of their words: their options (those with `=` take the next word), and how many words of
their own come first."""

_LATER = named("trap coproc jobs")
"""Words of the shell that run a line later, or beside."""

_SPAN = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_OTHER_GRAMMAR = named("fish csh tcsh mksh pdksh oksh lksh yash posh bosh elvish nu xonsh rc es")
"""Shells to which quotes may mean something else, so that what is a word to us may be a command to them."""
_GIT_RUNS = named("bisect submodule filter-branch for-each-repo")
_ALIAS_FOR_SHELL = re.compile(r"(?:[\w.-]+=)?!(.+)", re.DOTALL)
_SHELLS = named("sh bash dash zsh ksh ash rbash rksh rzsh") | _OTHER_GRAMMAR


def _tails(words: Command) -> tuple[Command, ...]:
    """Its words from each on but the first: where what it runs begins, its options decide."""
    return tuple(words[place:] for place in range(1, min(len(words), MOST_TRIED)))


def _by_git(words: Command) -> Iterator[Command]:
    """What git may be told to run: in a setting, behind an option, or after some of its subcommands."""
    for place, word in enumerate(words[1:MOST_TRIED], start=1):
        before, value = words[place - 1], word.partition("=")[2] or word
        if found := _ALIAS_FOR_SHELL.fullmatch(word):
            yield (found[1],)
        elif before in ("-c", "-x", "--exec", "--extcmd") or word.startswith(("--exec=", "--extcmd=")):
            yield (value,)
        elif word.startswith("-x") and "rebase" in words:
            yield (word[2:],)
        if word in _GIT_RUNS:
            yield from _tails(words[place:])


def _transparent(name: str, words: Command) -> Inside:
    known, own = _TRANSPARENT[name]
    rest, fits = _after_options(words[1:], known)
    inner = rest[own:]
    strange = any(word.startswith("-") for word in rest[: own + 1]) or not all(map(_SPAN.fullmatch, rest[:own]))
    if not fits or not inner or strange:
        doubts = (f"`{name}` is not used plainly",)
        return Inside(commands=(inner,) if inner else (), possible=_tails(words), doubts=doubts)
    return Inside(commands=(inner,), is_command=False)


def _after_options(words: Command, known: str) -> tuple[Command, bool]:
    """What follows the options, and whether all of these are known."""
    takes_next = {part[:-1] for part in known.split("|") if part.endswith("=")}
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        word = words[place]
        if word == "--":
            return words[place + 1 :], True
        if word in takes_next:
            place += 2
        elif re.fullmatch(known, word) and word not in takes_next:
            place += 1
        else:
            return words[place + 1 :], False
    return words[place:], True


def _shell(words: Command) -> Inside:
    name = words[0].rpartition("/")[2]
    strange = ("its shell is not used plainly",)
    for place, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word):
            plain = word in ("-c", "-lc") and place == 1 and len(words) == 3 and name not in _OTHER_GRAMMAR
            lines = words[place + 1 : place + 2]
            return Inside(lines=lines, is_command=False, doubts=() if plain else strange)
        if not word.startswith(("-", "+")) and not words[place - 1].startswith(("-", "+")):
            # After an option it may be the value of that.
            break
    plain = len(words) > 1 and not words[1].startswith(("-", "+"))
    return Inside(doubts=() if plain else strange)


def _env(words: Command) -> Inside:
    place, names = 1, list[str]()
    while place < len(words):
        word = words[place]
        if word in ("-i", "-"):
            place += 1
        elif word == "-u":
            place += 2
        elif re.fullmatch(r"[A-Za-z_]\w*=.*", word, re.DOTALL):
            names.append(word.partition("=")[0])
            place += 1
        elif word.startswith("-") or "=" in word:
            rest = (words[place + 1 :],) if words[place + 1 :] else ()
            lines = tuple(each for each in words[place:] if " " in each)
            # The next word may be the value of an option.
            doubts = ("`env` is not used plainly",)
            return Inside(commands=rest, lines=lines, possible=_tails(words[place:]), doubts=doubts)
        else:
            break
    inner = words[place:]
    if not inner:
        return Inside(variables=tuple(names))
    return Inside(commands=(inner,), variables=tuple(names), is_command=False)


def _xargs(words: Command) -> Inside:
    known = r"-0|--null|-r|--no-run-if-empty|-t|-n=|-n\d+|-P=|-P\d+|-I=|-L=|-L\d+|-d=|-s="
    rest, _ = _after_options(words[1:], known)
    return Inside(
        commands=(rest,) if rest else (), doubts=("`xargs` adds words that nobody sees",), is_command=not rest
    )


def _find(words: Command) -> Inside:
    inner, doubts = list[Command](), list[str]()
    place = 1
    while place < len(words):
        if words[place] in ("-exec", "-execdir", "-ok", "-okdir"):
            ends = [end for end in range(place + 1, len(words)) if _ends_command(words, end)]
            end = ends[0] if ends else len(words)
            inner.append(words[place + 1 : end])
            if words[place].endswith("dir") or (_fills_in(inner[-1]) and not _finds_to_read(words, inner[-1])):
                doubts.append("`find` fills in what nobody sees")
            place = end
            if not ends:
                doubts.append("`find` is not used plainly")
        elif re.fullmatch(r"-delete|-fprint0?|-fprintf|-fls|-files0-from", words[place]):
            doubts.append(f"`find {words[place]}` changes files")
        place += 1
    return Inside(commands=tuple(filter(None, inner)), doubts=tuple(doubts))


def _fills_in(inner: Command) -> bool:
    return any("{}" in word for word in inner)


def _finds_to_read(words: Command, inner: Command) -> bool:
    """Whether each file that a `find` puts into a command is one word for it, which begins as the `find` says where to
    look, and the command only reads: what is found has any name, and may be what no rule lets an agent change."""
    told = dropwhile(re.compile(r"-[HLP]\Z").match, words[1:])
    begins = takewhile(lambda word: not _EXPRESSION.match(word), told)
    whole = all(word == "{}" for word in inner if "{}" in word)
    plain = all(map(_WHERE_TO_LOOK.fullmatch, begins)) and not any(map(_LOOKS_IN_NEXT.fullmatch, words))
    return whole and plain and only_reads(inner)


_EXPRESSION = re.compile(r"-|[(!]\Z")
_WHERE_TO_LOOK = re.compile(r"[\w./~][\w./ -]*", re.ASCII)
_LOOKS_IN_NEXT = re.compile(r"-[EHLPXdsx]*f|--|-D|-O\d*")
"""After which a `find` may take words for folders, however they begin."""


def _test(words: Command) -> Inside:
    """A shell may take the name of a variable, or a number, for a sum, and runs what stands in the brackets of that."""
    told = words[1:-1] if words[0].endswith("[") else words[1:]
    summed = any(re.fullmatch(r"-(?:v|R|t|eq|ne|lt|le|gt|ge)", word) for word in told)
    strange = any(set(word) & set("[`") or "$(" in word or (summed and not word.isprintable()) for word in told)
    named = summed and any(map(_VARIABLE.fullmatch, told))
    return Inside(doubts=("`test` may run what is in its words",) if strange or named else ())


_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[-+]?[\d.]*|\$\?")
_TEXT_OF_PRINTF = re.compile(r"%%|%-?\d*(?:\.\d+)?[sbqc]")


def _printf(words: Command) -> Inside:
    """Where a number is wanted, zsh and ksh take a word for a sum."""
    told = words[2:] if words[1:2] == ("--",) else words[1:]
    wants_numbers = bool(told) and "%" in _TEXT_OF_PRINTF.sub("", told[0])
    return Inside(doubts=_sums("printf", told[1:]) if wants_numbers else ())


def _sums(name: str, words: Command) -> tuple[str, ...]:
    """A word that is no number may name a variable, and that may hold a sum with a command in its brackets."""
    return () if all(map(_NUMBER.fullmatch, words)) else (f"`{name}` may run what is in a variable",)


def _ends_command(words: Command, place: int) -> bool:
    """A plus is a word like any other unless the files stand before it."""
    return words[place] == ";" or (words[place] == "+" and words[place - 1] == "{}")
