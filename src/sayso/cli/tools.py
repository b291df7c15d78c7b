"""`sayso tools`: the tool files that turn commands into tools: list, validate, schema, init, run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso import untrusted_json
from sayso.agent_guard import refuse_agents, refuse_agents_anywhere
from sayso.cli import declared
from sayso.cli.program import settings
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import mark, plural, tr
from sayso.config import NETWORKS, SANDBOXES, Config
from sayso.desks import open_desks
from sayso.dialects.ahma import catalog_here, own_names_by
from sayso.errors import InvalidInput, NotFound, Problem
from sayso.files import whole_or_none
from sayso.records import replace
from sayso.text import did_you_mean, one_line, printable, quoted, spelt_out
from sayso.toolfiles.catalog import CommandTool
from sayso.toolfiles.leaves import leaves
from sayso.toolfiles.model import Fault, OptionSpec, ToolFile
from sayso.toolfiles.schema import input_schema, published_schema
from sayso.toolfiles.toolfile import load_dir, load_file, ready_files
from sayso.trust import check_inside

if TYPE_CHECKING:
    import click


@declared.group()
def command() -> None:
    """Turn commands into tools for agents with JSON files.

    \b
    Example:
      sayso tools init git        write .sayso/tools/git.json
      sayso tools validate        is every tool file right?
      sayso tools run git_status  run one as an agent would
    """


@command.reader(name="list")
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array with the schema of each tool.")
def list_(as_json: bool) -> None:
    """Show the tools that an agent gets here.

    \b
    Example:
      sayso tools list --json
    """
    config = settings(in_project=True)
    loaded = catalog_here(config).load()
    tools = sorted(loaded.tools.values(), key=lambda tool: tool.name)
    if as_json:
        put_json([_data(tool) for tool in tools])
        _say_untrusted(loaded.untrusted)
        return
    if tools:
        put(table(("TOOL", "MODE", "SAY-SO", "WHAT IT DOES"), [_row(tool) for tool in tools], may_miss=(1, 2)))
        if any(tool.leaf.approve != "never" for tool in tools):
            say("\n" + tr("SAY-SO: whether a person must allow a call before it runs. It is asked for in your inbox."))
    elif not loaded.untrusted:
        say(tr("There are no tool files here. These are ready-made: {names}", names=", ".join(ready_files())))
        say(tr("Write one into this project: sayso tools init git"))
    _say_faults(loaded.faults)
    _say_untrusted(loaded.untrusted)


@command.reader()
@declared.argument("path", type=declared.PATH, required=False)
@declared.option("--json", "as_json", is_flag=True, help="Print the faults as a JSON array.")
def validate(path: Path | None, as_json: bool) -> None:
    """Check a tool file, a directory of them, or all that are here. Exit code 1 if anything is wrong.

    \b
    Example:
      sayso tools validate
      sayso tools validate .sayso/tools/git.json
    """
    files, faults, untrusted = _checked(path, settings(in_project=path is None))
    if as_json:
        put_json([_fault(fault) for fault in faults])
    else:
        for fault in faults:
            put(printable(str(fault)))
        wrong = len({fault.file for fault in faults})
        size = plural(files, "1 tool file", "{n} tool files")
        say(tr("{files}, {n} of them wrong.", files=size, n=wrong) if wrong else tr("{files}, all right.", files=size))
    _say_untrusted(untrusted)
    if faults:
        sys.exit(1)


@command.reader()
def schema() -> None:
    """Print the JSON Schema of tool files, for editors and checks.

    \b
    Example:
      sayso tools schema > tool-file.schema.json
    """
    put_json(published_schema())


def _complete_ready(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The ready-made tool files that are not named yet."""
    from click.shell_completion import CompletionItem

    given = ctx.params.get("names") or ()
    return [CompletionItem(name) for name in ready_files() if name.startswith(incomplete) and name not in given]


