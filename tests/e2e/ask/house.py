"""What the end-to-end tests of the ask tools share: client programs connected to our server, and quick answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from tests.e2e.clients.driver import FORMS, ClientProgram, ServerCommand
from tests.e2e.clients.events import HOLD, CallResult, Elicitation, Json, Reply
from tests.e2e.clients.kinds import CLIENTS, ClientKind
from tests.e2e.stdio.harness import WAIT, Person, Place

from sayso.asks.model import Answer, Ask, Question

SAYSO = Path(sys.executable).parent / "sayso"
AUTO, LEGACY = (
    next(kind for kind in CLIENTS if kind.library == "mcp-2" and kind.mode == mode) for mode in ("auto", "legacy")
)
"""The SDK's own client in its two modes, for what does not depend on the library."""

UNSEEN = Reply(action="cancel", after_ms=15)
"""What a client without a person in front of it does with a form."""

_folders = count(1)


def command(place: Place, profile: str = "all", **settings: str) -> ServerCommand:
    """How a client starts the server; `settings` are added to the place's own."""
    named = {f"SAYSO_{name.upper()}": value for name, value in settings.items()}
    args = ["server", "--profile", profile]
    return ServerCommand(command=str(SAYSO), args=args, env={**place.environment, **named}, cwd=place.project)


@contextmanager
def connected(
    kind: ClientKind,
    place: Place,
    profile: str = "all",
    *,
    name: str = "tester",
    elicitation: Json | None = FORMS,
    default_reply: Reply = HOLD,
    **settings: str,
) -> Iterator[ClientProgram]:
    """A client program with a server of its own. Forms stay open until the test replies."""
    with ClientProgram(kind, place.folder / f"client{next(_folders)}") as program:
        server = command(place, profile, **settings)
        program.connect(server, name=name, elicitation=elicitation, default_reply=default_reply)
        yield program


def unattended_forms(program: ClientProgram) -> Reply:
    """What a client does with forms in tests about the inbox: they stay open, but where that would deafen it."""
    return HOLD if program.kind.sees_withdrawal else UNSEEN


def form_about(program: ClientProgram, text: str) -> Elicitation:
    """The form that speaks of this; those of other tests are passed over."""
    event = program.wait_event(
        lambda event: event.kind == "elicitation" and text in event.fields["params"]["message"], timeout=WAIT
    )
    params = event.fields["params"]
    return Elicitation(
        form=event.fields["form"],
        message=params["message"],
        mode=params.get("mode", "form"),
        schema=params.get("requestedSchema"),
        url=params.get("url"),
    )


def chosen(question: Question, *labels: str, note: str = "") -> Answer:
    """An answer with these options."""
    ids = tuple(option.id for option in question.choices if option.label in labels)
    assert len(ids) == len(labels)
    return Answer(question=question.id, chosen=ids, note=note)


def skipped(question: Question) -> Answer:
    return Answer(question=question.id)


def answered(program: ClientProgram, person: Person, tool: str, arguments: Json, *said: str | Answer) -> CallResult:
    """Call the tool, answer from the inbox, and the result."""
    key = program.call_start(tool, arguments)
    person.answer(person.wait_for_ask(subject(arguments)), *said)
    return program.wait_result(key)


def subject(arguments: Json) -> str:
    """The text of the first question of a call."""
    first: Json = arguments["questions"][0] if "questions" in arguments else arguments
    return str(first.get("question") or first["prompt"])


def asks_named(person: Person, text: str) -> list[Ask]:
    """Every ask, open or ended, whose first question has this text."""
    return [ask for ask in person.asks() if ask.questions and ask.questions[0].text == text]
