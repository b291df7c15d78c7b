"""Right before a command begins that a person has allowed: whether it still is what they allowed.

The action is made anew from what is about to be executed: the words, the program that was found, the open input, the
files as they lie there, the environment, the folder that has been entered, the tool file as it is now. Whoever changed
one of them since is noticed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from sayso.action_data import differences, digest_of
from sayso.hashes import sha256
from sayso.running.program import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def get_ready() -> None:
    """Load all that comparing takes, so that it is there before it is needed."""
    digest_of({})


def refusal(launch: Mapping[str, Any], found: str, stdin: int | None) -> str:
    """Why it must not be run; empty if it is what was allowed. The folder has been entered, `found` is the program that
    will be executed, and the input is open."""
    allowed = launch["allowed"]
    now = _about_to_run(launch, allowed, found, stdin)
    if digest_of(now) == allowed["digest"]:
        return ""
    changed = " and ".join(differences(allowed["action"], now)) or "the action itself"
    return f"It was not run: {changed} changed after it was allowed. Call it again to have it allowed as it is now."


def astray(leads_to: Mapping[str, str]) -> str:
    """Why it must not be run because of a path that leads elsewhere by now; empty if none does. The folder has been
    entered."""
    for path, led_to in leads_to.items():
        if (now := os.path.realpath(path)) != led_to:
            from sayso.text import exact, one_line  # only for what differs

            named, leads = (one_line(exact(each), 200) for each in (path, now))
            return f"It was not run: {named} leads elsewhere since it was looked at, to {leads}. Call it again."
    return ""


def _about_to_run(
    launch: Mapping[str, Any], allowed: Mapping[str, Any], found: str, stdin: int | None
) -> dict[str, Any]:
    action, here = allowed["action"], os.getcwd()
    data = dict(action["data"])
    if sandbox := _sandbox(launch):
        data["sandbox"] = sandbox
    else:
        data.pop("sandbox", None)
    if file := data["tool_file"]:
        data["tool_file"] = {**file, "sha256": sha256(_read(file["path"]))}
    if (place := allowed["first"]) is not None:
        data["first"] = list(data["first"])
        data["first"][place] = _command(data["first"][place], launch, found, here) | {"folder": here}
        return {**action, "data": data}
    data = _command(data, launch, found, here)
    data["files"] = {path: _text(_read(path)) for path in data["files"]}
    data["stdin"] = None if stdin is None else _text(_content_of(stdin))
    data["environment"] = {name: launch["env"].get(name) for name in data["environment"]}
    return {**action, "folder": here, "data": data}


def _command(shown: Mapping[str, Any], launch: Mapping[str, Any], found: str, here: str) -> dict[str, Any]:
    """With the words and the program as they are now. Where it is None, an earlier step may have brought it."""
    program = {"program": identity(found, here)} if shown.get("program") is not None else {}
    return {**shown, "argv": launch["argv"], **program}


def _sandbox(launch: Mapping[str, Any]) -> dict[str, Any] | None:
    """The one that it is about to be kept in, as people see it."""
    given = launch.get("sandbox")
    return {key: given[key] for key in ("profile", "network", "write")} if given else None


def _content_of(file: int) -> bytes:
    """All that is in an open file, which is then read again from its beginning by the command."""
    parts = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    os.lseek(file, 0, os.SEEK_SET)
    return b"".join(parts)


def _read(path: str) -> bytes:
    """A file that cannot be read is as good as another one."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        return repr(error).encode()


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")
