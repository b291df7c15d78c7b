"""From an action to the use of a tool that rules look at, and from an example of a person's to an action.

Nothing here reads a file: how a path leads on by links is told by whoever calls.
"""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from sayso.records import record, replace
from sayso.rules.links import MADE, follows_own_links
from sayso.rules.protected import MAY_BE_PROTECTED, OPENED, PROTECTED, is_protected, may_come_to_protected
from sayso.rules.readers import looks_for_names, only_reads
from sayso.rules.shell import UNKNOWN, ShellLine, forms_of, taken_apart
from sayso.rules.use import Command, ToolUse, UsedPath

PlainAction = Mapping[str, Any]
"""`kind`, `tool`, `folder` and `data` of an action."""

_FAMILIES = {"edit": "Edit", "read": "Read", "shell": "Bash"}
NOT_TOLD = "not_told"
"""In an action's data: that its agent does not tell all of it. No rule allows such an action."""
UNCLEAR = "unclear"
"""In an action's data: why it is not certain what its agent would do. No rule allows such an action."""
_LOOKED_INTO = ("shell", "edit", "read", "fetch")
"""The kinds of which it is known what becomes of their input."""
_OF_ANY_TOOL = ("mcp", "other")
_TEXTS = frozenset(
    ("content", "old_string", "new_string", "new_source", "diff", "patch", "pattern", "glob", "description", "change")
)
"""What is nothing but text in the input of tools that read or change files."""
_WRITES_MEMORY = frozenset(("save_memory", "manage_memory"))
"""Tools of Qwen Code and Gemini CLI that write into the files which say what they are to do, without naming them."""
_SEARCHES_NET = ("WebSearch",)
_SEARCHES = ("Grep", "Glob", "LS")
_SHELL_INPUT = frozenset(("command", "description", "timeout", "run_in_background"))
_OWN_FOLDERS = ("workdir", "directory", "cwd")
_PLAIN_NAME = re.compile(r"[\w./-]*", re.ASCII)
PLAIN_WORD = re.compile(r"[\w./:@%+,=-]+", re.ASCII)
_IN_BRACKETS = re.compile(r"\[+[\w.]{2,}\]+")
"""A whole name as web frameworks have them. With stars it would mean a name of one letter."""
_TOO_MUCH = "it has too much of an input to look at all of it"
_HOST = re.compile(r"[a-z0-9.-]+")
_ADDRESS = re.compile(r"(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}")
_MOST_PLACES = 16
_MOST_FOLLOWED = 500
"""Files of one patch whose links are followed."""
_MOST_STARRED = 100
_LONGEST_STARRED = 255
"""How many names with stars are looked at, and how long a part of one may be: no file has a longer one."""
_MOST_GLUED = 12
"""How many letters of a word of short options may stand before a value that is glued to them."""


@record
class Ground:
    """Where an agent works, as far as rules must know it."""

    leads_to: Callable[[str], str | None]
    """The real path behind a path; None where that is not known."""
    starred: Callable[[str], Iterable[str] | None] = lambda path: ()
    """The files that a path with stars in it comes to; None where there are too many."""
    kind: Callable[[str], str] = lambda path: ""
    """Whether there is a `file`, a `folder` or a `link`; empty where there is nothing."""
    project: str = ""
    """The real folder that patterns are about; empty where it is the one that the action is in."""
    around: tuple[str, ...] = ()
    """The real folders of the projects that this one lies in."""
    poses_as_repository: Callable[[str], bool] = lambda folder: False
    """Whether git, in a folder, would take it or one above for a repository that is not called `.git`."""
    guarded: tuple[str, ...] = ()
    """Folders whose files no rule lets an agent change, by every name of theirs."""
    doubt: str = ""
    """Why nothing of this agent's is allowed by a rule; empty: it may be."""