@command.command()
@declared.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_complete_ready)
@declared.option("--user", "for_user", is_flag=True, help="For all your projects instead of this one.")
@declared.option("--anyway", is_flag=True, help="Also where another file has such a tool already.")
def init(names: tuple[str, ...], for_user: bool, anyway: bool) -> None:
    """Write ready-made tool files into this project. Without a name: say which there are.

    One whose tools another of your files has already is left out. With --user it takes a person, not an agent.

    \b
    Example:
      sayso tools init git cargo
    """
    ready = ready_files()
    if not names:
        for name, file in ready.items():
            found = load_file(file)
            put(f"{name:<10} {one_line(found.description, 90) if isinstance(found, ToolFile) else ''}")
        return
    unknown = [name for name in names if name not in ready]
    if unknown:
        raise NotFound(f"There is no ready-made tool file {unknown[0]!r}. There are {', '.join(ready)}.")
    config = settings(in_project=not for_user)
    if for_user:
        refuse_agents_anywhere(config, "write tools that need no trust")
    folder = config.user_tools_dir if for_user else check_inside(config.project_tools_dir, config.project)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    there = {} if anyway else _files_by_name(config, [folder] if for_user else catalog_here(config).directories())
    written: dict[Path, bytes] = {}
    for name in names:
        file, like = folder / f"{name}.json", ready[name]
        if not file.exists() and (taken := there.keys() & _names_in(like)):
            _say_there_already(file, first := min(taken), there[first])
        elif data := _write_new(file, like):
            written[file] = data
    if written and not for_user:
        from sayso.cli.trusting import trust_written  # only reading needs none of it

        trust_written(config, written)


@command.command()
@declared.argument("name")
@declared.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@declared.option(
    "--sandbox",
    type=declared.one_of(SANDBOXES),
    help="What it may change: the project alone (workspace), nothing (read-only), or what you may (none).",
)
@declared.option("--network", type=declared.one_of(NETWORKS), help="What of the network it may use in its sandbox.")
@declared.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def run(name: str, arguments: tuple[str, ...], sandbox: str | None, network: str | None, as_json: bool) -> None:
    """Run a tool as an agent would.

    Its arguments are checked, its time limit holds, and no process is left behind.

    A value is read by the type the tool file gives it. Repeat NAME= for a list.

    \b
    Example:
      sayso tools run cargo_test package=core
      sayso tools run git_log max-count=5
      sayso tools run npm_test --sandbox workspace --network loopback
    """
    config = settings(in_project=True, sandbox=sandbox, sandbox_network=network)
    if sandbox or network:
        with open_desks(config) as desks:
            refuse_agents(desks, "choose the sandbox of a command")
    loaded = catalog_here(config).load()
    tool = loaded.tools.get(name)
    if tool is None:
        _say_faults(loaded.faults)
        _say_untrusted(loaded.untrusted)
        hint = f"{did_you_mean(name, loaded.tools)} `sayso tools list` shows them.".lstrip()
        raise NotFound(f"There is no tool {name!r} here. {hint}")
    given = _read(tool, arguments)
    if tool.file.file and not config.is_of_project(tool.file.file.parent):
        tool = _as_said_here(tool, sandbox, network)
    from sayso.cli.running import run_tool

    sys.exit(run_tool(config, tool, given, as_json=as_json))


def _as_said_here(tool: CommandTool, sandbox: str | None, network: str | None) -> CommandTool:
    """The person who runs it now has the last word over what they once wrote into a file of their own."""
    said = tool.leaf.settings
    said = replace(said, sandbox=None if sandbox else said.sandbox)
    said = replace(said, sandbox_network=None if network else said.sandbox_network)
    return replace(tool, leaf=replace(tool.leaf, settings=said))


def _checked(path: Path | None, config: Config) -> tuple[int, tuple[Fault, ...], tuple[Path, ...]]:
    """How many files there are, all that is wrong with them, and those not used for want of trust: the same verdict as
    at a server's start, and for what was just written by hand the one that it will have once it is trusted."""
    reserved = own_names_by(config)
    if path is None:
        catalog = catalog_here(config)
        here = catalog.load()
        faults = (
            load_dir(catalog.directories(), reserved=reserved, open_at=catalog.open_at).faults
            if here.untrusted
            else here.faults
        )
        return here.files + len(here.untrusted), faults, here.untrusted
    if path.is_dir():
        loaded = load_dir([path], reserved=reserved)
        return len(list(path.glob("*.json"))), loaded.faults, ()
    found = load_file(path, reserved=reserved)
    return 1, () if isinstance(found, ToolFile) else found, ()


def _files_by_name(config: Config, folders: Sequence[Path]) -> dict[str, Path]:
    """The names that the files in these folders have taken, also where they are switched off; but not what a project
    brings that nobody has trusted."""
    trusted = config.trust.of(config.project)

    def may_use(file: Path, content: bytes) -> bool:
        return not config.is_of_project(file.parent) or trusted.trusts(file, content)

    found = load_dir(folders, may_use=may_use)
    files = [tool.file for tool in (*found.tools, *found.hidden) if tool.file]
    return {name: file for file in files for name in _names_in(file)}


