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

pytestmark = pytest.mark.usefixtures("read_quickly")

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


def test_output_has_its_colours_its_numbers_and_is_followed_until_somebody_reads(house: House, sign_in: SignIn) -> None:
    running = house.works.run("cargo", printed="".join(f"line {number}\n" for number in range(1, 201)))
    page = sign_in(f"/commands/{running.id}")
    box, mark = page.locator("#printed [data-printed]"), page.get_by_role("checkbox", name="Follow")
    expect(mark).to_be_checked()
    house.works.print(running, "\x1b[1;31merror\x1b[0m: \x1b[42mno\x1b[m\nhalf \x1b[36mdone")
    expect(page.locator("#printed .look-red.look-bold")).to_have_text("error")
    expect(page.locator("#printed .look-cyan")).to_have_text("done")
    at_end = "box => box.scrollHeight - box.scrollTop - box.clientHeight < 60"
    assert box.evaluate(at_end)
    told = page.locator("#printed [data-text] > li", has_text="error")
    assert told.evaluate("line => [...line.parentElement.children].indexOf(line) + line.parentElement.start") == 201
    box.evaluate("box => { box.scrollTop = 0; }")
    expect(mark).not_to_be_checked()
    house.works.print(running, "\nmore\n")
    expect(page.locator("#printed [data-text]")).to_contain_text("more")
    assert box.evaluate("box => box.scrollTop") == 0
    mark.check()
    assert box.evaluate(at_end)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#printed [data-text]'))")
    assert page.evaluate("getSelection().toString()").splitlines()[-3:] == ["error: no", "half done", "more"]


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
    running = house.works.run("make", "world", printed="begun\n")
    page = sign_in("/commands", java_script_enabled=False, **PHONE)
    page.get_by_role("link", name="make world").click()
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


LAST_LINE = """panel => {
  const { top, bottom } = panel.querySelector("[data-text]").lastElementChild.getBoundingClientRect();
  const bar = document.querySelector(".main-nav").getBoundingClientRect().top;
  return top > 0 && bottom <= (bar > 100 ? bar : innerHeight);
}"""
"""Whether the newest line can be seen, above the bar of a phone."""


@pytest.mark.parametrize("size", [(390, 844), (1440, 900), (360, 560)])
def test_who_follows_a_command_sees_its_newest_line_until_they_scroll(
    house: House, sign_in: SignIn, size: tuple[int, int]
) -> None:
    running = house.works.run("make", "all", printed="".join(f"line {number}\n" for number in range(100)))
    page = sign_in(f"/commands/{running.id}", viewport={"width": size[0], "height": size[1]})
    panel, follow = page.locator("#printed"), page.get_by_role("checkbox", name="Follow")
    for number in range(100, 103):
        house.works.print(running, f"line {number}\n")
        expect(panel.locator("[data-text]")).to_contain_text(f"line {number}")
        assert panel.evaluate(LAST_LINE)
        expect(follow).to_be_checked()
    panel.locator("[data-printed]").evaluate("box => box.scrollBy(0, -400)")
    expect(follow).not_to_be_checked()
    house.works.print(running, "line 103\n")
    expect(panel.locator("[data-text]")).to_contain_text("line 103")
    assert not panel.evaluate(LAST_LINE)
    follow.check()
    page.wait_for_function(f"({LAST_LINE})(document.querySelector('#printed'))")


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
