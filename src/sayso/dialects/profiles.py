"""Profiles: which tools a server shows, and under which name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sayso import __version__
from sayso.config import Config
from sayso.dialects import approve, ask_user, auq, codenomad, get_answers, promptmanager, swissarmyhammer
from sayso.dialects.dialect import Tool

_INSTRUCTIONS = (
    "These tools reach the person you work for. Ask when a decision is theirs or a wrong guess would be costly, "
    "put related questions into one call, and wait for the result. An answer is only what the result says: "
    "silence, a timeout or an error is never a yes."
)


_COMMAND_INSTRUCTIONS = (
    "The other tools run commands in the project. Most run in the background: a call returns at once with an operation "
    "id, and the result comes with the next reply of any tool here after the command has ended. Go on with other work "
    "meanwhile; do not poll or wait, unless you are about to finish."
)


_LEAN = (ask_user.NAME, get_answers.NAME)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A server as a client sees it."""

    server_name: str
    tools: tuple[Tool, ...]
    server_version: str = __version__
    instructions: str = _INSTRUCTIONS
    commands: str = ""
    """Instructions for the tools that tool files give; empty: this profile shows none of them."""
    strict: bool = True
    """One seed's contract to the letter: nothing is added to its results, and calls are held to the end."""

    @property
    def for_models(self) -> tuple[Tool, ...]:
        """The tools that a model calls, and not its client."""
        return tuple(tool for tool in self.tools if not tool.for_permissions)

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


def profile(config: Config) -> Profile:
    """The profile that the settings name. The tool for permissions is added where it is asked for."""
    named = _PROFILES[config.profile](config)
    if config.lean and not named.strict:
        named = _lean(named)
    if config.approve:
        return replace(named, tools=(*named.tools, approve.tool()))
    return named


def _all(config: Config) -> Profile:
    return Profile(
        server_name="sayso",
        strict=False,
        commands=_COMMAND_INSTRUCTIONS,
        tools=(
            ask_user.tool(config),
            auq.united_tool(config),
            get_answers.tool(),
            swissarmyhammer.ask_tool("question_ask_united"),
            swissarmyhammer.summary_tool("question_summary_united"),
        ),
    )


def _lean(named: Profile) -> Profile:
    """What an agent cannot do without, in as few words as there are."""
    return replace(named, commands="", tools=tuple(tool for tool in named.tools if tool.name in _LEAN))


def _auq(config: Config) -> Profile:
    return Profile(server_name="AskUserQuestions", tools=(auq.tool(config),))


def _swissarmyhammer(config: Config) -> Profile:
    tools = (swissarmyhammer.ask_tool(), swissarmyhammer.summary_tool())
    return Profile(server_name="swissarmyhammer", tools=tools)


def _ahma(config: Config) -> Profile:
    about = _COMMAND_INSTRUCTIONS.replace("The other tools", "These tools")
    return Profile(server_name="ahma", tools=(), instructions="", commands=about)


def _codenomad(config: Config) -> Profile:
    return Profile(server_name="CodeNomad", tools=(codenomad.tool(config),))


def _promptmanager(config: Config) -> Profile:
    return Profile(server_name="ask-user", server_version="1.0.0", tools=(promptmanager.tool(config),))


_PROFILES: dict[str, Callable[[Config], Profile]] = {
    "all": _all,
    "auq": _auq,
    "swissarmyhammer": _swissarmyhammer,
    "ahma": _ahma,
    "codenomad": _codenomad,
    "promptmanager": _promptmanager,
}
