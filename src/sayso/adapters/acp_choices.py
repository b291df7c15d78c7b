"""What can be chosen in a session of ACP, modes and models, and how the agent is told: by a request for each of them,
or as an option of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.agents.agent import items, mapping, words
from sayso.agents.model import Saying
from sayso.text import one_line

_MOST_NAMED = 12


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is offered, and the request by which one of it is chosen; `parameter` has the name of that one."""

    method: str
    parameter: str
    others: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    current: str = ""

    def parameters(self, name: str) -> Mapping[str, Any]:
        return {**self.others, self.parameter: name}

    def in_words(self) -> str:
        names = [one_line(name, 60) for name in self.names]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"It has {', '.join(names[:_MOST_NAMED])}{more}." if names else "There is none to choose."


def offered(result: Mapping[str, Any]) -> Mapping[Saying, Choice]:
    """What the reply to a new or loaded session tells."""
    modes, models = mapping(result.get("modes")), mapping(result.get("models"))
    own = {
        Saying.MODE: Choice(
            method="session/set_mode",
            parameter="modeId",
            names=_names(modes.get("availableModes"), "id"),
            current=words(modes.get("currentModeId")),
        ),
        Saying.MODEL: Choice(
            method="session/set_model",
            parameter="modelId",
            names=_names(models.get("availableModels"), "modelId"),
            current=words(models.get("currentModelId")),
        ),
    }
    return {what: choice if choice.names else _option(result, what) or choice for what, choice in own.items()}


def _names(values: object, key: str) -> tuple[str, ...]:
    return tuple(name for value in items(values) if (name := words(value.get(key))))


def _option(result: Mapping[str, Any], what: Saying) -> Choice | None:
    for option in items(result.get("configOptions")):
        if what in (option.get("category"), option.get("id")):
            groups = items(option.get("options"))
            values = [value for group in groups for value in (items(group.get("options")) or [group])]
            return Choice(
                method="session/set_config_option",
                parameter="value",
                others={"configId": words(option.get("id"))},
                names=_names(values, "value"),
                current=words(option.get("currentValue")),
            )
    return None
