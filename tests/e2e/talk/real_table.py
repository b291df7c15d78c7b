"""What a person does with an agent in Talk, one line of a table each, with the real Claude Code, Codex and Gemini on
scripted models, in a real browser. The server is killed in the middle of each. `make test-claude` runs this.

Not part of `make test`: the programs are large. What each of them can and cannot do is in docs/talk.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.programs.model import use
from tests.e2e.talk.conftest import PATIENCE, SignIn
from tests.e2e.talk.real_agents import CLAUDE, CODEX, GEMINI, RealAgent, RealTalk, allow, over, press, real_talk
from tests.e2e.talk.stage import Stage, begin, card
from tests.e2e.talk.stage import say as go_on
from tests.trees.repositories import git, new_repository
from tests.web.house import USER

from sayso.running import speaking

SECONDS = 180
"""In which a real agent does a step. On a busy machine it takes a minute to start."""
AWAIT = "sh -c 'until test -e {}; do sleep 0.1; done'"


@pytest.fixture(scope="module", autouse=True)
def patient() -> Iterator[None]:
    expect.set_options(timeout=SECONDS * 1000)
    yield
    expect.set_options(timeout=PATIENCE)


@pytest.fixture
def sign_in(sign_in: SignIn) -> SignIn:
    """The same, with as much patience."""

    def signed_in(path: str, to: Stage) -> Page:
        page = sign_in(path, to=to)
        page.set_default_timeout(SECONDS * 1000)
        return page

    return signed_in


@pytest.fixture(scope="module", params=[CLAUDE, CODEX, GEMINI], ids=lambda agent: agent.key)
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealTalk]:
    agent: RealAgent = request.param
    with real_talk(agent, str(tmp_path_factory.mktemp("relay"))) as found:
        yield found


def test_what_it_wants_to_do_is_allowed_by_one_browser_and_seen_by_another(talk: RealTalk, sign_in: SignIn) -> None:
    made = talk.stage.folder / "permitted" / "made"
    talk.scripts["PERMIT-IT"] = [talk.agent.run("call_1", f"touch {made}")]
    page, other = sign_in("/talk", to=talk.stage), sign_in("/talk", to=talk.stage)
    conversation = begin(page, talk.project("permitted"), "PERMIT-IT")
    other.goto(f"/talk/{conversation}")
    for each in (page, other):
        expect(card(each, str(made))).to_have_attribute("data-state", "open")
    talk.kill_server()
    allow(card(other, str(made)), SECONDS)
    for each in (page, other):
        expect(card(each, str(made))).to_have_attribute("data-state", "answered")
        over(each, 1)
    assert made.exists()


def test_what_it_asks_is_answered_after_the_server_was_killed(talk: RealTalk, sign_in: SignIn) -> None:
    talk.scripts["ASK-ME"] = [use(talk.agent.ask, "call_1", {"question": "Which harbour?"})]
    page = sign_in("/talk", to=talk.stage)
    begin(page, talk.project("asking"), "ASK-ME")
    asked = card(page, "Which harbour?")
    expect(asked).to_be_visible()
    talk.kill_server()
    asked.get_by_role("textbox").fill("The SOUTHERN one")
    press(asked, "Send answer", SECONDS)
    over(page, 1)
    assert "The SOUTHERN one" in talk.heard()


def test_a_message_while_it_works_is_taken_up_or_waits_for_the_next_turn(
    talk: RealTalk, sign_in: SignIn, tmp_path: Path
) -> None:
    go = tmp_path / "go-on"
    talk.scripts["STEER-ME"] = [talk.agent.run("call_1", AWAIT.format(go))]
    page = sign_in("/talk", to=talk.stage)
    conversation = begin(page, talk.project("steered"), "STEER-ME")
    allow(card(page, str(go)), SECONDS)
    go_on(page, "Mind the CURRENT")
    talk.stage.until_true(lambda: _kept(talk, conversation))
    talk.kill_server()
    talk.stage.until_true(lambda: _handed_on(talk, conversation))
    go.touch()
    over(page, 1)
    if talk.agent.steers:
        expect(page.locator("[data-spoken]")).to_contain_text("taken up")
    else:
        over(page, 2)
    assert talk.heard().count("Mind the CURRENT") == 1


def _kept(talk: RealTalk, conversation: str) -> bool:
    """Whether a message was written down, to be said now or later."""
    return talk.stage.latest(conversation).said > 1 or bool(talk.stage.runs.queue.of(conversation))


def _handed_on(talk: RealTalk, conversation: str) -> bool:
    """Whether the agent has been told all that was said to it."""
    run = talk.stage.latest(conversation)
    return speaking.state(run.folder).handed_on >= run.said


def test_a_queued_message_begins_the_next_turn(talk: RealTalk, sign_in: SignIn, tmp_path: Path) -> None:
    go = tmp_path / "go-on"
    talk.scripts["QUEUE-IT"] = [talk.agent.run("call_1", AWAIT.format(go))]
    page = sign_in("/talk", to=talk.stage)
    conversation = begin(page, talk.project("queued"), "QUEUE-IT")
    allow(card(page, str(go)), SECONDS)
    page.get_by_label("Go on").fill("And then the NEXT")
    # One that takes nothing while it works has no other way.
    page.get_by_role("button", name="Queue" if talk.agent.steers else "Send", exact=True).click()
    expect(page.locator("[data-queued]")).to_contain_text("And then the NEXT")
    talk.kill_server()
    go.touch()
    over(page, 2)
    expect(page.locator("[data-queued]")).to_have_count(0)
    assert [run.prompt for run in talk.stage.runs.turns(conversation, USER)] == ["QUEUE-IT", "And then the NEXT"]
    assert "And then the NEXT" in talk.heard()


def test_it_is_interrupted_at_what_it_wants_to_do_and_goes_on(talk: RealTalk, sign_in: SignIn, tmp_path: Path) -> None:
    never = tmp_path / "never"
    talk.scripts["INTERRUPT-ME"] = [talk.agent.run("call_1", f"touch {never}")]
    page = sign_in("/talk", to=talk.stage)
    begin(page, talk.project("interrupted"), "INTERRUPT-ME")
    expect(card(page, str(never))).to_have_attribute("data-state", "open")
    talk.kill_server()
    page.get_by_role("button", name="Interrupt").click()
    over(page, 1, "Interrupted.")
    talk.scripts["INTERRUPT-ME"] = []
    go_on(page, "And now?")
    over(page, 2)
    assert not never.exists()
    assert "And now?" in talk.heard()


def test_another_permission_mode_holds_for_the_rest_of_the_conversation(talk: RealTalk, sign_in: SignIn) -> None:
    page = sign_in("/talk", to=talk.stage)
    conversation = begin(page, talk.project("moded"), "CHANGE-MODE")
    over(page, 1)
    page.get_by_text("Mode, model").click()
    page.get_by_label("Permission mode", exact=True).select_option("plan")
    page.get_by_role("button", name="Use for the rest of the conversation").click()
    expect(page.get_by_text("You set the permission mode to plan")).to_be_visible()
    talk.kill_server()
    go_on(page, "And now?")
    over(page, 2)
    assert talk.stage.latest(conversation).choices.permission_mode == "plan"


def test_a_picture_in_a_message_reaches_its_model_once_the_agent_is_known_to_take_it(
    talk: RealTalk, sign_in: SignIn, tmp_path: Path
) -> None:
    go = tmp_path / "go-on"
    talk.scripts["LOOK-AT-IT"] = [talk.agent.run("call_1", AWAIT.format(go))]
    project = talk.project("pictured")
    page = sign_in("/talk", to=talk.stage)
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("LOOK-AT-IT")
    _add_picture(page)
    page.get_by_role("button", name="Start").click()
    if not talk.agent.takes_pictures_at_once:
        expect(page.get_by_role("alert").filter(has_text="has not been talked with here yet")).to_be_visible()
        page.get_by_role("button", name="Remove icon-192.png").click()
        page.get_by_label("What should it do?").fill("Hello")
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/talk/*")
        over(page, 1)
        expect(page.locator("[data-pictures] .button").first).to_be_visible()
        _add_picture(page)
        go_on(page, "LOOK-AT-IT")
    page.wait_for_url("**/talk/*")
    expect(page.locator(".pictures img")).to_have_js_property("naturalWidth", 192)
    expect(card(page, str(go))).to_be_visible()
    talk.kill_server()
    assert "image/png" in talk.heard()
    allow(card(page, str(go)), SECONDS)
    go.touch()
    over(page, 1 if talk.agent.takes_pictures_at_once else 2)


def _add_picture(page: Page) -> None:
    with resources.as_file(resources.files("sayso.web") / "static" / "icon-192.png") as file:
        page.get_by_label("Add pictures").set_input_files(file)
        expect(page.get_by_role("button", name="Remove icon-192.png")).to_have_count(1)


def test_it_works_in_a_worktree_of_its_own_that_is_merged(talk: RealTalk, sign_in: SignIn) -> None:
    project = talk.project("treed")
    directory = talk.stage.projects.of(USER, project).directory
    directory.rmdir()
    new_repository(directory, shop_py="one\n")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(directory, "config", name, value)
    talk.scripts["CHANGE-THE-SHOP"] = [talk.agent.run("call_1", "echo two > shop.py")]
    page = sign_in("/talk", to=talk.stage)
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("CHANGE-THE-SHOP")
    page.get_by_label("In a git worktree of its own").check()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/talk/*")
    conversation = page.url.rpartition("/")[2]
    expect(card(page, "echo two")).to_be_visible()
    talk.kill_server()
    allow(card(page, "echo two"), SECONDS)
    over(page, 1)
    assert (directory / "shop.py").read_text() == "one\n"
    page.goto(f"/talk/{conversation}/changes")
    page.get_by_label("Commit message").fill("Sell two")
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Sell two").last).to_be_visible()
    page.get_by_role("button", name="Merge into main").click()
    expect(page.get_by_text("main has all of its commits")).to_be_visible()
    assert (directory / "shop.py").read_text() == "two\n"
