"""`approve`: the tool by which Claude asks for permissions, and brings the questions of its own AskUserQuestion.

The client wants `{"behavior": "allow", "updatedInput": ...}` or `{"behavior": "deny", "message": ...}` as text.
Nothing but a person's plain choice to allow is ever told as an allow.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.action_data import DEEPEST, is_too_deep, numbers_beyond_json
from sayso.asks.model import DECISION, Answer, Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.config import Config
from sayso.dialects import fields, question_fields
from sayso.dialects.dialect import Arguments, AskRequest, AskTool, Tool, ToolReply, description
from sayso.dialects.outcomes import refusal_words, selected_labels
from sayso.errors import Problems
from sayso.linked_paths import links_in
from sayso.permissions import edits
from sayso.permissions.action import Action, ActionKind, AllowScope, asking
from sayso.permissions.ruled import LEFT_TO_PEOPLE, RuledAction
from sayso.permissions.seen_file import SeenFile, seen
from sayso.permissions.verdict import verdict_of
from sayso.records import record, replace
from sayso.text import quoted

NAME = "approve"
NATIVE_QUESTIONS = "AskUserQuestion"

ALLOW = Option(id="allow", label="Allow")
DENY = Option(id="deny", label="Deny", description="With a note, or your own words instead: the agent is told them.")
ALWAYS = Option(
    id="always",
    label="Allow this exact thing for the rest of the run",
    description="The same tool with the same input. Anything else is asked again.",
)
"""Where a run of Talk asks; a session in a terminal goes on after all runs that take part in it."""
ALWAYS_HERE = replace(ALWAYS, label="Allow this exact thing for the rest of the session")

PLAIN_NO = "The user did not allow this."
"""What a denial says that came without a word."""
CHANGED = (
    "The user allowed this, but {parts} changed after they had looked at it, so it was not allowed. Look at it again, "
    "and then ask again."
)

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["tool_name", "input"],
    "properties": {
        "tool_name": {"type": "string", "description": "The tool that is to be used"},
        "input": {"type": "object", "description": "The input of that tool"},
        "tool_use_id": {"type": "string", "description": "The name of that use of the tool"},
    },
}


@record
class Permission:
    """What a client wants to be allowed: the use of a tool with this very input."""

    tool: str
    given: Mapping[str, Any]

    @property
    def is_question(self) -> bool:
        """Whether the client brings questions of Claude's own tool."""
        return self.tool == NATIVE_QUESTIONS and "questions" in self.given


def tool() -> Tool:
    return Tool(
        name=NAME,
        title="Ask for a permission",
        description=description("approve"),
        schema=_SCHEMA,
        annotations={"openWorldHint": True, "readOnlyHint": False, "destructiveHint": False},
        for_permissions=True,
        always_loaded=False,
    )


def read(arguments: Arguments) -> Permission:
    problems = Problems()
    name, given = arguments.get("tool_name"), arguments.get("input")
    if not isinstance(name, str) or not name.strip():
        problems.add("tool_name", f"expected the name of a tool, got {fields.given(name)}.")
    if not isinstance(given, dict):
        problems.add("input", f"expected an object, got {fields.given(given)}.")
    if is_too_deep(given):
        problems.add("input", f"is nested more than {DEEPEST} levels deep.")
    for path, number in numbers_beyond_json(given, "input"):
        problems.add(path, f"is {quoted(number)}. Give a number.")
    problems.check()
    return Permission(tool=str(name), given=dict(given or {}))


def allow(given: Mapping[str, Any]) -> ToolReply:
    return ToolReply(text=json.dumps({"behavior": "allow", "updatedInput": given}, ensure_ascii=False))


def deny(message: str) -> ToolReply:
    return ToolReply(text=json.dumps({"behavior": "deny", "message": message}, ensure_ascii=False))


# Permissions


def ask_for(
    action: Action,
    asker: Asker,
    config: Config,
    ruled: RuledAction = LEFT_TO_PEOPLE,
    *,
    takes_changes: bool = True,
    subagent: str = "",
) -> NewAsk:
    """The ask by which people decide about this action, and what the rules have made of it. `takes_changes` and
    `subagent`: see `asking`."""
    # Over HTTP many conversations may share a token, and none of them has an end that we would hear of. Where the rules
    # say who has to agree, they agree to this alone.
    once = bool(asker.agent or ruled.quorum)
    options = (ALLOW, DENY) if once else (ALLOW, DENY, ALWAYS if asker.run else ALWAYS_HERE)
    question = Question(
        id=DECISION,
        text="May the agent do this?",
        kind=Kind.SELECT,
        options=options,
        title="Permission",
    )
    new = NewAsk(
        tool=NAME,
        title=f"Allow {action.title}?",
        questions=(question,),
        asker=asker,
        timeout_ms=config.approve_timeout,
    )
    scopes = (AllowScope.ONCE,) if once else (AllowScope.ONCE, AllowScope.SESSION)
    return asking(
        new,
        action,
        scopes,
        takes_changes=takes_changes,
        rules_say=ruled.asked,
        asking_rules=ruled.asking_rules,
        quorum=ruled.quorum,
        subagent=subagent,
    )


def wanted_here(permission: Permission, folder: Path) -> Action:
    """What the agent's tool would do in this folder, as things stand now on this machine."""
    named = edits.path_of(permission.tool, permission.given)
    action = wanted_action(permission, os.path.realpath(folder), seen(folder / named) if named else None)
    links = links_of(action, folder)
    return replace(action, data={**action.data, "leads_to": links}) if links else action


