"""An agent at work is spoken to: messages, interrupts, its mode and its model; one process for a whole conversation."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import Stage, begin, new_stage, permit, process_of, say
from tests.web.house import USER

from sayso.agents.model import EventKind, RunChoices, RunState
from sayso.asks.model import Settler, State
from sayso.permissions.action import AllowScope
from sayso.permissions.desk import PermissionDesk

pytestmark = pytest.mark.usefixtures("read_quickly")


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage whose agents wait for the next message."""
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay")), run_rest="1h") as stage:
        yield stage


def test_one_agent_serves_a_whole_conversation_and_takes_messages_while_it_works(
    patient: Stage, sign_in: SignIn
) -> None:
    stage, page, go = patient, sign_in("/talk", to=patient), patient.folder / "go-steer"
    conversation = begin(page, stage.project("steered", ask_user=False), "say Begun", f"wait {go}", "say Ended")
    expect(page.locator("#turn-1").get_by_text("Begun", exact=True)).to_be_visible()
    first = stage.latest(conversation)
    agent = process_of(first)
    say(page, "say Steered")
    steered = page.locator("#turn-1 [data-spoken]")
    expect(steered).to_contain_text("say Steered")
    expect(steered).to_contain_text("Sent while it works")
    # Whoever kills the server now loses nothing of it, and the agent hears it once.
    say(page, "say Steered again")
    expect(steered).to_have_count(2)
    stage.house.web.stop(signal.SIGKILL)
    stage.house.restart()
    go.touch()
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
    expect(page.locator("#turn-1 .spoken")).to_have_text(["Begun", "Ended", "Steered", "Steered again"])
    expect(steered.first).to_contain_text("taken up")
    say(page, "remember", "settings")
    expect(page.locator("#turn-2 [data-footer]")).to_contain_text("Done")
    second = stage.latest(conversation)
    assert (second.turn, second.line, second.token) == (2, first.id, "")
    assert process_of(second) == agent
    assert [event.body["number"] for event in stage.events(second, EventKind.TAKEN)] == [4]


def test_an_interrupted_agent_stays_and_goes_on_with_the_next_message_in_another_mode(patient: Stage) -> None:
    stage, visitor, never = patient, patient.visitor(), patient.folder / "never"
    conversation = visitor.start(
        stage.project("interrupted", ask_user=False), "say Begun", f"wait {never}", "say Never"
    )
    stage.until_true(lambda: "Begun" in stage.texts(stage.latest(conversation)))
    agent = process_of(stage.latest(conversation))
    assert visitor.post(f"/talk/{conversation}/choose", mode="plan", model="haiku").status == 303
    for mode in ("root", "bypassPermissions"):
        assert visitor.post(f"/talk/{conversation}/choose", mode=mode).status == 422
    assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
    run = stage.ended(conversation)
    assert (run.state, run.ending and run.ending.message) == (RunState.STOPPED, "Interrupted.")
    assert stage.texts(run) == ["Begun"]
    page = visitor.get(f"/talk/{conversation}").text
    for told in ("set the permission mode to plan", "chose the model haiku", "You interrupted it."):
        assert told in page
    assert visitor.post(f"/talk/{conversation}/choose", mode="acceptEdits").status == 303
    assert visitor.go_on(conversation, "settings").status == 303
    assert stage.texts(stage.ended(conversation)) == ["Mode acceptEdits, model haiku"]
    assert process_of(stage.latest(conversation)) == agent


def test_what_an_interrupted_turn_still_asks_is_asked_no_more(patient: Stage) -> None:
    stage, visitor = patient, patient.visitor()
    conversation = visitor.start(stage.project("asking"), permit("Bash", command="make"))
    asked = stage.open_ask(conversation)
    assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
    assert stage.ended(conversation).state is RunState.STOPPED
    stage.until_true(lambda: stage.house.desk.get(asked.id).state is State.CANCELLED)
    # A card is there a moment after its ask, be that cancelled by then.
    stage.until_true(lambda: "You cancelled this" in visitor.get(f"/talk/{conversation}").text)


def test_a_yes_to_what_was_edited_reads_as_that(patient: Stage) -> None:
    stage, visitor = patient, patient.visitor()
    conversation = visitor.start(stage.project("edited"), permit("Bash", command="npm test -- --watch"))
    asked, by = stage.open_ask(conversation), Settler(person=USER, surface="browser")
    PermissionDesk(stage.house.desk).allow(asked.id, asked.digest, by, changed_input={"command": "npm test"})
    run = stage.ended(conversation)
    assert stage.texts(run) == ["Allowed Bash"]
    stage.until_true(lambda: stage.house.desk.get(asked.id).delivered)
    page = visitor.get(f"/talk/{conversation}").text
    assert re.search(r"<p [^>]*><bdi>Edited:</bdi> Bash: npm test</p>", page)
    assert "You allowed this as you edited it" in page
    assert "As it was asked for" in page
    assert re.search(r"done</span> edited[^<]*</span> <span class=\"tool-name\">Bash", page)


