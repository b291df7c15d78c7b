"""The commands of a real agent in a real browser: seen as they start, read as they print, stopped, in several tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.run.kit import (
    WAIT,
    Worker,
    background,
    eventually,
    fresh_token,
    gone,
    text_of,
    until,
    waited_for,
    with_argument,
    worker,
    write_tool,
)
from tests.web.house import House

GATES = ("one", "two")


@pytest.fixture(scope="module")
def agent(shared_house: House) -> Iterator[Worker]:
    """A client with a server whose tools run shell scripts; its commands are in the shared inbox's store."""
    background(shared_house.place)
    background(shared_house.place, "part")
    waited_for(shared_house.place, "careful", approve="always")
    scripts = [f"echo {name}; until test -e {name}; do sleep 0.05; done" for name in GATES]
    steps = [{"tool": "part", "subcommand": "default", "args": {"script": script}} for script in scripts]
    write_tool(shared_house.place, "both", command="true", sequence=steps)
    with worker(shared_house.place, name="claude-code") as one:
        yield one


def test_a_command_appears_prints_and_is_stopped_in_every_tab(house: House, sign_in: SignIn, agent: Worker) -> None:
    token, gate = fresh_token(), house.place.project / "gate"
    page = sign_in("/commands")
    expect(page.get_by_role("heading", name="Commands", exact=True)).to_be_visible()
    script = f"echo first; until test -e {gate}; do sleep 0.05; done; printf 'se\\rsecond'; sleep {token}"
    running = agent.start("bg", script=script)
    row = page.locator(f"[data-operation='{running}']")
    expect(row).to_contain_text("Running")
    expect(page.locator("[data-running]")).to_have_text("1")
    row.get_by_role("link").click()
    stdout = page.locator("#printed [data-printed]")
    expect(stdout).to_have_text("first")
    other = page.context.new_page()
    other.goto(f"/commands/{running}")
    gate.touch()
    for tab in (page, other):
        expect(tab.locator("#printed [data-printed]")).to_have_text("first second")
        expect(tab.locator("[data-look-again]")).to_be_hidden()
    eventually(lambda: with_argument(token))
    other.get_by_text("Stop this command").click()
    other.get_by_role("button", name="Stop it now").click()
    for tab in (page, other):
        expect(tab.locator("#standing")).to_contain_text("was cancelled by ada in the browser")
        expect(tab.get_by_text("Stop this command")).to_have_count(0)
        expect(tab.locator("[data-running]")).to_be_hidden()
    assert gone(token)
    assert agent.ended(running)["cancelled_by"] == "ada in the browser"


@pytest.mark.parametrize("script", [True, False])
def test_a_command_that_needs_a_say_so_is_decided_like_any_permission(
    house: House, sign_in: SignIn, agent: Worker, script: bool
) -> None:
    done = house.place.project / f"done-{script}"
    for decision in ("Deny", "Allow"):
        wanted = agent.call("careful", {"script": f"touch {done}; echo {decision} {script}"})
        ask = until(lambda: next(iter(house.desk.inbox()), None))
        page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
        expect(page.get_by_role("heading", name="Run careful?")).to_be_visible()
        expect(page.get_by_role("radio")).to_have_count(0)
        expect(page.get_by_role("button", name="Send answer")).to_have_count(0)
        allow, words = page.get_by_role("button", name="Allow", exact=True), page.get_by_label("Or say no.")
        words.fill("Not before the backup")
        if script:
            expect(allow).to_have_attribute("disabled", "")
        else:
            allow.click()
            expect(page.get_by_role("alert")).to_contain_text("so this cannot be allowed")
        if decision == "Allow":
            words.fill("")
        page.get_by_role("button", name=decision, exact=True).click()
        expect(page.locator("#standing")).to_contain_text("Allowed by you" if decision == "Allow" else "Denied by you")
        told = text_of(wanted.result(WAIT))
        assert ("ada did not allow it (no). Reason: Not before the backup" in told) == (decision == "Deny")
        assert done.exists() == (decision == "Allow")


