"""Answers kept ready from one start of a server to the next: the SDK's own, byte for byte, in the user's cache.

An answer is found by all that it depends on: the program, how it was started, the contents of the files it reads, and
the client's words. Whatever of that changes leads to another name, so that an old answer is never found again.
Imports next to nothing: it runs before anything large is there.
"""

from __future__ import annotations

import _thread
import os
import stat
import sys

from sayso.mcp_server.opening import read
from sayso.places import cache_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

try:
    from _blake2 import blake2b  # `hashlib` loads all of OpenSSL
except ImportError:
    from hashlib import blake2b

MOST_FILES = 200
"""The most that are kept; the oldest go first."""

MOST_BYTES = 1024 * 1024
"""Larger files are no settings and no tool files; only their size counts."""

CLOCK_LAG = 0.05
"""Seconds by which the times of files may lag behind the clock."""

_ANY_PROJECT = ""
_INSTALLED = ("site-packages", "dist-packages")
_NO_MATTER = "SAYSO_STATE_DIR"
_RELAY = "ASK_USER_CONFIG"
_LONGEST = 86_400
_HERE = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Prepared:
    """The answers kept for one way of starting one program."""

    def __init__(self, folder: str, launch: str, project: str, places: Iterable[str]) -> None:
        """`places` are the files and folders that answers come from; they may be relative to the project."""
        self._folder, self._launch, self._listed = folder, launch, tuple(places)
        self._places = [os.path.join(project, place) for place in self._listed]

    def answer(self, depends_on: str) -> bytes | None:
        """The result that was given to this question, if all that it depends on is as it was."""
        return _read(self._file(depends_on))

    def keep(self, depends_on: str, result: bytes, since: float) -> None:
        """Keep a result for the next start, unless what it comes from has changed since then."""
        if any(_changed_at(place) > since - CLOCK_LAG for place in self._places):
            return
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            _write(_index(self._folder, self._launch), "\n".join(self._listed).encode(errors="surrogateescape"))
            _write(self._file(depends_on), result)
            _tidy(self._folder)
        except OSError:
            return  # a disk that is full or a home that cannot be written: the next start is as slow as this one

    def _file(self, depends_on: str) -> str:
        content = [part for place in self._places for part in _content(place)]
        return os.path.join(self._folder, _name(self._launch, content, depends_on))


def find(environ: Mapping[str, str] = os.environ) -> list[Prepared]:
    """What is kept for this start."""
    if _may_not_start(environ):
        return []
    folder, here, program = _folder(environ), _project(environ), _program()
    found = []
    for project in (_ANY_PROJECT, here) if folder else ():
        launch = _launch(program, environ, project)
        if folder and (places := _read(_index(folder, launch))) is not None:
            found.append(Prepared(folder, launch, here, places.decode(errors="surrogateescape").split("\n")))
    return found


def for_any_project(places: Iterable[str], environ: Mapping[str, str] = os.environ) -> Prepared | None:
    """Where answers are kept that hold wherever the same files are; None where there is no room for them."""
    folder, here = _folder(environ), _project(environ)
    relative = [place.removeprefix(os.path.join(here, "")) for place in places]
    return Prepared(folder, _launch(_program(), environ, _ANY_PROJECT), here, relative) if folder else None


def for_this_project(places: Iterable[str], environ: Mapping[str, str] = os.environ) -> Prepared | None:
    """Where answers are kept that hold in this project alone."""
    folder, here = _folder(environ), _project(environ)
    return Prepared(folder, _launch(_program(), environ, here), here, places) if folder else None


def _folder(environ: Mapping[str, str]) -> str | None:
    cache = cache_dir(environ)
    return os.path.join(cache, "prepared") if cache and os.name == "posix" else None


def _project(environ: Mapping[str, str]) -> str:
    named = environ.get("CLAUDE_PROJECT_DIR")
    return named if named and os.path.isdir(named) else os.getcwd()


