"""Every text that the command line can say, found in the code: the texts that the German catalogue must translate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from inspect import cleandoc
from pathlib import Path
from types import CodeType

import click

import sayso
from sayso.asks.model import State
from sayso.asks.truth import Listening
from sayso.brought import Used
from sayso.cli.command_table import COMMANDS
from sayso.cli.help_words import EXPLAINED, on_one_line
from sayso.cli.lazy_group import load
from sayso.cli.lazy_group import sayso as program
from sayso.dialects.approve import ALLOW, ALWAYS, DENY
from sayso.install.part import Done
from sayso.operations import words as operation_words
from sayso.permissions import log_words, quorum_words
from sayso.permissions.parts import PartName
from sayso.permissions.verdict import ALLOWED_AS_EDITED, Decision
from sayso.trust import TrustStanding

SOURCES = Path(sayso.__file__).parent
CLI = SOURCES / "cli"
NO_TEXTS = ("texts.py", "demo_agent.py", "gating.py", "late_answers.py")
"""Modules of the command line that say nothing to a person."""
LOWER = (
    *("accounts.py", "agent_guard.py", "config.py", "errors.py", "log.py", "setting_values.py", "trust.py"),
    *("agents/projects.py", "agents/workspace.py"),
    *("asks/attachments.py", "asks/desk.py", "asks/model.py", "asks/new_attachments.py"),
    *("asks/snoozing.py", "asks/table.py"),
    *("chats/desk.py", "chats/http.py", "chats/kinds.py", "chats/linking.py"),
    *("chats/ntfy.py", "chats/slack.py", "chats/telegram.py"),
    *("doctor/connections.py", "doctor/gate_probe.py", "doctor/ground.py", "doctor/probe.py", "doctor/surroundings.py"),
    *("install/files.py", "install/foreground.py", "install/grants.py", "install/hooks.py", "install/ledger.py"),
    *("install/notation.py", "install/part.py", "install/skill.py"),
    *("operations/desk.py", "permissions/desk.py", "asks/settling.py"),
    *("store/__init__.py", "store/postgres.py", "store/socket_bell.py", "store/sqlite.py", "store/store.py"),
    "web/serve.py",
)
"""Where the errors and findings come from that a person reads at a prompt."""
FINDINGS = ("fault", "note", "ok", "warning")
COMMAND_LINE = re.compile(r"(?:[Ss]ayso|chmod|chown|pip) .*")
"""What is typed, or names versions, and is the same in every language."""
PUTS = ("put", "say", "echo", "read_line", "flowing", "bold", "dim", "confirm", "table", "listed")
"""What shows a text to a person."""
FLAW = re.compile(
    r"(?!HttpParser)[A-Z]\w*(?:Error|Refused|Found|Yours|Edit|Corrupt|New|Full|ReadOnly|Unavailable|Listen)"
)
_HOLE = re.compile(r"\{\w*(?:!t)?\}")


def plain(template: str) -> str:
    """A template without the names of its holes."""
    return _HOLE.sub("{}", template)


def marked() -> dict[str, str]:
    """The texts that are marked in the code of the command line, and where."""
    return {
        text: f"{file.name}:{call.lineno}"
        for file in modules()
        for call in _calls(file)
        for text in _marked_in(call, file)
    }


def unmarked() -> list[str]:
    """Where a text is shown that is not marked."""
    return [
        f"{file.name}:{call.lineno}: {literal!r}"
        for file in modules()
        for call in _calls(file)
        if _name(call) in PUTS
        for argument in _shown(call)
        for literal in _literals(argument)
        if re.search(r"[A-Za-z]{2}", literal) and not re.fullmatch(r"[\s\W]*(?:sayso|SAYSO_STATE_DIR=)[\s\W]*", literal)
    ]


def modules() -> list[Path]:
    return [file for file in sorted(CLI.glob("*.py")) if file.name not in NO_TEXTS]


def helps() -> set[str]:
    """What `--help` says: paragraphs, what stands beside examples, options."""
    return {text for command in (program, *commands()) for text in _help(command)}


def commands() -> Iterator[click.Command]:
    """All but the program itself, those below others too."""
    for command in map(load, COMMANDS):
        yield command
        yield from command.commands.values() if isinstance(command, click.Group) else ()


def raised() -> dict[str, str]:
    """The texts of errors and findings, without names in their holes, and where they are."""
    files = [*modules(), *(SOURCES / name for name in LOWER)]
    return {
        plain(text): f"{file.name}:{call.lineno}"
        for file in files
        for call in _calls(file)
        for text in _told_by(call, file)
        if re.search(r"[a-z]{2}.* ", text.replace("{}", "")) and not COMMAND_LINE.fullmatch(text)
    }


def everything() -> str:
    """Every text in the code at all, one after the other."""
    files = [file for file in SOURCES.rglob("*.py") if "german" not in file.parts]
    return "\n".join(text for file in files for text in _texts(_compiled(file)))


def longest_piece(template: str) -> str:
    """What of a text is found in the code even where it is put together there."""
    return max(re.split(r"\{\w*\}|(?<=[.:]) |[()]", template), key=len).strip()


def words() -> set[str]:
    """Words of the domain that are shown as they are."""
    kinds = (State, Listening, Done, TrustStanding, Used, Decision, PartName)
    logged = {
        *log_words.WHAT.values(),
        ALLOWED_AS_EDITED,
        *log_words.FAULTS.values(),
        log_words.RUN,
        log_words.HANDED_OVER,
        log_words.NOT_RUN,
        *quorum_words.TEXTS,
        *operation_words.STATES.values(),
        operation_words.STOPPING,
        operation_words.AWAITS_SAY_SO,
    }
    options = {text for each in (ALLOW, DENY, ALWAYS) for text in (each.label, each.description) if text}
    members = {member.value.replace("_", " ") for kind in kinds for member in kind}
    return members | {each.value for each in State} | logged | options


# Reading code


def _compiled(file: Path) -> CodeType:
    """As Python keeps it: to read all of the code anew takes ten times as long."""
    code = SourceFileLoader(file.stem, str(file)).get_code(file.stem)
    assert code
    return code


def _texts(constant: object) -> Iterator[str]:
    match constant:
        case str():
            yield constant
        case CodeType(co_consts=inner) | (tuple() as inner) | (frozenset() as inner):
            for each in inner:
                yield from _texts(each)


@cache
def _nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def _calls(file: Path) -> Iterator[ast.Call]:
    yield from (node for node in _nodes(file) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _marked_in(call: ast.Call, file: Path) -> Iterator[str]:
    match _name(call):
        case "tr" | "mark":
            yield from filter(None, (_constant(call.args[0]),))
        case "plural":
            yield from filter(None, map(_constant, call.args[1:]))
        case "table":
            yield from _cells(call.args[0], file)


def _cells(header: ast.expr, file: Path) -> Iterator[str]:
    """The names of columns, given there or in a constant of the module."""
    if isinstance(header, ast.Name):
        values = [
            node.value
            for node in _nodes(file)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == header.id
        ]
        header = values[0]
    if isinstance(header, ast.Tuple):
        yield from filter(None, map(_constant, header.elts))


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    arguments = call.args[1:] if _name(call) == "table" else call.args
    yield from arguments


def _literals(node: ast.expr) -> Iterator[str]:
    """The texts in an expression that are shown as they stand: not those that other functions get."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr():
            for part in node.values:
                yield from _literals(part.value if isinstance(part, ast.FormattedValue) else part)
        case ast.BinOp() | ast.IfExp() | ast.BoolOp() | ast.List() | ast.Tuple():
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr) and child is not getattr(node, "test", None):
                    yield from _literals(child)


def _told_by(node: ast.Call, file: Path) -> Iterator[str]:
    name = _name(node)
    is_finding = name in FINDINGS and "doctor" in str(file)
    if (
        FLAW.fullmatch(name)
        or name in ("UsageError", "BadParameter", "ChatFailed", "Problem", "_invalid", "_refused", "add", "fail")
        or is_finding
    ):
        values = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "text")]
        yield from filter(None, map(_template, values))


def _constant(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(_constant(part) or "{}" for part in node.values)
    return _constant(node)


def _help(command: click.Command) -> Iterator[str]:
    for text in cleandoc(command.help or "").split("\n\n"):
        if text.startswith("\b"):
            yield from (found[3] for line in text.split("\n") if (found := EXPLAINED.fullmatch(line)))
        else:
            yield on_one_line(text)
    yield from (param.help for param in command.params if isinstance(param, click.Option) and param.help)