def use_of(action: PlainAction, ground: Ground) -> ToolUse:
    kind, tool = action["kind"], action["tool"]
    given = action["data"].get("input")
    names = frozenset(filter(None, (tool, _FAMILIES.get(kind))))
    doubts = [ground.doubt] if ground.doubt else []
    if action["data"].get(NOT_TOLD):
        doubts.append("its agent does not tell all of it")
    if action["data"].get(UNCLEAR):
        doubts.append("it is not certain what its agent would do")
    if kind in ("command", "sequence"):
        return _own_command(action, doubts)
    if kind in _OF_ANY_TOOL:
        return _any_tool(action, given, names, ground, doubts)
    if kind not in _LOOKED_INTO:
        return ToolUse(names=names, strict_names=names, doubts=tuple(doubts))
    if not isinstance(given, Mapping):
        return ToolUse(names=names, strict_names=names, doubts=("its input is not known", *doubts))
    match kind:
        case "shell":
            return _shell(_without_own_folder(given, action["folder"]), action["folder"], names, ground, doubts)
        case "edit":
            return _edit(action, given, names, ground, doubts)
        case "read":
            return _read(tool, given, action["folder"], names, ground, doubts)
    return _fetch(tool, given, action["folder"], names, ground, doubts)


def use_by_name(action: PlainAction, doubt: str) -> ToolUse:
    """What can be told of an action without a look at its files."""
    if action["kind"] in ("command", "sequence"):
        return _own_command(action, [doubt])
    names = frozenset(filter(None, (action["tool"], _FAMILIES.get(action["kind"]))))
    given = action["data"].get("input")
    line = given.get("command") if isinstance(given, Mapping) else None
    forms = taken_apart(line).forms if isinstance(line, str) and action["kind"] in ("shell", "other") else ()
    strict_names = names.union(("Bash",) if forms else ())
    return ToolUse(names=names, strict_names=strict_names, forms=forms, doubts=(doubt,))


def _shell(given: Mapping[str, Any], folder: str, names: frozenset[str], ground: Ground, doubts: list[str]) -> ToolUse:
    line = given.get("command")
    unknown = [key for key, value in given.items() if key not in _SHELL_INPUT and value not in (None, False, "")]
    if unknown:
        doubts.append(f"it has an input that rules know nothing of: {unknown[0]}")
    if not isinstance(line, str):
        return ToolUse(names=names, strict_names=names, doubts=("its input is not known", *doubts))
    found = taken_apart(line)
    # Wherever in it a line changes to, patterns are about the project.
    ground = replace(ground, project=ground.project or folder)
    away = bool(found.moves) or ground.project != folder
    if away and any(map(_is_relative_program, found.commands)):
        doubts.append("its program is found from a folder that is not the project")
    places = _places(found.moves, folder, ground)
    uses_git = any(words[0].rpartition("/")[2] == "git" for words in found.commands)
    if uses_git and (not places or any(map(ground.poses_as_repository, places))):
        doubts.append("git may take a folder there for a repository, with settings of its own")
    # Git means some names from the top.
    seen_from = (places or {folder}) | ({ground.project} if uses_git else set())
    changing = [words for words in found.commands if not only_reads(words)]
    changing += [("", *found.starred)] if changing else []
    changed = _like_paths(changing, folder)
    if any(is_protected(path, ground.guarded) for path in _ways(changed, seen_from, ground)):
        doubts.append(PROTECTED)
    linked = _behind_own_links(found, line, folder, seen_from, ground)
    if not all(map(only_reads, linked)):
        doubts.append(MADE)
    elsewhere = changing and not places
    unseen = any(may_come_to_protected(word) for words in changing for word in words[1:])
    if elsewhere or unseen or _comes_to_protected(changed, places, ground):
        doubts.append(MAY_BE_PROTECTED)
    return ToolUse(
        names=names,
        strict_names=names,
        commands=found.commands,
        forms=found.forms,
        mentioned=tuple(_ways(_like_paths(found.commands, folder), seen_from, ground)),
        hides_paths=found.hides_paths
        or not places
        or bool(linked)
        or any(map(looks_for_names, found.commands))
        or any(OPENED.search(word) for words in found.commands for word in words[1:]),
        reads_below=found.reads_below,
        is_plain=_is_plain(line, found.commands),
        doubts=(*doubts, *found.doubts),
    )


