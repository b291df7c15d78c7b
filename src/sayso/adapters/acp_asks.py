"""What an agent asks by ACP's `session/request_permission`: which answers it takes, and the verdict as one of them.

An option is chosen by its kind and never by its place or its name: some agents list the widest first. What would allow
more than this one call is never chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sayso.adapters.acp_calls import AcpCall, Json
from sayso.agents.agent import items, mapping, words
from sayso.dialects.approve import NATIVE_QUESTIONS, Permission

CANCELLED: Mapping[str, Any] = {"outcome": {"outcome": "cancelled"}}
_ONCE, _NOT_NOW = "allow_once", "reject_once"


def takes_yes(options: object) -> bool:
    """Whether a plain yes to this very thing is among what it takes."""
    return bool(_of_kind(options, _ONCE))


def yes(options: object, **more: Any) -> Json:
    return {**_selected(_of_kind(options, _ONCE)), **more}


def no(options: object) -> Json:
    """Where it takes no plain no, that the request was cancelled, which is one."""
    return _selected(_of_kind(options, _NOT_NOW))


def _of_kind(options: object, kind: str) -> Sequence[str]:
    """The names of those of a kind, without any that stands twice: nobody knows what the agent takes that for."""
    named = [(words(option.get("optionId")), option.get("kind")) for option in items(options)]
    names = [name for name, _ in named]
    return [name for name, its_kind in named if its_kind == kind and names.count(name) == 1]


def _selected(found: Sequence[str]) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": found[0]}} if found and found[0] else CANCELLED


# Questions


_QUESTION = frozenset(
    ("question", "prompt", "header", "placeholder", "type", "options", "multiSelect", "questions", "title", "timeout")
) | {"nonBlocking"}
"""All that the tool that asks people can be given."""


def is_question(call: AcpCall) -> bool:
    """Whether the use of the tool that asks people is that and nothing else."""
    asks = {"question", "prompt", "questions"} & call.given.keys()
    return bool(asks) and call.given.keys() <= _QUESTION and _only_asks(call)


def questions_of(call: AcpCall, said: Json) -> Permission | None:
    """The questions that Qwen's own tool brings, as those of Claude Code's, which have the same fields; None where the
    tool is given anything else, which answers to the questions would allow."""
    found = mapping(said.get("_meta")).get("qwenQuestions")
    if not isinstance(found, list) or not call.given.keys() <= {"questions", "metadata"} or not _only_asks(call):
        return None
    return Permission(tool=NATIVE_QUESTIONS, given={"questions": found})


def answers_by_place(questions: Permission, given: Json) -> dict[str, Any]:
    """The answers as Qwen wants them: by the number of the question instead of its text."""
    told = mapping(given.get("answers"))
    asked = [words(mapping(question).get("question")) for question in questions.given["questions"]]
    return {str(place): told[text] for place, text in enumerate(asked) if text in told}


def _only_asks(call: AcpCall) -> bool:
    is_other = call.kind in ("other", "think")
    return is_other and not (call.unclear or call.paths or any(part.get("type") == "diff" for part in call.content))
