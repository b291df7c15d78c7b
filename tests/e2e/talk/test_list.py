"""The list of conversations on the page: it is live, and says which of them wait for the person."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.test_reading import read_from_the_right
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, card, permit, say
from tests.web.house import USER

from sayso.agents.model import Ending, NewRun, RunState

pytestmark = pytest.mark.usefixtures("read_quickly")


@pytest.mark.finding("F-58")
def test_the_list_says_live_in_every_tab_who_waits_for_you(stage: Stage, sign_in: SignIn, tmp_path: Path) -> None:
    first = sign_in("/talk")
    asked_for: set[str] = set()
    first.context.on("request", lambda request: asked_for.add(urlsplit(request.url).path))
    second = first.context.new_page()
    second.goto("/talk")
    visitor, go = stage.visitor(), tmp_path / "go"
    project = stage.project("listed")
    steps = [ask("Which way?", options=OPTIONS), f"wait {go}", permit("Bash", command="make")]
    conversation = visitor.start(project, *steps)
    _expect_standing(conversation, "Waits for you", first, second)
    elsewhere = sign_in(f"/talk/{conversation}")
    card(elsewhere, "Which way?").get_by_label("Option B").check()
    card(elsewhere, "Which way?").get_by_role("button", name="Send answer").click()
    _expect_standing(conversation, "At work", first, second)
    go.touch()
    _expect_standing(conversation, "Waits for you", first, second)
    assert {path for path in asked_for if "events" in path} <= {"/events"}, "the stream that all tabs share"
    # Whoever comes now sees the same, and the conversation says so too.
    second.reload()
    _expect_standing(conversation, "Waits for you", second)
    expect(_row(second, conversation).locator(".row-newest")).to_have_text("Bash: make")
    _row(second, conversation).get_by_role("link").click()
    expect(second.locator("[data-status]")).to_contain_text("Claude waits for you")
    card(second, "Allow Bash: make?").get_by_role("button", name="Allow", exact=True).click()
    expect(second.locator("#turn-1 [data-footer]")).to_contain_text("Done")
    _expect_standing(conversation, "Done", first)
    # The next turn begins in another tab.
    assert visitor.go_on(conversation, "say Again").status == 303
    expect(_row(first, conversation)).to_contain_text("2 turns")
    _expect_standing(conversation, "Done", first)
    expect(_row(first, conversation).locator(".row-newest")).to_have_text("Again")


def _row(page: Page, conversation: str) -> Locator:
    return page.locator(f"[data-conversations] li[data-conversation='{conversation}']")


def _expect_standing(conversation: str, word: str, *pages: Page) -> None:
    for page in pages:
        expect(_row(page, conversation).locator(".pill")).to_have_text(word)


def test_conversations_are_found_as_one_types_renamed_and_put_away(stage: Stage, sign_in: SignIn) -> None:
    project = stage.projects.of(USER, stage.project("kept"))
    ids = []
    for prompt in ("Paint the fence", "Mow the lawn"):
        run = stage.runs.open(NewRun(project=project, prompt=prompt, token=prompt), most=100)
        ids.append(stage.runs.end(run.id, RunState.COMPLETED, Ending()).conversation)
    fence, lawn = ids
    page = sign_in("/talk")
    expect(_row(page, fence)).to_be_visible()
    page.get_by_role("searchbox").fill("LAWN")
    rows = page.locator("[data-talk-list] .row")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Mow the lawn")
    page.get_by_role("searchbox").fill("lawn fence")
    expect(page.get_by_text("No conversation has these words.")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    _row(page, fence).get_by_role("link").click()
    page.get_by_text("More", exact=True).click()
    page.get_by_role("textbox", name="Name").fill("The <b>garden</b>")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The <b>garden</b>")
    expect(_row(page, fence)).to_contain_text("The <b>garden</b>")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(_row(page, lawn)).to_be_visible()
    expect(_row(page, fence)).to_have_count(0)
    visitor = stage.visitor()
    assert "The &lt;b&gt;garden" in visitor.get("/talk?archived=1").text
    assert fence in visitor.get("/talk?q=garden").text
    for path in ("title", "archive"):
        assert stage.visitor("bob").post(f"/talk/{lawn}/{path}", title="Mine").status == 404
    # What ends while nobody looks is marked until somebody does.
    assert visitor.get(f"/talk/{lawn}").status == 200
    later = stage.runs.open(NewRun(project=project, prompt="Again", token="later", conversation=lawn), most=100)
    stage.runs.end(later.id, RunState.FAILED, Ending(message="No"))
    expect(_row(page, lawn).locator(".unread")).to_be_visible()
    expect(_row(page, lawn).locator(".row-newest")).to_have_text("No")
    assert visitor.post(f"/talk/{fence}/archive", do="bring back").status == 303
    expect(_row(page, fence)).to_be_visible()
    _row(page, lawn).get_by_role("link").click()
    expect(_row(page, lawn).locator(".pill")).to_have_text("Failed")
    expect(_row(page, lawn).locator(".unread")).to_have_count(0)
    expect(_row(page, lawn).locator(".row-newest")).to_have_count(0)


def test_what_is_read_from_the_right_ends_on_the_left_in_a_conversation_and_in_the_list(
    stage: Stage, sign_in: SignIn
) -> None:
    page, go = sign_in(**PHONE), stage.folder / "go-from-the-right"
    conversation = begin(page, stage.project("חנות!", ask_user=False), "say האם להמשיך?", f"wait {go}")
    expect(page.locator("[data-parts]")).to_contain_text("להמשיך")
    say(page, "כן, בבקשה!\nsay Thanks")
    said = page.locator("[data-spoken]")
    assert read_from_the_right(said, "כן, בבקשה!")
    assert not read_from_the_right(said, "say Thanks"), "each paragraph has a side of its own"
    assert read_from_the_right(page.locator("[data-parts]"), "האם להמשיך?")
    listed = sign_in(**PHONE)
    row = listed.locator(f"[data-conversation='{conversation}']")
    assert all(read_from_the_right(row, words) for words in ("כן, בבקשה!", "חנות!"))
    go.touch()
    stage.ended(conversation)
