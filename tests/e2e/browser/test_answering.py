"""A real agent asks, a person answers in a real browser: every kind of question, in every way people use a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import mcp_types as types
import pytest
from playwright.sync_api import Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.clients.process import wait_until
from tests.e2e.stdio.harness import Agent, text_of
from tests.web.house import WAIT, House, answers_of, confirm, multi_select, select, text

from sayso.asks.model import Ask, State

pytestmark = pytest.mark.usefixtures("read_quickly")

QUESTIONS = [
    {"id": "name", "question": "What is the service **called**?", "placeholder": "For example: billing"},
    {"id": "base", "question": "Which database?", "type": "select", "options": ["SQLite", "PostgreSQL", "Files"]},
    {"id": "checks", "question": "Which checks?", "type": "multi-select", "options": ["Lint", "Types", "Tests"]},
    {"id": "go", "question": "Publish it?", "type": "confirm"},
    {"id": "more", "question": "Anything else?", "required": False},
]
EXPECTED = {"name": ["billing"], "base": ["PostgreSQL"], "checks": ["Lint", "Tests"], "go": ["yes"], "more": []}
Way = Callable[[Page], None]
HEIGHT = "one => one.offsetHeight"


@pytest.fixture(scope="module")
def agent(shared_house: House) -> Iterator[Agent]:
    with shared_house.place.agent(program="sayso", flags=["--profile", "codenomad"]) as agent:
        yield agent


def ask(agent: Agent, **more: Any) -> Future[types.CallToolResult]:
    return agent.call("ask_user", {"questions": QUESTIONS, **more})


def received(call: Future[types.CallToolResult]) -> dict[str, list[str]]:
    data = json.loads(text_of(call.result(WAIT)))
    assert data["answered"] is True
    return {answer["questionId"]: answer["values"] for answer in data["answers"]}


def with_the_mouse(page: Page) -> None:
    page.get_by_role("link", name="Setting up").click()
    page.get_by_role("textbox", name="Question 1").fill("billing")
    page.get_by_text("PostgreSQL").click()
    page.get_by_text("Lint").click()
    page.get_by_text("Tests").click()
    page.get_by_text("Yes", exact=True).click()
    page.get_by_role("button", name="Send answers").click()


def with_the_keyboard(page: Page) -> None:
    """Nothing but keys, and only where tabbing leads."""
    tab_to(page, page.get_by_role("link", name="Setting up"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/asks/*")
    # A form that has only just appeared takes no keys.
    expect(page.locator("form[data-answer]")).not_to_have_attribute("aria-disabled", "true")
    tab_to(page, page.get_by_role("textbox", name="Question 1"))
    page.keyboard.type("billing")
    tab_to(page, page.get_by_role("radio", name="SQLite"))
    page.keyboard.press("ArrowDown")
    tab_to(page, page.get_by_role("checkbox", name="Lint"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("checkbox", name="Tests"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("radio", name="Yes"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Send answers"))
    page.keyboard.press("Enter")


def with_a_finger(page: Page) -> None:
    page.get_by_role("link", name="Setting up").tap()
    page.get_by_role("textbox", name="Question 1").fill("billing")
    page.get_by_text("PostgreSQL").tap()
    page.get_by_text("Lint").tap()
    page.get_by_text("Tests").tap()
    page.get_by_text("Yes", exact=True).tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "no sideways scrolling"
    page.get_by_role("button", name="Send answers").tap()


def tab_to(page: Page, wanted: Any) -> None:
    """Press Tab until the wanted element has the focus; it must be reachable so, and the focus must be seen."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            assert page.evaluate("document.activeElement.matches(':focus-visible')")
            return
    raise AssertionError(f"tabbing does not lead to {wanted}")


WAYS: dict[str, tuple[Way, dict[str, Any]]] = {
    "mouse": (with_the_mouse, {}),
    "keyboard": (with_the_keyboard, {}),
    "phone": (with_a_finger, PHONE),
    "no script": (with_the_mouse, {"java_script_enabled": False}),
    "no script, keyboard": (with_the_keyboard, {"java_script_enabled": False}),
    "no script, phone": (with_a_finger, {**PHONE, "java_script_enabled": False}),
}


@pytest.mark.requirement("N-26", "N-27", "N-28", "N-32", "N-34", "N-35", "N-36")
@pytest.mark.parametrize("way", WAYS)
def test_every_kind_of_question_is_answered_in_one_form(house: House, agent: Agent, sign_in: SignIn, way: str) -> None:
    call = ask(agent, title="Setting up")
    house_has(house, "Setting up")
    answer, options = WAYS[way]
    page = sign_in(**options)
    answer(page)
    assert received(call) == EXPECTED
    expect(page.locator("#standing")).to_contain_text("Answered by you in the browser")
    expect(page.locator("#standing")).to_contain_text("tester received it.")


