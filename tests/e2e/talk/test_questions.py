"""Questions of a headless agent, inline in the browser: their four states, and that each answer finds its question."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.test_attachments import DROP
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, card, permit, process_of, say
from tests.test_pictures import PNG, photo
from tests.web.house import USER

from sayso.agents.model import EventKind, Run
from sayso.asks.model import Settler
from sayso.permissions.desk import PermissionDesk
from sayso.pictures import without_metadata

pytestmark = pytest.mark.usefixtures("read_quickly")

RECORD = """
(text) => {
  const id = [...document.querySelectorAll("[data-card]")].find((card) => card.textContent.includes(text)).id;
  window.seen = [];
  const note = () => {
    const card = document.getElementById(id);
    const disabled = card.querySelector("fieldset")?.disabled ?? null;
    window.seen.push([card.dataset.state, disabled, card.textContent.trim(), card.querySelector(".spinner") !== null]);
  };
  new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
}
"""
"""Notes every state that the card with this text goes through, however short."""

ARRIVALS = """
window.arrivals = [];
new MutationObserver(() => {
  const cards = document.querySelectorAll("[data-card]").length;
  while (window.arrivals.length < cards) window.arrivals.push(Date.now());
}).observe(document, { subtree: true, childList: true });
"""
"""Notes when each card is there."""

MESSAGES = """
() => {
  window.messages = [];
  const source = new EventSource(document.querySelector("[data-talk]").dataset.talk + "?after=1.0");
  source.addEventListener("message", (event) => window.messages.push(JSON.parse(event.data)));
}
"""

NOTE_KEPT = """
() => {
  const send = window.fetch;
  window.kept = [];
  window.fetch = (address, options) => {
    if (/attempt/.test(options?.body)) window.kept.push(options.keepalive);
    return send(address, options);
  };
}
"""
"""Notes of each answer that is sent whether the browser is to send it on once its page is left."""

AWAIT = """
(type) => new Promise((resolve) => {
  const look = () => {
    const found = window.messages.find((message) => message.type === type);
    if (found) resolve(found);
    else setTimeout(look, 20);
  };
  look();
})
"""


def _await_message(page: Page, kind: str) -> dict[str, Any]:
    told: dict[str, Any] = page.evaluate(AWAIT, kind)
    return told


def _heard(stage: Stage, run: Run) -> list[str]:
    return [text for text in stage.texts(run) if text.startswith("Heard: ")]


@pytest.mark.requirement("P-43", "P-44", "P-47", "P-48", "P-51", "P-52", "P-53", "P-54", "P-65")
def test_a_single_choice_goes_through_its_states_and_the_agent_goes_on(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    go = stage.folder / "go-1"
    conversation = begin(page, stage.project(), ask("Which approach should I use?", options=OPTIONS), f"wait {go}")
    shown = card(page, "Which approach should I use?")
    expect(shown).to_have_attribute("data-state", "open")
    # Inline: within the turn, in the flow of the page, and nothing else is blocked.
    expect(page.locator("#turn-1 [data-parts] > [data-card]")).to_have_count(1)
    expect(page.locator("dialog, [role=dialog], [aria-modal]")).to_have_count(0)
    expect(shown.get_by_role("radio")).to_have_count(3)
    expect(shown.get_by_role("textbox", name="Other")).to_be_visible()
    page.evaluate(RECORD, "Which approach should I use?")
    shown.get_by_label("Option A").check()
    with page.expect_request("**/claude/submit-answer*") as sent:
        shown.get_by_role("button", name="Send answer").click()
    _is_as_the_relay_wants(sent.value, stage, conversation)
    summary = page.locator("[data-card] [data-summary]")
    expect(summary).to_have_text("You answered: Option A")
    states = page.evaluate("window.seen")
    assert ["open", True] in [state[:2] for state in states], "the form was disabled"
    waiting = [state for state in states if state[0] == "sent"]
    assert waiting
    assert all("Answer sent, waiting for Claude..." in text and spins for _, _, text, spins in waiting)
    _tells_the_question_once(page)
    go.touch()
    assert _heard(stage, stage.ended(conversation)) == ["Heard: User selected: Option A"]
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
    # A reload tells the same once more, from the start.
    page.reload()
    expect(summary).to_have_text("You answered: Option A")


def _is_as_the_relay_wants(request: Request, stage: Stage, conversation: str) -> None:
    run = stage.latest(conversation)
    assert request.url.endswith(f"/claude/submit-answer?p={run.project.id}")
    body: dict[str, Any] = json.loads(request.post_data or "")
    assert body["streamToken"] == run.token
    assert (body["answer"], body["selectedOptions"]) == ("Option A", [0])


def _tells_the_question_once(page: Page) -> None:
    """On a stream from the start, in the relay's own form. The question itself is forgotten once it was answered."""
    page.evaluate(MESSAGES)
    _await_message(page, "footer")
    kinds = page.evaluate("window.messages.map((message) => message.type)")
    assert kinds.count("ask") + kinds.count("ask_user_question") == 1


