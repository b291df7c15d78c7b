"""What the end-to-end tests of the stdio server stand on: a machine's worth of folders, agents, a person, raw pipes.

All processes are real. An agent is a process that starts the server, so that the tests, which are the person, do not
descend from it: the command line refuses to let an agent answer itself.
"""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import psutil
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.session import ElicitationFnT
from tests import memory, warm
from tests.e2e.stdio.folders import PROGRAMS, Folders
from tests.e2e.stdio.log import Log
from tests.e2e.stdio.person import WAIT, Person
from tests.e2e.stdio.pipe import Pipe
from tests.e2e.stdio.transport import speaking_to

__all__ = [
    "ANEW",
    "MODES",
    "TOOL",
    "WAIT",
    "Agent",
    "Person",
    "Pipe",
    "Place",
    "data_of",
    "new_place",
    "question",
    "text_of",
]

MODES = ("auto", "legacy")
"""How the SDK's client connects: 2026-07-28 by `server/discover`, or the `initialize` handshake."""

TOOL = "ask_user_questions"
ANEW = ("env",)
"""A launcher where it matters how a server starts, with nothing imported; else it is forked, which is quicker."""
_AGENT = """
pid=$1; shift
sh -c 'echo $$ >"$0"; exec "$@"' "$pid" "$@"
exit $?
"""


class Place(Folders):
    """A machine on which agents can be started."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        super().__init__(folder, settings)
        self.launcher: Sequence[str] = ()
        """A command that agents start their servers by, such as one that takes rights away."""
        self._agents = 0

    def files(self) -> set[str]:
        """Everything that lies in the person's folders, but for what can be thrown away at any time."""
        roots = [self.home, self.state, self.project]
        return {str(path.relative_to(self.folder)) for root in roots for path in root.rglob("*")}

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """The person's command line: `sayso` in a process of its own."""
        ran = warm.run(
            PROGRAMS / "sayso",
            arguments,
            given=given.encode(),
            cwd=self.project,
            env=self.environment,
            seconds=WAIT,
        )
        return subprocess.CompletedProcess(ran.args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    def show(self, ask_id: str) -> dict[str, Any]:
        """What the command line tells of an ask."""
        done = self.run("show", ask_id, "--events", "--json")
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def suspend(self, agent: Agent) -> None:
        """Stop an agent's server where it holds no lock: stopped inside a write, it would keep everybody out."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            agent.server.suspend()
            if not self.database.exists() or _can_be_written(self.database):
                return
            agent.server.resume()
        raise AssertionError("the server never stops writing")

    @contextmanager
    def person(self) -> Iterator[Person]:
        with Person(self.config()) as person:
            yield person

    @contextmanager
    def agent(
        self,
        mode: str = "auto",
        *,
        program: str = "auq",
        flags: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        form: ElicitationFnT | None = None,
        name: str = "tester",
    ) -> Iterator[Agent]:
        """The SDK's client connected to a server of its own. Leaving closes the client's end and waits for both."""
        with Log() as log, start_blocking_portal() as portal:
            server = self.start_server(program, *flags, environment=environment, log=log)
            client = Client(
                speaking_to(server.process),
                mode=mode,
                elicitation_callback=form,
                client_info=types.Implementation(name=name, version="7"),
            )
            connection = portal.wrap_async_context_manager(client)
            connection.__enter__()
            try:
                yield Agent(client, portal, server, log)
            finally:
                # Not told of a test's failure, which the client's task groups would wrap beyond recognition.
                connection.__exit__(None, None, None)

    @contextmanager
    def pipe(
        self, *, program: str = "auq", flags: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> Iterator[Pipe]:
        """A server of its own behind bare pipes, before any message."""
        with Log() as log:
            pipe = Pipe(self.start_server(program, *flags, environment=environment, log=log).process, log)
            try:
                yield pipe
            finally:
                pipe.end()

    def start_server(self, program: str, *flags: str, environment: Mapping[str, str] | None, log: Log) -> Server:
        """A server that an agent has just started."""
        env = {**self.environment, **(environment or {})}
        pipe = subprocess.PIPE
        options: dict[str, Any] = {"cwd": self.project, "env": env, "stdin": pipe, "stdout": pipe, "stderr": log.writer}
        if self.launcher or not warm.can_fork(env):
            command = self.command(program, *flags)
            server = Server(subprocess.Popen(command.argv, **options), lambda: command.pid)
        else:
            copy = warm.fork_server([PROGRAMS / program, "server", *flags], **options)
            server = Server(copy, lambda: copy.pid)
        log.close_our_end()
        return server

    def command(self, program: str, *flags: str) -> Command:
        """How an agent starts the server."""
        self._agents += 1
        server = [*self.launcher, str(PROGRAMS / program), "server", *flags]
        return Command(self.folder / f"agent{self._agents}", server)


def _can_be_written(database: Path) -> bool:
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as store:
        try:
            store.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        store.execute("ROLLBACK")
        return True


class Command:
    """A server's command line inside an agent's shell, which notes the server's pid and ends as it does."""

    def __init__(self, notes: Path, server: Sequence[str]) -> None:
        notes.mkdir()
        self._pid = notes / "pid"
        # In a file: by its command line the shell would be taken for the server, and the tests for the agent.
        script = notes / "agent"
        script.write_text(f"set -- {shlex.join([str(self._pid), *server])}\n{_AGENT}")
        self.argv = ["/bin/sh", str(script)]

    @property
    def pid(self) -> int:
        return int(self._pid.read_text())


class Server:
    """A server's process, or that of the shell which started it."""

    def __init__(self, process: subprocess.Popen[bytes], pid: Callable[[], int]) -> None:
        self.process, self._pid = process, pid

    @property
    def pid(self) -> int:
        """Known once the server has said anything."""
        return self._pid()

    @property
    def exit_code(self) -> int:
        """As a shell tells it, once the server has ended."""
        code = self.process.wait(WAIT)
        return code if code >= 0 else 128 - code


class Agent:
    """A real MCP client and the server it started. Calls run in the client's own thread and are futures here."""

    def __init__(self, client: Client, portal: BlockingPortal, server: Server, log: Log) -> None:
        self.client, self.log = client, log
        self._portal, self._server = portal, server
        self.server = psutil.Process(server.pid)

    @property
    def exit_code(self) -> int:
        """As a shell tells it, once the server has ended."""
        return self._server.exit_code

    def ask(self, *questions: Mapping[str, Any]) -> Future[types.CallToolResult]:
        return self.call(TOOL, {"questions": list(questions)})

    def call(self, tool: str, arguments: Mapping[str, Any] | None) -> Future[types.CallToolResult]:
        """A call under way; cancelling the future cancels the call as the client does it."""
        return self._portal.start_task_soon(self.client.call_tool, tool, dict(arguments) if arguments else None)

    def tools(self) -> list[types.Tool]:
        return self._portal.call(self.client.list_tools).tools


@contextmanager
def new_place(**settings: str) -> Iterator[Place]:
    """A place in a folder of its own, with a path short enough for sockets. Its people fill in forms in no time."""
    with tempfile.TemporaryDirectory(prefix="sayso-test-", dir=memory.SHORT) as folder:
        yield Place(Path(folder), {"form_reaction": "1ms", **settings})


def question(text: str, *options: str | Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A question as AUQ's tool takes it; yes and no if nothing else is offered."""
    given = [{"label": option} if isinstance(option, str) else dict(option) for option in options or ("Yes", "No")]
    return {"prompt": text, "options": given, **more}


def text_of(result: types.CallToolResult) -> str:
    """The text of a result that holds one text and nothing else."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def data_of(result: types.CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content