def test_a_turn_that_an_agent_begins_by_itself_is_shown_and_can_be_interrupted(patient: Stage) -> None:
    stage, visitor = patient, patient.visitor()
    go, never = patient.folder / "go-unbidden", patient.folder / "never"
    left = f"later {go} say Woken\\nwait {never}"
    conversation = visitor.start(stage.project("unbidden", ask_user=False), left, "say Left")
    first = stage.ended(conversation)
    agent = process_of(first)
    stage.house.web.stop(signal.SIGKILL)
    stage.house.restart()
    go.touch()
    stage.until_true(lambda: "Woken" in stage.texts(stage.latest(conversation)))
    second = stage.latest(conversation)
    assert (second.turn, second.line, second.is_unbidden) == (2, first.id, True)
    assert "went on by itself" in visitor.get(f"/talk/{conversation}").text
    assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
    assert stage.ended(conversation).state is RunState.STOPPED
    assert visitor.go_on(conversation, "say Third").status == 303
    third = stage.ended(conversation)
    assert (third.turn, stage.texts(third), process_of(third)) == (3, ["Third"], agent)


def test_a_page_that_shows_an_old_mode_does_not_bring_it_back_with_another_model(patient: Stage) -> None:
    visitor = patient.visitor()
    conversation = visitor.start(patient.project("stale", ask_user=False), "say Done")
    patient.ended(conversation)
    choose = f"/talk/{conversation}/choose"
    assert visitor.post(choose, mode="acceptEdits").status == 303
    old_page = {"mode-shown": "acceptEdits", "model-shown": ""}
    assert 'name="mode-shown" value="acceptEdits"' in visitor.get(f"/talk/{conversation}").text
    assert visitor.post(choose, mode="plan").status == 303
    assert visitor.post(choose, mode="acceptEdits", model="haiku", **old_page).status == 303
    assert patient.latest(conversation).choices == RunChoices(model="haiku", permission_mode="plan")


def test_what_is_chosen_in_another_browser_is_shown_and_noted_and_a_choice_begun_here_stays(
    patient: Stage, sign_in: SignIn
) -> None:
    visitor = patient.visitor()
    conversation = visitor.start(patient.project("chosen", ask_user=False), "say Done")
    patient.ended(conversation)
    page = sign_in(f"/talk/{conversation}", to=patient)
    page.get_by_text("Mode, model").click()
    mode, model = page.get_by_label("Permission mode"), page.get_by_role("combobox", name="Model", exact=True)
    expect(mode).to_have_value("as-project")
    model.fill("opus")
    assert visitor.post(f"/talk/{conversation}/choose", mode="plan", model="haiku").status == 303
    expect(mode).to_have_value("plan")
    expect(model).to_have_value("opus")
    expect(page.locator(".notice")).to_have_text(
        [
            "You set the permission mode to plan for the rest of the conversation.",
            "You chose the model haiku for the rest of the conversation.",
        ]
    )
    page.get_by_role("button", name="Use for the rest of the conversation").click()
    patient.until_true(lambda: patient.latest(conversation).choices == RunChoices(model="opus", permission_mode="plan"))


def test_where_no_mode_was_chosen_the_list_says_so_and_using_it_sets_none(patient: Stage) -> None:
    visitor = patient.visitor()
    conversation = visitor.start(patient.project("unchosen", ask_user=False), "say Done")
    patient.ended(conversation)
    page, choose = f"/talk/{conversation}", f"/talk/{conversation}/choose"
    assert '<option value="as-project" selected>as the project says</option>' in visitor.get(page).text
    assert visitor.post(choose, mode="as-project", model="haiku").status == 303
    assert patient.latest(conversation).choices == RunChoices(model="haiku")
    assert visitor.post(choose, mode="default").status == 303
    assert patient.latest(conversation).choices == RunChoices(model="haiku", permission_mode="default")
    assert "as the project says" not in visitor.get(page).text
    refused = visitor.post(choose, mode="as-project")
    assert (refused.status, "was set to default" in refused.text) == (422, True)


