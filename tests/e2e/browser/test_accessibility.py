"""Every page for everyone: axe finds nothing in light and dark, narrow screens need no sideways scrolling, and what a
mouse can do, a keyboard can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect
from starlette.routing import Route
from tests.asks.samples import permission_ask
from tests.e2e.browser.conftest import SignIn, lasting_context, lasting_page
from tests.e2e.browser.test_meant import permission
from tests.e2e.clients.process import wait_until
from tests.web.house import House, confirm, multi_select, new_ask, select, text
from tests.web.test_log import decide

from sayso.asks.model import Answer, Ask, Asker, Settler, State
from sayso.dialects import approve
from sayso.permissions.desk import PermissionDesk
from sayso.web import app
from sayso.web.settings import SENT_TO

_SESSIONS = count()
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
OF_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""All that a page in other colours can break."""


VIOLATIONS = """rules => axe.run(document, { ...rules, resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, help, nodes }) => `${id}: ${help} at ${nodes.map(({ target }) => target).join(", ")}`))"""
"""Leaves in the page what axe has to say of all that is well: to send it here takes a third of these tests."""

TOO_SMALL = """() => {
  const FINGER = 43.5;
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const inText = (one) => one.matches("a") && getComputedStyle(one).display === "inline"
    && one.parentElement.innerText.trim() !== one.innerText.trim();
  const ticked = "input[type=radio], input[type=checkbox], input[type=file]";
  const pressed = (one) => (one.matches(ticked) && one.labels?.[0]) || one;
  const all = "a[href], button, summary, select, textarea, input:not([type=hidden]), [role=button]";
  for (const row of document.querySelectorAll(".rows > .row")) row.style.contentVisibility = "visible";
  return [...document.querySelectorAll(all)]
    .filter((one) => seen(one) && !one.matches(".skip") && !inText(one) && seen(pressed(one)))
    .map((one) => [one.outerHTML.slice(0, 120), pressed(one).getBoundingClientRect()])
    .filter(([, { width, height }]) => height < FINGER || width < FINGER)
    .map(([html, { width, height }]) => `${Math.round(width)}x${Math.round(height)} ${html}`);
}"""
"""What a finger would miss: all that can be pressed and is less than 44 pixels high or wide, but for links in the midst
of text, which would tear its lines apart. Of a box to tick, its label counts. Rows far from the screen are laid out
for it: there are as many in the history as tests before have left."""


WIDTH_AS_DRAWN = """new Promise((told) => {
  requestAnimationFrame(() => setTimeout(() => told(document.documentElement.scrollWidth)));
})"""
"""By then the page has noticed what has moved, and a press that comes next waits until it counts."""


def violations(page: Page, rules: Mapping[str, Any] = RULES) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found: list[str] = page.evaluate(VIOLATIONS, rules)
    return found


def every_kind(house: House) -> Ask:
    words = (
        "Some *Markdown* with `code`, a [link](https://example.org) and\n\n- a list\n\n> a quote\n\n|a|b|\n|-|-|\n|c|d|"
    )
    return house.ask(
        text(words, title="Words", placeholder="For example"),
        select(title="One"),
        multi_select(title="Some", required=False),
        confirm(required=False),
        title="All of it",
        timeout_ms=600_000,
    )


def inbox(house: House, page: Page) -> None:
    every_kind(house)
    house.desk.leave(new_ask(confirm("Nobody waits for this?")))
    house.desk.time_out(house.hold(new_ask(confirm("Too late?"), timeout_ms=10_000)))
    page.goto("/")
    expect(page.locator(".row")).to_have_count(3)


def empty_inbox(house: House, page: Page) -> None:
    page.goto("/")


def open_ask(house: House, page: Page) -> None:
    page.goto(f"/asks/{every_kind(house).id}")
    for fold in page.locator("details > summary").all():
        fold.click()


def filled_ask(house: House, page: Page) -> None:
    open_ask(house, page)
    page.get_by_role("radio", name="Green").check()
    page.get_by_role("checkbox", name="Blue").check()
    page.get_by_role("radio", name="Yes").check()


def refused_ask(house: House, page: Page) -> None:
    open_ask(house, page)
    page.get_by_role("button", name="Send answers").click()
    expect(page.get_by_role("alert")).to_be_visible()