def _behind_own_links(
    found: ShellLine, line: str, folder: str, places: Collection[str], ground: Ground
) -> Sequence[Command]:
    """The commands whose files may be behind a link that the line makes."""
    if len(found.in_turn) < 2:
        return ()
    return follows_own_links(found, line, lambda words: _like_paths((words,), folder), places, ground.kind)


def _is_plain(line: str, commands: Sequence[Command]) -> bool:
    words = (word for command in commands for word in command)
    return line == " && ".join(map(" ".join, commands)) and all(map(PLAIN_WORD.fullmatch, words))


def _ways(names: Iterable[str], places: Iterable[str], ground: Ground) -> Iterator[UsedPath]:
    """The files behind names, from each folder: programs differ in whether they follow a link before its `..`."""
    for name, place in product(names, places):
        path = _path(name, place, ground)
        yield path
        if name.startswith("~"):
            yield replace(path, real=ground.leads_to(path.named))
        if ".." in name and path.real is not None and not name.startswith("~"):
            yield replace(path, real=ground.leads_to(os.path.join(place or "/", name)))


def _places(moves: Sequence[Command], folder: str, ground: Ground) -> set[str]:
    """The folders in which parts of a line may run; none where that is not known."""
    places = {folder}
    for name, *words in moves:
        named = [_filled_in(word, folder) for word in _after_options_of_cd(words)]
        if name in ("cd", "chdir") and not named:
            named = ["~"]
        # Back to where it came from, or from a heap of folders; in zsh two words change the way to where it is.
        if name == "popd" or len(named) != 1 or named[0].startswith(("+", "-")):
            return set()
        if not _may_be_path(named[0]) or set(named[0]) & set("*?[$"):
            return set()
        ways = _ways(named, tuple(places), ground)
        places |= {way for path in ways for way in (path.named, path.real) if way}
        if len(places) > _MOST_PLACES:
            return set()
    return places


def _after_options_of_cd(words: Sequence[str]) -> Sequence[str]:
    """What is no option of a `cd`: a folder can be called `-x`, and a zsh takes any word for one that is no option of
    its own."""
    for place, word in enumerate(words):
        if word == "--":
            return words[place + 1 :]
        if not re.fullmatch(r"-[LPe]+", word):
            return words[place:]
    return ()


def _is_relative_program(words: Command) -> bool:
    return "/" in words[0] and not words[0].startswith(("/", "~"))


def _like_paths(commands: Sequence[Command], folder: str) -> list[str]:
    """Words that may name a file, and what follows an option's `=` or an `@`, or is glued to an option."""
    words = {part for words in commands for word in words[1:] for part in (*_parts(word), *_glued(word))}
    return sorted(_filled_in(word, folder) for word in words if _may_be_path(word))


def _filled_in(word: str, folder: str) -> str:
    """With what the shell puts for those variables that are known."""
    known = {"HOME": os.path.expanduser("~"), "PWD": folder}
    word = re.sub(r"^\$(?:HOME|\{HOME\})(?=/|$)", "~", word)
    return re.sub(r"\$(?:(HOME|PWD)\b|\{(HOME|PWD)\})", lambda found: known[found[1] or found[2]], word)


def _parts(word: str) -> list[str]:
    pathspec = _PATHSPEC.match(word)
    told = [word, *([word[pathspec.end() :]] if pathspec else []), *re.split("[=@:<>,;\"']", word)[1:]]
    return [*told, *_as_address(word, told)] if set(word) & set("%?#") or _FILE.search(word) else told


_PATHSPEC = re.compile(r":(?:\([^)]*\)|[!^/]+)")
"""How git is told from where a name is meant, and how."""


