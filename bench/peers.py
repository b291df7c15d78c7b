"""Sayso beside other MCP servers on stdio, measured in the same run: start, memory, calls, commands.

Peers are installed from the package registries into a folder that is thrown away afterwards. One that cannot be
installed or started is listed with the reason. All take turns, so that whatever else the machine does hits them alike.
Usage: python -m bench.peers [--rounds N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.tables import ratio, setting, table
from bench.wire import Client, server

from sayso import __version__

ROOT = Path(__file__).parents[1]
BARE = "bare mcp server"
EMPTY = "an empty Python process"
IN_FLIGHT = (1, 32)
CALLS = 300
COMMANDS = 20
INSTALL_SECONDS = 600

BARE_MCP = """
import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="noop", description="Does nothing.", input_schema={"type": "object", "properties": {}})

async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[TOOL])

async def call_tool(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="ok")])

async def main():
    server = Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""

BARE_FASTMCP = """
from fastmcp import FastMCP

server = FastMCP("bare")

@server.tool
def noop() -> str:
    "Does nothing."
    return "ok"

server.run(show_banner=False)
"""

Call = tuple[str, Mapping[str, Any]]
NOOP: Call = ("noop", {})


@dataclass(frozen=True, kw_only=True)
class Server:
    """One server as it can be started; a first call, after which its memory is looked at; a call that is quick, and
    one that runs `true`."""

    name: str
    version: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    first: Call | None = None
    light: Call | None = None
    runs_true: Call | None = None


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A peer that cannot be measured here, and why."""

    name: str
    why: str


class Folder:
    """Where everything of one run lies: the peers, their homes, their projects."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home, self.project = path / "home", path / "project"
        tools = self.home / ".config" / "sayso" / "tools"
        for made in (self.project, tools):
            made.mkdir(parents=True)
        tool = {"name": "yes", "description": "Succeed.", "command": "true", "synchronous": True}
        (tools / "yes.json").write_text(json.dumps(tool))

    def environment(self, one: Server) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8", **one.env}

    def script(self, name: str, code: str) -> str:
        file = self.path / name
        file.write_text(code)
        return str(file)

    def own(self) -> Path:
        """Sayso as it is now, installed as users install it."""
        return self.path / "own" / "bin" if (self.path / "own").exists() else self._installed("own", str(ROOT))

    def python_package(self, name: str) -> Path:
        """The programs of a package, in an environment of its own."""
        return self._installed(name, name)

    def _installed(self, place: str, what: str) -> Path:
        programs = self.path / place / "bin"
        _run([sys.executable, "-m", "venv", str(programs.parent)])
        _run([str(programs / "python"), "-m", "pip", "install", "--quiet", what])
        return programs

    def node_package(self, name: str) -> Path:
        place = self.path / name
        place.mkdir()
        _run(["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(place), name])
        return place / "node_modules" / ".bin"


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise OSError(said[-1] if said else f"{command[0]} ended with {done.returncode}")


def sayso(folder: Folder) -> Server:
    return Server(
        name="Sayso",
        version=__version__,
        command=[str(folder.own() / "sayso"), "server"],
        env={"SAYSO_LOG_LEVEL": "error"},
        first=("ask_user", {"question": "Is it quick?", "nonBlocking": True}),
        light=("ask_user_questions", {"questions": []}),
        runs_true=("yes", {}),
    )


def bare_mcp(folder: Folder) -> Server:
    python = folder.python_package("mcp") / "python"
    command = [str(python), folder.script("bare_mcp.py", BARE_MCP)]
    return Server(name=BARE, version=_version(python, "mcp"), command=command, first=NOOP, light=NOOP)


def bare_fastmcp(folder: Folder) -> Server:
    python = folder.python_package("fastmcp") / "python"
    command = [str(python), folder.script("bare_fastmcp.py", BARE_FASTMCP)]
    name = "bare fastmcp server"
    return Server(name=name, version=_version(python, "fastmcp"), command=command, first=NOOP, light=NOOP)


def mcp_feedback_enhanced(folder: Folder) -> Server:
    programs = folder.python_package("mcp-feedback-enhanced")
    return Server(
        name="mcp-feedback-enhanced",
        version=_version(programs / "python", "mcp-feedback-enhanced"),
        command=[str(programs / "mcp-feedback-enhanced")],
        first=("get_system_info", {}),
        light=("get_system_info", {}),
    )


def ai_intervention_agent(folder: Folder) -> Server:
    programs = folder.python_package("ai-intervention-agent")
    return Server(
        name="ai-intervention-agent",
        version=_version(programs / "python", "ai-intervention-agent"),
        command=[str(programs / "ai-intervention-agent")],
    )


def mcp_shell_server(folder: Folder) -> Server:
    programs = folder.python_package("mcp-shell-server")
    return Server(
        name="mcp-shell-server",
        version=_version(programs / "python", "mcp-shell-server"),
        command=[str(programs / "mcp-shell-server")],
        env={"ALLOW_COMMANDS": "true"},
        runs_true=("shell_execute", {"command": ["true"]}),
    )


def mcp_server_commands(folder: Folder) -> Server:
    programs = folder.node_package("mcp-server-commands")
    about = json.loads((programs.parent / "mcp-server-commands" / "package.json").read_text())
    return Server(
        name="mcp-server-commands",
        version=str(about["version"]),
        command=[str(programs / "mcp-server-commands")],
        runs_true=("run_command", {"command": "true"}),
    )


CONTENDERS: dict[str, Callable[[Folder], Server]] = {
    "sayso": sayso,
    "mcp": bare_mcp,
    "fastmcp": bare_fastmcp,
    "mcp-feedback-enhanced": mcp_feedback_enhanced,
    "ai-intervention-agent": ai_intervention_agent,
    "mcp-shell-server": mcp_shell_server,
    "mcp-server-commands": mcp_server_commands,
}


def _version(python: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def set_up(folder: Folder, names: Sequence[str]) -> Iterator[Server | Absent]:
    """Each contender once it has been seen to start, which also fills its caches."""
    for name in names:
        try:
            contender = CONTENDERS[name](folder)
            start(contender, folder)
            yield contender
        except (OSError, AssertionError, subprocess.SubprocessError) as error:
            yield Absent(name=name, why=str(error).splitlines()[0][:150] or type(error).__name__)


@dataclass(frozen=True, kw_only=True)
class Start:
    """Seconds from the start of the process."""

    first_answer: float
    listed: float


def start(one: Server, folder: Folder) -> Start:
    begun = time.perf_counter()
    with server(one.command, env=folder.environment(one), cwd=folder.project) as client:
        client.shake_hands()
        answered = time.perf_counter()
        client.request("tools/list")
        return Start(first_answer=answered - begun, listed=time.perf_counter() - begun)


def start_empty(folder: Folder) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], cwd=folder.project, check=True)
    return time.perf_counter() - begun


class Figures:
    """All that is measured of one server."""

    def __init__(self) -> None:
        self.starts: list[Start] = []
        self.rates: dict[int, list[float]] = {}
        self.costs: list[float] = []
        self.commands: list[float] = []
        self.memory: float | None = None

    def columns(self) -> list[float | None]:
        """As in the table: milliseconds, megabytes, calls per second; None where there is nothing to measure."""
        return [
            _median([one.first_answer * 1000 for one in self.starts]),
            _median([one.listed * 1000 for one in self.starts]),
            self.memory,
            *(_median(self.rates.get(count, [])) for count in IN_FLIGHT),
            min(self.costs) * 1000 if self.costs else None,
            _median([seconds * 1000 for seconds in self.commands]),
        ]


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def measure(servers: Sequence[Server], folder: Folder, rounds: int) -> tuple[dict[str, Figures], list[float]]:
    """The figures of each, and how long an empty Python process takes from start to end."""
    figures = {one.name: Figures() for one in servers}
    empty = []
    order = list(servers)
    for _ in range(rounds):
        random.shuffle(order)
        for one in order:
            empty.append(start_empty(folder))
            figures[one.name].starts.append(start(one, folder))
    for one in servers:
        # While nobody else runs: a library that two processes have loaded counts for neither.
        figures[one.name].memory = _memory_after_first(one, folder)
    with ExitStack() as running:
        clients = {}
        for one in servers:
            command, env = one.command, folder.environment(one)
            clients[one.name] = running.enter_context(server(command, env=env, cwd=folder.project))
            clients[one.name].shake_hands()
        for _ in range(rounds):
            random.shuffle(order)
            for one in order:
                _work(one, clients[one.name], figures[one.name])
    return figures, empty


def _memory_after_first(one: Server, folder: Folder) -> float:
    apart = {**folder.environment(one), "SAYSO_STATE_DIR": str(folder.path / "apart")}
    with server(one.command, env=apart, cwd=folder.project) as client:
        client.shake_hands()
        client.request("tools/list")
        if one.first:
            tool, arguments = one.first
            client.request("tools/call", name=tool, arguments=arguments)
        return client.memory()


def _work(one: Server, client: Client, figures: Figures) -> None:
    if one.light:
        before = client.cpu_seconds()
        for in_flight in IN_FLIGHT:
            rate = client.calls_per_second(*one.light, in_flight=in_flight, calls=CALLS)
            figures.rates.setdefault(in_flight, []).append(rate)
        figures.costs.append((client.cpu_seconds() - before) / CALLS / len(IN_FLIGHT))
    if one.runs_true:
        tool, arguments = one.runs_true
        for _ in range(COMMANDS):
            begun = time.perf_counter()
            client.request("tools/call", name=tool, arguments=arguments)
            figures.commands.append(time.perf_counter() - begun)


ABOUT = """\
Medians of {rounds} rounds; in brackets how that compares with the bare mcp server on its stock stdio transport.
Memory: what the server and its children hold for themselves after the start and one call (Sayso: one ask).
Calls: of the quickest tool there is (Sayso: an ask that is refused). `true`: a call that runs it, to its result.
CPU: the processor time that the server takes for a call, in the best of the rounds; a busy machine changes it least."""

COLUMNS = {
    "first answer": "{:.0f} ms",
    "tools listed": "{:.0f} ms",
    "memory": "{:.0f} MB",
    "calls/s, 1 at once": "{:.0f}",
    "calls/s, 32 at once": "{:.0f}",
    "CPU a call": "{:.2f} ms",
    "`true`": "{:.1f} ms",
}


def shown(servers: Sequence[Server], figures: Mapping[str, Figures], empty: Sequence[float]) -> str:
    units = figures.get(BARE, Figures()).columns()
    started = _cell("{:.0f} ms", statistics.median(empty) * 1000, units[0])
    rows = [[EMPTY, sys.version.split()[0], started, *["-"] * 6]]
    for one in servers:
        parts = zip(COLUMNS.values(), figures[one.name].columns(), units, strict=True)
        rows.append([one.name, one.version, *(_cell(*part) for part in parts)])
    return table(["", "version", *COLUMNS], rows)


def _beside_empty(listed: Sequence[float], empty: Sequence[float]) -> str:
    usual, best = statistics.median(listed) / statistics.median(empty), min(listed) / min(empty)
    what = "From the start to Sayso's tools listed takes"
    return f"{what} {usual:.1f} times an empty Python process by medians, {best:.1f} times by the best of each."


def _cell(form: str, value: float | None, unit: float | None) -> str:
    if value is None:
        return "-"
    return form.format(value) + (f" ({ratio(value, unit)})" if unit else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    given = parser.parse_args()
    path = Path(tempfile.mkdtemp(prefix="sayso-peers-", dir="/tmp"))
    try:
        folder = Folder(path)
        found = list(set_up(folder, given.only))
        servers = [one for one in found if isinstance(one, Server)]
        figures, empty = measure(servers, folder, given.rounds)
        print(f"{setting()}\n\n{shown(servers, figures, empty)}\n")
        print(ABOUT.format(rounds=given.rounds))
        for one in found:
            if isinstance(one, Absent):
                print(f"\nNot measured: {one.name}. {one.why}")
        if ours := figures.get("Sayso"):
            print(f"\n{_beside_empty([one.listed for one in ours.starts], empty)}")
    finally:
        shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    main()
