"""What a person enters in a form, on its way to the answer."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from tests.web.house import USER, House, confirm, multi_select, new_ask, select, text

from sayso.asks.draft import Draft, Said, from_json, to_json
from sayso.asks.mark import mark
from sayso.asks.model import Answer, Ask, Kind, Option, Question
from sayso.web.entries import NOT_SHOWN, check, contradiction, from_form, takes_a_press
from sayso.web.fields import Fields
from sayso.web.wording import MISSING


def ask_of(*questions: Question) -> Ask:
    new = new_ask(*questions)
    return Ask(id="0" * 32, call_id="", tool=new.tool, questions=questions, asker=new.asker, created_at=0, changed_at=0)


ALL = ask_of(text(), select(), multi_select(), confirm(), text("Else?", required=False))


def answer(question: Question, **fields: list[str]) -> Answer:
    named = {name.replace("_", "-"): values for name, values in fields.items()}
    (given,) = check(ask_of(question), from_form(ask_of(question), Fields(named))).answers
    return given


@pytest.mark.parametrize(
    ("question", "fields", "chosen", "own"),
    [
        (text(), {"q0_own": ["  words\r\nmore "]}, (), "words\nmore"),
        (text(), {"q0_own": ["   "]}, (), None),
        (select(), {"q0": ["1"]}, ("option 1",), None),
        (select(), {"q0": ["1"], "q0_own": ["left over"]}, ("option 1",), None),
        (select(), {"q0": ["own"], "q0_own": ["mine"]}, (), "mine"),
        (select(), {"q0_own": ["mine"]}, (), "mine"),
        (select(), {"q0": ["own"], "q0_own": [""]}, (), ""),
        (select(), {"q0": ["0", "1"]}, ("option 0",), None),
        (select(), {"q0": ["7"]}, (), None),
        (select(required=False), {"q0": ["skip"], "q0_own": ["left over"]}, (), None),
        (multi_select(), {"q0": ["2", "0"]}, ("option 0", "option 2"), None),
        (multi_select(), {"q0": ["0"], "q0_own": ["and this"]}, ("option 0",), "and this"),
        (confirm(), {"q0": ["0"]}, ("yes",), None),
        (confirm(), {"settle": ["answer-1"]}, ("no",), None),
        (confirm(), {"settle": ["answer-7"]}, (), None),
        (confirm(), {"settle": ["answer-yes"]}, (), None),
        (select(), {"settle": ["answer-2"]}, ("option 2",), None),
        (confirm(), {"q0": ["1"], "q0_own": ["not taken"]}, ("no",), None),
    ],
)
def test_a_form_says_what_was_chosen(
    question: Question, fields: dict[str, list[str]], chosen: tuple[str, ...], own: str | None
) -> None:
    given = answer(question, **fields)
    assert (given.chosen, given.text) == (chosen, own)


def test_one_press_answers_only_what_is_one_question() -> None:
    one, two = ask_of(confirm()), ask_of(confirm(), confirm("Really?"))
    assert [takes_a_press(ask) for ask in (one, two, ask_of(confirm(required=False)), ask_of(select()))] == [
        True,
        False,
        False,
        False,
    ]
    for ask, refused in ((one, ""), (two, NOT_SHOWN)):
        assert contradiction(ask, Fields({"settle": ["answer-0"], "shown": [mark(ask)]})) == refused
    assert contradiction(one, Fields({"settle": ["answer-0"], "shown": [mark(two)]})) == NOT_SHOWN


def test_own_words_beside_a_chosen_option_go_along_as_a_note() -> None:
    assert answer(select(), q0=["1"], q0_own=["only after Friday"]).note == "only after Friday"
    both = answer(select(), q0=["1"], q0_own=["only after Friday"], q0_note=["and tell Bob"])
    assert both.note == "only after Friday\nand tell Bob"
    assert answer(multi_select(), q0=["1"], q0_own=["and this"]).note == ""


def test_own_words_beside_a_skip_are_not_left_out_in_silence() -> None:
    ask = ask_of(select(required=False))
    checked = check(ask, from_form(ask, Fields({"q0": ["skip"], "q0-own": ["only after Friday"]})))
    assert checked.problems[0].startswith('You also wrote "only after Friday".')


def test_every_question_that_needs_an_answer_is_named() -> None:
    checked = check(ALL, from_form(ALL, Fields({})))
    assert checked.problems == dict.fromkeys(range(4), MISSING)


def test_nothing_entered_is_nothing_to_keep() -> None:
    assert to_json(ALL, from_form(ALL, Fields({"csrf": ["x"]}))) == ""


def test_a_label_that_says_itself_that_it_is_recommended_is_marked_once(house: House) -> None:
    offered = (Option(id="1", label="SQLite (Recommended)", recommended=True), Option(id="2", label="Files"))
    ask = house.ask(Question(id="q", text="Where?", kind=Kind.SELECT, options=offered))
    cookie = f"{house.cookie_name}={house.session()}"
    page = house.web.call("GET", f"/asks/{ask.id}", cookie=cookie).text
    assert page.lower().count("recommended</span>") == 1
    assert "(Recommended)" not in page


def test_a_draft_goes_on_with_what_was_entered_elsewhere_since_its_page_was_made(house: House) -> None:
    ask = house.ask(text())
    question, cookie = ask.questions[0], f"{house.cookie_name}={house.session()}"
    call = partial(house.web.call, cookie=cookie, host=house.host_of())
    csrf = re.findall(r'name="csrf" value="(\w+)"', call("GET", f"/asks/{ask.id}").text)[0]

    def keep(words: str, begun: str) -> dict[str, Any]:
        form = {"csrf": csrf, "q0-own": words, "begun": begun}
        told: dict[str, Any] = call("POST", f"/asks/{ask.id}/draft", form=form).data
        return told

    def kept() -> str:
        return from_json(ask, house.desk.draft(ask.id, USER)).of(question).text

    first = keep("Ulm", "")
    assert (first["grew"], kept()) == (False, "Ulm")
    house.desk.keep_draft(ask.id, USER, to_json(ask, Draft(said={question.id: Said(text="Ulm or Bonn")})))
    second = keep("Ulm!", first["begun"])
    assert (second["grew"], kept()) == (True, "Ulm or Bonn!")
    assert from_json(ask, second["begun"]).of(question).text == "Ulm or Bonn!"
    assert keep("", second["begun"]) == {"begun": "", "grew": False}
    assert house.desk.draft(ask.id, USER) == "", "what is emptied is forgotten"


def test_what_was_entered_elsewhere_stays_to_be_seen_when_it_is_not_what_was_sent(house: House) -> None:
    asks = [house.ask(text(f"Where {number}?")) for number in range(2)]
    call = partial(house.web.call, cookie=f"{house.cookie_name}={house.session()}", host=house.host_of())
    csrf = re.findall(r'name="csrf" value="(\w+)"', call("GET", f"/asks/{asks[0].id}").text)[0]
    for ask, words in zip(asks, ("Bonn", "Ulm and more"), strict=True):
        file = house.desk.keep_attachment(ask.id, USER, "map.txt", b"From Ulm to Bonn")
        elsewhere = Said(text="Ulm", own=True, attachments=(file,) if words == "Bonn" else ())
        house.desk.keep_draft(ask.id, USER, to_json(ask, Draft().put(ask.questions[0], elsewhere)))
        sent = {"csrf": csrf, "settle": "answer", "q0-own": words, "begun": "", "shown": mark(ask)}
        assert call("POST", f"/asks/{ask.id}", form=sent).status == 303
    told, known = (call("GET", f"/asks/{ask.id}").text.partition("What you had entered")[2] for ask in asks)
    assert "Ulm" in told
    assert "map.txt" in told
    assert not known, "all of it was sent"
    assert house.desk.added(asks[1].id, USER) == ()