def _as_address(word: str, told: Sequence[str]) -> Iterator[str]:
    """What a program that takes addresses makes of a word, or of a part of it: without what follows the way to a file,
    without the name of this machine, and decoded."""
    from urllib.parse import unquote  # only now: few words are addresses

    rests = [found[1] for found in _FILE.finditer(word)]
    ways = [f"/{rest.lstrip('/')}" for rest in rests]
    ways += [f"/{rest[2:].partition('/')[2].lstrip('/')}" for rest in rests if rest.startswith("//")]
    for each in (*told, *ways):
        cut = re.split("[?#]", each, maxsplit=1)[0]
        yield from (each, cut, unquote(each), unquote(cut))


_FILE = re.compile(r"(?i)(?<![a-z])file:(\S*)")


def _glued(word: str) -> list[str]:
    """What may be the value of a short option in `-f.env` or `-rf.env`."""
    if not word.startswith("-") or word.startswith("--"):
        return []
    return [word[place:] for place in range(2, min(len(word), _MOST_GLUED))]


def _may_be_path(word: str) -> bool:
    return bool(word) and not word.startswith("-") and UNKNOWN not in word


@record
class _Perhaps:
    """What a tool may do to files, by an input of which nothing else is known."""

    files: tuple[UsedPath, ...] = ()
    mentioned: tuple[UsedPath, ...] = ()
    lines: tuple[str, ...] = ()
    hides_paths: bool = False
    is_whole: bool = True
    doubt: str = ""


def _perhaps(given: Mapping[str, Any], folder: str, ground: Ground, texts: Container[str] = ()) -> _Perhaps:
    from sayso.rules.inputs import named_files  # only now: lines for a shell do without

    found = named_files(given, texts)
    names = [_filled_in(name, folder) for name in found.files]
    words = dict.fromkeys(_filled_in(word, folder) for word in found.words)
    may_be = [_filled_in(name, folder) for name in found.mentioned]
    places = dict.fromkeys((folder, ground.project or folder))
    files, is_known = dict[UsedPath, None](), True
    for name in names:
        ways = tuple(_ways((name,), places, ground))
        files.update(dict.fromkeys(ways))
        is_known = is_known and ("\0" in name or any(way.real is not None for way in ways))
    mentioned = tuple(_ways(may_be, places, ground))
    doubt = "" if found.is_whole else _TOO_MUCH
    if any(is_protected(path, ground.guarded) for path in (*files, *mentioned)):
        doubt = PROTECTED
    elif _starred_may_be_protected(names, places, ground):
        doubt = MAY_BE_PROTECTED
    return _Perhaps(
        files=tuple(files),
        # Any value may be the name of a file. Only what looks like one counts as that for rules.
        mentioned=tuple(
            _ways((name for name in (*may_be, *words) if name in words or name[0] in "/.~"), (folder,), ground)
        ),
        lines=found.lines,
        is_whole=found.is_whole,
        hides_paths=found.searches or any(_has_stars(part) for name in names for part in name.split("/")),
        doubt=doubt or ("" if is_known else "where a file that it names leads to is not known"),
    )


def _starred_may_be_protected(names: Sequence[str], places: Iterable[str], ground: Ground) -> bool:
    """Whether stars in names may stand for it; also where it takes too long to see."""
    starred = [name for name in names if set(name) & set("*?[")]
    longest = max((len(part) for name in starred for part in re.split("[/=:]", name)), default=0)
    if len(starred) > _MOST_STARRED or longest > _LONGEST_STARRED:
        return True
    return any(map(may_come_to_protected, names)) or _comes_to_protected(names, places, ground)


def _has_stars(part: str) -> bool:
    return bool(set(part) & set("*?{")) or ("[" in part and not _IN_BRACKETS.fullmatch(part))


