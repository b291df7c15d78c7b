"""The file that tells a run's MCP server of the relay, and how a client is told of that server.

A run gets one server, `ask-user`: it relays `ask_user` over HTTP to the web page, as PromptManager's did, and has the
tool `approve` for permission prompts. Two servers would show the model two tools for asking; and permissions do not go
through the relay, because it knows one open question per stream, and a permission must never take the place of one.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import logging
import os
import re
import socket
import stat
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sayso import untrusted_json
from sayso.config import Config
from sayso.errors import ConfigError, RelayFileError
from sayso.files import replace_file
from sayso.text import quoted

logger = logging.getLogger(__name__)

VARIABLE = "ASK_USER_CONFIG"
SERVER_NAME = "ask-user"
DEFAULT_TIMEOUT = 300
LONGEST_TIMEOUT = 86_400
KEY = "relay_key"
"""The store's name for the key that csrf tokens of streams are made with."""
PUT_HEADER = "Idempotency-Key"
"""The header in which an MCP server names what it puts, so that what it sends again is not asked again."""
STALE_AFTER = 3600.0
"""Seconds after which a file that a crash left behind is removed."""

_LOOPBACK = ("127.0.0.1", "::1")
_MOST_BYTES = 64 * 1024
_SUFFIX, _CLIENT_SUFFIX = ".json", ".mcp.json"
_RUN_ID = re.compile(r"[0-9a-f]{24}")


@dataclass(frozen=True, kw_only=True)
class RelayFile:
    """What the file says. `timeout` is in seconds."""

    api_url: str
    stream_token: str
    user_id: int | str
    project_id: int | str
    csrf_token: str
    timeout: int = DEFAULT_TIMEOUT
    file: Path | None = None
    """Where it was read from."""

    def data(self) -> dict[str, Any]:
        """Under the names that PromptManager gave the fields."""
        return {name: getattr(self, field) for name, (field, _) in _FIELDS.items()}


# Reading


