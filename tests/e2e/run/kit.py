"""What the tests of commands over MCP stand on: tool files, a real client that hears notifications, a look at /proc."""

from __future__ import annotations

import json
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.extension import ClientExtension
from mcp.client.subscriptions import Subscription
from mcp.shared.exceptions import MCPDeprecationWarning
from tests.e2e.stdio.folders import Folders
from tests.e2e.stdio.harness import WAIT, Agent, Place, Server, data_of
from tests.e2e.stdio.log import Log
from tests.e2e.stdio.transport import speaking_to
from tests.running.processes import PLANT, eventually, fresh_token, with_argument

__all__ = [
    "WAIT",
    "Place",
    "Worker",
    "background",
    "data_of",
    "eventually",
    "fresh_token",
    "waited_for",
    "with_argument",
    "write_tool",
]

T = TypeVar("T")
Json = dict[str, Any]

ARGV = "import json, sys; json.dump(sys.argv[1:], sys.stdout)"
SCRIPT = {"name": "script", "type": "string", "required": True, "description": "A shell script."}
PYTHON = [sys.executable, "-I", "-S"]


class Heard:
    """The notifications that a client got, as they come."""

    def __init__(self) -> None:
        self.all: list[types.ServerNotification] = []
        self._news = threading.Condition()

    async def take(self, message: object) -> None:
        if isinstance(message, types.Notification):
            with self._news:
                self.all.append(message)  # type: ignore[arg-type]
                self._news.notify_all()

    def wait_for(self, fits: Callable[[types.ServerNotification], bool]) -> types.ServerNotification:
        """The first that fits."""

        def found() -> types.ServerNotification | None:
            return next((each for each in self.all if fits(each)), None)

        with self._news:
            assert self._news.wait_for(lambda: found() is not None, WAIT), f"not among {self.all}"
        one = found()
        assert one is not None
        return one

    def of(self, method: str) -> list[types.ServerNotification]:
        return [each for each in self.all if each.method == method]


class Worker(Agent):
    """A real MCP client and its server, with all that it can do about commands."""

    def __init__(self, client: Client, portal: BlockingPortal, server: Server, log: Log, heard: Heard) -> None:
        super().__init__(client, portal, server, log)
        self.heard = heard
        self.portal = portal

    def do(self, tool: str, **arguments: Any) -> types.CallToolResult:
        """The result of a call, whatever it is."""
        return self.call(tool, arguments).result(WAIT)

    def start(self, tool: str, **arguments: Any) -> str:
        """The id of a background command that was started."""
        data = data_of(self.do(tool, **arguments))
        assert data["status"] in ("started", "queued"), data
        return str(data["id"])

    def status(self, operation: str) -> Json:
        return data_of(self.do("status", id=operation))

    def ended(self, operation: str) -> Json:
        """How an operation ended, as `await` tells it. What else has ended by then comes with any reply."""
        finished: list[Json] = data_of(self.do("await", id=operation))["finished"]
        (told,) = [each for each in finished if each["id"] == operation]
        return told

    def wait_until(self, operation: str, *states: str) -> Json:
        found: list[Json] = []

        def there() -> bool:
            found[:] = [self.status(operation)]
            return found[0]["status"] in states

        eventually(there)
        return found[0]

    def printed(self, operation: str, text: str) -> None:
        """Return when the operation has printed this."""
        eventually(lambda: text in data_of(self.do("output", id=operation))["text"])

    def call_heeding(self, tool: str, arguments: Json, progress: Any) -> Future[types.CallToolResult]:
        """A call that asks for progress."""

        async def call() -> types.CallToolResult:
            return await self.client.call_tool(tool, arguments, progress_callback=progress)

        return self.portal.start_task_soon(call)

    def resources(self) -> dict[str, types.Resource]:
        return {resource.uri: resource for resource in self.portal.call(self.client.list_resources).resources}

    def read(self, uri: str) -> str:
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        assert isinstance(content, types.TextResourceContents)
        return content.text

    def subscribe(self, uri: str) -> None:
        """As handshake clients do it."""

        async def subscribe() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                await self.client.subscribe_resource(uri)

        self.portal.call(subscribe)

    @contextmanager
    def listening(self, **wanted: Any) -> Iterator[Callable[[], object]]:
        """An open `subscriptions/listen` stream, of 2026-07-28: what it yields is the next event."""

        async def next_of(stream: Subscription) -> object:
            return await stream.__anext__()

        with self.portal.wrap_async_context_manager(self.client.listen(**wanted)) as stream:
            yield lambda: self.portal.start_task_soon(next_of, stream).result(WAIT)