@pytest.mark.finding("F-47")
@pytest.mark.requirement("P-53", "P-54")
def test_the_card_waits_until_the_agent_goes_on_and_not_only_until_it_has_the_answer(
    stage: Stage, sign_in: SignIn
) -> None:
    page, go = sign_in(), stage.folder / "go-on-at-last"
    conversation = begin(page, stage.project(), f"ponder {go}", ask("Which one?", options=OPTIONS), "say Thanks")
    other = sign_in(f"/talk/{conversation}")
    shown = [where.locator("[data-card]") for where in (page, other)]
    for each in shown:
        expect(each).to_have_attribute("data-state", "open")
    shown[0].get_by_label("Option A").check()
    shown[0].get_by_role("button", name="Send answer").click()
    (noted,) = stage.events(stage.latest(conversation), EventKind.ASK)
    delivered = stage.until(lambda: now if (now := stage.house.desk.get(noted.body["ask"])).delivered else None)
    for _ in range(2):
        for each in shown:
            expect(each).to_have_attribute("data-version", re.compile(rf"{delivered.version}\."))
            expect(each).to_have_attribute("data-state", "sent")
            expect(each.locator("[data-summary]")).to_have_text("Answer sent, waiting for Claude...")
            expect(each.locator(".spinner")).to_be_visible()
        # The same for whoever comes now.
        other.reload()
    go.touch()
    for each in shown:
        expect(each.locator("[data-summary]")).to_have_text("You answered: Option A")
        expect(each.locator(".spinner")).to_have_count(0)
    stage.ended(conversation)


@pytest.mark.finding("F-52")
def test_questions_and_their_answers_are_in_the_history(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), ask("Which colour for the shed?", options=OPTIONS))
    card(page, "Which colour").get_by_label("Option B").check()
    card(page, "Which colour").get_by_role("button", name="Send answer").click()
    stage.ended(conversation)
    page.goto("/history?q=shed")
    page.get_by_role("link", name=re.compile("Which colour for the shed")).click()
    expect(page.locator("main")).to_contain_text("Option B")
    listed = stage.house.place.run("history")
    assert "Which colour for the shed?" in listed.stdout


