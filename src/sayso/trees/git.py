"""Runs git so that nothing that a repository says is executed.

Whoever looks at a page must not start what an agent has put into `.git/config`: filters, hooks, fsmonitor, external
diffs. So git gets a repository of our own, with our own settings, and of the other one no more than its objects and its
files; where a branch is looked up or moved, its refs too. Only plumbing is run, which does not look into submodules,
where git would read the settings of those.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from sayso.errors import TreeUnavailable
from sayso.records import replace
from sayso.text import one_line

SECONDS = 20.0
MOST_BYTES = 64 * 1024 * 1024
"""Of what git may print."""
_HANDED_DOWN = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")
_QUIET = {
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # No way of fetching has this name; older versions do not know the line above.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}
_SETTINGS = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "core.quotePath=false", "gc.auto=0")


@dataclass(frozen=True, kw_only=True)
class Git:
    """Git on a working tree, with a repository that is given; `index` and `objects` where they lie elsewhere."""

    repository: Path
    work_tree: Path
    seconds: float = SECONDS
    """How long each of its commands may take."""
    index: Path | None = None
    objects: Path | None = None
    common: Path | None = None
    """What a repository of somebody else shares among its working trees: its refs are used, its settings are not."""
    format: str = ""
    """Our settings for that, which say how its refs and objects are kept."""
    more: Mapping[str, str] = field(default_factory=dict)
    """Further variables, such as who commits."""

    def with_index(self, index: Path) -> Git:
        return replace(self, index=index)

    def run(self, *words: str, given: bytes = b"", most: int = MOST_BYTES, codes: Sequence[int] = (0,)) -> bytes:
        """What it prints. TreeUnavailable if it ends with another code than these, takes too long or prints more."""
        settings = (part for setting in _SETTINGS for part in ("-c", setting))
        argv = [program(), *settings, *words]
        with _stand_in(self.common, self.format) if self.common else nullcontext() as common:
            ran = _ran(argv, self.work_tree, self._environment(common), given, most, self.seconds)
        if ran.code not in codes:
            raise TreeUnavailable(f"git {words[0]} failed: {ran.complaint or f'it ended with {ran.code}'}")
        return ran.printed

    def _environment(self, common: Path | None) -> dict[str, str]:
        environment = {name: os.environ[name] for name in _HANDED_DOWN if name in os.environ} | _QUIET
        environment |= {"GIT_DIR": str(self.repository), "GIT_WORK_TREE": str(self.work_tree)}
        if common:
            environment["GIT_COMMON_DIR"] = str(common)
        if self.index:
            environment["GIT_INDEX_FILE"] = str(self.index)
        if self.objects:
            environment["GIT_OBJECT_DIRECTORY"] = str(self.objects)
        return {**environment, **self.more}


_SHARED = ("refs", "packed-refs", "reftable", "logs", "worktrees", "shallow")


@contextmanager
def _stand_in(common: Path, format: str) -> Iterator[Path]:
    """A folder that git takes for what a repository shares among its working trees. Its refs are those of the other,
    its settings are ours: newer versions run hooks that are named in settings, also when a ref is changed."""
    with tempfile.TemporaryDirectory(prefix="sayso-git-") as made:
        folder = Path(made)
        (folder / "config").write_text(format)
        for name in _SHARED:
            if os.path.lexists(common / name):
                (folder / name).symlink_to(common / name)
        yield folder


def program() -> str:
    found = shutil.which("git")
    if not found:
        raise TreeUnavailable("git is not installed on the machine where Sayso runs.")
    return os.path.abspath(found)


@dataclass(frozen=True, kw_only=True)
class _Ran:
    printed: bytes
    complaint: str
    code: int


def _ran(
    argv: list[str], folder: Path, environment: Mapping[str, str], given: bytes, most: int, seconds: float
) -> _Ran:
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                argv, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment, cwd=folder
            )
        except OSError as error:
            raise TreeUnavailable(f"git could not be started: {error.strerror}.") from error
        printed, in_time = _read(process, most, seconds)
        if not in_time:
            raise TreeUnavailable(f"git took longer than {seconds:.0f} seconds.")
        if len(printed) > most:
            raise TreeUnavailable("There is too much of it to be shown here.")
        stderr.seek(0)
        complaint = one_line(stderr.read(2_000).decode(errors="replace"), 300)
        return _Ran(printed=printed, complaint=complaint, code=process.returncode)


def _read(process: subprocess.Popen[bytes], most: int, seconds: float) -> tuple[bytes, bool]:
    """What it prints until its end, or until there is more than `most`; whether it ended in time."""
    assert process.stdout
    late = threading.Event()

    def kill() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        printed = process.stdout.read(most + 1)
        if len(printed) > most:
            process.kill()
    finally:
        process.stdout.close()
        process.wait()
        timer.cancel()
    return printed, not late.is_set()