def answered_ask(house: House, page: Page) -> None:
    ask = every_kind(house)
    house.desk.keep_draft(ask.id, "ada", '{"reason": "what I had written"}')
    chosen = [
        Answer(question=ask.questions[0].id, text="words", note="a note"),
        Answer(question=ask.questions[1].id, chosen=("option 1",)),
    ]
    house.desk.answer(ask.id, chosen, Settler(person="grace", surface="terminal"))
    page.goto(f"/asks/{ask.id}")


def rejected_ask(house: House, page: Page) -> None:
    ask = every_kind(house)
    house.desk.reject(ask.id, "no", Settler(person="ada", surface="browser"))
    page.goto(f"/asks/{ask.id}")


def history(house: House, page: Page) -> None:
    rejected_ask(house, page)
    page.goto("/history")


def empty_history(house: House, page: Page) -> None:
    page.goto("/history?q=nothing+holds+this")


def log(house: House, page: Page) -> None:
    decide(house, "git push")
    decide(house, "rm -rf " + "build/" * 30, because="use make clean")
    page.goto("/log")


def logged_permission(house: House, page: Page) -> None:
    page.goto(f"/log/{decide(house, 'x' * 300, because='no ' * 60).id}")


def rules(house: House, page: Page) -> None:
    file = house.place.config().machine_rules
    page.goto("/rules")
    expect(page.get_by_text(str(file))).to_be_visible()


def permission_in_a_row(house: House, page: Page) -> None:
    permission(house, "git push --force-with-lease origin main")
    page.goto("/")
    expect(page.get_by_role("button", name="Deny")).to_be_visible()


def long_permission(house: House, page: Page) -> None:
    ask = permission_to_edit(house)
    page.goto(f"/asks/{ask.id}")
    page.get_by_text("lines,").click()
    page.get_by_label("Or say no.").fill("Not so fast")


def denied_permission(house: House, page: Page) -> None:
    ask = permission_to_edit(house)
    PermissionDesk(house.desk).deny(ask.id, Settler(person="grace", surface="terminal"), "Not so fast")
    page.goto(f"/asks/{ask.id}")


def permission_to_edit(house: House) -> Ask:
    given = {"file_path": "/home/ada/shop/x.py", "content": "\n".join(f"line {number}" for number in range(60))}
    wanted = approve.Permission(tool="Write", given=given)
    asker = Asker(client="claude-code", project="/home/ada/shop", session=str(next(_SESSIONS)))
    return house.hold(permission_ask(wanted, asker)).ask


def commands(house: House, page: Page) -> None:
    house.works.end(house.works.run("cargo", "test", tool="cargo_test"), 101)
    house.works.run("npm", "run", "build")
    page.goto("/commands")
    expect(page.locator("[data-running]")).to_have_text("1")


def running_command(house: House, page: Page) -> None:
    sequence = house.works.run(tool="both")
    house.works.end(house.works.step(sequence, 1, "true"))
    running = house.works.step(sequence, 2, "make", "x" * 300, printed="a line to find\n" * 200)
    house.works.print(running, "y" * 900, "stderr")
    page.goto(f"/commands/{sequence.id}?find=line")
    page.get_by_text("Stop this command").click()
    page.get_by_text("Where it runs").click()


def settings(house: House, page: Page) -> None:
    page.goto("/settings")


def device(house: House, page: Page) -> None:
    page.goto("/settings")
    page.get_by_role("button", name="Show a sign-in link").click()
    expect(page.get_by_role("textbox", name="Sign-in link")).to_be_visible()


def not_found(house: House, page: Page) -> None:
    page.goto("/nowhere")


def sign_in_page(house: House, page: Page) -> None:
    page.context.clear_cookies()
    page.goto("/")


def sign_in_button(house: House, page: Page) -> None:
    page.context.clear_cookies()
    page.goto("/sign-in?link=something")


