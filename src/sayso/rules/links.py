"""Lines that make links, or bring some along: what such a line names later may be another file by then than it is now.

Nothing here reads a file: what lies somewhere is told by whoever calls.
"""

from __future__ import annotations

import os.path
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product

from sayso.records import record
from sayso.rules.first_words import subcommands
from sayso.rules.programs import MOST_TRIED, RUNNERS, named
from sayso.rules.readers import WITHOUT_CONTENTS, only_reads
from sayso.rules.risky_options import is_option
from sayso.rules.shell import UNKNOWN, ShellLine
from sayso.rules.use import Command

MADE = "what it names may be a link that it makes, or brings along, itself"

_BY_NAME = named("ln gln link mv gmv cp gcp rename prename stow exch rsync scp sftp ditto")
"""What makes links where its words say, or moves them there. A move also changes what the links in a folder mean."""
_COPIES = "-a -d -l -P -r -R -s --archive --link --no-dereference --preserve --recursive --symbolic-link"
"""By which a `cp` makes links, or copies them as such."""
_PLAIN_OPTION = re.compile(r"-[abdFfHilLnPpRrsTuvx]+|--[a-su-z][a-z-]*|--")
"""After which no folder comes that it is all put into."""
_WHEREVER = named(
    "unzip bsdunzip 7z 7za 7zz unar unrar cpio pax patch mount umount bindfs sshfs fusermount fusermount3 hdiutil"
)
_SHOWS = {"unzip": named("-l -t -v -Z -p -c"), **dict.fromkeys(named("7z 7za 7zz unrar"), named("l t v"))}
"""By which they only show what an archive has."""
_VERSIONS = {
    "git": "clone checkout switch restore stash reset merge pull rebase cherry-pick revert apply am worktree submodule "
    "read-tree checkout-index sparse-checkout bisect",
    "hg": "clone pull update up checkout co merge import patch unshelve revert rebase",
    "svn": "checkout co update up switch sw merge patch revert export",
    "jj": "new edit rebase restore abandon undo",
}
"""What puts other versions of files there, which may be links."""
_KEEPS = re.compile(
    r"stash (?:list|show|drop|clear)\b.*|reset(?! .*--(?:h|m|k))\b.*|restore (?!.*(?: -\w*W|--w)).*--staged\b.*"
    r"|(?:checkout -b|switch -c) [^ -][^ ]*|worktree (?:list|prune|remove)\b.*|submodule (?:status|summary)\b.*",
    re.DOTALL,
)
"""Of those, what leaves files as they are."""
_KEEPS_OUT = named(
    "status log show diff add rm commit branch push pull fetch checkout switch restore stash tag merge rebase reset "
    "rev-parse ls-files describe cherry-pick revert"
)
"""What git does not do behind a link, or to files that are no part of its repository."""
_WRITES = named(
    "cp mv tee install dd rsync scp ln link touch truncate sed tar unzip patch rm rmdir mkdir chmod chown curl wget"
)
"""Programs whose plain words are files that they change."""
_AT_THE_SAME_TIME = re.compile(r"\b(?:while|until|for)\b|(?<![&>|])[&|](?![&>\d|])")
_PLAIN = re.compile(r"[\w-]*")
_TEXT = re.compile(r"\s|://")

_Paths = Callable[[Command], Sequence[str]]
"""The words of a command that may name files."""
_Kind = Callable[[str], str]
"""Whether there is a `file`, a `folder` or a `link`; empty where there is nothing."""


@record
class _Made:
    targets: frozenset[str]
    """What may be made, in small letters."""
    wherever: bool
    """Whether it may also be anything else."""


_NOTHING = _Made(targets=frozenset(), wherever=False)


def follows_own_links(line: ShellLine, text: str, paths: _Paths, places: Collection[str], kind: _Kind) -> list[Command]:
    """The commands of a line whose files may be behind links that others of its commands make."""
    makes = [
        _made(words, paths, places, kind) if _makes_links(words, paths, places, kind) else _NOTHING
        for words in line.in_turn
    ]
    if all(each is _NOTHING for each in makes):
        return []
    in_any_order = _AT_THE_SAME_TIME.search(text) is not None
    all_made, found = _AllMade(), list[Command]()
    for made in makes if in_any_order else ():
        all_made.add(made)
    for words, own in zip(line.in_turn, makes, strict=True):
        others = all_made.without(own) if in_any_order else all_made
        if _may_follow(words, others, paths(words), places, kind):
            found.append(words)
        if not in_any_order:
            all_made.add(own)
    return found


class _AllMade:
    """What some commands make, but for one of them."""

    def __init__(self, made: Counter[str] | None = None, wherever: int = 0, own: _Made = _NOTHING) -> None:
        self._made, self._wherever, self._own = Counter() if made is None else made, wherever, own

    def add(self, made: _Made) -> None:
        self._made.update(made.targets)
        self._wherever += made.wherever

    def without(self, own: _Made) -> _AllMade:
        return _AllMade(self._made, self._wherever, own)

    @property
    def wherever(self) -> bool:
        return self._wherever > self._own.wherever

    def has(self, way: str) -> bool:
        return self._made[way] > (way in self._own.targets)