def _any_tool(action: PlainAction, given: object, names: frozenset[str], ground: Ground, doubts: list[str]) -> ToolUse:
    """A tool of which nothing is known but its name: it may read and change whatever its input names."""
    more = action["data"].get("params")
    found = _perhaps({"": given, " ": more}, action["folder"], ground)
    if found.doubt:
        doubts.append(found.doubt)
    if action["tool"] in _WRITES_MEMORY:
        doubts.append(PROTECTED)
    strict_names, forms = names, tuple[Command, ...]()
    if action["kind"] == "other":
        # One of the client's own. A server's tools are denied and asked for as such by their name.
        apart = [taken_apart(line) for line in found.lines if line.strip()]
        forms = tuple(form for each in apart for form in each.forms)
        if not all(each.forms for each in apart):
            doubts.append("a line that it would run is too long or too deep to be looked at")
        strict_names = names.union(("Read", "Edit") if found.files else (), ("Bash",) if found.lines else ())
    return ToolUse(
        names=names,
        strict_names=strict_names,
        forms=forms,
        possible=found.files,
        mentioned=found.mentioned,
        hides_paths=found.hides_paths,
        doubts=tuple(doubts),
    )


@record
class _Beside:
    files: tuple[UsedPath, ...]
    mentioned: tuple[UsedPath, ...]
    doubts: list[str]


def _beside(
    given: Mapping[str, Any], named: str, key: str, path: UsedPath | None, folder: str, ground: Ground
) -> _Beside:
    """What the input of a tool for files names besides its one file, and what else that may be."""
    rest = {each: value for each, value in given.items() if each != key}
    if _PLAIN_NAME.fullmatch(named) and all(isinstance(rest[each], str if each in _TEXTS else int) for each in rest):
        # As most are: all that finds names in others need not be imported.
        return _Beside(files=(), mentioned=(), doubts=[])
    from sayso.rules.input_names import is_plain_name, spellings

    found = _perhaps(rest, folder, ground, _TEXTS)
    others = tuple(each for each in found.files if path is None or each.named != path.named)
    doubts = [f"it names another file as well: {others[0].named}"] if others and path else []
    doubts += [] if found.is_whole else [_TOO_MUCH]
    if named and not is_plain_name(named):
        others = (*others, *_ways(spellings(named).names, (folder,), ground))
        doubts.append("which file it names depends on how that is read")
    return _Beside(files=others, mentioned=found.mentioned, doubts=doubts)


def _edit(
    action: PlainAction, given: Mapping[str, Any], names: frozenset[str], ground: Ground, doubts: list[str]
) -> ToolUse:
    folder = action["folder"]
    key = next((key for key in ("file_path", "notebook_path") if given.get(key) and isinstance(given[key], str)), "")
    if not key:
        # It is not allowed in any case.
        without_disk = replace(ground, leads_to=lambda _: None)
        named = _changed_files(given)
        several = tuple(_path(name, folder, ground) for name in named[:_MOST_FOLLOWED])
        several += tuple(_path(name, folder, without_disk) for name in named[_MOST_FOLLOWED:])
        doubts.append("it changes several files" if several else "which file it would change is not known")
        beside = _beside(given, "", "", None, folder, ground)
        return ToolUse(names=names, strict_names=names, paths=several, possible=beside.files, doubts=tuple(doubts))
    named = given[key]
    path = _path(named, folder, ground)
    beside = _beside(given, named, key, path, folder, ground)
    doubts += [*_depends_on_links(named, path, ground), *beside.doubts]
    known = action["data"].get("file")
    if isinstance(known, Mapping):
        path = replace(path, real=known["path"] or None)
        doubts += [] if known["path"] else ["which file it would change is not known"]
    if is_protected(path, ground.guarded):
        doubts.append(PROTECTED)
    return _of_file(path, beside, names, doubts)


def _depends_on_links(named: str, path: UsedPath, ground: Ground) -> list[str]:
    """Programs differ in whether they follow a link before its `..`, and in what they have open themselves."""
    if OPENED.search(path.named):
        return ["which file it names depends on the program that looks"]
    if ".." not in named.split("/") or ground.leads_to(os.path.join(path.folder or "/", named)) == path.real:
        return []
    return ["which file it names depends on whether its links are followed first"]