def _names_in(file: Path) -> set[str]:
    """That of the file itself, and those of its tools: no two files may have one of them."""
    found = load_file(file)
    return {found.name, *(leaf.name for leaf in leaves(found))} if isinstance(found, ToolFile) else set()


def _say_there_already(file: Path, name: str, other: Path) -> None:
    said = mark(
        "{file} was not written: {other} has {name} already, and only one of them would be used. "
        "To get it all the same, rename or remove the other one first, or add --anyway."
    )
    say(tr(said, file=spelt_out(str(file)), other=spelt_out(str(other)), name=name))


def _write_new(file: Path, like: Path) -> bytes:
    """What was written; nothing where there is a file already."""
    data = like.read_bytes()
    try:
        with whole_or_none(file), file.open("xb") as opened:
            opened.write(data)
    except FileExistsError:
        say(tr("{file} is there already and was left alone.", file=file))
        return b""
    names = [leaf.name for leaf in leaves(found)] if isinstance(found := load_file(file), ToolFile) else []
    size = plural(len(names), "1 tool", "{n} tools")
    say(tr("Wrote {file} with {tools}. Agents that are connected see them at once.", file=file, tools=size))
    return data


def _say_faults(faults: tuple[Fault, ...]) -> None:
    if faults:
        left_out = len({fault.file for fault in faults})
        said = plural(
            left_out,
            "1 tool file was left out; `sayso tools validate` says why.",
            "{n} tool files were left out; `sayso tools validate` says why.",
        )
        say(f"\n{said}")


def _say_untrusted(files: Sequence[Path]) -> None:
    if files:
        said = plural(
            len(files),
            "1 tool file of this project is not used, because you have not trusted it as it is:",
            "{n} tool files of this project are not used, because you have not trusted them as they are:",
        )
        names = "\n".join(f"  {spelt_out(str(file))}" for file in files)
        say(f"\n{said}\n{names}\n{tr('To look at what this project brings, and trust it: sayso trust')}")


def _read(tool: CommandTool, arguments: tuple[str, ...]) -> dict[str, Any]:
    """The words of the command line as the arguments of a call."""
    specs = tool.leaf.arguments
    given: dict[str, Any] = {}
    for word in arguments:
        name, equals, value = word.partition("=")
        spec = specs.get(name)
        if spec is not None and not equals:
            raise InvalidInput([Problem(path=name, text=f"has no value. Write {name}=VALUE.")])
        if spec is None:
            known = ", ".join(specs)
            raise InvalidInput(
                [Problem(path=name, text=f"is no argument of {tool.name}. Write NAME=VALUE; it takes {known}.")]
            )
        if spec.type == "array":
            given.setdefault(name, []).append(_value(name, spec, spec.item_type, value))
        elif name in given:
            raise InvalidInput([Problem(path=name, text="takes one value, and is given more than once.")])
        else:
            given[name] = _value(name, spec, spec.type, value)
    return given


_KINDS = {"integer": "an integer", "number": "a number", "boolean": "true or false"}


def _value(name: str, spec: OptionSpec, kind: str, value: str) -> Any:
    if kind == "string":
        return value
    try:
        return untrusted_json.loads(value)
    except ValueError:
        raise InvalidInput([Problem(path=name, text=f"is {quoted(value)}. Give {_KINDS.get(kind, kind)}.")]) from None


_SAY_SO = {"never": "-", "once": mark("once"), "always": mark("each time")}


def _row(tool: CommandTool) -> tuple[str, ...]:
    mode = tr("waits") if tool.leaf.synchronous else tr("background")
    return tool.name, mode, tr(_SAY_SO[tool.leaf.approve]), one_line(tool.leaf.description, 200)


def _data(tool: CommandTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "synchronous": tool.leaf.synchronous,
        "approve": tool.leaf.approve,
        "sandbox": tool.leaf.settings.sandbox,
        "description": tool.leaf.description,
        "inputSchema": input_schema(tool.leaf),
        "file": str(tool.file.file) if tool.file.file else None,
    }


def _fault(fault: Fault) -> Mapping[str, Any]:
    return {
        "file": str(fault.file),
        "line": fault.line,
        "path": fault.path,
        "kind": fault.kind,
        "expected": fault.expected,
        "actual": fault.actual,
        "suggestion": fault.suggestion,
    }