def refused_link(house: House, page: Page) -> None:
    sign_in_button(house, page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()


def away(house: House, page: Page) -> None:
    page.goto("/")
    expect(page.locator("[data-count]")).to_have_text("0")
    page.evaluate("document.querySelector('[data-away]').hidden = false")
    page.evaluate("document.querySelector('[data-signed-out]').hidden = false")
    page.evaluate("document.querySelector('[data-absent]').hidden = false")


def agents(house: House, page: Page) -> None:
    house.hold(new_ask(confirm(), asker=Asker(client="codex", project="/home/ada/shop", session=str(next(_SESSIONS)))))
    page.goto("/agents")
    expect(page.get_by_text("Waits for you")).to_be_visible()


def snoozed(house: House, page: Page) -> None:
    ask = every_kind(house)
    house.desk.snooze(ask.id, "ada", ask.created_at + 240_000)
    page.goto("/snoozed")
    expect(page.get_by_role("button", name="Show now")).to_be_visible()


def snoozing(house: House, page: Page) -> None:
    inbox(house, page)
    page.get_by_role("button", name="Select").click()
    page.get_by_role("checkbox").first.check()
    page.locator("[data-marked]").get_by_role("button", name="Snooze").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def selecting(house: House, page: Page) -> None:
    inbox(house, page)
    page.get_by_role("button", name="Select").click()
    page.get_by_role("checkbox").first.check()


def found(house: House, page: Page) -> None:
    every_kind(house)
    page.goto("/?q=all+of+it")
    expect(page.locator(".row")).to_have_count(1)


def crowd(house: House, page: Page) -> None:
    noisy = Asker(client="codex", project="/home/ada/shop", host="here", leader=str(next(_SESSIONS)))
    for number in range(7):
        house.hold(new_ask(text(f"Number {number}?"), asker=noisy))
    page.goto("/")
    page.get_by_role("link", name="7 questions").click()
    expect(page.get_by_role("heading", name="codex in shop")).to_be_visible()


def rule_like_this(house: House, page: Page) -> None:
    page.goto(f"/asks/{permission(house, 'git push').id}/like")


def rules_edit(house: House, page: Page) -> None:
    page.goto("/rules/edit")


def agent(house: House, page: Page) -> None:
    agents(house, page)
    page.locator("[data-agents] .row a").first.click()
    expect(page.get_by_role("heading", name="codex in shop")).to_be_visible()


def talk(house: House, page: Page) -> None:
    page.goto("/talk")


def new_project(house: House, page: Page) -> None:
    page.goto("/projects/new")


PAGES: dict[Callable[[House, Page], None], str] = {
    inbox: "/",
    empty_inbox: "/",
    found: "/",
    selecting: "/",
    snoozing: "/",
    away: "/",
    snoozed: "/snoozed",
    crowd: "/crowds/{crowd}",
    open_ask: "/asks/{ask}",
    filled_ask: "/asks/{ask}",
    refused_ask: "/asks/{ask}",
    answered_ask: "/asks/{ask}",
    rejected_ask: "/asks/{ask}",
    permission_in_a_row: "/",
    long_permission: "/asks/{ask}",
    denied_permission: "/asks/{ask}",
    rule_like_this: "/asks/{ask}/like",
    history: "/history",
    empty_history: "/history",
    log: "/log",
    logged_permission: "/log/{ask}",
    rules: "/rules",
    rules_edit: "/rules/edit",
    agents: "/agents",
    agent: "/agents/{agent}",
    commands: "/commands",
    running_command: "/commands/{operation}",
    talk: "/talk",
    new_project: "/projects/new",
    settings: "/settings",
    device: "/settings",
    not_found: "/",
    sign_in_page: "/",
    sign_in_button: "/sign-in",
    refused_link: "/sign-in",
}
"""Each page, with its route."""
IN_TALK = {
    "/talk/{conversation}",
    "/talk/{conversation}/changes",
    "/talk/{conversation}/changes/revert",
    "/talk/{conversation}/changes/discard",
}
"""Those that tests/e2e/talk/test_pages.py looks at."""
OF_CONNECTING = {"/oauth/authorize", "/oauth/waiting/{waiting}"}
"""Those that test_connecting.py looks at."""
NO_PAGES = {
    "/asks/{ask}/row",
    "/asks/{ask}/files/{attachment}",
    "/asks/{ask}/questions/{place:int}",
    "/commands/{operation}/{stream}",
    "/runs/{run}",
    "/runs/{run}/pictures/{seq:int}/{number:int}",
    "/talk/{conversation}/files",
    "/talk/{conversation}/commands",
    "/projects/{project:int}/commands",
    "/projects/{project:int}/files",
    "/talk/{conversation}/events",
    "/push",
    "/oauth/waiting/{waiting}/said",
    *SENT_TO,
    "/agents/{agent}/events",
    "/events",
    "/proof",
    "/manifest.webmanifest",
    "/worker.js",
    "/favicon.ico",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/{path:path}",
}
"""What is read by programs, is a part of a page, plain text, or leads elsewhere."""


def test_every_page_there_is_is_looked_at() -> None:
    routes = {route.path for route in app.all_routes() if isinstance(route, Route) and "GET" in (route.methods or ())}
    pages = {path for path in routes if not path.startswith("/api/")} - NO_PAGES
    assert pages == {*PAGES.values(), *IN_TALK, *OF_CONNECTING}


@pytest.fixture(scope="module")
def context(browser: Browser, shared_house: House) -> Iterator[BrowserContext]:
    with lasting_context(browser, shared_house, viewport=DESK) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext, house: House) -> Iterator[Page]:
    with lasting_page(context, house) as page:
        yield page


