"""Any text on the whole way from the agent to the person and back: intact, or refused in clear words."""

from __future__ import annotations

import json

import pytest
from tests.e2e.stdio.harness import TOOL, WAIT, Agent, Person, Place, data_of, question, text_of

from sayso.asks.model import Answer

TEXTS = {
    "quotes": "\"double\" 'single' `back` “curly” \\\" \\' '' ; DROP TABLE asks; --",
    "newlines": "one\ntwo\r\nthree\rfour\n\n\nfive\u2028six\u2029seven\u0085eight",
    "nul": "before\x00after\x00",
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9b31m",
    "escapes": "\x1b[2J\x1b]0;title\x07\x1b]52;c;c2F5c28=\x1b\\ \\n \\u0000 \\x1b %s {} $HOME",
    "right to left": "\u202eabc\u202c \u2066def\u2069 \u200fשלום\u200e مرحبا",
    "beyond the basic plane": "👩‍👩‍👧‍👦 𝕊𝕒𝕪𝕤𝕠 \U0010ffff \ufffe \ufeff e\u0301",
    "markup": "<script>alert(1)</script> &amp; **bold** [x](javascript:y) {{ 7 * 7 }} </textarea>",
    "spaces around": "  \t indented, and with spaces behind  \t ",
}


@pytest.fixture(params=TEXTS, ids=lambda name: name.replace(" ", "-"))
def nasty(request: pytest.FixtureRequest) -> str:
    return TEXTS[request.param]


def test_any_text_comes_back_as_it_went(agent: Agent, person: Person, nasty: str) -> None:
    offered = {"label": f"label {nasty}", "description": f"description {nasty}"}
    call = agent.ask(question(f"chosen {nasty}", offered, "other", title=nasty), question(f"own {nasty}"))
    ask = person.wait_for_ask(f"chosen {nasty}")
    chosen, own = ask.questions
    assert (chosen.text, chosen.title, own.text) == (f"chosen {nasty}", nasty, f"own {nasty}")
    assert (chosen.options[0].label, chosen.options[0].description) == (offered["label"], offered["description"])
    person.answer(ask, offered["label"], Answer(question=own.id, text=f"said {nasty}", note=f"note {nasty}"))
    result = call.result(WAIT)
    first, second = data_of(result)["answers"]
    assert (first["question"], first["selected"]) == (f"chosen {nasty}", [offered["label"]])
    assert (second["question"], second["text"], second["note"]) == (f"own {nasty}", f"said {nasty}", f"note {nasty}")
    assert all(text in text_of(result) for text in (offered["label"], f"said {nasty}", f"note {nasty}"))


def test_any_reason_comes_back_as_it_went(agent: Agent, person: Person, nasty: str) -> None:
    call = agent.ask(question(f"why not {nasty}"))
    person.reject(person.wait_for_ask(f"why not {nasty}"), nasty)
    result = call.result(WAIT)
    assert data_of(result)["reason"] == nasty
    assert nasty in text_of(result)


def test_any_text_typed_at_the_command_line_reaches_the_agent_and_never_drives_a_terminal(
    agent: Agent, person: Person, shared_place: Place
) -> None:
    nasty = TEXTS["escapes"] + TEXTS["nul"] + TEXTS["right to left"]
    call = agent.ask(question(f"typed {nasty}"))
    ask = person.wait_for_ask(f"typed {nasty}")
    shown = shared_place.run("show", ask.id)
    answered = shared_place.run("answer", ask.id, "-", given=nasty)
    assert (shown.returncode, answered.returncode) == (0, 0)
    for character in ("\x1b", "\x00", "\x07", "\u202e"):
        assert character not in shown.stdout + shown.stderr + answered.stdout + answered.stderr
    assert data_of(call.result(WAIT))["answers"][0]["text"] == nasty


def test_a_million_characters_come_back_as_they_went(agent: Agent, person: Person) -> None:
    long = "ä" * 999_990
    call = agent.ask(question(f"question: {long}"), question("And?", f"label: {long}", "short"))
    ask = person.wait_for_ask(f"question: {long}")
    person.answer(ask, f"answer: {long}", f"label: {long}")
    first, second = data_of(call.result(WAIT))["answers"]
    assert first["question"] == f"question: {long}"
    assert first["text"] == f"answer: {long}"
    assert second["selected"] == [f"label: {long}"]


@pytest.mark.parametrize("path", ["prompt", "title", "options[1].label", "options[1].description"])
def test_more_than_a_million_characters_are_refused_by_path(agent: Agent, path: str) -> None:
    long = "x" * 1_000_001
    asked = question("Too long?", "a", {"label": "b", "description": "c"})
    target = asked["options"][1] if "." in path else asked
    target[path.rpartition(".")[2]] = long
    result = agent.ask(asked).result(WAIT)
    assert result.is_error
    assert text_of(result) == (
        f"questions[0].{path}: is 1,000,001 characters long; at most 1,000,000 are allowed. Shorten it."
    )


def test_options_that_are_called_the_same_stay_apart(agent: Agent, person: Person, shared_place: Place) -> None:
    text = f"Which of the same, on {agent.client.protocol_version}?"
    same = [{"label": "Same", "description": about} for about in ("left", "right", "both")]
    call = agent.ask(question(text, *same, multiSelect=True))
    ask = person.wait_for_ask(text)
    unclear = shared_place.run("answer", ask.id, "Same")
    assert unclear.returncode == 2
    assert "#1 or #2 or #3" in unclear.stderr
    assert shared_place.run("answer", ask.id, "#2", "#3").returncode == 0
    result = call.result(WAIT)
    (answer,) = data_of(result)["answers"]
    assert answer["selected"] == ["Same", "Same"]
    assert answer["selected_ids"] == ["2", "3"]
    assert "→ Same (option 2)\n   → Same (option 3)" in text_of(result)


def test_half_of_a_surrogate_pair_becomes_a_replacement_character(place: Place) -> None:
    """Some clients cut an emoji in two. It is no character and cannot be kept; the rest of the call is."""
    with place.pipe() as pipe, place.person() as person:
        pipe.connect("2025-11-25")
        call = {"name": TOOL, "arguments": {"questions": [question("Cut \ud83d?")]}}
        pipe.send_line(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}).encode())
        person.answer(person.wait_for_ask("Cut \ufffd?"), "Yes")
        (answer,) = pipe.response(7)["result"]["structuredContent"]["answers"]
    assert answer["question"] == "Cut \ufffd?"