def wanted_action(permission: Permission, folder: str, file: SeenFile | None) -> Action:
    """What it would do, as far as that can be told from this alone."""
    data: dict[str, Any] = {"input": dict(permission.given)}
    if change := edits.change(permission.tool, permission.given, file.text if file else None):
        data["diff"] = change.diff
    if file:
        data["file"] = file.plain
    return Action(kind=_kind(permission.tool), tool=permission.tool, folder=folder, data=data)


def links_of(action: Action, folder: Path) -> dict[str, str]:
    """Where what its input names leads, where that is elsewhere. In a shell line nobody can tell what is a path."""
    return {} if action.kind is ActionKind.SHELL else links_in(action.data.get("input"), folder)


def turned_links(ask: Ask, folder: Path) -> tuple[str, ...]:
    """What a person has put into the input that leads elsewhere than they were shown, in words: they wrote a path, and
    were not told of the links on its way."""
    found = verdict_of(ask)
    if not found or not found.action or not (ask.outcome and ask.outcome.changed):
        return ()
    now, shown = links_of(found.action, folder), found.action.data.get("leads_to", {})
    return tuple(f"where {quoted(path)} leads" for path in now if now[path] != shown.get(path))


def _kind(tool: str) -> ActionKind:
    return ActionKind.MCP if tool.startswith("mcp__") else _KINDS.get(tool, ActionKind.OTHER)


_KINDS = {
    "Bash": ActionKind.SHELL,
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"), ActionKind.EDIT),
    **dict.fromkeys(("Read", "Glob", "Grep", "LS"), ActionKind.READ),
    **dict.fromkeys(("WebFetch", "WebSearch"), ActionKind.FETCH),
    "ExitPlanMode": ActionKind.PLAN,
}


def decision(ask: Ask, changed: Sequence[str] = ()) -> ToolReply:
    """What the person's verdict means for the client. What `changed` since it was shown is not what they allowed."""
    found = verdict_of(ask)
    if found and found.action and found.allows(found.action):
        return deny(CHANGED.format(parts=" and ".join(changed))) if changed else allow(found.action.data["input"])
    return deny(_why_not(ask, ask.answer(DECISION)))


def is_for_the_rest(ask: Ask) -> bool:
    """Whether the person wants the same to be allowed from now on."""
    found = verdict_of(ask)
    return found is not None and found.allowed and found.scope is AllowScope.SESSION


def _why_not(ask: Ask, answer: Answer | None) -> str:
    said = [part for part in (answer.text, answer.note) if part] if answer else []
    match ask.state:
        case State.ANSWERED:
            return PLAIN_NO + (f" They said: {' '.join(said)}" if said else "")
        case State.REJECTED:
            reason = ask.outcome.reason if ask.outcome else ""
            return PLAIN_NO + (f" Reason: {reason}" if reason else "")
        case State.DECLINED:
            return "The user declined the request, so this was not allowed."
    return f"Nobody decided{_within(ask)}, so this was not allowed. That is not a decision of the user's."


def _within(ask: Ask) -> str:
    if not ask.timeout_ms:
        return ""
    seconds = ask.timeout_ms / 1000
    return f" within {seconds:g} second" + ("" if seconds == 1 else "s")


# Claude's own questions


def question_tool() -> AskTool:
    """AskUserQuestion as a tool of ours: its questions are ordinary asks."""
    return AskTool(name=NAME, title="", description="", schema=_SCHEMA, read=_read_questions)


def _read_questions(arguments: Arguments, asker: Asker, config: Config) -> AskRequest:
    permission, problems = read(arguments), Problems()
    found = question_fields.array_of_objects(problems, permission.given, "questions")
    most = config.ask_user_max_questions
    if not problems.found and not 1 <= len(found) <= most:
        problems.add("questions", f"expected 1 to {most} questions, got {len(found)}.")
    questions = tuple(
        _question(problems, raw, path, str(number), config) for number, (path, raw) in enumerate(found, start=1)
    )
    if len({question.text for question in questions}) < len(questions):
        problems.add("questions", "two of them have the same text, by which their answers are told apart.")
    problems.check()
    new = NewAsk(tool=NATIVE_QUESTIONS, questions=questions, asker=asker, timeout_ms=config.approve_timeout)
    return AskRequest(new=new, render=lambda ask: _answers(ask, permission), is_words_alone=True)


def _question(problems: Problems, raw: Mapping[str, Any], path: str, question_id: str, config: Config) -> Question:
    several = fields.boolean(problems, raw, "multiSelect", path, default=False)
    options: tuple[Option, ...] = ()
    if raw.get("options") not in (None, []):
        limits = (1, config.ask_user_max_options)
        options = question_fields.options_as(question_fields.object_option, problems, raw, path, limits)
    return Question(
        id=question_id,
        text=fields.text(problems, raw, ["question"], path, required=True),
        title=fields.text(problems, raw, ["header"], path, required=False),
        kind=Kind.TEXT if not options else Kind.MULTI_SELECT if several else Kind.SELECT,
        options=options,
    )


def _answers(ask: Ask, permission: Permission) -> ToolReply:
    if ask.state is State.ANSWERED:
        told = {question.text: _said(question, ask.answer(question.id)) for question in ask.questions}
        return allow({**permission.given, "answers": told})
    if ask.state is State.TIMED_OUT:
        return deny(f"Nobody answered{_within(ask)}. Do not assume an answer.")
    return deny(refusal_words(ask))


def _said(question: Question, answer: Answer | None) -> str:
    answer = answer or Answer(question=question.id)
    words = [*selected_labels(question, answer), *([answer.text] if answer.text is not None else [])]
    note = f" (note: {answer.note})" if answer.note else ""
    return ", ".join(words) + note