@pytest.mark.parametrize("show", PAGES)
def test_axe_finds_nothing_wrong_in_light_and_dark_nothing_sticks_out_at_320_pixels_and_a_finger_hits_everything(
    house: House, page: Page, show: Callable[[House, Page], None]
) -> None:
    show(house, page)
    check_looks(page)
    turn_into_a_phone(page)
    assert page.evaluate(TOO_SMALL) == []


def check_looks(page: Page) -> None:
    """Axe, light and dark, and at 320 pixels."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page, OF_COLOURS) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate(WIDTH_AS_DRAWN) <= 320


def turn_into_a_phone(page: Page) -> None:
    """As a context for phones does it, but for the page that is there: only its styles look at what points."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    devtools.send("Emulation.setDeviceMetricsOverride", {**PHONE, "deviceScaleFactor": 1, "mobile": True})
    assert page.evaluate("[matchMedia('(pointer: coarse)').matches, innerWidth]") == [True, 390]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_chosen_theme_wins_over_the_devices(house: House, sign_in: SignIn, theme: str) -> None:
    other = "light" if theme == "Dark" else "dark"
    page = sign_in("/settings", color_scheme=other, java_script_enabled=False)
    page.get_by_label(theme, exact=True).check()
    page.get_by_role("button", name="Save").click()
    page.goto("/")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == theme.lower()


TORN = """() => {
  const range = (one) => {
    const all = document.createRange();
    all.selectNodeContents(one);
    return all;
  };
  const lines = new Set([...range(document.querySelector("h1")).getClientRects()].map(({ top }) => Math.round(top)));
  const tabs = [...document.querySelectorAll(".main-nav a > span:not(.count)")]
    .filter((one) => one.offsetWidth > 1)
    .map((one) => range(one).getBoundingClientRect());
  return [
    ...(lines.size > 1 ? ["the heading"] : []),
    ...tabs.slice(1).flatMap((tab, before) => (tab.left < tabs[before].right ? [`tab ${before + 1}`] : [])),
  ];
}"""
"""What is broken, or lies over the next."""


@pytest.mark.parametrize("width", [195, 320, 360, 390])
def test_on_a_narrow_phone_or_in_large_text_words_are_neither_torn_nor_laid_over_each_other(
    house: House, sign_in: SignIn, width: int
) -> None:
    """390 pixels with text at twice its size are 195."""
    house.ask(confirm("Deploy?"))
    page = sign_in(viewport={"width": width, "height": 640}, has_touch=True, is_mobile=True)
    expect(page.get_by_role("button", name="Select")).to_be_visible()
    assert page.evaluate(TORN) == []
    expect(page.get_by_role("link", name="Commands")).to_be_visible()


SETTLES = 10.0
CUT = """() => {
  const wide = document.documentElement.clientWidth;
  for (const row of document.querySelectorAll(".rows > .row")) row.style.contentVisibility = "visible";
  const shown = [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((one) => one.offsetWidth > 1 && !one.closest(".unseen, .skip"));
  const hides = ({ overflowX, textOverflow }) => /hidden|clip/.test(overflowX) && textOverflow !== "ellipsis";
  const tooNarrow = (one) => (hides(getComputedStyle(one)) || one.matches("button, .button, nav a"))
    && one.scrollWidth > one.clientWidth + 2;
  const letters = (one) => one.matches("button, .button, textarea") && one.offsetHeight > 5 * one.offsetWidth;
  const isCut = (one) => {
    const { left, right } = one.getBoundingClientRect();
    return left < -1 || right > wide + 1 || tooNarrow(one) || letters(one);
  };
  return [
    ...(document.documentElement.scrollWidth > wide ? ["the page scrolls sideways"] : []),
    ...shown.filter(isCut).map((one) => `${one.outerHTML.slice(0, 80)} ${one.innerText.slice(0, 40)}`),
  ];
}"""
"""What is cut off, sticks out of the window, or has room for one letter in a line. Of a word that is not told whole, an
ellipsis says so."""
TWICE = "addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '200%'; })"


