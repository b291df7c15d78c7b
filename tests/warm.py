"""`sayso` in processes of its own, without the time that importing it takes.

A process that has imported the program does nothing but fork. Each copy takes the streams, the folder, the arguments
and the environment that are wanted, also in the eyes of others who look it up, and is the program from then on, to the
end: only its modules are not taken apart there. What Python settles before it reads any code (how text is encoded, what
becomes of warnings) is settled once; where that has to be different, and for what depends on how a process was started,
the program is started anew.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any, cast

KNOWN = (
    {"LANG": "C.UTF-8", "PYTHONWARNINGS": "error"},
    {"LC_ALL": "C.UTF-8"},
)
"""What Python reads when it starts, in the environments of most tests."""
PLAIN = 1
"""Which of them changes nothing that a program would notice."""
PROGRAM = "sayso.cli"
STARTED_ANEW = ("server", "guard")
"""A server, and what stands before one, imports only what it needs. Tests that do not look at that fork a server."""
ALSO_IMPORTED = {"web": ("sayso.mcp_server.http", "sayso.web.app", "sayso.web.serve")}
"""By some commands, when they are called."""
OF_COMMANDS = (
    "click._textwrap",
    "sayso.agents.desk",
    "sayso.agents.kinds",
    "sayso.asks.history_index",
    "sayso.asks.life_cycle",
    "sayso.asks.snoozing",
    "sayso.chats.kinds",
    "sayso.cli.command_group",
    "sayso.cli.help_page",
    "sayso.cli.help_words",
    "sayso.cli.lazy_group",
    "sayso.cli.status_lines",
    "sayso.dialects.asks_as_data",
    "sayso.permissions.desk",
    "sayso.permissions.rules_here",
    "sayso.permissions.session_rules",
    "sayso.store.sqlite",
)
"""By many commands, when they are called."""
OF_SERVERS = (
    "sayso.asks.truth",
    "sayso.cli.serving",
    "sayso.dialects.ahma",
    "sayso.dialects.auq",
    "sayso.mcp_server.command_calls",
    "sayso.mcp_server.operation_resources",
    "sayso.mcp_server.server",
    "sayso.mcp_server.tasks",
    "sayso.operations.supervisor",
    "sayso.permissions.session_rules",
    "sayso.roster",
    "sayso.store.postgres",
    "sayso.store.sqlite",
    "sayso.toolfiles.toolfile",
    "urllib.request",
)
"""By servers, when they are called."""
TAKEN_APART = ("__main__", "_warnings", "builtins", "encodings", "io", "os", "sys", "traceback", "warnings")
"""Modules that are needed until everything else is."""
ROOM = 8_000
"""Bytes of a copy's memory for its command line, and as many for its environment."""
_READ_AT_START = ("LANG", "LC_", "PYTHON")
TOLD: dict[str, str] = {}
"""What processes that fork are told besides, in their environment."""
MUTANTS = "SAYSO_MUTANTS"
"""What `tests.mutants` wants of them."""

Stream = int | IO[Any] | None


def run(
    program: Path, arguments: Sequence[str], *, given: bytes, cwd: Path, env: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run it to its end. What it printed is as it came."""
    pipe = subprocess.PIPE
    with start([program, *arguments], cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            out, err = process.communicate(given, seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def start(command: Sequence[str | Path], *, env: Mapping[str, str], **options: Any) -> subprocess.Popen[Any]:
    """Start it and go on, with options of `subprocess.Popen`: the streams, `cwd`, `text`. What is started
    `in_terminal` has that of its standard input for its own."""
    words = [str(word) for word in command]
    if not can_fork(env) or "".join(words[1:2]) in STARTED_ANEW:
        return subprocess.Popen(words, env=env, **_of_popen(**options))
    modules = (*_of_commands(), *ALSO_IMPORTED.get("".join(words[1:2]), ()))
    return Copy(_parent(KNOWN.index(_settled(env)), modules), words, env=env, **options)


def _of_popen(*, in_terminal: bool = False, **options: Any) -> dict[str, Any]:
    if in_terminal:
        options |= {"start_new_session": True, "preexec_fn": take_terminal}
    return options


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a process with this environment can be a copy."""
    return sys.platform == "linux" and _settled(env) in KNOWN


def fork_server(command: Sequence[str | Path], *, env: Mapping[str, str], **options: Any) -> Copy:
    """A `sayso server` with a parent of its own, as one that a client started has."""
    return Copy(parent_of_servers(env), [str(word) for word in command], env=env, **options)


def fork_module(name: str, *, env: Mapping[str, str], **options: Any) -> Copy:
    """What `python -m` starts: the `main` of a module of the tests."""
    return Copy(_parent(PLAIN, (name,)), ["-m", name], env=env, main=name, **options)


def parent_of_servers(env: Mapping[str, str]) -> Parent:
    return _parent(KNOWN.index(_settled(env)), OF_SERVERS)


def _settled(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START)}


