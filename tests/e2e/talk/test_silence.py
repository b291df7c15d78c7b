"""The pages that show an agent at work notice when the stream by which they hear of it dies without a word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect
from tests.e2e.browser.streams import DEAF, go_deaf
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import Stage, new_stage
from tests.e2e.talk.test_takeover import ASKED, SAID, in_terminal
from tests.trees.repositories import new_repository
from tests.web.house import USER

NOTICED_WITHIN = 40_000
"""Milliseconds of the page's clock: half a minute, as the documents promise, and a look."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One on Ada's own machine: what is said in her terminals is shown."""
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay")), person=USER) as stage:
        yield stage


@pytest.fixture
def page(sign_in: SignIn) -> Page:
    """One whose streams a test can let die, with a clock that it can put forward."""
    page = sign_in("/healthz")
    page.add_init_script(DEAF)
    page.clock.install()
    return page


def test_a_conversation_goes_on_where_its_stream_has_died(stage: Stage, page: Page) -> None:
    directory = stage.projects.of(USER, project := stage.project("talking")).directory
    conversation = stage.visitor().start(project, "wait go", "say Here I am")
    page.goto(f"/talk/{conversation}")
    go_deaf(page)
    (directory / "go").touch()
    stage.ended(conversation)
    page.clock.fast_forward(NOTICED_WITHIN)
    expect(page.locator("#turn-1 .spoken")).to_have_text("Here I am")


def about_to_change(stage: Stage, name: str) -> tuple[Path, str]:
    """The folder and the conversation of an agent that changes a file once it may go on."""
    directory = stage.projects.of(USER, project := stage.project(name)).directory
    directory.rmdir()
    new_repository(directory, shop_py="one\n")
    conversation = stage.visitor().start(project, "say Ready", "wait go", "shell echo two > shop.py", "tool Bash {}")
    stage.until_true(lambda: stage.texts(stage.latest(conversation)) == ["Ready"])
    return directory, conversation


def test_changes_are_shown_where_the_stream_has_died(stage: Stage, page: Page) -> None:
    directory, conversation = about_to_change(stage, "changed-unheard")
    # What the stream begins with has the page look once.
    with page.expect_event(
        "requestfinished", lambda request: request.resource_type == "fetch" and "changes" in request.url
    ):
        page.goto(f"/talk/{conversation}/changes")
    expect(page.get_by_role("status").filter(has_text="Nothing has changed")).to_be_visible()
    go_deaf(page)
    (directory / "go").touch()
    stage.ended(conversation)
    page.clock.fast_forward(NOTICED_WITHIN)
    expect(page.locator(".changed-file", has_text="shop.py")).to_contain_text("two")


def test_a_session_in_a_terminal_is_shown_where_the_stream_has_died(stage: Stage, page: Page) -> None:
    stage.project("said-unheard")
    session = in_terminal(stage, "said-unheard", *SAID)
    page.goto(session.page)
    expect(page.locator(".in-terminal")).to_contain_text("Fix <b>it</b>.")
    go_deaf(page)
    session.says(ASKED)
    page.clock.fast_forward(NOTICED_WITHIN)
    expect(page.locator(".session-state")).to_contain_text("in the middle of a turn")


def test_who_is_signed_out_is_told_so_and_the_stream_is_not_tried_again(stage: Stage, page: Page) -> None:
    conversation = stage.visitor().start(stage.project("signed-out"), "say Hello")
    stage.ended(conversation)
    page.goto(f"/talk/{conversation}")
    page.context.clear_cookies()
    go_deaf(page)
    page.clock.fast_forward(NOTICED_WITHIN)
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    # Its own stream may hear of that a little later than the one of all tabs.
    page.wait_for_function("() => [...streams].every((stream) => stream.readyState === EventSource.CLOSED)")
    page.clock.run_for(5000)
    tried: list[Request] = []
    page.on("request", lambda request: tried.append(request) if "events" in request.url else None)
    page.clock.run_for(10_000)
    assert tried == []
    expect(page.get_by_text("The server is away.")).to_be_hidden()


def test_a_look_at_what_has_changed_that_fails_is_made_again(stage: Stage, page: Page) -> None:
    directory, conversation = about_to_change(stage, "changed-unseen")
    page.goto(f"/talk/{conversation}/changes")
    page.route("**/changes", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: "changes" in request.url):
        (directory / "go").touch()
        stage.ended(conversation)
    page.clock.run_for(5000)
    page.unroute_all()
    page.clock.run_for(5000)
    expect(page.locator(".changed-file", has_text="shop.py")).to_contain_text("two")