def _changed_files(given: Mapping[str, Any]) -> list[str]:
    """The files of a patch, and where it would move them, so that what is denied of one of them is denied."""
    changes = given.get("changes")
    found = [change for change in changes if isinstance(change, Mapping)] if isinstance(changes, list) else []
    names = [change.get(key) for change in found for key in ("path", "move_path")]
    return [name for name in names if isinstance(name, str) and name]


def _comes_to_protected(names: Iterable[str], places: Iterable[str], ground: Ground) -> bool:
    """The same by the files that are there, which may be links."""
    for name, place in product((name for name in names if set(name) & set("*?[")), places):
        found = ground.starred(_path(name, place, ground).named)
        if found is None or any(is_protected(_path(each, place, ground), ground.guarded) for each in found):
            return True
    return False


def _read(
    tool: str, given: Mapping[str, Any], folder: str, names: frozenset[str], ground: Ground, doubts: list[str]
) -> ToolUse:
    searches = tool in _SEARCHES
    key = "path" if searches else "file_path"
    if searches and not given.get("path") and (only := _only_one(given.get("paths"))):
        given = {**{name: value for name, value in given.items() if name != "paths"}, "path": only}
    named = given.get(key) or (folder if searches else None)
    if not isinstance(named, str):
        beside = _beside(given, "", "", None, folder, ground)
        doubts = ["which file it would read is not known", *doubts]
        return ToolUse(names=names, strict_names=names, possible=beside.files, doubts=tuple(doubts))
    wanted = given.get("pattern")
    starred = [wanted] if tool == "Glob" else [given[name] for name in ("glob", "include") if given.get(name)]
    if searches and any(map(_may_lead_elsewhere, starred)):
        doubts.append("where it would look is not known")
    path = replace(_path(named, folder, ground), is_whole_folder=searches)
    beside = _beside(given, named, key, path, folder, ground)
    doubts += [*_depends_on_links(named, path, ground), *beside.doubts]
    return replace(_of_file(path, beside, names, doubts), searches=searches)


def _of_file(path: UsedPath, beside: _Beside, names: frozenset[str], doubts: list[str]) -> ToolUse:
    return ToolUse(
        names=names,
        strict_names=names,
        paths=(path,),
        possible=beside.files,
        mentioned=beside.mentioned,
        doubts=tuple(doubts),
    )


def _may_lead_elsewhere(wanted: object) -> bool:
    texts = wanted if isinstance(wanted, list) else [wanted]
    return not all(isinstance(each, str) and ".." not in each and not each.startswith(("/", "~")) for each in texts)


def _only_one(named: object) -> str:
    """The one folder that a search is for, where several may be named."""
    only = named[0] if isinstance(named, list) and len(named) == 1 else ""
    return only if isinstance(only, str) else ""


