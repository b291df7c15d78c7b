"""The pages of Talk for whoever comes: other users, people without JavaScript, with a phone or a keyboard; and what
agents say that means harm."""

from __future__ import annotations

import base64
import json
import re
from contextlib import suppress
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Error, Locator, Page, Route, expect
from tests.e2e.browser.conftest import PHONE
from tests.e2e.browser.test_accessibility import CUT, TOO_SMALL, TWICE, tabs_to, violations
from tests.e2e.browser.test_attachments import PASTE
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, Stage, ask, begin, card, permit
from tests.permissions.test_desk import PUSH
from tests.test_pictures import PNG
from tests.trees.repositories import git, new_repository
from tests.web.house import USER, confirm, new_ask

from sayso.agents.model import Ending, EventKind, NewEvent, NewRun, Run, RunState
from sayso.agents.takeover import Takeovers
from sayso.asks.mark import mark
from sayso.asks.model import Answer, Ask, Asker, Settler, State
from sayso.asks.quorum import Demand, Quorum, yeses_of
from sayso.clock import now_ms
from sayso.permissions.action import asking
from sayso.roster import Roster
from sayso.web.beside_talk import BesideReader
from sayso.web.transcript import Transcript

pytestmark = pytest.mark.usefixtures("read_quickly")

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
PASTE_SOON = f"(field, given) => (window.pastes ??= []).push(() => ({PASTE})(field, given))"
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script> [x](javascript:alert(3)) \u202eevil"


def press(button: Locator, told: Locator) -> None:
    """A page that hears of something at that moment has moved, and takes no press: then it is pressed once more."""
    for _ in range(10):
        with suppress(Error):
            button.click(timeout=5000)
        with suppress(AssertionError):
            expect(told).to_be_visible(timeout=5000)
            return
    expect(told).to_be_visible()


def test_another_user_cannot_see_answer_stop_or_start_anything(stage: Stage) -> None:
    ada, bob = stage.visitor(), stage.visitor("bob")
    project = stage.project("secret")
    conversation = ada.start(project, ask("Whose?", options=OPTIONS))
    asked, run = stage.open_ask(conversation), stage.latest(conversation)
    assert "secret" not in bob.get("/talk").text
    assert conversation not in bob.get("/talk").text
    assert bob.get(f"/talk/{conversation}").status == 404
    assert bob.get(f"/talk/{conversation}/events").status == 404
    assert bob.get(f"/runs/{run.id}").status == 404
    assert bob.go_on(conversation, "say Mine now").status == 404
    assert bob.post(f"/talk/{conversation}/stop").status == 404
    assert bob.post("/talk", project=str(project), prompt="say Mine").status == 404
    assert bob.get(f"/asks/{asked.id}").status == 404
    answered = {"settle": "answer", "q0": "0", "shown": mark(asked)}
    assert bob.post(f"/asks/{asked.id}", **answered).status == 404
    assert asked.id not in bob.get("/").text
    answer = {"streamToken": run.token, "ask": asked.id, "answer": "Option A", "selectedOptions": [0]}
    refused = bob.send_json(f"/claude/submit-answer?p={project}", answer)
    assert refused.status == 403
    now = stage.latest(conversation)
    assert (now.id, now.state, now.stopped_by) == (run.id, run.state, "")
    assert stage.house.desk.get(asked.id).state is State.PENDING
    # Ada can, without JavaScript: the card is a form like that of the inbox.
    assert ada.post(f"/asks/{asked.id}", **answered).status == 303
    assert stage.texts(stage.ended(conversation)) == ["Heard: User selected: Option A"]
    assert ada.post(f"/talk/{conversation}/stop").status == 303


def test_who_asks_for_the_head_of_a_stream_begins_none(stage: Stage) -> None:
    ada = stage.visitor()
    streams = (f"/talk/{ada.start(stage.project(), 'say Hello')}/events", "/events")
    assert ada.heads(*streams, "/talk") == [200, 200, 200]


def test_forms_need_the_token_of_their_session_and_a_person_who_is_signed_in(stage: Stage) -> None:
    ada = stage.visitor()
    project = str(stage.project())
    for path in ("/talk", "/talk/000000000000000000000000", "/talk/000000000000000000000000/stop"):
        assert ada.post(path, csrf="forged", project=project, prompt="say Hello").status == 403
        assert stage.house.web.call("POST", path, form={"project": project, "prompt": "say Hello"}).status == 401
    assert ada.post("/talk", project=project, prompt=" ").status == 422
    assert ada.post("/talk", project="999", prompt="say Hello").status == 404
    assert ada.get("/talk/nonsense").status == 404
    assert ada.get("/talk/000000000000000000000000").status == 404