def test_what_is_allowed_for_the_rest_of_a_run_is_asked_again_in_the_agents_next_turn(
    patient: Stage,
) -> None:
    stage, visitor, by = patient, patient.visitor(), Settler(person=USER, surface="web")
    wanted, permissions = permit("Bash", command="make"), PermissionDesk(stage.house.desk)
    conversation = visitor.start(stage.project("asking"), wanted, wanted)
    first = stage.open_ask(conversation)
    permissions.allow(first.id, first.digest, by, scope=AllowScope.SESSION)
    assert stage.texts(stage.ended(conversation)) == ["Allowed Bash"] * 2
    assert visitor.go_on(conversation, wanted).status == 303
    second = stage.open_ask(conversation)
    assert second.asker.run == stage.latest(conversation).id != first.asker.run
    permissions.deny(second.id, by)
    assert stage.texts(stage.ended(conversation))[0].startswith("Denied Bash")
    assert process_of(stage.latest(conversation)).is_running()


def test_what_is_said_as_its_agent_leaves_begins_a_new_one(stage: Stage, tmp_path: Path) -> None:
    visitor = stage.visitor()
    conversation = visitor.start(stage.project("leaving", ask_user=False), "say One")
    for number in range(2, 5):
        stage.ended(conversation)
        assert visitor.go_on(conversation, "remember").status == 303
        assert stage.latest(conversation).turn == number
    run = stage.ended(conversation)
    assert run.state is RunState.COMPLETED
    assert stage.texts(run) == ['Before: ["say One", "remember", "remember"]']


PRESS_WHAT_COMES_THERE = """(queue) => {
  const { left, top, width, height } = queue.getBoundingClientRect();
  const pressing = () => {
    if (queue.checkVisibility()) return requestAnimationFrame(pressing);
    const there = document.elementFromPoint(left + width / 2, top + height / 2).closest("button");
    window.pressed = there.textContent.trim();
    there.click();
  };
  pressing();
}"""
"""A second tap, as soon as the first has taken its button away."""


def test_a_second_tap_on_queue_does_not_interrupt_the_agent(patient: Stage, sign_in: SignIn) -> None:
    stage, page, go = patient, sign_in("/talk", to=patient, **PHONE), patient.folder / "go-second-tap"
    conversation = begin(page, stage.project("tapped twice", ask_user=False), "say Begun", f"wait {go}")
    expect(page.locator("#turn-1").get_by_text("Begun", exact=True)).to_be_visible()
    page.get_by_label("Go on").fill("say More")
    queue = page.get_by_role("button", name="Queue", exact=True)
    queue.evaluate(PRESS_WHAT_COMES_THERE)
    queue.tap()
    expect(page.locator("[data-queued]")).to_contain_text("say More")
    assert page.evaluate("window.pressed") == "Interrupt"
    go.touch()
    stage.until_true(lambda: [turn.state for turn in stage.runs.turns(conversation, USER)] == [RunState.COMPLETED] * 2)


def test_a_message_can_wait_until_the_agent_is_done_and_be_changed_until_then(patient: Stage, sign_in: SignIn) -> None:
    stage, page, go = patient, sign_in("/talk", to=patient), patient.folder / "go-queue"
    conversation = begin(page, stage.project("queued", ask_user=False), "say Begun", f"wait {go}")
    expect(page.locator("#turn-1").get_by_text("Begun", exact=True)).to_be_visible()
    for words in ("say One", "say Two", "say Three"):
        page.get_by_label("Go on").fill(words)
        page.get_by_role("button", name="Queue", exact=True).click()
        expect(page.locator("[data-queued]", has_text=words)).to_be_visible()
    expect(page.get_by_label("Go on")).to_be_empty()
    # Another browser sees the same, and what it changes is what is sent.
    visitor, (one, two, _) = stage.visitor(), stage.runs.queue.of(conversation)
    assert "say Three" in visitor.get(f"/talk/{conversation}").text
    assert visitor.post(f"/talk/{conversation}/queue/{one.id}", do="save", prompt="say Other").status == 303
    expect(page.locator("[data-queued]").first).to_contain_text("say Other")
    assert stage.visitor("bob").post(f"/talk/{conversation}/queue/{one.id}", do="remove").status == 404
    page.locator("[data-queued]", has_text="say Two").locator("summary").click()
    page.locator("[data-queued]", has_text="say Two").get_by_role("button", name="Remove").click()
    expect(page.locator("[data-queued]")).to_have_count(2)
    stage.house.web.stop(signal.SIGKILL)
    stage.house.restart()
    go.touch()
    expect(page.locator("#turn-3 .spoken")).to_have_text("Three")
    expect(page.locator("#turn-2 .spoken")).to_have_text("Other")
    expect(page.locator("[data-queued]")).to_have_count(0)
    assert visitor.post(f"/talk/{conversation}/queue/{two.id}", do="send", prompt="say Two").status == 404
    assert [run.prompt for run in stage.runs.turns(conversation, USER)][1:] == ["say Other", "say Three"]
