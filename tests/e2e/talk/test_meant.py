"""In a conversation, too, nobody says yes by accident."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.test_meant import arrive, stand_still, tap_hastily
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, card, permit, say

from sayso.agents.model import EventKind


@pytest.mark.finding("F-01")
def test_control_and_enter_in_the_field_for_a_no_says_no(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), permit("Bash", command="rm -rf important"))
    wanted = card(page, "rm -rf important")
    words = wanted.get_by_label("Or say no.")
    expect(wanted.locator("form")).not_to_have_attribute("aria-disabled", "true")
    # With nothing written, no key says anything.
    words.press("Control+Enter")
    words.press_sequentially("No! Never delete that.")
    words.press("Enter")
    for name in ("Allow", "Allow this exact thing for the rest of the run"):
        expect(wanted.get_by_role("button", name=name, exact=True)).to_have_attribute("disabled", "")
    words.press("Control+Enter")
    (text,) = stage.texts(stage.ended(conversation))
    assert text.startswith("Denied Bash: The user did not allow this. They said: No! Never delete that.")


@pytest.mark.finding("F-54")
def test_the_enter_key_in_other_words_begins_a_new_line(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), ask("Which one?", options=OPTIONS))
    one = card(page, "Which one?")
    other = one.get_by_role("textbox", name="Other")
    other.press_sequentially("Half a wor")
    other.press("Enter")
    other.press_sequentially("d")
    expect(other).to_have_value("Half a wor\nd")
    one.get_by_role("radio", name="Other").press("Enter")
    assert stage.open_ask(conversation)
    one.get_by_role("button", name="Send answer").click()
    assert stage.texts(stage.ended(conversation)) == ["Heard: User answered: Half a wor\nd"]


@pytest.mark.finding("F-03")
def test_a_second_tap_never_allows_the_permission_that_comes_under_the_finger(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in(**PHONE)
    page.clock.install()
    wanted = [permit("Bash", command=f"make step-{number}") for number in range(4)]
    conversation = begin(page, stage.project(), *wanted)
    allow = page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_enabled()
    run = stand_still(page)
    allow.tap()
    tap_hastily(page, card(page, "step-1").locator("button[value=allow-once]"))
    expect(card(page, "step-1")).to_have_attribute("data-state", "open")
    allowed = stage.events(stage.latest(conversation), EventKind.TOOL_RESULT)
    assert len(allowed) == 1
    # What could be read, and then moved, is there as if it were new.
    page.clock.run_for(1000)
    page.evaluate("dispatchEvent(new Event('sayso:moved'))")
    tap_hastily(page, card(page, "step-1").locator("button[value=allow-once]"))
    run()
    for number, name in enumerate(("Deny", "Allow", "Allow"), 1):
        button = card(page, f"step-{number}").get_by_role("button", name=name, exact=True)
        # It counts how long the button itself could be seen, and whether the hand has left the last one.
        button.scroll_into_view_if_needed()
        page.mouse.move(1, 1)
        button.tap()
    said = [text.partition(":")[0] for text in stage.texts(stage.ended(conversation))]
    assert said == ["Allowed Bash", "Denied Bash", "Allowed Bash", "Allowed Bash"]


UNCOVERED = """alert => {
  const { left, width, top, height } = alert.getBoundingClientRect();
  return alert.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


def test_while_a_yes_is_on_its_way_the_card_is_locked_and_given_up_it_never_counts(
    stage: Stage, sign_in: SignIn
) -> None:
    page = sign_in()
    page.clock.install()
    conversation = begin(page, stage.project(), permit("Bash", command="rm -rf important"))
    wanted, held = card(page, "rm -rf important"), list[Route]()
    page.route(re.compile("/asks/[0-9a-f]+$"), lambda route: held.append(route))
    wanted.get_by_role("button", name="Allow", exact=True).click()
    expect(wanted.get_by_role("button", name="Sending…")).to_be_disabled()
    deny = wanted.get_by_role("button", name="Deny", exact=True)
    expect(deny).to_be_disabled()
    page.route("**/attempts", lambda route: route.abort())
    page.set_viewport_size({"width": 390, "height": 500})
    page.evaluate("scrollTo(0, 0)")
    page.clock.fast_forward(20_000)
    alert = wanted.get_by_role("alert")
    expect(alert).to_contain_text("It is not known whether this arrived.")
    assert alert.evaluate(UNCOVERED)
    expect(deny).to_be_disabled()
    page.unroute_all()
    expect(alert).to_contain_text("Not sent. It did not arrive.")
    expect(page.locator("[data-talk-status]")).to_have_text("")
    assert stage.open_ask(conversation)
    deny.click()
    (text,) = stage.texts(stage.ended(conversation))
    assert text.startswith("Denied Bash")


def test_a_conversation_is_started_once_and_the_form_says_that_it_is_on_its_way(stage: Stage, sign_in: SignIn) -> None:
    project, held = stage.project("once"), list[Route]()
    page = sign_in()
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("say Started once")
    page.route("**/talk", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    with page.expect_request("**/talk"):
        page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Sending…")).to_be_disabled()
    expect(page.get_by_label("What should it do?")).to_be_disabled()
    (sent,) = held
    assert arrive(stage.house, page, sent.request).status == 303
    # Only the reply was lost: the list leads to it, and what was written does not come back.
    sent.abort()
    expect(page.get_by_label("What should it do?")).to_be_enabled()
    page.get_by_role("link", name="say Started once").click()
    expect(page.locator("#turn-1 .spoken")).to_have_text("Started once")
    page.goto("/talk")
    expect(page.get_by_label("What should it do?")).to_have_value("")
    expect(page.get_by_role("link", name="say Started once")).to_have_count(1)


def test_why_a_conversation_was_not_started_is_told_in_place(stage: Stage, sign_in: SignIn) -> None:
    project = stage.project("gone")
    page = sign_in()
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("say Nothing")
    stage.projects.remove(project)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("project")
    expect(page.get_by_label("What should it do?")).to_have_value("say Nothing")
    expect(page.get_by_role("button", name="Start")).to_be_enabled()


def test_a_turn_whose_reply_was_lost_is_not_sent_twice(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project(), "say Hello")
    stage.ended(conversation)

    def lose_the_reply(route: Route) -> None:
        arrive(stage.house, page, route.request)
        route.abort()

    page.route(f"**/talk/{conversation}", lose_the_reply)
    say(page, "say Once")
    expect(page.locator("#turn-2 .spoken")).to_have_text("Once")
    expect(page.get_by_label("Go on")).to_have_value("")
    assert stage.latest(conversation).turn == 2