def test_everything_can_be_done_without_javascript(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in("/talk", java_script_enabled=False)
    conversation = begin(page, stage.project(), ask("Which way?", options=OPTIONS), permit("Bash", command="make"))
    stage.open_ask(conversation)
    page.get_by_role("link", name="Show what is new").click()
    card(page, "Which way?").get_by_label("Option B").check()
    card(page, "Which way?").get_by_role("button", name="Send answer").click()
    stage.until_true(lambda: len(stage.events(stage.latest(conversation), EventKind.ASK)) == 2)
    page.goto(f"/talk/{conversation}")
    refused = card(page, "Allow Bash: make?")
    refused.get_by_role("textbox").fill("Not now")
    refused.get_by_role("button", name="Deny").click()
    run = stage.ended(conversation)
    denied = "Denied Bash: The user did not allow this. They said: Not now"
    assert stage.texts(run) == ["Heard: User selected: Option B", denied]
    page.goto(f"/talk/{conversation}")
    expect(page.locator("[data-card]")).to_contain_text(["You answered: Option B", "You denied this: Not now"])
    # What was denied has not failed.
    expect(page.locator(".tool", has_text="make").locator("> summary")).to_contain_text("denied")
    expect(page.locator("article")).not_to_contain_text("failed")
    page.get_by_label("Go on").fill("say Again")
    page.get_by_role("button", name="Send").click()
    stage.ended(conversation)
    page.reload()
    expect(page.locator("#turn-2 .spoken")).to_have_text("Again")


def test_what_agents_say_is_shown_and_never_obeyed(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    steps = [
        f"say {EVIL}",
        f"tool {EVIL.split()[0]} {json.dumps({'command': EVIL, EVIL: EVIL})}",
        ask(EVIL, options=[{"label": EVIL, "description": EVIL}]),
        permit("Write", file_path=EVIL, content=f"{EVIL}\n```\n# out of the fence"),
    ]
    conversation = begin(page, stage.project(), *steps)
    first = page.locator("[data-card]").first
    first.get_by_role("radio").first.check()
    first.get_by_role("button", name="Send answer").click()
    allow = page.get_by_role("button", name="Allow", exact=True)
    # It is offered only while it is in view.
    allow.scroll_into_view_if_needed()
    allow.click()
    stage.ended(conversation)
    for _ in range(2):
        expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
        expect(page.locator("article :is(img, script, iframe, style)")).to_have_count(0)
        expect(page.locator("article a[href^='javascript']")).to_have_count(0)
        expect(page.locator("article")).to_contain_text("<script>alert(2)</script>")
        # Once as it came, once as a page.
        page.reload()
    assert trouble == []


def test_pages_are_accessible_by_keyboard_and_fit_a_phone_in_light_and_dark(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in("/talk", **PHONE)
    conversation = begin(
        page,
        stage.project(),
        "say A word that cannot be broken: " + "w" * 300,
        f"tool Bash {json.dumps({'command': 'x' * 400})}",
        permit("Edit", file_path="/a", old_string="one", new_string="two" * 100),
        ask("Which way?", options=[*OPTIONS, {"label": "l" * 200}]),
    )
    allow = page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_visible()
    assert _violations(page) == []
    assert page.evaluate(FITS)
    allow.focus()
    # It takes a key like any other press, but for Enter: once the button has been in view for a while.
    expect(allow).to_be_enabled()
    page.keyboard.press("Space")
    asked = card(page, "Which way?")
    expect(asked).to_be_visible()
    page.emulate_media(color_scheme="dark")
    assert _violations(page) == []
    assert page.evaluate(FITS)
    page.reload()
    expect(asked).to_be_visible()
    assert tabs_to(page, asked.get_by_role("radio").first) <= 3
    choice, submit = asked.get_by_role("radio").first, asked.get_by_role("button", name="Send answer")
    choice.focus()
    expect(choice).to_be_enabled()
    page.keyboard.press("Space")
    expect(choice).to_be_checked()
    submit.focus()
    expect(submit).to_be_enabled()
    page.keyboard.press("Enter")
    stage.ended(conversation)
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
    page.locator("details").evaluate_all("folds => folds.forEach(fold => fold.open = true)")
    assert _violations(page) == []
    assert page.evaluate(FITS)
    assert page.evaluate(TOO_SMALL) == []
    page.goto("/talk")
    assert _violations(page) == []
    assert page.evaluate(FITS)
    assert page.evaluate(TOO_SMALL) == []
    assert tabs_to(page, page.get_by_label("What should it do?")) <= 3


def test_below_send_is_nothing_on_a_phone_that_halts_the_agent(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in("/talk", **PHONE)
    begin(page, stage.project(), "wait for-ever")
    send, interrupt = page.get_by_role("button", name="Send", exact=True), page.get_by_role("button", name="Interrupt")
    expect(interrupt).to_be_visible()
    above, below = send.bounding_box(), interrupt.bounding_box()
    assert above
    assert below
    assert below["x"] + below["width"] < above["x"]
    interrupt.tap()
    expect(page.locator("[data-footer]")).to_contain_text("Interrupted")


def test_what_has_changed_in_the_working_tree_is_shown_as_it_happens(stage: Stage, sign_in: SignIn) -> None:
    project = stage.project("changing")
    directory = stage.projects.of(USER, project).directory
    directory.rmdir()
    new_repository(directory, shop_py="one\ntwo\n")
    page = sign_in("/talk", **PHONE)
    name = "<b>new"
    steps = ["wait go", "shell printf 'one\\nthree\\n' > shop.py", "tool Bash {}", "wait more"]
    conversation = begin(page, project, *steps, f"shell echo x > '{name}'", "tool Bash {}")
    page.get_by_role("link", name="Changes").click()
    expect(page.get_by_role("status").filter(has_text="Nothing has changed")).to_be_visible()
    (directory / "go").touch()
    expect(page.locator(".changed-file", has_text="shop.py")).to_contain_text("three")
    expect(page.get_by_text("2 files changed since the conversation began")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert _violations(page) == []
    page.locator("summary", has_text="shop.py").click()
    (directory / "more").touch()
    expect(page.locator(".changed-name", has_text=name)).to_be_visible()
    # What was folded stays so, and who was there with a keyboard still is.
    expect(page.get_by_text("three")).to_be_hidden()
    expect(page.locator("summary", has_text="shop.py")).to_be_focused()
    stage.ended(conversation)
    assert page.evaluate(TOO_SMALL) == []
    # Now there is something to commit, and words for that stay over a reload until they are used.
    for setting, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(directory, "config", setting, value)
    page.get_by_label("Commit message").fill("Sell three")
    page.reload()
    expect(page.get_by_label("Commit message")).to_have_value("Sell three")
    committed = page.get_by_role("status").filter(has_text="You committed")
    press(page.get_by_role("button", name="Commit"), committed)
    page.reload()
    expect(page.locator("#message")).to_have_value("")
    for step in ("revert", "discard"):
        page.goto(f"/talk/{conversation}/changes/{step}")
        assert _violations(page) == []
        assert page.evaluate(TOO_SMALL) == []
    assert stage.visitor("mallory").get(f"/talk/{conversation}/changes").status == 404


def test_changes_are_reverted_that_is_undone_and_they_are_committed_as_they_were_shown(
    stage: Stage, sign_in: SignIn
) -> None:
    project = stage.project("committed")
    directory = stage.projects.of(USER, project).directory
    directory.rmdir()
    new_repository(directory, shop_py="one\n", other_txt="other\n")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(directory, "config", name, value)
    ada = stage.visitor()
    conversation = ada.start(project, "shell echo two > shop.py; echo new > new.txt; rm other.txt", "wait done")
    stage.until_true(lambda: bool(stage.texts(stage.latest(conversation))))
    revert = ada.get(f"/talk/{conversation}/changes/revert").text
    (first, *_) = re.findall(r'name="chosen" value="([^"]+)"', revert)
    refused = ada.post(f"/talk/{conversation}/changes/revert", chosen=first)
    assert (refused.status, "An agent is at work" in refused.text) == (409, True)
    (directory / "done").touch()
    stage.ended(conversation)
    (directory / "done").unlink()

    page = sign_in(f"/talk/{conversation}/changes", java_script_enabled=False, **PHONE)
    page.locator(".changed-file", has_text="new.txt").get_by_role("link", name="Revert…").click()
    expect(page.locator(".changed-file")).to_contain_text("+new")
    page.get_by_role("button", name="Revert 1 file").click()
    expect(page.locator(".changed-name")).to_have_text(["other.txt", "shop.py"])
    assert not (directory / "new.txt").exists()
    page.get_by_role("button", name="Undo revert").click()
    expect(page.locator(".changed-name")).to_have_text(["new.txt", "other.txt", "shop.py"])
    page.locator(".changed-file", has_text="other.txt").get_by_label("Commit it").uncheck()
    page.get_by_label("Commit message").fill("Sell two")
    (directory / "shop.py").write_text("three\n")
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_role("alert")).to_contain_text("shop.py has changed since you were shown")
    page.locator(".changed-file", has_text="other.txt").get_by_label("Commit it").uncheck()
    expect(page.get_by_label("Commit message")).to_have_value("Sell two")
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_role("status").filter(has_text="You committed 2 files to main as")).to_be_visible()
    expect(page.get_by_label("Commit it")).to_have_count(1)
    page.get_by_role("link", name="Talk", exact=True).last.click()
    expect(page.get_by_text("You committed 2 files to main")).to_be_visible()
    assert git(directory, "show", "--name-only", "--format=%s").split() == ["Sell", "two", "new.txt", "shop.py"]
    assert git(directory, "status", "--porcelain") == " D other.txt\n"


def _violations(page: Page) -> list[str]:
    """With nothing pinned: what scrolls half behind it is too small to be touched at that moment only."""
    pin = "document.querySelectorAll('[data-pinned]').forEach(one => one.style.position = place)"
    # No page expects that of itself, only of a screen that has another size now.
    pin = f"place => {{ {pin}; dispatchEvent(new Event('resize')); }}"
    page.evaluate(pin, "static")
    found = violations(page)
    page.evaluate(pin, "")
    return found


def test_the_tick_for_a_worktree_stays_as_the_person_has_set_it_and_is_not_offered_without_git(
    stage: Stage, sign_in: SignIn
) -> None:
    first, second, plain = (stage.project(name) for name in ("ticked", "ticked too", "without git"))
    for project in (first, second):
        directory = stage.projects.of(USER, project).directory
        directory.rmdir()
        new_repository(directory, shop_py="one\n")
    page = sign_in(f"/talk?project={first}")
    tick = page.get_by_label("In a git worktree of its own")
    tick.check()
    page.get_by_label("Project").select_option(str(second))
    expect(tick).to_be_checked()
    page.get_by_label("Project").select_option(str(plain))
    expect(tick).to_be_disabled()
    expect(tick).not_to_be_checked()
    expect(page.get_by_text("not in a git repository, so there can be no worktree")).to_be_visible()
    page.get_by_label("Project").select_option(str(first))
    expect(tick).to_be_checked()
    expect(tick).to_be_enabled()


def test_a_conversation_works_in_a_worktree_of_its_own_that_is_merged_and_discarded(
    stage: Stage, sign_in: SignIn
) -> None:
    project = stage.project("treed")
    directory = stage.projects.of(USER, project).directory
    directory.rmdir()
    new_repository(directory, shop_py="one\n")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(directory, "config", name, value)
    page = sign_in("/talk", java_script_enabled=False)
    page.get_by_label("Project").select_option(str(project))
    page.get_by_label("What should it do?").fill("shell echo two > shop.py; pwd")
    page.get_by_label("In a git worktree of its own").check()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/talk/*")
    conversation = page.url.rpartition("/")[2]
    run = stage.ended(conversation)
    assert str(stage.house.place.config().worktrees_dir) in stage.texts(run)[0]
    assert (directory / "shop.py").read_text() == "one\n"

    page.goto(f"/talk/{conversation}/changes")
    expect(page.get_by_role("button", name="Merge into main")).to_be_disabled()
    expect(page.get_by_text("Commit or revert them first: then it can be merged into main.")).to_be_visible()
    discarding = stage.visitor().get(f"/talk/{conversation}/changes/discard").text
    assert all(told in discarding for told in ("Changes that are not committed", "shop.py"))
    page.get_by_label("Commit message").fill("Sell two")
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Sell two").last).to_be_visible()
    digest = page.locator("form[action$=merge] [name=digest]").input_value()
    page.get_by_role("button", name="Merge into main").click()
    expect(page.get_by_text("main has all of its commits")).to_be_visible()
    assert (directory / "shop.py").read_text() == "two\n"
    again = stage.visitor().post(f"/talk/{conversation}/changes/merge", digest=digest)
    told = stage.visitor().get(again.headers["location"]).text
    assert 'class="banner done" role="status"><p dir="auto">You merged the worktree into main' in told
    whole = stage.visitor().get(f"/talk/{conversation}").text
    assert whole.index(">Done</span>", whole.index("data-parts")) < whole.index("You committed 1 file")
    page.get_by_role("link", name="Discard…").click()
    expect(page.get_by_text("Nothing is lost")).to_be_visible()
    page.get_by_role("button", name="Discard the worktree").click()
    expect(page.get_by_text("You discarded the worktree")).to_be_visible()
    expect(page.get_by_role("link", name="Start another conversation")).to_be_visible()
    expect(page.get_by_text("The worktree of this conversation is gone")).to_be_visible()
    assert stage.visitor().post(f"/talk/{conversation}/changes/discard", digest="pressed again").status == 303
    assert len(git(directory, "worktree", "list").splitlines()) == 1
    stage.visitor().go_on(conversation, "say Hello")
    ended = stage.ended(conversation)
    assert ended.ending
    assert "The worktree of this conversation is gone" in ended.ending.message


def test_pictures_are_sent_with_a_message_and_those_of_tools_are_shown(stage: Stage, sign_in: SignIn) -> None:
    project = stage.project("pictured")
    icon = resources.files("sayso.web") / "static" / "icon-192.png"
    with resources.as_file(icon) as file:
        page = sign_in("/talk", **PHONE)
        page.get_by_label("Project").select_option(str(project))
        page.get_by_label("What should it do?").fill(f"pictures\nlook {file}\nwait go")
        lost = page.get_by_text("The pictures that you had chosen are not here any more.")
        page.get_by_label("Add pictures").set_input_files(file)
        expect(page.get_by_role("button", name="Remove icon-192.png")).to_have_count(1)
        page.reload()
        expect(lost).to_be_visible()
        page.get_by_label("Add pictures").set_input_files([file, file])
        expect(lost).to_be_hidden()
        page.get_by_role("button", name="Remove icon-192.png").first.click()
        expect(page.get_by_role("button", name="Remove icon-192.png")).to_have_count(1)
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/talk/*")
        shown = page.locator(".pictures img")
        expect(shown).to_have_count(2)
        for place in range(2):
            expect(shown.nth(place)).to_have_js_property("naturalWidth", 192)
        expect(page.locator(".spoken").first).to_have_text(re.compile(r"image/png [0-9a-f]{8}"))
        page.get_by_label("Go on").fill("pictures")
        page.get_by_label("Add pictures").set_input_files(file)
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator("[data-spoken] .pictures img")).to_have_js_property("naturalWidth", 192)
        expect(lost).to_be_hidden()
        expect(page.get_by_role("button", name="Remove icon-192.png")).to_have_count(0)
    conversation = page.url.rpartition("/")[2]
    (stage.projects.of(USER, project).directory / "go").touch()
    run = stage.ended(conversation)
    address = page.locator(".pictures a").first.get_attribute("href")
    reply = page.goto(f"/{address}")
    assert reply
    served = reply.headers
    assert (served["content-type"], served["x-content-type-options"]) == ("image/png", "nosniff")
    assert "sandbox" in served["content-security-policy"]
    assert stage.visitor("mallory").get(f"/{address}").status == 404
    assert stage.visitor().get(f"/runs/{run.id}/pictures/1/7").status == 404
    page.goto(f"/talk/{conversation}")
    page.get_by_label("Go on").fill("say Hello")
    page.get_by_label("Add pictures").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": b"<svg/>"})
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="PNG, JPEG, GIF or WebP")).to_be_visible()


def test_without_a_project_the_page_says_how_to_add_one(stage: Stage) -> None:
    shown = stage.visitor("carol").get("/talk").text
    assert "sayso project add" in shown
    assert "<textarea" not in shown


@pytest.mark.requirement("P-66", "P-71", "P-72", "P-73")
def test_projects_come_from_the_command_line_of_the_machine(stage: Stage) -> None:
    run, folder = stage.house.place.run, stage.folder / "by-hand"
    settings = folder / ".claude" / "settings.local.json"
    folder.mkdir()
    added = run(
        "project", "add", str(folder), "--name", "By hand", "--user", USER, "--ask-user-timeout", "600", "--json"
    )
    told = json.loads(added.stdout)
    assert (told["askUserEnabled"], told["askUserTimeout"], told["user"]) == (True, 600, USER)
    assert json.loads(settings.read_text())["mcpServers"]["ask-user"]["args"] == ["server", "--approve"]
    for wrong in ("29", "901"):
        refused = run("project", "add", str(folder), "--user", USER, "--ask-user-timeout", wrong)
        assert refused.returncode == 2
        assert f"is {wrong}; it must be from 30 to 900 seconds" in refused.stderr
    # An older entry, as after an upgrade, is brought up to date.
    settings.write_text(json.dumps({"other": 1, "mcpServers": {"ask-user": {"command": "node", "args": ["old.js"]}}}))
    assert run("project", "sync").returncode == 0
    synced = json.loads(settings.read_text())
    assert synced["other"] == 1
    assert synced["mcpServers"]["ask-user"]["args"] == ["server", "--approve"]
    assert run("project", "add", str(folder), "--user", USER, "--no-ask-user").returncode == 0
    assert "mcpServers" not in json.loads(settings.read_text())
    listed = next(row for row in json.loads(run("project", "list", "--json").stdout) if row["id"] == told["id"])
    assert (listed["askUserEnabled"], listed["agents_at_work"]) == (False, 0)
    visitor = stage.visitor()
    conversation = visitor.start(told["id"], f"wait {folder / 'never'}")
    assert "1 agent told to stop" in run("project", "stop", str(folder)).stderr
    assert stage.ended(conversation).state == "stopped"
    assert run("project", "remove", str(told["id"])).returncode == 0
    assert visitor.go_on(conversation, "say More").status == 404
    assert visitor.get(f"/talk/{conversation}").status == 200
    assert run("project", "remove", "nonsense").returncode == 3
    assert "nonexistent" in run("project", "add", str(folder / "nonexistent"), "--user", USER).stderr


def test_a_card_stands_below_all_that_its_agent_said_before_it_was_settled(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    steps = permit("Bash", command="make clean"), ask("Which database?", options=OPTIONS), "say Thanks"
    conversation = begin(page, stage.project(), *steps)
    card(page, "make clean").get_by_role("button", name="Deny", exact=True).click()
    question = page.locator("#turn-1 [data-parts] > [data-card]", has_text="Which database?")
    expect(question.get_by_label("Option A")).to_be_visible()
    expect(page.get_by_text("Denied Bash: ")).to_be_visible()
    expect(page.locator("#turn-1 [data-tool-state=denied]")).to_have_count(1)
    expect(page.locator("#turn-1 .tool", has_text="Asks you")).to_be_visible()
    last = page.locator("#turn-1 [data-parts] > :last-child")
    assert last.get_attribute("data-card") == question.get_attribute("data-card")
    question.get_by_label("Option A").check()
    question.get_by_role("button", name="Send answer").click()
    stage.ended(conversation)
    expect(page.get_by_text("Thanks", exact=True)).to_be_visible()
    assert _places(page) == sorted(_places(page))
    page.reload()
    assert _places(page) == sorted(_places(page))
    expect(page.locator("#turn-1 [data-tool-state=denied]")).to_have_count(1)


def test_lines_say_what_became_of_them_and_what_belongs_together_is_folded(stage: Stage, sign_in: SignIn) -> None:
    project = stage.projects.of(USER, stage.project("folded"))
    run = stage.runs.open(NewRun(project=project, prompt="Do it.", token="folded"), most=100)
    page = sign_in(f"/talk/{run.conversation}")
    steps = [{"content": "Read", "status": "completed"}, {"content": "Write <b>", "status": "in_progress"}]
    lines = [
        *(_used("1", "Read", file_path="a.py"), _gave("1"), _used("2", "Grep", pattern="x"), _gave("2", error=True)),
        *(_used("3", "Task", description="Look"), _used("4", "Bash", "3", command="ls"), _gave("4")),
        *(_used("5", "TodoWrite", todos=steps[:1]), _used("6", "TodoWrite", todos=steps)),
        NewEvent(kind=EventKind.USAGE, body={"used": 30_000, "window": 200_000}),
    ]
    stage.runs.append(run.id, *lines)
    turn = page.locator("#turn-1")
    for _ in range(2):
        expect(turn.locator("[data-looks] > summary")).to_contain_text("2 looks at files")
        expect(turn.locator("[data-looks] [data-tool-state]")).to_have_text(["✓done", "✗ failed"])
        task = turn.locator("[data-parts] > .tool", has_text="Task")
        expect(task.locator("> summary")).to_contain_text("1 step")
        expect(task.locator("> summary [data-tool-state]")).to_have_text("running")
        expect(task.locator("[data-inside] .tool")).to_be_hidden()
        expect(turn.locator("[data-plan][open]")).to_have_count(1)
        expect(turn.locator("[data-plan][open]")).to_contain_text("1 of 2 done")
        expect(turn.locator("[data-plan][open] [data-step=doing]")).to_have_text("doing: Write <b>")
        expect(page.locator("[data-status]")).to_contain_text("context 15% full")
        # Once as they came, once as a page.
        page.reload()
    stage.runs.end(run.id, RunState.COMPLETED, Ending())
    expect(task.locator("> summary [data-tool-state]")).to_have_text("no result")


def _used(use: str, name: str, parent: str = "", **given: Any) -> NewEvent:
    body = {"id": use, "name": name, "input": given, **({"parent": parent} if parent else {})}
    return NewEvent(kind=EventKind.TOOL, body=body)


def _gave(use: str, *, error: bool = False) -> NewEvent:
    return NewEvent(kind=EventKind.TOOL_RESULT, body={"id": use, "text": "", "error": error})


def reader_of(stage: Stage, run: Run) -> Transcript:
    beside = BesideReader(Takeovers(stage.house.place.config(), stage.projects, Roster(stage.store), stage.runs))
    return Transcript(stage.runs, stage.house.desk, run.conversation, beside, user=USER, csrf="")


def test_a_verdict_that_comes_with_the_next_line_stands_above_it_at_once(stage: Stage) -> None:
    project = stage.projects.of(USER, stage.project("together"))
    run = stage.runs.open(NewRun(project=project, prompt="Do it.", token="together"), most=100)
    held = stage.house.hold(new_ask(confirm(), asker=Asker(client="claude", owner=USER, run=run.id)))
    stage.runs.note_ask(run.id, held.ask.id)
    reader = reader_of(stage, run)
    assert [each["type"] for each in _told(reader)][1:3] == ["ask", "footer"]
    by = Settler(person=USER, surface="terminal")
    settled = stage.house.desk.answer(held.ask.id, [Answer(question=held.ask.questions[0].id, chosen=("yes",))], by)
    stage.until_true(lambda: now_ms() > (settled.ended_at or 0))
    stage.runs.append(run.id, NewEvent(kind=EventKind.TEXT, body={"text": "Thank you"}))
    assert [each["type"] for each in _told(reader)][:2] == ["card", "text"]
    stage.runs.end(run.id, RunState.COMPLETED, Ending())


def _wanted_by_two(stage: Stage) -> tuple[Run, Ask]:
    """An agent wants something that two have to agree to."""
    project = stage.projects.of(USER, stage.project("agreeing"))
    run = stage.runs.open(NewRun(project=project, prompt="Push it.", token="agreeing"), most=100)
    demand = Demand(rule="Bash(git push *)", place="/etc/sayso/rules.toml:1", people=(USER, "grace"), need=2)
    new = new_ask(confirm("May it?"), asker=Asker(client="claude", owner=USER, run=run.id))
    wanted = stage.house.hold(asking(new, PUSH, quorum=Quorum(demands=(demand,), whose=USER))).ask
    stage.runs.note_ask(run.id, wanted.id)
    return run, wanted


def test_a_yes_is_taken_back_on_the_card_while_others_have_to_agree(stage: Stage) -> None:
    run, wanted = _wanted_by_two(stage)
    visitor, reader = stage.visitor(), reader_of(stage, run)

    def pressed(button: str) -> int:
        return visitor.post(f"/asks/{wanted.id}", settle=button, digest=wanted.digest, shown=mark(wanted)).status

    def shown_on_the_page() -> bool:
        return 'value="take-back">Take my yes back<' in visitor.get(f"/talk/{run.conversation}").text

    assert not shown_on_the_page()
    reader.news()
    assert pressed("allow-once") == 303
    assert shown_on_the_page()
    assert "Take my yes back" in json.dumps(_told(reader)), "who has it open is shown it at once"
    assert pressed("take-back") == 303
    assert not shown_on_the_page()
    assert yeses_of(stage.house.desk.get(wanted.id)) == ()
    assert "Take my yes back" not in json.dumps(_told(reader))
    stage.runs.end(run.id, RunState.COMPLETED, Ending())


def test_who_agrees_in_an_open_conversation_is_shown_who_is_awaited_and_can_take_it_back(
    stage: Stage, sign_in: SignIn
) -> None:
    run, wanted = _wanted_by_two(stage)
    page = sign_in()
    page.goto(f"{stage.house.address_of()}/talk/{run.conversation}")
    shown = page.locator(f"#ask-{wanted.id}")
    shown.get_by_role("button", name="Allow", exact=True).click()
    expect(shown.get_by_text(f"Agreed: {USER}.")).to_be_visible()
    shown.get_by_role("button", name="Take my yes back").click()
    expect(shown.get_by_role("button", name="Allow", exact=True)).to_be_visible()
    assert yeses_of(stage.house.desk.get(wanted.id)) == ()
    stage.runs.end(run.id, RunState.COMPLETED, Ending())


def _told(reader: Transcript) -> list[dict[str, Any]]:
    """The messages of a stream."""
    return [json.loads(message.decode().partition("data: ")[2]) for message in reader.news()]


def _places(page: Page) -> list[int]:
    """Where each of these stands in the conversation."""
    told = page.locator("#turn-1 [data-parts]").inner_text()
    parts = "Denied Bash: ", "Asks you", "You answered: Option A", "Heard: ", "Thanks"
    return [told.index(part) for part in parts]


IN_ITS_LINE = """() => {
  const [line, words] = [...document.querySelectorAll(".status-line, .status-line .at-work")]
    .map((one) => one.getBoundingClientRect());
  return words.right <= line.right && words.bottom <= line.bottom + 1 && line.right <= innerWidth;
}"""
AT_ITS_MIDDLE = """one => {
  const { left, width, top, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


@pytest.mark.parametrize("size", [(390, 844), (320, 640), (1280, 860)])
def test_what_steers_an_agent_covers_neither_the_field_nor_send_nor_how_it_stands(
    stage: Stage, sign_in: SignIn, size: tuple[int, int]
) -> None:
    width, height = size
    is_phone = width < 500
    page = sign_in(**{**(PHONE if is_phone else {}), "viewport": {"width": width, "height": height}})
    conversation = begin(page, stage.project("plain", ask_user=False), f"wait {stage.folder / 'never'}")
    field, send = page.get_by_label("Go on"), page.get_by_role("button", name="Send", exact=True)
    field.fill("Something more to do, please")
    expect(page.get_by_role("button", name="Queue")).to_be_visible()
    expect(page.locator("[data-status]")).to_contain_text("Claude is at work")
    assert page.evaluate(IN_ITS_LINE)
    fold = page.locator("details.choices > summary")
    before = fold.bounding_box()
    fold.click()
    panel, stop = page.locator("details.choices > form"), page.get_by_role("button", name="Stop Claude")
    expect(panel).to_be_in_viewport(ratio=1)
    # A second tap in the same place stops nothing.
    assert not is_phone or fold.bounding_box() == before
    assert page.evaluate(IN_ITS_LINE)
    for usable in (field, send, stop, page.get_by_role("button", name="Queue")):
        assert usable.evaluate(AT_ITS_MIDDLE)
        assert usable.evaluate("one => one.scrollWidth <= one.clientWidth")
    stop.click()
    stage.ended(conversation)
    expect(panel).to_be_hidden()
    expect(page.locator("[data-status]")).to_contain_text("Ready for your next message")
    assert send.evaluate(AT_ITS_MIDDLE)
    expect(field).to_have_value("Something more to do, please")


def test_in_text_of_twice_the_size_a_conversation_leaves_room_to_read_and_to_write(
    stage: Stage, sign_in: SignIn
) -> None:
    page = sign_in(**PHONE)
    page.add_init_script(TWICE)
    page.reload()
    command = "git push --force-with-lease origin main"
    begin(page, stage.project("plain"), "say hello", permit("Bash", command=command))
    expect(card(page, "git push").get_by_role("button", name="Deny", exact=True)).to_be_visible()
    field = page.get_by_label("Go on")
    field.fill("Something more to do, please")
    assert page.evaluate(CUT) == []
    page.locator("details.choices > summary").tap()
    expect(page.get_by_label("Permission mode")).to_be_visible()
    assert page.evaluate(CUT) == []
    assert field.evaluate("one => one.offsetWidth") > 300
    # Nothing is pinned above what is read.
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator(".dock")).not_to_be_in_viewport()


def test_back_closes_what_lies_over_a_conversation_and_leaves_what_was_typed(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in(**PHONE)
    conversation = begin(page, stage.project("plain", ask_user=False), "say hello")
    stage.ended(conversation)
    page.goto(f"/talk/{conversation}")
    page.get_by_label("Go on").fill("Half a message")
    for panel in ("details.choices", "details.about-talk"):
        page.locator(f"{panel} > summary").tap()
        shown = page.locator(f"{panel} > :not(summary)").first
        expect(shown).to_be_visible()
        stage.until_true(lambda: page.evaluate("history.state?.over") == 1)
        page.go_back()
        expect(shown).to_be_hidden()
        expect(page).to_have_url(re.compile(f"/talk/{conversation}$"))
    expect(page.get_by_label("Go on")).to_have_value("Half a message")


def test_what_waits_out_of_view_is_told_of_and_a_button_leads_there(stage: Stage, sign_in: SignIn) -> None:
    page, go = sign_in(**PHONE), stage.folder / "go-below"
    long = "say " + "\\n\\n".join(f"Line {number}" for number in range(100))
    conversation = begin(page, stage.project(), long, f"wait {go}", permit("Bash", command="make deploy"))
    # What it was told says so as well.
    expect(page.get_by_role("paragraph").filter(has_text="Line 99")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    go.touch()
    way = page.get_by_role("button", name="Claude waits for you")
    expect(way).to_be_visible()
    way.tap()
    wanted = card(page, "make deploy")
    expect(wanted.get_by_role("button", name="Allow", exact=True)).to_be_in_viewport()
    expect(way).to_be_hidden()
    wanted.get_by_role("button", name="Deny", exact=True).tap()
    stage.ended(conversation)
    page.goto(f"/talk/{conversation}")
    expect(page.get_by_label("Go on")).to_be_in_viewport()


def test_pictures_that_come_one_right_after_the_other_are_all_there(stage: Stage, sign_in: SignIn) -> None:
    stage.project("pasted")
    page = sign_in()
    prompt = page.get_by_label("What should it do?")
    for name in ("one.png", "two.png"):
        # At once, as far as a script can tell: neither has been looked at yet.
        prompt.evaluate(PASTE_SOON, [name, base64.b64encode(PNG).decode()])
    page.evaluate("for (const paste of pastes) paste()")
    expect(page.locator("[data-chosen-pictures] bdi")).to_have_text(["one.png", "two.png"])


def test_a_message_with_pictures_has_more_time_to_arrive(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    page.clock.install()
    conversation = begin(page, stage.project("slow-line"), "say Hello")
    stage.ended(conversation)
    page.get_by_label("Go on").fill("pictures")
    page.get_by_label("Add pictures").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": PNG})
    held: list[Route] = []
    page.route(f"**/talk/{conversation}", lambda route: held.append(route))
    page.route("**/attempts", lambda route: route.abort())
    page.get_by_role("button", name="Send", exact=True).click()
    page.clock.fast_forward(60_000)
    expect(page.get_by_role("button", name="Sending…")).to_be_visible()
    alert = page.locator("[data-compose] [data-problem-text]")
    expect(alert).to_be_hidden()
    page.clock.fast_forward(61_000)
    expect(alert).to_contain_text("It is not known whether this arrived.")
    page.unroute_all()


def test_a_press_that_meets_no_server_says_so_and_can_be_made_again(stage: Stage, sign_in: SignIn) -> None:
    page = sign_in()
    conversation = begin(page, stage.project("unstopped"), "wait never")
    page.route("**/stop", lambda route: route.abort())
    page.get_by_role("button", name="Stop Claude").click()
    alert = page.locator("[data-compose] [data-problem-text]")
    expect(alert).to_contain_text("It is not known whether “Stop Claude” arrived")
    page.unroute_all()
    page.get_by_role("button", name="Stop Claude").click()
    expect(alert).to_be_hidden()
    assert stage.ended(conversation).state is RunState.STOPPED
