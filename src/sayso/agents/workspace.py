"""The workspace's `.claude/settings.local.json`: the entry of the MCP server in it, and nothing else of it.

Claude Code itself pays no attention to servers named there, and is told of them by `--mcp-config`; other programs that
follow PromptManager look there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.agents.relay_file import SERVER_NAME, ServerEntry
from sayso.errors import CannotEdit
from sayso.files import read_regular, replace_file
from sayso.trust import check_inside

PLACE = Path(".claude") / "settings.local.json"
MOST_BYTES = 16 * 1024 * 1024
"""Of the file. A larger one is cut off there, and so is no JSON."""
_SERVERS = "mcpServers"
Settings = dict[str, Any]


def add_server(project: Path, entry: ServerEntry) -> bool:
    """Put the server into the workspace's settings. Whether that changed anything."""

    def add(settings: Settings) -> None:
        settings.setdefault(_SERVERS, {})[SERVER_NAME] = entry.data()

    return _change(project / PLACE, add)


def remove_server(project: Path) -> bool:
    """Take the server out of the workspace's settings. Whether it was there."""

    def remove(settings: Settings) -> None:
        servers = settings.get(_SERVERS, {})
        servers.pop(SERVER_NAME, None)
        if _SERVERS in settings and not servers:
            del settings[_SERVERS]

    return _change(project / PLACE, remove)


def remove_if_empty(project: Path, *, folder_too: bool) -> None:
    """Take away the file that Sayso has made, and its folder, where nobody has put anything else there."""
    file = project / PLACE
    with suppress(OSError, CannotEdit):
        if file.is_symlink() or _read(file):
            return
        check_inside(file, project).unlink()
        if folder_too:
            file.parent.rmdir()


def _change(file: Path, edit: Callable[[Settings], None]) -> bool:
    """Read, edit and replace the file in one step; one that cannot be understood is left alone."""
    before = _read(file)
    after = json.loads(json.dumps(before))
    edit(after)
    if after == before:
        return False
    _replace(file, json.dumps(after, indent=2, ensure_ascii=False) + "\n")
    return True


def _read(file: Path) -> Settings:
    try:
        settings = untrusted_json.loads(read_regular(file, MOST_BYTES).decode())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CannotEdit(f"{file} cannot be read ({error.strerror}). It was left alone.") from error
    except ValueError as error:
        raise CannotEdit(f"{file} is not JSON ({error}). It was left alone. Fix it, then try again.") from error
    if not isinstance(settings, dict) or not isinstance(settings.get(_SERVERS, {}), dict):
        raise CannotEdit(
            f"{file} must hold an object, and {_SERVERS} in it another. It was left alone. Fix it, then try again."
        )
    return settings


def _replace(file: Path, text: str) -> None:
    # A link to another place of the project stays one: what it leads to is replaced.
    target = check_inside(file, file.parent.parent).resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode(), new_mode=0o644)
    except OSError as error:
        raise CannotEdit(f"{file} cannot be written ({error.strerror or error}). It was left as it was.") from error
