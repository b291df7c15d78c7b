"""Profiles: which tools a server shows, and under which name."""

from __future__ import annotations

from collections.abc import Callable

from sayso import __version__
from sayso.config import Config
from sayso.dialects import tools
from sayso.dialects.dialect import Tool
from sayso.records import record, replace

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


_LEAN = (tools.ASK_USER, tools.GET_ANSWERS)


@record
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
        from sayso.dialects import approve

        return replace(named, tools=(*named.tools, approve.tool()))
    return named


# Each with the dialects that it shows, and no other: a fast start is a feature.


def _all(config: Config) -> Profile:
    return Profile(
        server_name="sayso",
        strict=False,
        commands=_COMMAND_INSTRUCTIONS,
        tools=(
            tools.ask_user(config),
            tools.ask_user_questions_united(config),
            tools.get_answers(),
            tools.question_ask("question_ask_united"),
            tools.question_summary("question_summary_united"),
        ),
    )


def _lean(named: Profile) -> Profile:
    """What an agent cannot do without, in as few words as there are."""
    return replace(named, commands="", tools=tuple(tool for tool in named.tools if tool.name in _LEAN))


def _auq(config: Config) -> Profile:
    return Profile(server_name="AskUserQuestions", tools=(tools.ask_user_questions(config),))


def _swissarmyhammer(config: Config) -> Profile:
    return Profile(server_name="swissarmyhammer", tools=(tools.question_ask(), tools.question_summary()))


def _ahma(config: Config) -> Profile:
    about = _COMMAND_INSTRUCTIONS.replace("The other tools", "These tools")
    return Profile(server_name="ahma", tools=(), instructions="", commands=about)


def _codenomad(config: Config) -> Profile:
    from sayso.dialects import codenomad

    return Profile(server_name="CodeNomad", tools=(codenomad.tool(config),))


def _promptmanager(config: Config) -> Profile:
    from sayso.dialects import promptmanager

    return Profile(server_name="ask-user", server_version="1.0.0", tools=(promptmanager.tool(config),))


_PROFILES: dict[str, Callable[[Config], Profile]] = {
    "all": _all,
    "auq": _auq,
    "swissarmyhammer": _swissarmyhammer,
    "ahma": _ahma,
    "codenomad": _codenomad,
    "promptmanager": _promptmanager,
}
