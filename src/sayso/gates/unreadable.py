"""What becomes of a prompt that could not be read or brought to anybody: whatever is wrong with it, what a rule denies
is denied. Nothing is ever allowed here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from sayso import untrusted_json
from sayso.config import load
from sayso.dialects import approve
from sayso.gates.asker import asker_of, project_of, real_folder
from sayso.gates.client import GateClient, GateVerdict
from sayso.permissions.ruled import denied_because
from sayso.permissions.rules_here import Rules
from sayso.records import replace
from sayso.rules.uses import UNCLEAR

_DEEPEST = 50
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^"\[\]{}]+', re.DOTALL)


def denied(client: GateClient, text: bytes) -> Mapping[str, Any] | None:
    """What the client is told where a rule denies it, by as much of it as can be read; None: nothing."""
    event = untrusted_json.loads(_shallow(text.decode("utf-8", "replace")))
    if not isinstance(event, dict) or client.stands_back(event, os.environ):
        return None
    prompt = client.read(_with_numbers(event), os.environ)
    if prompt.permission.is_question:
        return None
    config = load(cwd=project_of(prompt.folder))
    action = approve.wanted_action(prompt.permission, real_folder(prompt.folder), None)
    unclear = replace(action, data={**action.data, UNCLEAR: True})
    ruling = Rules(config).ruling(unclear, asker_of(client, prompt, config))
    if ruling is None or not ruling.is_denied:
        return None
    return client.told(GateVerdict(allowed=False, given={}, message=denied_because(ruling)), prompt)


def _shallow(text: str) -> str:
    """Without what lies too deep."""
    told, depth = list[str](), 0
    for found in _PIECE.finditer(text):
        piece = found[0]
        if piece in "[{":
            depth += 1
            told += ["null"] if depth == _DEEPEST + 1 else []
        if depth <= _DEEPEST:
            told.append(piece)
        if piece in "]}":
            depth -= 1
    return "".join(told)


def _with_numbers(value: Any) -> Any:
    """Without what no JSON takes for one."""
    if isinstance(value, Mapping):
        return {key: _with_numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_with_numbers, value))
    return None if isinstance(value, float) and value - value != 0 else value
