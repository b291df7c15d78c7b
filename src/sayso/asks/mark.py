"""The mark of what an ask showed, so that an answer is never taken for anything that was not shown."""

from __future__ import annotations

import hashlib
import json

from sayso.asks.model import Ask
from sayso.records import asdict


def mark(ask: Ask) -> str:
    """What was shown of an ask, as a form or a button says it with an answer."""
    shown = [ask.id, ask.digest, ask.title, [asdict(question) for question in ask.questions]]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:32]