def read(file: Path) -> RelayFile:
    """The file, every field checked; a ConfigError names the first that is wrong."""
    try:
        with file.open("rb") as opened:
            data = untrusted_json.loads(opened.read(_MOST_BYTES))
    except OSError as error:
        raise _unfit(file, f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise _unfit(file, f"is not JSON ({error})") from error
    if not isinstance(data, dict):
        raise _unfit(file, "must hold a JSON object")
    values: dict[str, Any] = {}
    for name, (field, check) in _FIELDS.items():
        if name == "timeout" and data.get(name) is None:
            continue
        try:
            values[field] = check(data.get(name))
        except ValueError as error:
            given = "is missing" if name not in data else f"is {quoted(data[name])}"
            raise _unfit(file, f"{name} {given}; it must be {error}") from error
    return RelayFile(**values, file=file)


def _unfit(file: Path, what: str) -> ConfigError:
    return ConfigError(
        f"{VARIABLE} names {file}, which does not fit: {what}. The program that starts the agent writes this file; "
        f"without {VARIABLE} this server asks in the inbox."
    )


def _token(value: object) -> str:
    if not is_token(value):
        raise ValueError("a UUID")
    return str(value)


def is_token(value: object) -> bool:
    """Whether this is a UUID, spelt with its hyphens."""
    try:
        return isinstance(value, str) and str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


def _id(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("a whole number, or a text that is not empty")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _timeout(value: object) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not isinstance(value, int | float) or not whole:
        raise ValueError("a whole number of seconds")
    if not 1 <= value <= LONGEST_TIMEOUT:
        raise ValueError(f"from 1 to {LONGEST_TIMEOUT:,} seconds")
    return int(value)


def _loopback_address(value: object) -> str:
    """An address of this machine: questions never leave it."""
    wanted = "an http:// or https:// address of this machine, such as http://127.0.0.1:7297"
    if not isinstance(value, str):
        raise ValueError(wanted)
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise ValueError(wanted) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError(wanted)
    if not resolves_to_loopback(parts.hostname, port):
        raise ValueError(f"one whose host is {' or '.join(_LOOPBACK)}: questions must not leave this machine")
    return value.rstrip("/")


_FIELDS: Mapping[str, tuple[str, Callable[[object], int | str]]] = {
    "apiUrl": ("api_url", _loopback_address),
    "streamToken": ("stream_token", _token),
    "userId": ("user_id", _id),
    "projectId": ("project_id", _id),
    "csrfToken": ("csrf_token", _text),
    "timeout": ("timeout", _timeout),
}


def resolves_to_loopback(host: str, port: int | None) -> bool:
    """Whether a name means this machine and nothing else."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    addresses = {ipaddress.ip_address(str(address[4][0]).partition("%")[0]) for address in found}
    return bool(addresses) and addresses <= {ipaddress.ip_address(each) for each in _LOOPBACK}


# Writing


def home(config: Config, token: str) -> Path:
    """Where the files of a run lie: in relay_dir, unless somebody else has that; then among the user's own files."""
    if (config.own_relay_dir / (token + _SUFFIX)).exists():
        return config.own_relay_dir
    try:
        _make(config.relay_dir)
    except OSError as error:
        logger.warning("%s is not used for the relay: %s", config.relay_dir, error.strerror or error)
        return config.own_relay_dir
    return config.relay_dir


def csrf_token(key: bytes, token: str) -> str:
    """The `csrfToken` that belongs to a stream: whoever shows another has not read the file."""
    return hmac.new(key, token.encode(), hashlib.sha256).hexdigest()


def write(folder: Path, relay: RelayFile) -> Path:
    """The file for one run, which only its owner can read; a RelayFileError says what is in the way."""
    return _put(folder, relay.stream_token + _SUFFIX, relay.data())


def write_client_config(folder: Path, run_id: str, entry: ServerEntry, relay_file: Path, config: Config) -> Path:
    """What the client is given by `--mcp-config`: the workspace's entry, with the environment it needs besides.

    A file and no argument, because the address of a store may hold a password, and everyone can read arguments: also
    the name of this file, which is therefore not the stream's token.
    """
    # Claude Code begins its first turn without servers that are not there yet, unless they must always be loaded; and
    # a permission that it cannot ask for ends the whole run.
    server = {"type": "stdio", **entry.data(), "alwaysLoad": True, "env": environment(relay_file, config)}
    return _put(folder, run_id + _CLIENT_SUFFIX, {"mcpServers": {SERVER_NAME: server}})


def remove(config: Config, token: str, run_id: str) -> None:
    """The files of a run that has ended."""
    for folder in (config.relay_dir, config.own_relay_dir):
        for name in (token + _SUFFIX, run_id + _CLIENT_SUFFIX):
            with suppress(OSError):
                (folder / name).unlink()


def sweep(config: Config, living: frozenset[str] = frozenset()) -> int:
    """Remove what crashes left behind more than an hour ago, but not the files of living runs, which are named by their
    tokens and ids. How many there were."""
    return sum(_sweep(folder, living) for folder in (config.relay_dir, config.own_relay_dir))


def _sweep(folder: Path, living: frozenset[str]) -> int:
    gone = 0
    with suppress(OSError):
        _own(folder)
        for file in folder.iterdir():
            # One that was being written when a process was killed has a dot before its name.
            name = file.name.removeprefix(".").partition(".")[0]
            ours = _SUFFIX in file.name and (is_token(name) or _RUN_ID.fullmatch(name))
            if ours and name not in living and _is_old(file):
                with suppress(OSError):
                    file.unlink()
                    gone += 1
    return gone


def _is_old(file: Path) -> bool:
    with suppress(OSError):
        return time.time() - file.lstat().st_mtime > STALE_AFTER
    return False


def environment(relay_file: Path, config: Config) -> dict[str, str]:
    """So that the server finds the relay, and the same store as the process that starts the agent."""
    ours = {name: value for name, value in os.environ.items() if name.startswith("SAYSO_")}
    store = {"SAYSO_STORE": config.store} if config.store else {}
    return {**ours, "SAYSO_STATE_DIR": str(config.state_dir), **store, VARIABLE: str(relay_file)}


def _put(folder: Path, name: str, data: Mapping[str, Any]) -> Path:
    file = folder / name
    try:
        _make(folder)
        replace_file(file, json.dumps(data, indent=2).encode())
    except OSError as error:
        raise RelayFileError(
            f"The file {file}, by which the agent's MCP server finds the relay, cannot be written "
            f"({error.strerror or error}). Set relay_dir to a directory of your own."
        ) from error
    return file


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _own(folder)


def _own(folder: Path) -> None:
    """Make sure that the folder is a real one and ours alone: in /tmp anybody may have made it first."""
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise NotADirectoryError(0, "it lies in something that is not a directory")
    if hasattr(os, "getuid") and about.st_uid != os.getuid():
        raise PermissionError(0, "its directory belongs to somebody else")
    if stat.S_IMODE(about.st_mode) != 0o700:
        folder.chmod(0o700)


# The server itself


@dataclass(frozen=True, kw_only=True)
class ServerEntry:
    """How a client starts the MCP server."""

    command: str
    args: tuple[str, ...]
    approves: bool = True
    """Whether it has the tool `approve`; a server that is not ours need not."""

    @property
    def asking_only(self) -> tuple[str, ...]:
        """The command for a client that has no use for `approve`: its model would see it."""
        return (self.command, *(word for word in self.args if word != _APPROVE))

    def data(self) -> dict[str, Any]:
        return {"command": self.command, "args": list(self.args)}


_APPROVE = "--approve"
PERMISSION_TOOL = f"mcp__{SERVER_NAME}__approve"


def entry(config: Config) -> ServerEntry:
    """The server that the settings name: ours, unless they name another."""
    ours = ("server", _APPROVE)
    other = config.mcp_ask_user_server_path
    if other is None:
        program = Path(sys.executable).parent / "sayso"
        if program.is_file():
            return ServerEntry(command=str(program), args=ours)
        return ServerEntry(command=sys.executable, args=("-P", "-m", "sayso.cli", *ours))
    if other.stem == "sayso":
        return ServerEntry(command=str(other), args=ours)
    if other.suffix in (".js", ".mjs", ".cjs"):
        return ServerEntry(command="node", args=(str(other),), approves=False)
    return ServerEntry(command=str(other), args=(), approves=False)