def words_that_a_phone_cannot_hold(house: House, page: Page) -> None:
    permission(house, "git push --force-with-lease origin main")
    every_kind(house)
    page.goto("/")
    expect(page.get_by_role("button", name="Deny")).to_be_visible()


def short_permission(house: House, page: Page) -> None:
    page.goto(f"/asks/{permission(house, 'git push --force-with-lease origin main').id}")


IN_LARGE_TEXT = (words_that_a_phone_cannot_hold, short_permission, snoozing, filled_ask, history, log, agents, talk)


@pytest.mark.parametrize("whose", ["the browser's", "the page's"])
@pytest.mark.parametrize("show", IN_LARGE_TEXT)
def test_in_text_of_twice_the_size_nothing_is_cut_off_on_a_phone(
    house: House, sign_in: SignIn, show: Callable[[House, Page], None], whose: str
) -> None:
    page = sign_in("/healthz", viewport=PHONE, has_touch=True, is_mobile=True)
    if whose == "the page's":
        page.add_init_script(TWICE)
    else:
        devtools = page.context.new_cdp_session(page)
        devtools.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    show(house, page)
    expect(page.locator(".main-nav")).to_be_visible()
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == 32
    # What is still on its way is put in its place by scripts.
    wait_until(lambda: page.evaluate(CUT) == [], SETTLES)
    assert page.evaluate(CUT) == []


def test_the_keyboard_skips_to_the_content(house: House, sign_in: SignIn) -> None:
    page = sign_in()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_two_tabs_lead_to_the_first_option(house: House, sign_in: SignIn) -> None:
    for number in range(3):
        house.ask(confirm(f"Another {number}?"))
    asked = f"/asks/{house.ask(select()).id}"
    page = sign_in(asked)
    expect(page.locator("[data-count]")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="Red")).to_be_focused()
    page = sign_in(asked, java_script_enabled=False)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the question")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="Red")).to_be_focused()


def tabs_to(page: Page, wanted: Locator) -> int:
    """How often Tab is pressed to get there from the top of a page, with Enter on what skips."""
    for pressed in range(1, 20):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return pressed
        if pressed == 1:
            assert page.evaluate("document.activeElement.matches('.skip')")
            page.keyboard.press("Enter")
            if wanted.evaluate("one => one === document.activeElement"):
                return pressed
    raise AssertionError("it is not reached by the keyboard")


def test_three_tabs_at_most_lead_to_the_first_option_of_a_row(house: House, sign_in: SignIn) -> None:
    for number in range(7):
        house.ask(select(f"Another {number}?"))
    page = sign_in("/")
    expect(page.locator("[data-count]")).to_have_text("7")
    page.keyboard.press("Tab")
    expect(page.locator(".row > a").first).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Red").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page = sign_in("/", java_script_enabled=False)
    assert tabs_to(page, page.locator(".row > a").first) == 2
    page.goto("/")
    assert tabs_to(page, page.get_by_role("button", name="Red").first) == 3


def test_keys_that_send_nothing_among_several_questions_say_what_is_missing(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select(title="Colour"), text(title="Name"), select(title="Size"))
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("radio", name="Red").first.check()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-missing]")).to_have_text("Not sent. Name needs an answer. Size needs an answer.")
    page.get_by_role("radio", name="Blue").last.check()
    expect(page.locator("[data-missing]")).to_be_hidden()
    page.get_by_role("textbox", name="Name").fill("Ochre")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-missing]")).to_have_text("Not sent. Press “Send answers”.")
    assert house.desk.get(ask.id).state is State.PENDING


def test_a_refused_form_puts_the_focus_on_what_is_wrong(house: House, sign_in: SignIn) -> None:
    page = sign_in(f"/asks/{house.ask(text('Name?'), select()).id}")
    page.get_by_role("button", name="Send answers").click()
    expect(page.get_by_role("alert")).to_be_focused()
    page.get_by_role("link", name="Question 2").press("Enter")
    assert page.evaluate("document.activeElement.id") == "q1"