def _makes_links(words: Command, paths: _Paths, places: Collection[str], kind: _Kind) -> bool:
    name = words[0].rpartition("/")[2]
    if name in RUNNERS:
        begins = [place for place in range(1, len(words)) if words[place].rpartition("/")[2] in _ALL]
        tails = (words[place:] for place in begins)
        return len(begins) > MOST_TRIED or any(_makes_links(tail, paths, places, kind) for tail in tails)
    if name in ("cp", "gcp"):
        return any(is_option(word, option) for word in words[1:] for option in _COPIES.split())
    if name in ("mv", "gmv"):
        return not _moves_plain_files(words, paths, places, kind)
    if name in ("tar", "gtar", "bsdtar"):
        bare = "".join(words[1:2])
        return ("x" in bare and not bare.startswith("-")) or any(
            is_option(each, "-x") or each[:5] in _EXTRACTS for each in words
        )
    if name in _VERSIONS:
        return any(_changes_versions(name, words[place:]) for _, place in subcommands(words))
    if name in _PACKAGE_MANAGERS:
        return bool(_LINKS_PACKAGES & set(words[1:])) and any(map(_OF_THIS_DISK.match, words[1:]))
    return name in _BY_NAME or (name in _WHEREVER and not _SHOWS.get(name, frozenset()) & set(words[1:]))


_PACKAGE_MANAGERS = named("npm pnpm yarn bun")
_LINKS_PACKAGES = named("add install i link ln")
_OF_THIS_DISK = re.compile(r"(?:.*@)?(?:file|link|portal):|[./~]|ln\Z|link\Z")
"""A package that lies here is linked to."""
_EXTRACTS = ("--ext", "--get")
_ALL = _BY_NAME | _PACKAGE_MANAGERS | _WHEREVER | named("tar gtar bsdtar") | frozenset(_VERSIONS)


def _changes_versions(name: str, words: Command) -> bool:
    if name == "git" and words[0] == "mv":
        return True
    return words[0] in _VERSIONS[name].split() and not (name == "git" and _KEEPS.fullmatch(" ".join(words)))


def _moves_plain_files(words: Command, paths: _Paths, places: Collection[str], kind: _Kind) -> bool:
    """Whether what is moved is nothing but files, so that what comes of it is no link, and nothing below it changes."""
    told = [word for word in words[1:] if not word.startswith("-")]
    plain = all(map(_PLAIN_OPTION.fullmatch, (word for word in words[1:] if word.startswith("-"))))
    found = [{kind(os.path.join(place, each)) for place in places} for each in paths(("", *told[:-1]))]
    return plain and bool(found) and all("file" in kinds and kinds <= {"file", ""} for kinds in found)


def _made(words: Command, paths: _Paths, places: Collection[str], kind: _Kind) -> _Made:
    name = words[0].rpartition("/")[2]
    told = [word for word in words[1:] if not word.startswith("-")]
    plain = all(map(_PLAIN_OPTION.fullmatch, (word for word in words[1:] if word.startswith("-"))))
    by_name = (name in _BY_NAME and name not in _RENAMES) or (name == "git" and "mv" in words)
    hidden = any(UNKNOWN in word or set(word) & set("*?[") for word in words)
    # One word is what is linked to, from where it is wanted.
    last = ["."] if len(told) == 1 else told[-1:]
    into = (paths(("", *last)) if plain else paths(words)) if by_name else ()
    ends = [each.rstrip("/").rpartition("/")[2] for each in paths(("", *told))]
    moved = paths(("", *told)) if by_name and name in _MOVES else ()
    targets, above = set[str](), {way for place in places for way in _ways("/", place)}
    for place in places:
        for each in into:
            whole = _whole(place, each)
            if name in _MERGES or whole not in above:
                targets.add(whole)
            targets.update(_whole(whole, end) for end in (ends if len(ends) < _MOST_ENDS else ()))
        targets.update(_whole(place, each) for each in moved)
    wherever = not by_name or hidden or len(ends) >= _MOST_ENDS
    return _Made(targets=frozenset(each.casefold() for each in targets), wherever=wherever)


_RENAMES = named("rename prename stow")
_MOVES = named("mv gmv git exch rename prename")
_MERGES = named("rsync scp sftp ditto stow")
_MOST_ENDS = 100


def _may_follow(
    words: Command,
    made: _AllMade,
    names: Sequence[str],
    places: Collection[str],
    kind: _Kind,
) -> bool:
    if words[0] in (*WITHOUT_CONTENTS, "cd", "chdir", "pushd", "popd") or _stays_out(words):
        return False
    by_words = only_reads(words) or words[0].rpartition("/")[2] in _WRITES
    if by_words and made.wherever and names:
        return True
    for each, place in product(names, places):
        ways = tuple(_ways(place, each))
        if any(made.has(way.casefold()) for way in ways):
            return True
        is_file = by_words or (made.wherever and not _TEXT.search(each) and not _PLAIN.fullmatch(each))
        if is_file and not all(map(kind, ways[:-1])):
            return True
    return False


def _stays_out(words: Command) -> bool:
    if words[0] != "git":
        return False
    names_file = any(is_option(word, option) for word in words for option in ("-F", "--file", "-t", "--template"))
    return all(does.partition(" ")[2] in _KEEPS_OUT for does, _ in subcommands(words)) and not names_file


def _ways(place: str, name: str) -> Iterator[str]:
    """What a name leads through, and at last to, as it is written."""
    parts = os.path.join(place or "/", os.path.expanduser(name)).split("/")
    begin = len(os.path.normpath(place or "/").split("/")) if not name.startswith(("/", "~")) else 1
    for end in range(max(begin, 1), len(parts) + 1):
        if end == len(parts) or parts[end - 1] not in ("", "."):
            yield os.path.normpath("/".join(parts[:end]) or "/")


def _whole(place: str, name: str) -> str:
    return os.path.normpath(os.path.join(place or "/", os.path.expanduser(name)))