def _without_own_folder(given: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Without what only says that a command runs where its agent is anyway."""
    return {
        key: value
        for key, value in given.items()
        if not (key in _OWN_FOLDERS and isinstance(value, str) and (value.rstrip("/") or "/") == folder)
    }


def _fetch(
    tool: str, given: Mapping[str, Any], folder: str, names: frozenset[str], ground: Ground, doubts: list[str]
) -> ToolUse:
    from sayso.rules.addresses import hosts_in, hosts_within

    url = given.get("url")
    domain = _domain(url)
    others = hosts_in({key: value for key, value in given.items() if key != "url" or not domain})
    if not domain and (url is not None or tool not in _SEARCHES_NET):
        doubts.append("which host it would reach is not known")
    named = [name for name in others.names if name != domain]
    # A rule may be about a host behind the first one. None has to know all of them.
    behind = hosts_within(url).names if domain and isinstance(url, str) else ()
    if (named or not others.is_whole) and tool not in _SEARCHES_NET:
        doubts.append("it names another address as well")
    found = _perhaps({"url": url}, folder, ground)
    return ToolUse(
        names=names,
        strict_names=names,
        possible=found.files,
        domain=domain,
        other_domains=(*named, *behind),
        doubts=tuple(doubts),
    )


def _path(named: str, folder: str, ground: Ground) -> UsedPath:
    home = os.path.expanduser(named) if named == "~" or named.startswith("~/") else named
    whole = os.path.normpath(os.path.join(folder or "/", home))
    # A name that the program may take for something else is not certain.
    certain = not named.startswith("~") and "\0" not in named
    real = ground.leads_to(whole) if certain else None
    return UsedPath(named=whole, real=real, project=ground.project or folder, folder=folder, around=ground.around)


def _domain(url: object) -> str:
    """The host of an address; empty where it is not certain."""
    from urllib.parse import urlsplit

    if not isinstance(url, str) or not re.fullmatch(r"https?://[!-\[\]-~]+", url, re.IGNORECASE):
        return ""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    name = host.lower().rstrip(".")
    # What ends in a number is an address, which can be spelt in many ways.
    certain = _ADDRESS if re.search(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)$", name) else _HOST
    return name if certain.fullmatch(name) else ""


def _own_command(action: PlainAction, doubts: list[str]) -> ToolUse:
    """A tool of a tool file: allowed by its own name, and denied by what is said of shell commands and steps."""
    tool, data = action["tool"], action["data"]
    words = tuple(data.get("argv") or ())
    steps = [_own_command(step, []) for step in data.get("steps") or ()]
    first = [tuple(each["argv"]) for each in data.get("first") or ()]
    forms = [form for line in (words, *first) if line for form in forms_of(line)]
    return ToolUse(
        names=frozenset((tool,)),
        strict_names=frozenset((tool, "Bash")).union(*(step.strict_names for step in steps)),
        commands=(words,) if words else (),
        forms=(*forms, *(form for step in steps for form in step.forms)),
        beyond_words=any(data.get(key) for key in ("stdin", "files", "environment", "first", "steps")),
        doubts=tuple(doubts),
    )


# Examples

_EXAMPLE = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)(?:\((?P<about>.*)\))?", re.DOTALL | re.ASCII)
_KINDS = {
    "Bash": ("shell", "command"),
    "Edit": ("edit", "file_path"),
    "MultiEdit": ("edit", "file_path"),
    "Write": ("edit", "file_path"),
    "NotebookEdit": ("edit", "notebook_path"),
    "Read": ("read", "file_path"),
    "Grep": ("read", "path"),
    "Glob": ("read", "path"),
    "WebFetch": ("fetch", "url"),
}


def example(text: str, folder: str) -> dict[str, Any]:
    """The action that a person means by `Bash(git push)`, `Read(.env)`, `WebFetch(domain:example.com)` or the name of a
    tool. ValueError says what is wrong with it."""
    found = _EXAMPLE.fullmatch(text.strip())
    if not found:
        raise ValueError("it must be the name of a tool, or a name with brackets such as Bash(git push)")
    name, about = found["name"], found["about"]
    if name not in _KINDS and about is not None and not name.startswith("mcp__"):
        return {"kind": "command", "tool": name, "folder": folder, "data": {"argv": shlex.split(about)}}
    kind, field = _KINDS.get(name, ("mcp" if name.startswith("mcp__") else "other", ""))
    given = {} if about is None or not field else {field: about}
    if about is not None and kind in ("edit", "read"):
        given = {field: os.path.expanduser(about) if about.startswith("~/") else re.sub("^//", "/", about)}
    if name == "WebFetch" and about is not None and about.startswith("domain:"):
        given = {"url": f"https://{about.removeprefix('domain:').strip()}/"}
    if name == "Glob":
        given = {"pattern": "*", **given}
    if field and about is None and kind != "fetch":
        raise ValueError(f"it must say what {name} is used for, such as {name}(...)")
    return {"kind": kind, "tool": name, "folder": folder, "data": {"input": given}}
