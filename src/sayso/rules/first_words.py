"""Which word of a command may be the first that is no option, where programs have options that take the next word.

The word after an option that is not known may be its value or what is meant, so that there is more than one way to read
a command. Whoever asks has to look at each of them.
"""

from __future__ import annotations

import re

from sayso.rules.programs import MAKES, MOST_TRIED
from sayso.rules.use import Command

_ALONE_ANYWHERE = r"--.*=.*|-[A-Za-z]\d+|--(?:quiet|silent|verbose|offline|frozen|locked|yes)"
_ALONE = {
    "git": r"--no-pager|--bare|--no-replace-objects|--paginate|-[pP]|--(?:literal|glob|noglob|icase)-pathspecs"
    r"|--no-optional-locks|--no-lazy-fetch|--no-advice",
    **dict.fromkeys(
        MAKES,
        r"[^-].*=.*|-[BdeiknpqrRsStvw]+|--(?:always-make|ignore-errors|keep-going|just-print|dry-run|question|no-builtin-rules"
        r"|no-builtin-variables|no-print-directory|print-directory|touch|trace|warn-undefined-variables|output-sync)",
    ),
    **dict.fromkeys(("docker", "podman"), r"-D|--debug|--tls|--tlsverify"),
    **dict.fromkeys(
        (f"{program} {word}" for program in ("docker", "podman") for word in ("run", "exec")),
        r"-[ditq]+|--(?:rm|init|privileged|interactive|tty|detach|read-only)",
    ),
    "uv": r"-[qv]+|--no-(?:config|cache|progress|python-downloads)",
    "uv run": r"-[qvn]+|--(?:isolated|active|exact|dev|all-extras|all-groups|all-packages)"
    r"|--no-(?:sync|dev|project|config|cache|progress|default-groups|env-file|editable)",
    "cargo": r"\+.+|-[qv]+",
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"), r"-[sqyDEO]|--(?:if-present|no-fund|no-audit|no-install)"
    ),
    "just": r"\w[\w-]*=.*|-[nquv]+",
    "sudo": r"-[AbEHiKknPSsv]+|\w+=.*",
    "ssh": r"-[46AaCfGgKkMNnqsTtVvXxYy]+",
    "poetry": r"-[nqv]+|--(?:no-interaction|no-ansi|no-plugins|no-cache)",
    "git submodule": r"-q",
}
"""Options after which no value comes. Some programs have other words that come before."""
_WITH_VALUE = {
    "git": r"-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix|--attr-source"
    r"|--shallow-file",
    **dict.fromkeys(MAKES, r"-[BdeiknpqrRsStvw]*[CEfIoW]"),
    **dict.fromkeys(("docker", "podman"), r"-[Hlc]|--(?:host|log-level|context|config|tlscacert|tlscert|tlskey)"),
    **dict.fromkeys(
        (f"{program} {word}" for program in ("docker", "podman") for word in ("run", "exec")),
        r"-[ditq]*[uwevp]|--(?:user|workdir|env|volume|publish|name|network|mount|entrypoint|platform|env-file)",
    ),
    "kubectl": r"-[nsv]|--(?:namespace|context|cluster|kubeconfig|user|server)",
    "sudo": r"-[AbEHiKknPSsv]*[CDghpRrTtUu]",
    "ssh": r"-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOoPpQRSWw]",
    "gh": r"-R|--repo",
}
"""Options after which one comes for certain."""
_TELLING = {"git config": r"--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l"}
"""Options that say themselves what is done."""
_NEVER = re.compile(r"(?!)")


def first_words(words: Command, begin: int = 1, which: str = "") -> tuple[int, ...]:
    """The places from one on at which the first word may stand that is no option of the program, which may also be
    `docker run`. A place at the end means that there may be none."""
    if begin < len(words) and not words[begin].startswith(("-", "+")) and "=" not in words[begin]:
        return (begin,)
    which = which or words[0].rpartition("/")[2]
    alone = re.compile(f"{_ALONE_ANYWHERE}|{_ALONE.get(which, '(?!)')}", re.DOTALL)
    with_value = re.compile(_WITH_VALUE[which]) if which in _WITH_VALUE else _NEVER
    telling = re.compile(_TELLING[which]) if which in _TELLING else _NEVER
    found, open_places = list[int](), {begin}
    while open_places and len(found) < MOST_TRIED:
        open_places.remove(place := min(open_places))
        option = "".join(words[place : place + 1])
        surely_alone = alone.fullmatch(option)
        if not (surely_alone or option.startswith("-")) or telling.fullmatch(option):
            found.append(place)
            continue
        if option == "--":
            found.append(place + 1)
            continue
        if not with_value.fullmatch(option):
            open_places.add(place + 1)
        if not surely_alone:
            open_places.add(place + 2)
    return tuple(found)


def subcommands(words: Command) -> tuple[tuple[str, int], ...]:
    """What a command may do, as `git push`, and where that stands."""
    name = words[0].rpartition("/")[2]
    return tuple((f"{name} {words[place]}", place) for place in first_words(words) if place < len(words))


def without_git_options(words: Command) -> tuple[Command, ...]:
    """A git command without what may stand before its subcommand."""
    return tuple((words[0], *words[place:]) for place in first_words(words, which="git"))
