"""What an agent asks by ACP's `session/request_permission`: which answers it takes, and the verdict as one of them.

An option is chosen by its kind and never by its place or its name: some agents list the widest first. What would allow
more than this one call is never chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sayso.adapters.acp_calls import Json
from sayso.agents.agent import items, mapping, words
from sayso.dialects.approve import NATIVE_QUESTIONS, Permission

CANCELLED: Mapping[str, Any] = {"outcome": {"outcome": "cancelled"}}
PLAIN_NO = "The user did not allow this."
"""What a denial says that came without a word."""
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


def questions_of(said: Json) -> Permission | None:
    """The questions that Qwen's own tool brings, as those of Claude Code's, which have the same fields."""
    found = mapping(said.get("_meta")).get("qwenQuestions")
    if not isinstance(found, list):
        return None
    return Permission(tool=NATIVE_QUESTIONS, given={"questions": found})


def answers_by_place(questions: Permission, given: Json) -> dict[str, Any]:
    """The answers as Qwen wants them: by the number of the question instead of its text."""
    told = mapping(given.get("answers"))
    asked = [words(mapping(question).get("question")) for question in questions.given["questions"]]
    return {str(place): told[text] for place, text in enumerate(asked) if text in told}