@pytest.mark.requirement("P-43", "P-45", "P-46")
def test_the_stream_tells_a_question_in_the_relays_own_form_and_in_time(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    page.add_init_script(ARRIVALS)
    # The first one may have to wait for the agent's MCP server to start, and any of them for a busy machine.
    questions = [f"Shall I begin with {part}?" for part in ("nothing", "one", "two", "three")]
    steps = [step for each in questions for step in (ask(each, options=OPTIONS, multiSelect=True), "say good")]
    conversation, sent_at = begin(page, stage.project(), *steps), []
    for question in questions:
        card(page, question).get_by_label("Option B").check()
        if question == questions[1]:
            page.evaluate(MESSAGES)
            told = _await_message(page, "ask_user_question")["data"]
            token = stage.latest(conversation).token
            assert told == {"question": question, "options": OPTIONS, "multiSelect": True, "streamToken": token}
        sent_at.append(time.time() * 1000)
        card(page, question).get_by_role("button", name="Send answer").click()
    run = stage.ended(conversation)
    called_at, heard_at = (
        [one.at for one in stage.events(run, kind)] for kind in (EventKind.TOOL, EventKind.TOOL_RESULT)
    )
    assert min(_between(called_at, page.evaluate("window.arrivals"))) < 3000
    assert min(_between(sent_at, heard_at)) < 2000


def _between(begun: Sequence[float], ended: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in zip(begun, ended, strict=True)]


@pytest.mark.requirement("P-49", "P-50")
def test_several_choices_other_words_and_free_text_all_arrive(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    steps = [ask("Which parts?", options=OPTIONS, multiSelect=True), "say next", ask("What shall I call it?")]
    conversation = begin(page, stage.project(), *steps, "say then", ask("Which one?", options=OPTIONS))
    parts = card(page, "Which parts?")
    expect(parts.get_by_role("checkbox")).to_have_count(2)
    parts.get_by_label("Option A").check()
    parts.get_by_label("Option B").check()
    parts.get_by_role("textbox", name="Other").fill("and the docs")
    parts.get_by_role("button", name="Send answer").click()
    free = card(page, "What shall I call it?")
    expect(free.locator("textarea.answer")).to_have_count(1)
    expect(free.locator("input:not([type=hidden], [type=file])")).to_have_count(0)
    # An empty answer is not sent; the keyboard sends a full one.
    free.get_by_role("button", name="Send answer").click()
    expect(free.get_by_role("alert")).to_have_text("Choose an option, or write something.")
    free.locator("textarea.answer").fill("Sayso\nor so")
    free.locator("textarea.answer").press("Control+Enter")
    one = card(page, "Which one?")
    one.get_by_role("textbox", name="Other").fill("Neither")
    one.get_by_role("button", name="Send answer").click()
    assert _heard(stage, stage.ended(conversation)) == [
        "Heard: User selected: Option A, Option B\nUser answered: and the docs",
        "Heard: User answered: Sayso\nor so",
        "Heard: User answered: Neither",
    ]


@pytest.mark.requirement("P-55", "P-57")
def test_a_question_that_nobody_answers_times_out_also_with_no_browser_there(stage: Stage, sign_in: SignIn) -> None:
    page, project = sign_in(), stage.impatient_project(2)
    conversation = begin(page, project, ask("Is anybody there?"), "say next", ask("And now?"))
    expect(card(page, "Is anybody there?")).to_be_visible()
    expect(page.locator("[data-card]").first.locator("[data-summary]")).to_have_text("Question timed out")
    # The browser leaves: the stream ends, the run does not, and the tool still hears that nobody answered.
    expect(card(page, "And now?")).to_be_visible()
    page.close()
    run = stage.ended(conversation)
    told = "User did not respond within the timeout period. Proceeding with your best judgment."
    assert _heard(stage, run) == [f"Heard: {told}"] * 2
    assert run.state == "completed"


@pytest.mark.requirement("P-56")
def test_a_late_answer_is_recognised_and_never_reaches_a_newer_question(stage: Stage, sign_in: SignIn) -> None:
    page, deaf = sign_in(), sign_in()
    begin(page, stage.project(), ask("First?", options=OPTIONS), "say between", ask("Second?", options=OPTIONS))
    expect(card(page, "First?")).to_be_visible()
    deaf.route("**/events*", lambda route: route.abort())
    deaf.goto(page.url)
    card(page, "First?").get_by_label("Option A").check()
    card(page, "First?").get_by_role("button", name="Send answer").click()
    expect(card(page, "Second?")).to_be_visible()
    # That banner moves the card, and what has just moved takes no press.
    expect(deaf.locator("[data-away]")).to_be_visible()
    stale = card(deaf, "First?")
    stale.get_by_label("Option B").check()
    stale.get_by_role("button", name="Send answer").click()
    expect(stale.get_by_role("alert")).to_contain_text("Your answer was not used.")
    expect(card(page, "Second?")).to_have_attribute("data-state", "open")
    card(page, "Second?").get_by_label("Option A").check()
    card(page, "Second?").get_by_role("button", name="Send answer").click()
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
    conversation = page.url.rpartition("/")[2]
    assert _heard(stage, stage.ended(conversation)) == ["Heard: User selected: Option A"] * 2


def test_of_two_questions_at_once_the_newer_takes_the_place_of_the_older(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), ask("One?", options=OPTIONS), ask("Other one?", options=OPTIONS))
    expect(page.get_by_text("Heard: A newer question took the place of this one.")).to_be_visible()
    open_card = page.locator("[data-card][data-state=open]")
    expect(open_card).to_contain_text("Other one?")
    open_card.get_by_label("Option B").check()
    open_card.get_by_role("button", name="Send answer").click()
    assert _heard(stage, stage.ended(conversation))[1:] == ["Heard: User selected: Option B"]


def test_what_is_asked_is_in_the_inbox_too_and_a_card_answered_elsewhere_updates_itself(
    stage: Stage, sign_in: SignIn
) -> None:
    page, inbox = sign_in(), sign_in("/")
    conversation = begin(
        page, stage.project(), ask("Where are you?", options=OPTIONS), permit("Bash", command="rm -r build")
    )
    asked = stage.open_ask(conversation)
    inbox.locator(f"a[href='asks/{asked.id}']").click()
    inbox.get_by_label("Option B").check()
    inbox.get_by_role("button", name="Send answer").click()
    expect(inbox.locator("#standing")).to_contain_text("Answered")
    inbox.get_by_role("link", name="Show the conversation").click()
    inbox.wait_for_url(f"**/talk/{conversation}#ask-{asked.id}")
    expect(page.locator("[data-card]").first).to_have_attribute("data-state", "answered")
    wanted = stage.open_ask(conversation)
    by = Settler(person=USER, surface="terminal")
    PermissionDesk(stage.house.desk).allow(wanted.id, wanted.digest, by)
    expect(page.locator("[data-card]").nth(1)).to_contain_text("You allowed this in the terminal")
    run = stage.ended(conversation)
    assert stage.texts(run) == ["Heard: User selected: Option B", "Allowed Bash"]


def test_permissions_are_allowed_denied_with_a_message_or_allowed_for_the_rest(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    project = stage.project()
    file = stage.folder / "shop" / "prices.py"
    file.write_text("apple = 1\npear = 2\n")
    edit = permit("Edit", file_path=str(file), old_string="pear = 2", new_string="pear = 3")
    test = permit("Bash", command="make test")
    native = {"question": "Which colour?", "header": "Colour", "options": OPTIONS, "multiSelect": False}
    steps = [edit, test, test, permit("Bash", command="make install"), f"native {json.dumps({'questions': [native]})}"]
    conversation = begin(page, project, *steps)
    change = card(page, str(file))
    expect(change.locator(".line.removed")).to_have_text("-pear = 2")
    expect(change.locator(".line.added")).to_have_text("+pear = 3")
    change.get_by_role("button", name="Allow", exact=True).click()
    card(page, "make test").get_by_role("button", name="Allow this exact thing for the rest of the run").click()
    refused = card(page, "make install")
    refused.get_by_label("Or say no. Claude is told what you write here:").fill("Not on this machine")
    refused.get_by_role("button", name="Deny").click()
    asked = card(page, "Which colour?")
    asked.get_by_label("Option B").check()
    asked.get_by_role("button", name="Send answer").click()
    run = stage.ended(conversation)
    allowed = ["Allowed Edit", "Allowed Bash", "Allowed Bash"]
    denied = "Denied Bash: The user did not allow this. They said: Not on this machine"
    assert stage.texts(run) == [*allowed, denied, "Allowed AskUserQuestion"]
    assert '"answers": {"Which colour?": "Option B"}' in stage.events(run, EventKind.TOOL_RESULT)[-1].body["text"]
    texts = page.locator("[data-card] [data-summary]")
    expect(texts).to_have_text(
        [
            "You allowed this",
            "You allowed this for the rest of the run",
            "You denied this: Not on this machine",
            "You answered: Option B",
        ]
    )
    # What its client says of it besides changes nothing of that, and is told with it.
    stage.house.desk.note_of_client(refused.get_attribute("data-card") or "", "Its own record says that it was done")
    expect(texts.nth(2)).to_have_text("You denied this: Not on this machine. Its own record says that it was done")
    # The same once more in the next turn: what was allowed for the rest of the run is asked again.
    say(page, test)
    expect(page.locator("#turn-2 [data-card][data-state=open]")).to_be_visible()
    page.get_by_role("button", name="Stop Claude").click()
    assert stage.ended(conversation).state == "stopped"
    expect(page.locator("#turn-2 [data-card]")).to_contain_text("You cancelled this")


@pytest.mark.parametrize("way", ["Deny", "Send answer"])
def test_a_browser_is_told_to_send_on_what_was_sent_when_the_page_is_left(
    stage: Stage, sign_in: SignIn, way: str
) -> None:
    page = sign_in()
    step = permit("Bash", command="make clean") if way == "Deny" else ask("Which one?", options=OPTIONS)
    conversation = begin(page, stage.project(), step)
    asked = card(page, "make clean" if way == "Deny" else "Which one?")
    if way != "Deny":
        asked.get_by_label("Option B").check()
    page.evaluate(NOTE_KEPT)
    asked.get_by_role("button", name=way).click()
    (said,) = stage.texts(stage.ended(conversation))
    assert said == ("Denied Bash: The user did not allow this." if way == "Deny" else "Heard: User selected: Option B")
    assert page.evaluate("() => window.kept.includes(true)")


@pytest.mark.finding("F-73")
def test_a_permission_whose_agent_was_killed_says_that_the_agent_is_gone(stage: Stage, sign_in: SignIn) -> None:
    page, inbox = sign_in(), sign_in("/")
    conversation = begin(page, stage.project(), permit("Bash", command="make"), ask("Never put?"))
    asked = stage.open_ask(conversation)
    inbox.goto(f"/asks/{asked.id}")
    expect(card(page, "make")).to_have_attribute("data-state", "open")
    process_of(stage.latest(conversation)).kill()
    gone = "Claude ended before anybody decided"
    expect(page.locator("[data-card] [data-summary]")).to_have_text(gone)
    expect(inbox.locator("#standing")).to_contain_text("ended or stopped waiting before anybody decided")
    # Still so after the next turn began, and for whoever comes later.
    say(page, "say Hello")
    expect(page.locator("#turn-2 .spoken")).to_have_text("Hello")
    expect(page.locator("[data-card] [data-summary]")).to_have_text(gone)
    page.reload()
    expect(page.locator("[data-card] [data-summary]")).to_have_text(gone)


@pytest.mark.parametrize("native", [False, True])
def test_own_words_beside_a_chosen_option_reach_the_agent_as_a_note(
    stage: Stage, sign_in: SignIn, native: bool
) -> None:
    page = sign_in()
    asked = {"question": "Deploy?", "header": "Deploy", "options": [{"label": "Now"}, {"label": "Later"}]}
    step = f"native {json.dumps({'questions': [asked]})}" if native else ask("Deploy?", options=asked["options"])
    conversation = begin(page, stage.project(), step)
    shown = card(page, "Deploy?")
    shown.get_by_role("textbox", name="Other").fill("only after Friday")
    shown.get_by_label("Now").check()
    expect(shown.get_by_text("Goes along as a note with what you chose.")).to_be_visible()
    shown.get_by_role("button", name="Send answer").click()
    run = stage.ended(conversation)
    told = [event.body["text"] for event in stage.events(run, EventKind.TOOL_RESULT)]
    if native:
        assert '"Deploy?": "Now (note: only after Friday)"' in told[0]
    else:
        assert told == ["User selected: Now\nUser noted: only after Friday"]


def test_pictures_and_files_go_with_an_answer_on_a_card_and_stay_with_it_until_it_is_sent(
    stage: Stage, sign_in: SignIn, tmp_path: Path
) -> None:
    page = sign_in(**PHONE)
    conversation = begin(page, stage.project(), ask("Which one?", options=OPTIONS), "say Seen", ask("And this?"))
    asked, kept = card(page, "Which one?"), tmp_path / "IMG_7.jpg"
    kept.write_bytes(photo())
    given = ["dropped.png", base64.b64encode(PNG).decode()]
    asked.get_by_label("Take a photo").set_input_files(kept)
    expect(asked.locator("[data-attached] label")).to_have_text(["IMG_7.jpg"])
    asked.locator(".prose").evaluate(DROP, given)
    expect(asked.locator("[data-attached] label")).to_have_text(["IMG_7.jpg", "dropped.png"])
    expect(page.locator("[data-chosen-pictures] li")).to_have_count(0)
    asked.get_by_text("Option B").tap()
    asked.get_by_label("dropped.png").uncheck()
    # It stays with the question over a reload, and in another browser of the same person's.
    ask_id = stage.open_ask(conversation).id
    stage.until_true(lambda: "dropped" not in stage.house.desk.draft(ask_id, USER))
    for each in (page, sign_in(f"/talk/{conversation}")):
        each.reload()
        expect(card(each, "Which one?").get_by_label("IMG_7.jpg")).to_be_checked()
        expect(card(each, "Which one?").get_by_label("dropped.png")).to_have_count(0)
    expect(asked.get_by_label("Option B")).to_be_checked()
    asked.get_by_role("button", name="Send answer").tap()
    # Without a file an answer goes as it always did, and nothing is left behind of what was begun.
    other = card(page, "And this?")
    other.get_by_label("Add pictures or files").set_input_files(kept)
    other.get_by_label("IMG_7.jpg").uncheck()
    other.get_by_role("textbox").fill("No picture")
    other.get_by_role("button", name="Send answer").tap()
    run = stage.ended(conversation)
    first, _, second = stage.texts(run)
    assert first.startswith("Heard: User selected: Option B\n")
    assert Path(re.findall(r"/\S+IMG_7\.jpg", first)[0]).read_bytes() == without_metadata(photo())
    assert second == "Heard: User answered: No picture"
    answered = stage.house.desk.history(person=USER, most=2)
    assert [stage.house.desk.draft(each.id, USER) for each in answered] == ["", ""]


def test_without_a_script_a_file_goes_with_the_answer_on_a_card(stage: Stage, sign_in: SignIn, tmp_path: Path) -> None:
    page = sign_in(java_script_enabled=False)
    asked_for = {"question": "Which one?", "header": "One", "options": [*OPTIONS, {"label": "Neither"}]}
    conversation = begin(page, stage.project(), f"native {json.dumps({'questions': [asked_for]})}")
    stage.open_ask(conversation)
    page.get_by_role("link", name="Show what is new").click()
    (tmp_path / "notes.txt").write_text("Blue.")
    asked = card(page, "Which one?")
    asked.get_by_label("Add pictures or files").set_input_files(tmp_path / "notes.txt")
    asked.get_by_label("Option A").check()
    asked.get_by_role("button", name="Send answer").click()
    (told,) = stage.events(stage.ended(conversation), EventKind.TOOL_RESULT)
    assert Path(re.findall(r"/\S+notes\.txt", told.body["text"])[0]).read_text() == "Blue."
    page.goto(f"/talk/{conversation}")
    expect(asked.locator(".attached a")).to_have_text("notes.txt")


def test_on_a_phone_little_covers_what_is_asked_and_a_question_can_be_rejected_or_noted_there(
    stage: Stage, sign_in: SignIn
) -> None:
    page = sign_in("/talk", **PHONE)
    asked = ask("Which logo?", options=[{"label": "Old"}, {"label": "New"}])
    wants = permit("Bash", command="make all")
    conversation = begin(page, stage.project("phone"), asked, "say Well", ask("And now?"), "say Well", wants)
    first = card(page, "Which logo?")
    expect(first).to_be_visible()
    pinned = page.locator(".talk-head, .dock").evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert sum(pinned) <= 844 / 4
    # What ends the agent is not beside what halts it.
    expect(page.get_by_role("button", name="Interrupt")).to_be_visible()
    expect(page.get_by_role("button", name="Stop Claude")).to_be_hidden()
    page.get_by_text("Mode, stop").click()
    expect(page.get_by_role("button", name="Stop Claude")).to_be_visible()
    page.get_by_text("Mode, stop").click()
    first.get_by_text("Add a note").click()
    first.get_by_label("A note").fill("Only for now")
    first.get_by_label("New").check()
    first.get_by_role("button", name="Send answer").tap()
    second = card(page, "And now?")
    expect(second).to_be_visible()
    second.get_by_text("Reject instead").click()
    second.get_by_label("Why?").fill("Ask me tomorrow")
    expect(second.get_by_role("button", name="Send answer")).to_be_disabled()
    second.get_by_role("button", name="Reject the question").tap()
    wanted = page.locator("[data-card]", has_text="Allow Bash")
    expect(wanted.get_by_role("button", name="Deny", exact=True)).to_be_visible()
    # Both at one moment: the page may yet move.
    beside = "all => all.map((one) => one.getBoundingClientRect()).map(({ y, height }) => [y, height])"
    allow, deny = wanted.locator("button[value=allow-once], button[value=deny]").evaluate_all(beside)
    assert allow == deny
    wanted.get_by_role("button", name="Deny").tap()
    heard = "\n".join(stage.texts(stage.ended(conversation)))
    assert "User selected: New\nUser noted: Only for now" in heard
    assert "Ask me tomorrow" in heard