def _launch(program: list[object], environ: Mapping[str, str], project: str) -> str:
    """The program and how it was started."""
    settings = sorted(item for item in environ.items() if item[0].startswith("SAYSO_") and item[0] != _NO_MATTER)
    home = [environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME")]
    relayed = bool(environ.get(_RELAY))
    return repr((program, os.path.basename(sys.argv[0]), sys.argv[1:], settings, home, project, relayed))


def _may_not_start(environ: Mapping[str, str]) -> bool:
    """Whether the file that tells of a relay does not look as it should: then the server has to say so, and nothing
    before that. What is unusual counts as wrong: `agents/relay_file.py`, which is too large for here, knows better."""
    file = environ.get(_RELAY)
    if not file:
        return False
    try:
        told = read(_bytes_of(file))
    except (OSError, ValueError, SystemError):
        return True
    return told is None or not all(fits(told.get(name)) for name, fits in _RELAY_FIELDS.items())


def _is_address(value: object) -> bool:
    here = next((start for start in _HERE if isinstance(value, str) and value.startswith(start)), "")
    port = str(value)[len(here) :].removesuffix("/")
    return bool(here) and port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65_536


def _is_token(value: object) -> bool:
    parts = value.lower().split("-") if isinstance(value, str) else []
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and set("".join(parts)) <= set("0123456789abcdef")


def _is_id(value: object) -> bool:
    return (type(value) is int and value >= 0) or (isinstance(value, str) and bool(value.strip()))


def _is_timeout(value: object) -> bool:
    return value is None or (type(value) is int and 1 <= value <= _LONGEST)


_RELAY_FIELDS = {
    "apiUrl": _is_address,
    "streamToken": _is_token,
    "userId": _is_id,
    "projectId": _is_id,
    "csrfToken": lambda value: isinstance(value, str),
    "timeout": _is_timeout,
}


def _program() -> list[object]:
    """Changes with every installation of a package, and with every change to our own sources where they are no
    installed package."""
    folders = [folder for folder in sys.path if os.path.basename(folder) in _INSTALLED and os.path.isdir(folder)]
    about: list[object] = [sys.version, _PACKAGE, *(_time_of(folder) for folder in folders)]
    return about if os.path.dirname(_PACKAGE) in folders else [*about, *_sources(_PACKAGE)]


def _sources(folder: str) -> Iterator[tuple[str, float]]:
    for name in _names_in(folder):
        file = os.path.join(folder, name)
        if os.path.isdir(file):
            yield from _sources(file) if name != "__pycache__" else ()
        else:
            yield file, _time_of(file)


def _content(place: str) -> Iterator[tuple[str, bytes | int | None]]:
    """The name and the content of a file, or of every tool file in a folder."""
    for file in _files_at(place):
        try:
            state = os.stat(file)
            small = stat.S_ISREG(state.st_mode) and state.st_size <= MOST_BYTES
            yield os.path.basename(file), _bytes_of(file) if small else state.st_size
        except OSError:
            yield os.path.basename(file), None


def _files_at(place: str) -> list[str]:
    if not os.path.isdir(place):
        return [place]
    tool_files = [name for name in _names_in(place) if name.endswith(".json") and not name.startswith(".")]
    return [os.path.join(place, name) for name in tool_files]


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _changed_at(place: str) -> float:
    """When a file or a folder, or what is in it, was last changed."""
    return max(_time_of(file) for file in (place, *_files_at(place)))


def _time_of(file: str) -> float:
    """When it was last changed, by the clock that no program can set back; 0 if it is not there."""
    try:
        return os.stat(file).st_ctime
    except OSError:
        return 0.0


def _index(folder: str, launch: str) -> str:
    return os.path.join(folder, _name(launch))


def _name(*parts: object) -> str:
    return blake2b(repr(parts).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _read(file: str) -> bytes | None:
    """What we kept. A file that others could have written is none of ours."""
    try:
        kept = os.stat(file)
        ours = stat.S_ISREG(kept.st_mode) and kept.st_uid == os.getuid() and not kept.st_mode & 0o022
        return _bytes_of(file) if ours else None
    except OSError:
        return None


def _bytes_of(file: str) -> bytes:
    with open(file, "rb", buffering=0) as opened:
        return opened.read()


def _write(file: str, content: bytes) -> None:
    """All of it or nothing, for its owner alone."""
    draft = f"{file}.{os.getpid()}.{_thread.get_ident()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(content)
    os.replace(draft, file)


def _tidy(folder: str) -> None:
    files = [os.path.join(folder, name) for name in _names_in(folder)]
    for file in sorted(files, key=_time_of)[:-MOST_FILES]:
        os.unlink(file)
