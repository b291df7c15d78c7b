"""Commands that only read, and what they come to that they do not name."""

from __future__ import annotations

import re
from itertools import pairwise

from sayso.rules.first_words import subcommands
from sayso.rules.programs import named
from sayso.rules.risky_options import is_option, risky_options
from sayso.rules.use import Command

WITHOUT_CONTENTS = named("echo printf true false : pwd ls")
"""Whatever their words are, they show of files their names at most."""
_READERS = named("cat head tail wc stat grep egrep fgrep rg find diff cmp date") | WITHOUT_CONTENTS
_GIT_READERS = named("status log show diff blame grep ls-files")


def only_reads(words: Command) -> bool:
    """Whether it is known that a command changes no file, with no option by which it might."""
    reads = words[1:2] and words[1] in _GIT_READERS if words[0] == "git" else words[0] in _READERS
    runs_others = words[0] == "find" and reads_below(words)
    return bool(reads) and not runs_others and not risky_options(words)


_READ_BELOW = named("rg ag ack rgrep ugrep tar bsdtar zip 7z rsync scp cpio")
_BELOW_BY_OPTION = {
    **dict.fromkeys(
        named("grep egrep fgrep zgrep bzgrep xzgrep zstdgrep pcregrep pcre2grep"),
        "-r -R -d --recursive --dereference-recursive --directories",
    ),
    "find": "-exec -execdir -ok -okdir",
    "diff": "-r --recursive -N --new-file --unidirectional-new-file --from-file --to-file",
    "cp": "-r -R -a --recursive --archive",
    "wc": "--files0-from",
    "sort": "--files0-from",
    "du": "--files0-from",
}


_MAY_BE_FOLDER = re.compile(r"(?!-)(?:.*/)?(?:\.{0,2}|[^./]*(?:\.d)?)", re.DOTALL)


def looks_for_names(words: Command) -> bool:
    """Whether a program may take a word for a pattern of names that the shell has left as it is."""
    name = words[0].rpartition("/")[2]
    if name == "curl":
        from_file = any(is_option(one, "--url") and other.startswith("@") for one, other in pairwise(words))
        return from_file or any(set(word) & set("{[") or _URLS_IN_FILE.match(word) for word in words[1:])
    if name != "git":
        return False
    told = (word for before, word in pairwise(words[1:]) if not _TEXT_FOR_GIT.fullmatch(before))
    return any(set(word) & set("*?[") for word in told if not word.startswith("-"))


_URLS_IN_FILE = re.compile(r"--u(?:rl?)?=@")
_TEXT_FOR_GIT = re.compile(r"-\w*[mSGLFCcsD]|--(?:message|grep|author|format|pretty|since|until|date|trailer)")
"""Options of git after which comes what is no file."""


def reads_below(words: Command) -> bool:
    """Whether a command reads what is in folders, or in files that are named elsewhere."""
    name = words[0].rpartition("/")[2]
    if name == "git":
        return any(does in ("git grep", "git archive") for does, _ in subcommands(words))
    if name in ("diff", "zdiff") and any(map(_MAY_BE_FOLDER.fullmatch, words[1:])):
        return True
    told = _BELOW_BY_OPTION.get(name, "").split()
    return name in _READ_BELOW or any(is_option(word, option) for word in words[1:] for option in told)