@pytest.mark.finding("F-68")
def test_a_command_that_waits_for_a_say_so_says_so_and_leads_to_it(
    house: House, sign_in: SignIn, agent: Worker
) -> None:
    page = sign_in("/commands")
    wanted = agent.call("careful", {"script": "echo allowed"})
    row = page.locator(".row", has_text="echo allowed")
    expect(row.locator(".pill")).to_have_text("Waits for your say-so")
    row.get_by_role("link").click()
    expect(page.locator("#standing")).to_contain_text("Waits for your say-so.")
    told = house.web.call("GET", "/api/operations", cookie=f"{house.cookie_name}={house.session()}").data
    (waiting,) = [one for one in told["operations"] if one["awaits_say_so"]]
    assert (waiting["status"], waiting["command"]) == ("queued", "bash -c 'echo allowed'")
    page.get_by_role("link", name="Allow or deny it.").click()
    expect(page).to_have_url(re.compile(f"/asks/{waiting['permission']}"))
    allow = page.get_by_role("button", name="Allow", exact=True)
    allow.click()
    expect(page.locator("#standing")).to_contain_text("Allowed by you")
    assert "allowed" in text_of(wanted.result(WAIT))
    page.goto(f"/commands/{waiting['id']}")
    expect(page.locator("#standing")).to_contain_text("careful succeeded")


def test_a_sequence_moves_from_step_to_step_before_ones_eyes(house: House, sign_in: SignIn, agent: Worker) -> None:
    gates = [house.place.project / name for name in GATES]
    page = sign_in(f"/commands/{agent.start('both')}")
    expect(page.locator("#printed [data-printed]")).to_have_text("one")
    gates[0].touch()
    expect(page.locator("#printed [data-printed]")).to_have_text("two")
    expect(page.locator(".steps li")).to_have_count(2)
    gates[1].touch()
    expect(page.locator("#standing")).to_contain_text("both succeeded")


def test_without_javascript_and_on_a_phone_a_command_is_read_and_stopped(house: House, sign_in: SignIn) -> None:
    running = house.works.run("make", "all", printed="begun\n")
    page = sign_in("/commands", java_script_enabled=False, **PHONE)
    page.get_by_role("link", name="make all").click()
    expect(page.locator("#printed [data-printed]")).to_have_text("begun")
    house.works.print(running, "and so on\n")
    page.get_by_role("link", name="Look again").click()
    expect(page.locator("#printed [data-printed]")).to_contain_text("and so on")
    page.get_by_label("Find in the output").fill("SO ON")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".matches")).to_contain_text("and so on")
    page.get_by_text("Stop this command").click()
    page.get_by_role("button", name="Stop it now").click()
    expect(page.locator("#standing")).to_contain_text("It is being stopped by ada in the browser")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_flood_stays_small_in_the_page_and_says_what_it_leaves_out(house: House, sign_in: SignIn) -> None:
    running = house.works.run("yes", printed="begin\n")
    page = sign_in(f"/commands/{running.id}")
    for part in range(4):
        house.works.print(running, f"{part} of a flood that nobody can read {'x' * 60}\n" * 6_000)
        size = (running.folder / "stdout").stat().st_size
        expect(page.locator("#printed [data-size]")).to_have_text(f"stdout {size:,} · stderr 0 bytes")
        expect(page.locator("#printed [data-text]")).to_contain_text(f"{part} of a flood")
    shown = page.locator("#printed [data-text]").evaluate("text => text.textContent")
    assert len(shown) < 600_000
    assert "bytes are not shown here" in shown or "begin" not in shown
    house.works.print(running, "the very end\n")
    expect(page.locator("#printed [data-text]")).to_contain_text("the very end")


def test_what_a_command_prints_and_is_called_runs_no_script(house: House, sign_in: SignIn) -> None:
    bad = "<img src=x onerror=alert(1)><script>alert(1)</script>\x1b]0;t\x07\u202e{{ 7*7 }}"
    running = house.works.run(bad, tool=bad, printed=bad + "\n")
    alerts: list[str] = []
    page = sign_in("/commands")
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    expect(page.locator(f"[data-operation='{running.id}']")).to_contain_text("<script>")
    page.goto(f"/commands/{running.id}?find=script")
    house.works.print(running, bad + "2\n")
    expect(page.locator("#printed [data-text]")).to_contain_text("<U+202E>{{ 7*7 }}2")
    assert alerts == []
    assert page.locator("img[src=x]").count() == 0
