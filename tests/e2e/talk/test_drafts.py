"""What is typed in a conversation is never lost; and what waits there is what one sees first."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.test_meant import stand_still, tap_hastily
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, card, permit

from sayso.asks.model import Answer, Settler

pytestmark = pytest.mark.usefixtures("read_quickly")

ELSEWHERE = Settler(person="ada", surface="terminal")


@pytest.mark.finding("F-53")
def test_half_an_answer_survives_a_reload_a_restart_and_an_answer_from_elsewhere(stage: Stage, sign_in: SignIn) -> None:
    project = stage.project()
    page = sign_in()
    page.get_by_label("What should it do?").fill("half a prompt")
    tab, page = page, page.context.new_page()
    tab.close()
    page.goto("/talk")
    expect(page.get_by_label("What should it do?")).to_have_value("half a prompt")
    conversation = begin(
        page, project, ask("Which one?", options=OPTIONS), permit("Bash", command="rm -rf build"), "say done"
    )
    other = card(page, "Which one?").get_by_role("textbox", name="Other")
    other.fill("Half a thought")
    page.reload()
    expect(other).to_have_value("Half a thought")
    expect(card(page, "Which one?").get_by_role("radio", name="Other")).to_be_checked()
    card(page, "Which one?").get_by_label("Option A").check()
    asked = stage.open_ask(conversation)
    stage.house.desk.answer(asked.id, [Answer(question=asked.questions[0].id, chosen=("1",))], ELSEWHERE)
    unsent = page.locator("[data-unsent]")
    expect(unsent).to_contain_text("What you had entered here was not sent:")
    expect(unsent.locator(".said")).to_have_text(["Half a thought", "Option A"])
    wanted = card(page, "rm -rf build")
    wanted.get_by_label("Or say no.").fill("Not yet")
    page.reload()
    expect(unsent).to_contain_text("Half a thought")
    expect(wanted.get_by_label("Or say no.")).to_have_value("Not yet")
    expect(wanted.get_by_role("button", name="Allow", exact=True)).to_have_attribute("disabled", "")
    unsent.get_by_role("button", name="Discard it").click()
    wanted.get_by_role("button", name="Deny").click()
    stage.ended(conversation)
    expect(page.locator("[data-unsent]")).to_have_count(0)
    # Another tab's next turn leaves the words of this one alone.
    second = page.context.new_page()
    second.goto(page.url)
    page.get_by_label("Go on").fill("first tab")
    second.get_by_label("Go on").fill("say second tab")
    second.get_by_role("button", name="Send").click()
    expect(page.locator("#turn-2 [data-footer]")).to_contain_text("Done")
    page.reload()
    expect(page.get_by_label("Go on")).to_have_value("first tab")
    second.reload()
    expect(second.get_by_label("Go on")).not_to_have_value("say second tab")
    stage.house.web.stop()
    stage.house.restart()
    page.reload()
    expect(page.get_by_label("Go on")).to_have_value("first tab")
    page.goto("/talk")
    expect(page.get_by_label("What should it do?")).to_have_value("")


@pytest.mark.parametrize("script", [True, False])
def test_an_agent_that_is_not_installed_is_said_to_be_missing_and_what_was_written_stays(
    stage: Stage, sign_in: SignIn, script: bool
) -> None:
    user = f"grace{script}"
    stage.project("missing", owner=user, agent="codex")
    page = sign_in(user=user, java_script_enabled=script)
    expect(page.get_by_label("Project")).to_have_value(re.compile("^[0-9]+$"))
    page.get_by_label("What should it do?").fill("A long and careful message")
    page.get_by_role("button", name="Start").click()
    told = page.get_by_role("alert")
    # Which program, and what to do, once and in short.
    expect(told).to_contain_text(
        "Codex could not be started: 'codex' was not found on PATH. "
        "Install it with `npm install -g @openai/codex`, or set codex_command"
    )
    expect(page.get_by_label("What should it do?")).to_have_value("A long and careful message")
    if script:
        page.reload()
        expect(page.get_by_label("What should it do?")).to_have_value("A long and careful message")
    refused = stage.visitor(user).post("/talk", prompt="To no project")
    assert (refused.status, "project: is &#39;&#39;. Choose one of your projects." in refused.text) == (422, True)


def test_half_a_name_survives_a_reload_and_what_was_renamed_is_forgotten(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    begin(page, stage.project(), "say Hello")
    name = page.get_by_label("Name", exact=True)
    page.get_by_text("More", exact=True).click()
    name.fill("Half a na")
    page.reload()
    page.get_by_text("More", exact=True).click()
    expect(name).to_have_value("Half a na")
    name.fill("A whole name")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A whole name")
    assert "title:" not in page.evaluate("JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage)])")


def test_what_was_written_for_one_project_is_never_kept_for_another(stage: Stage, sign_in: SignIn) -> None:
    stage.project("among the first")
    meant, other = stage.project("meant"), stage.project("other")
    page = sign_in()
    project, prompt = page.get_by_label("Project"), page.get_by_label("What should it do?")
    project.select_option(str(meant))
    prompt.fill("precious")
    page.reload()
    expect(project).to_have_value(str(meant))
    page.goto(f"/talk?project={other}")
    expect(project).to_have_value(str(other))
    project.select_option(str(meant))
    page.reload()
    expect(project).to_have_value(str(meant))
    stage.projects.remove(meant)
    for _ in range(2):
        page.reload()
        expect(prompt).to_have_value("precious")
        expect(project).to_have_value("")
        expect(page.locator("[data-start] [data-problem-text]")).to_contain_text("is not here any more")
    page.get_by_role("button", name="Start").click()
    assert project.evaluate("list => list.validity.valueMissing")
    assert page.url.endswith("/talk")
    prompt.fill("")
    project.select_option(str(other))


@pytest.mark.finding("F-62", "F-72")
def test_a_long_permission_is_shown_from_its_head_when_it_comes_and_when_one_comes_back(
    stage: Stage, sign_in: SignIn
) -> None:
    page = sign_in(**PHONE)
    long = "\n".join(f"line {number} of the file" for number in range(300))
    write = permit("Write", file_path=str(stage.folder / "shop" / "long.txt"), content=long)
    talk = [f"say {json.dumps('words ' * 60)}" for _ in range(20)]
    page.clock.install()
    conversation = begin(page, stage.project(), *talk, write)
    wanted = card(page, "long.txt")
    head = wanted.locator("h2")
    expect(head).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    page.reload()
    expect(head).to_be_in_viewport()
    # Its buttons are further down, and have not been there to be read when they come into view.
    allow = wanted.locator("button[value=allow-once]")
    expect(allow).to_be_disabled()
    wanted.get_by_text("304 lines").click()
    expect(allow).not_to_have_attribute("disabled", "")
    expect(allow).not_to_be_in_viewport()
    run = stand_still(page)
    page.clock.run_for(2000)
    allow.scroll_into_view_if_needed()
    tap_hastily(page, allow)
    run()
    wanted.get_by_role("button", name="Deny", exact=True).tap()
    assert stage.texts(stage.ended(conversation))[-1].startswith("Denied Write")


@pytest.mark.finding("F-62")
def test_a_long_permission_that_comes_while_one_looks_is_shown_from_its_head(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    go = stage.folder / "go-62"
    long = "\n".join(f"line {number} of the file" for number in range(300))
    write = permit("Write", file_path=str(stage.folder / "shop" / "longer.txt"), content=long)
    begin(page, stage.project(), "say ready", f"wait {go}", write)
    expect(page.get_by_text("ready", exact=True)).to_be_visible()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    go.touch()
    expect(card(page, "longer.txt").locator("h2")).to_be_in_viewport()