@contextmanager
def worker(
    place: Place,
    mode: str = "auto",
    *,
    flags: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    extensions: Sequence[ClientExtension] = (),
    name: str = "tester",
) -> Iterator[Worker]:
    """The SDK's client connected to `sayso server`. Leaving closes the client's end and waits for both."""
    heard = Heard()
    with Log() as log, start_blocking_portal() as portal:
        server = place.start_server("sayso", *flags, environment=environment, log=log)
        client = Client(
            speaking_to(server.process),
            mode=mode,
            message_handler=heard.take,
            extensions=extensions,
            client_info=types.Implementation(name=name, version="7"),
        )
        connection = portal.wrap_async_context_manager(client)
        connection.__enter__()
        try:
            yield Worker(client, portal, server, log, heard)
        finally:
            # Not told of a test's failure, which the client's task groups would wrap beyond recognition.
            connection.__exit__(None, None, None)


def tools_dir(place: Folders) -> Path:
    """The person's own, which need not be trusted."""
    folder = place.home / ".config" / "sayso" / "tools"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_tool(place: Folders, name: str, **fields: Any) -> Path:
    """A tool file of the person's own. Written in one step, as editors do."""
    file = tools_dir(place) / f"{name}.json"
    half = file.with_suffix(".half")
    half.write_text(json.dumps({"name": name, "description": f"The {name} of the tests.", **fields}))
    half.rename(file)
    return file


def write_project_tool(place: Place, name: str, **fields: Any) -> Path:
    """A tool file that the project brings. Nobody has trusted it yet."""
    file = place.project / ".sayso" / "tools" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"name": name, "description": f"The {name} of the project.", **fields}))
    return file


def background(place: Folders, name: str = "bg", **fields: Any) -> None:
    """A tool that runs a shell script in the background."""
    default = {"name": "default", "description": "Run a script.", "positional_args": [SCRIPT], **fields}
    write_tool(place, name, command="bash -c", subcommand=[default])


def waited_for(place: Folders, name: str = "fg", **fields: Any) -> None:
    """A tool that runs a shell script and waits for it."""
    background(place, name, synchronous=True, **fields)


def showing_argv(place: Place, name: str, *subcommands: Json, **fields: Any) -> None:
    """A tool whose program prints the words it was given, as JSON."""
    program = place.folder / "argv.py"
    program.write_text(ARGV)
    write_tool(place, name, command=" ".join([*PYTHON, str(program)]), subcommand=list(subcommands), **fields)


def planting(place: Place, name: str = "plant", **fields: Any) -> None:
    """A tool that plants a tree of processes that is hard to end."""
    words = [{"name": word, "type": "string", "required": True} for word in ("kind", "token", "then")]
    default = {"name": "default", "description": "Plant a tree.", "positional_args": words, **fields}
    write_tool(place, name, command=" ".join([*PYTHON, str(PLANT)]), subcommand=[default])


def text_of(result: types.CallToolResult) -> str:
    """All the text of a result."""
    return "\n\n".join(each.text for each in result.content if isinstance(each, types.TextContent))


def gone(token: str) -> bool:
    """Whether no process is left that was given this word."""
    return not with_argument(token)


def until(look: Callable[[], T | None]) -> T:
    """What `look` finds, as soon as it does."""
    deadline = time.monotonic() + WAIT
    while (found := look()) is None:
        assert time.monotonic() < deadline, "not seen in time"
        threading.Event().wait(0.01)
    return found
