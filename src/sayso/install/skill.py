"""What agents read when they read skills rather than tools: `SKILL.md`, and a paragraph for AGENTS.md and the like.

Made from the tools' own definitions, so that neither can say anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sayso.asks.model import State
from sayso.config import Config
from sayso.dialects.dialect import Tool
from sayso.dialects.profiles import Profile, profile
from sayso.install.grants import FilePart

NAME = "sayso"
MARK = "<!-- Written by `sayso install --skill`, from the definitions of its tools. -->"
BEGIN, END = "<!-- sayso -->", "<!-- /sayso -->"
_PARAGRAPH = re.compile(rf"(?:\r?\n)?{BEGIN}.*?{END}(?:\r?\n)?", re.S)

WHAT_TO_DO: Mapping[State, str] = {
    State.ANSWERED: "Go on with exactly what the person said.",
    State.TIMED_OUT: "Nobody has answered yet. Run the same command again to go on waiting. Do not assume an answer.",
    State.REJECTED: "Respect it. Read the reason, ask differently or leave it.",
    State.DECLINED: "The person does not want to answer. Do not assume an answer.",
    State.CANCELLED: "The person withdrew it. Do not assume an answer.",
}
"""What an agent does with each end of `sayso ask`."""


def skill(exit_codes: Mapping[State, int]) -> str:
    """The whole of SKILL.md."""
    shown = profile(Config())
    return "\n".join([*_front(), *_with_tools(shown), *_with_the_command(exit_codes)]) + "\n"


def paragraph() -> str:
    """A few lines for a file that an agent always reads."""
    shown = profile(Config())
    ask, choose, collect = (tool.name for tool in shown.for_models[:3])
    return (
        f"## Asking me\n\n"
        f"When a decision is mine, or a wrong guess would be costly, ask me with `{ask}` (or `{choose}` for multiple "
        f"choice) of the MCP server `{shown.server_name}`, and wait for the result. Where that server is missing, run "
        f'`sayso ask "QUESTION" -o OPTION -o OPTION`. Put related questions into one call. An answer is only what the '
        f"result says: silence, a timeout or an error is never a yes. `{collect}` brings answers that came later.\n"
    )


def _front() -> Iterator[str]:
    yield from ("---", f"name: {NAME}")
    yield (
        "description: Ask the person you work for, and wait for the answer. Use it when a decision, a preference or a "
        "fact must come from them before you go on and a wrong guess would cost more than asking, and to fetch "
        "answers to questions you asked earlier."
    )
    yield from ("---", "", MARK, "", "# Ask the person you work for", "")


def _with_tools(shown: Profile) -> Iterator[str]:
    yield from (shown.instructions, "", f"## With the tools of the MCP server `{shown.server_name}`", "")
    for tool in shown.for_models:
        yield from (f"### `{tool.name}`", "", *_about(tool), "")


def _about(tool: Tool) -> Sequence[str]:
    needs = ["*Only where your client has forms.*", ""] if tool.needs_form else []
    return [*needs, tool.description]


def _with_the_command(exit_codes: Mapping[State, int]) -> Iterator[str]:
    yield from ("## Without these tools: the command `sayso ask`", "")
    yield from (
        "It waits until the person answers, and prints what they chose or wrote, one per line.",
        "",
        '    sayso ask "Which database?" -o SQLite -o PostgreSQL',
        '    sayso ask "Which checks?" -o Formatter -o Tests --multi',
        '    sayso ask "Deploy to production?" --confirm --timeout 10m',
        "",
        "| exit code | outcome | what to do |",
        "|---|---|---|",
    )
    for state, code in sorted(exit_codes.items(), key=lambda pair: pair[1]):
        yield f"| {code} | {state} | {WHAT_TO_DO[state]} |"


class SkillPart(FilePart):
    """SKILL.md in a folder of skills."""

    mark = MARK
    foreign = "is somebody else's skill. Rename its folder, or leave --skill out."


@dataclass(frozen=True, kw_only=True)
class ParagraphPart:
    """A paragraph between two marks in a file that is the person's."""

    path: Path
    text: str

    def is_in(self, text: str) -> bool:
        return bool(_PARAGRAPH.search(text))

    def added(self, text: str) -> str:
        newline = "\r\n" if "\r\n" in text else "\n"
        block = f"{BEGIN}\n{self.text}{END}\n".replace("\n", newline)
        if found := _PARAGRAPH.search(text):
            lead = newline if found[0].startswith(("\n", "\r\n")) else ""
            return text[: found.start()] + lead + block + text[found.end() :]
        if text and not text.endswith("\n"):
            text += newline
        return text + (newline if text else "") + block

    def removed(self, text: str, made: int) -> str:
        return _PARAGRAPH.sub("", text, count=1)

    def makes(self, text: str) -> int:
        return 0