def house_has(house: House, title: str) -> Ask:
    """The open ask of this title, once the agent's server has put it."""

    def found() -> list[Ask]:
        return [each for each in house.desk.inbox(most=1000) if each.title == title and each.wait]

    assert wait_until(lambda: bool(found()), WAIT), f"no ask is called {title!r}"
    return found()[0]


@pytest.mark.requirement("N-29", "N-30", "N-31")
def test_title_placeholder_and_markdown_of_an_agent_are_shown(house: House, agent: Agent, sign_in: SignIn) -> None:
    call = ask(agent, title="Before we begin")
    found = house_has(house, "Before we begin")
    page = sign_in(f"/asks/{found.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Before we begin")
    assert page.get_by_role("heading").all_text_contents().index("Before we begin") <= 1, "before every question"
    expect(page.get_by_role("textbox", name="Question 1")).to_have_attribute("placeholder", "For example: billing")
    expect(page.locator(".prose strong")).to_have_text("called")
    call.cancel()


@pytest.mark.requirement("N-33")
@pytest.mark.parametrize("script", [True, False])
def test_a_required_question_cannot_be_skipped(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(text("Name it"), select(), multi_select(), confirm(), text("Or not", required=False))
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    page.get_by_text("Green").first.click()
    page.get_by_role("button", name="Send answers").click()
    alert = page.get_by_role("alert")
    expect(alert.get_by_role("link")).to_have_count(3)
    expect(alert).to_contain_text("Question 1 needs an answer.")
    expect(alert).not_to_contain_text("Question 2")
    expect(alert).not_to_contain_text("Question 5")
    expect(page.get_by_role("radio", name="Green")).to_be_checked()
    assert house.desk.get(ask.id).state is State.PENDING


def test_what_is_wrong_names_its_question_and_goes_when_that_is_answered(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text("Which one?", title="Database"), text("And the other?"))
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("button", name="Send answers").click()
    alert, first = page.get_by_role("alert"), page.locator("#q0")
    expect(alert.get_by_role("listitem")).to_have_text(["Database needs an answer.", "Question 2 needs an answer."])
    expect(first.get_by_text("This question needs an answer.")).to_be_visible()
    first.get_by_role("textbox").first.fill("SQLite")
    expect(alert.get_by_role("listitem")).to_have_text(["Question 2 needs an answer."])
    expect(first).not_to_have_class("wrong")
    expect(first.get_by_text("This question needs an answer.")).to_have_count(0)
    page.locator("#q1").get_by_role("textbox").first.fill("None")
    expect(alert).to_have_count(0)


@pytest.mark.requirement("N-32")
@pytest.mark.parametrize("script", [True, False])
def test_an_optional_question_of_any_kind_can_be_skipped(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(text(required=False), select(required=False), multi_select(required=False), confirm(required=False))
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    page.get_by_text("Green").first.click()
    page.get_by_text("Skip this question").first.click()
    page.get_by_role("button", name="Send answers").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    assert all(answer.skipped for answer in answers_of(house.desk.get(ask.id)))


@pytest.mark.requirement("N-34")
def test_a_select_takes_one_option_only(house: House, sign_in: SignIn) -> None:
    page = sign_in(f"/asks/{house.ask(select()).id}")
    page.get_by_text("Red", exact=True).click()
    page.get_by_text("Blue").click()
    expect(page.locator("input:checked")).to_have_count(1)


@pytest.mark.requirement("N-37")
@pytest.mark.parametrize("script", [True, False])
def test_own_words_take_the_place_of_a_choice_or_join_several(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(select(), multi_select("And which?"))
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    first, second = page.get_by_role("textbox", name="Other").all()
    first.fill("Ochre,\nif you have it")
    page.get_by_role("checkbox", name="Blue").check()
    second.fill("and white")
    page.get_by_role("button", name="Send answers").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    one, many = answers_of(house.desk.get(ask.id))
    assert (one.chosen, one.text) == ((), "Ochre,\nif you have it"), "with the line break that was typed"
    assert (many.chosen, many.text) == (("option 2",), "and white")


def test_own_words_go_along_with_an_option_chosen_after_them(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select())
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("textbox", name="Other").fill("Ochre")
    expect(page.get_by_role("radio", name="Other")).to_be_checked()
    along = page.get_by_text("Goes along as a note with what you chose.")
    expect(along).to_be_hidden()
    page.get_by_text("Red", exact=True).click()
    expect(along).to_be_visible()
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator(".said")).to_have_text("Red")
    expect(page.get_by_text("Note: Ochre")).to_be_visible()
    (given,) = answers_of(house.desk.get(ask.id))
    assert (given.chosen, given.text, given.note) == (("option 0",), None, "Ochre")


def test_own_words_that_were_promised_but_not_written_are_asked_for(house: House, sign_in: SignIn) -> None:
    page = sign_in(f"/asks/{house.ask(select()).id}")
    page.get_by_text("Other", exact=True).click()
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("alert")).to_contain_text("The answer's own text is empty.")


@pytest.mark.parametrize("script", [True, False])
def test_a_note_goes_with_an_answer(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(confirm())
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    page.get_by_text("Add a note").click()
    page.get_by_role("textbox", name="A note").fill("not before Friday")
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.get_by_text("Note: not before Friday")).to_be_visible()
    (answer,) = answers_of(house.desk.get(ask.id))
    assert (answer.chosen, answer.note) == (("no",), "not before Friday")


def test_a_yes_or_no_is_two_buttons_below_the_question(house: House, sign_in: SignIn) -> None:
    page = sign_in(f"/asks/{house.ask(confirm('Delete `old-tables` now?')).id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete old-tables now?")
    expect(page.get_by_role("group", name="Delete old-tables now?").get_by_role("button")).to_have_text(["Yes", "No"])
    expect(page.get_by_role("radio")).to_have_count(0)
    expect(page.get_by_text("Reject")).to_have_count(0)


def test_a_long_form_says_how_much_of_it_is_answered(house: House, sign_in: SignIn) -> None:
    page = sign_in(f"/asks/{house.ask(text(), select(), multi_select()).id}", **PHONE)
    progress, send = page.locator("[data-progress]"), page.get_by_role("button", name="Send answers")
    expect(progress).to_have_text("0 of 3")
    expect(send).to_be_in_viewport()
    high = send.evaluate(HEIGHT)
    page.get_by_role("textbox", name="What shall I call it?").fill("Sayso")
    page.get_by_role("radio", name="Green").check()
    expect(progress).to_have_text("2 of 3")
    expect(send).to_be_in_viewport()
    draft = page.locator("[data-draft-note]")
    expect(draft).to_have_text("Kept as a draft")
    assert send.evaluate(HEIGHT) == high, "a word beside it does not move what is pressed"


def test_the_button_that_sends_a_choice_among_many_stays_in_view(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Which region?", *(f"region {number}" for number in range(40))))
    page = sign_in(f"/asks/{ask.id}", **PHONE)
    send = page.get_by_role("button", name="Send answer")
    expect(send).to_be_in_viewport(ratio=1)
    # Sent with nothing chosen, it has no draft to speak of.
    with page.expect_response("**/draft"):
        send.tap()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("[data-draft-note]")).to_be_empty()
    page.get_by_role("radio", name="region 1", exact=True).check()
    expect(page.locator("[data-draft-note]")).to_have_text("Kept as a draft")


def test_an_agents_code_can_be_copied(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("So?\n\n```sh\nmake all\n```"))
    page = sign_in(f"/asks/{ask.id}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "make all\n"
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.get_by_role("button", name="Copied").click()
    expect(page.get_by_role("button", name="Not copied")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_an_ask_is_rejected_with_a_reason(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(select())
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    page.get_by_text("Reject instead").click()
    page.get_by_label("Why?").fill("wrong question")
    page.get_by_role("button", name="Reject the question").click()
    expect(page.locator("#standing")).to_contain_text("Rejected by you in the browser")
    expect(page.locator("#standing")).to_contain_text("Reason: wrong question")
    settled = house.desk.get(ask.id)
    assert settled.state is State.REJECTED
    assert settled.outcome is not None
    assert (settled.outcome.reason, settled.outcome.person, settled.outcome.surface) == (
        "wrong question",
        "ada",
        "browser",
    )


@pytest.mark.parametrize("script", [True, False])
def test_the_enter_key_in_a_field_sends_nothing(house: House, sign_in: SignIn, script: bool) -> None:
    ask = house.ask(confirm(), text("Why?", required=False))
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    page.get_by_role("radio", name="Yes").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Question 2").press("Enter")
    expect(page.get_by_role("button", name="Send answers")).to_be_visible()
    assert house.desk.get(ask.id).state is State.PENDING


def test_control_and_enter_sends(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text())
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("textbox", name="Question").fill("Sayso")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    assert answers_of(house.desk.get(ask.id))[0].text == "Sayso"


def test_after_sending_a_person_can_go_straight_on_to_the_next_question(house: House, sign_in: SignIn) -> None:
    first, second = house.ask(confirm("First?")), house.ask(confirm("Second?"))
    page = sign_in("/settings")
    page.get_by_label("Go on with the next question").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved for this browser.")).to_be_visible()
    for ask in (first, second):
        page.goto(f"/asks/{ask.id}")
        page.get_by_role("button", name="Yes").click()
        expect(page.locator(".banner.done")).to_contain_text(f"Answered: {ask.questions[0].text}")
    assert page.url == f"{house.web.address}/?sent={second.id}"