@cache
def _of_commands() -> tuple[str, ...]:
    from sayso.cli.command_table import COMMANDS

    commands = (f"sayso.cli.{name.replace('-', '_')}" for name in COMMANDS)
    return (*commands, *OF_COMMANDS)


class Copy(subprocess.Popen[Any]):
    """A forked process. It is a child of another process, from which we hear how it ended, and which ends with it."""

    def __init__(
        self,
        parent: Parent,
        command: list[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        text: bool = False,
        in_terminal: bool = False,
        main: str = PROGRAM,
    ) -> None:
        self.args, self.returncode = command, None
        with ExitStack() as passed_on:
            fds = [
                _joined(passed_on, stdin, 0, self._keep("stdin", "w", text)),
                _joined(passed_on, stdout, 1, self._keep("stdout", "r", text)),
                _joined(passed_on, stderr, 2, self._keep("stderr", "r", text)),
            ]
            self._told, theirs = socket.socketpair()
            order = passed_on.enter_context(tempfile.TemporaryFile())
            orders = {"argv": command, "cwd": str(cwd), "env": dict(env), "in_terminal": in_terminal, "main": main}
            orders["outlives_terminal"] = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # as under nohup
            order.write(json.dumps(orders).encode())
            order.seek(0)
            with theirs:
                parent.fork([order.fileno(), theirs.fileno(), *fds])
        self._lines = self._told.makefile()
        told = self._lines.readline().strip()
        try:
            self.pid, middleman = map(int, told.split())
        except ValueError:
            self._let_go()
            raise OSError(f"Nothing was forked: {told or 'the process that forks has ended'}.") from None
        self._middleman = _opened(middleman)

    def _keep(self, name: str, mode: str, text: bool) -> Callable[[int], None]:
        setattr(self, name, None)
        return lambda fd: setattr(self, name, open(fd, mode if text else f"{mode}b"))

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._told.close()
            _wait_until_gone(self._middleman)
        return self.returncode

    def _let_go(self) -> None:
        for opened in (self.stdin, self.stdout, self.stderr, self._lines, self._told):
            if opened:
                opened.close()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended, and how is about to be told
                os.kill(self.pid, number)

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        with ThreadPoolExecutor(3) as threads:
            written = threads.submit(_write, self.stdin, input)
            out, err = (threads.submit(_read, stream) for stream in (self.stdout, self.stderr))
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            written.result()
            return out.result(), err.result()


def _opened(pid: int) -> int | None:
    """A process by itself: its number may be another's by the time that one looks."""
    with suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None


def _wait_until_gone(process: int | None) -> None:
    """Without an end: it has nothing left to do."""
    if process is not None:
        select.select([process], [], [])
        os.close(process)


def _joined(passed_on: ExitStack, wanted: Stream, number: int, keep: Callable[[int], None]) -> int:
    """What the other process gets for this stream; where it is a pipe, `keep` is told of our end."""
    if wanted == subprocess.PIPE:
        reads, writes = os.pipe()
        ours, theirs = (reads, writes) if number else (writes, reads)
        keep(ours)
        passed_on.callback(os.close, theirs)
        return theirs
    if wanted == subprocess.DEVNULL:
        return passed_on.enter_context(open(os.devnull, "r+b", buffering=0)).fileno()
    return number if wanted is None else wanted if isinstance(wanted, int) else wanted.fileno()


def _write(stream: IO[Any] | None, data: Any) -> None:
    if stream and not stream.closed:
        with suppress(BrokenPipeError), stream:
            if data:
                stream.write(data)


def _read(stream: IO[Any] | None) -> Any:
    if stream and not stream.closed:
        with stream:
            return stream.read()
    return None


class Parent:
    """A process that forks when told. It ends with this one; where it ended before, another takes its place."""

    def __init__(self, known: int, modules: tuple[str, ...]) -> None:
        self._known, self._modules = known, modules
        self.process, self._line = self._start()
        atexit.register(self._end)

    def fork(self, fds: Sequence[int]) -> None:
        if self.process.poll() is not None:
            self._line.close()
            self.process, self._line = self._start()
        socket.send_fds(self._line, [b"."], fds)

    def _start(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            fd = theirs.fileno()
            command = [sys.executable, __file__, str(fd), *self._modules, "_" * ROOM]
            return subprocess.Popen(command, env={**KNOWN[self._known], **TOLD, "_": "_" * ROOM}, pass_fds=[fd]), ours

    def _end(self) -> None:
        self._line.close()
        self.process.wait()


_parent = cache(Parent)


def forget_parents() -> None:
    """What is forked from now on comes from processes that are started anew."""
    _parent.cache_clear()


# The process that forks


def fork_when_told(control: socket.socket, modules: Sequence[str]) -> None:
    """Until nobody is left to tell."""
    kept: dict[str, ModuleType] = {}
    atexit.register(_let_be, kept)
    if any(name.startswith("tests.") for name in modules):
        _find_tests()
    for name in (PROGRAM, *modules):
        import_module(name)
    if "sayso.web.app" in modules:
        _read_templates()
    if "sayso.store.sqlite" in modules and MUTANTS not in os.environ:
        _read_queries()
    begin = _for_mutants()
    kept |= {name: module for name, module in sys.modules.items() if name.partition(".")[0] not in TAKEN_APART}
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        told, fds, _, _ = socket.recv_fds(control, 1, 5)
        if not told:
            return
        if fork_or_tell(fds[1]) == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _see_through(begin, *fds)
            return
        for fd in fds:
            os.close(fd)


def _find_tests() -> None:
    sys.path.append(str(Path(__file__).parent.parent))


def _for_mutants() -> Callable[[], None]:
    """What every copy has to do first."""
    if MUTANTS not in os.environ:
        return lambda: None
    _find_tests()
    prepare = import_module("tests.mutants.copies").prepare
    return cast(Callable[[], None], prepare(os.environ[MUTANTS]))


def _read_templates() -> None:
    """As the first requests for each page do, which takes most of the time that a web server of a test has."""
    from sayso.web.pages import _environment

    for name in _environment().list_templates():
        _environment().get_template(name)


def _read_queries() -> None:
    """As whoever first looks into the store does: a third of what that takes."""
    from sayso.store.store import queries, tables

    queries()
    tables()


def fork_or_tell(report: int) -> int | None:
    """As `os.fork`. Where it fails, why is told, and nothing else happens."""
    try:
        return os.fork()
    except OSError as error:
        os.write(report, f"{error.strerror}\n".encode())
        return None


def _let_be(kept: dict[str, ModuleType]) -> None:
    """Take no module apart at the very end, where nobody gets to see it: that is a third of what a short run costs."""
    for name in kept:
        sys.modules.pop(name, None)


def _see_through(begin: Callable[[], None], order: int, report: int, *streams: int) -> None:
    """Tell the pids of the copy and of this process, then how the copy ended, which returns from here by itself."""
    pid = fork_or_tell(report)
    if pid is None:
        os._exit(1)
    if pid == 0:
        os.close(report)
        with open(order, "rb") as file:
            _become(json.load(file), streams, begin)
        return
    for fd in (order, *streams):
        os.close(fd)
    os.write(report, b"%d %d\n" % (pid, os.getpid()))
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(order: Mapping[str, Any], streams: Sequence[int], begin: Callable[[], None]) -> None:
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    if order["in_terminal"]:
        os.setsid()
        take_terminal()
    sys.stdin = sys.__stdin__ = _like(sys.stdin, "rb")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _like(sys.stdout, "wb")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _like(sys.stderr, "wb")  # type: ignore[misc]
    signal.signal(signal.SIGHUP, signal.SIG_IGN if order["outlives_terminal"] else signal.SIG_DFL)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    _show(order["argv"], order["env"])
    time.tzset()
    sys.argv = order["argv"]
    begin()
    _end(_exit_code_of(import_module(order["main"]).main))


def _exit_code_of(main: Callable[[], object]) -> int:
    """What it ends with. What is no plain end is Python's to tell."""
    try:
        main()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        return ended.code or 0
    return 0


def _end(code: int) -> None:
    """As Python does, all but its last step, which gives back one by one what the system is about to take: that would
    copy most of what this process shares with others, and takes half the time of a short run."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code & 0xFF)


def take_terminal() -> None:
    """Have what is typed at the standard input's terminal, Ctrl-C too: whoever started the tests may ignore that."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _show(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Have the system tell others these words and this environment: it reads both where they lay at the start."""
    begin, end, env_begin, env_end = map(int, Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[45:49])
    words = [sys.executable, *argv]
    variables = [f"{name}={value}" for name, value in env.items()]
    for first, last, texts in ((begin, end, words), (env_begin, env_end, variables)):
        told = b"".join(os.fsencode(text) + b"\0" for text in texts)
        assert len(told) <= last - first, texts
        ctypes.memmove(first, told.ljust(last - first, b"\0"), last - first)


def _like(stream: Any, mode: str) -> Any:
    """The same stream, opened again: what it now is may not be what it was."""
    return io.TextIOWrapper(
        open(stream.fileno(), mode, closefd=False),
        stream.encoding,
        stream.errors,
        newline="\n",
        line_buffering=stream is sys.stderr or os.isatty(stream.fileno()),
    )


if __name__ == "__main__":
    del sys.path[0]
    with socket.socket(fileno=int(sys.argv[1])) as line:
        fork_when_told(line, sys.argv[2:-1])
