"""How a command stands is one word, on whatever surface a person looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.asks.model import Asker
from sayso.cli.texts import german_texts
from sayso.operations.operation import TO_BE_ASKED, Operation, OperationState
from sayso.operations.words import standing
from sayso.records import replace
from sayso.tui.texts import LANGUAGES
from sayso.web import command_wording

_OF = Operation(
    id="1",
    tool="build",
    argv=("make",),
    cwd="/",
    asker=Asker(),
    host="here",
    process="1",
    folder=Path("/"),
    changed_at=0,
    server="",
    created_at=0,
)
GERMAN = {english: german for texts in german_texts().values() for english, german in texts.items()}
OPERATIONS = [
    *(replace(_OF, state=state) for state in OperationState),
    replace(_OF, state=OperationState.RUNNING, cancelled_by="ada"),
    replace(_OF, say_so=TO_BE_ASKED),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=standing)
def test_a_command_stands_in_the_same_word_in_the_terminal_the_browser_and_at_the_command_line(
    operation: Operation,
) -> None:
    word = standing(operation)
    assert command_wording.standing(operation).word.lower() == word
    at_the_prompt = {"en": word, "de": GERMAN[word]}
    for language, texts in LANGUAGES.items():
        if operation.stopping:
            said = texts.state_stopping
        elif operation.awaits_say_so:
            said = texts.awaits_say_so
        else:
            said = getattr(texts, f"state_{operation.state.value}")
        assert said == at_the_prompt[language]
