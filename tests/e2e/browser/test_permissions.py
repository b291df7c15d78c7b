"""The card of a permission in a real browser: everything is shown, and nothing but a deliberate press on what was shown
allows it."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_live import live
from tests.e2e.browser.test_meant import permission, stand_still, tap_hastily
from tests.e2e.clients.process import wait_until
from tests.web.house import USER, WAIT, House, confirm, new_ask

from sayso.asks.model import Ask, Asker, Settler, State
from sayso.asks.quorum import Demand, Quorum
from sayso.permissions.action import Action, ActionKind, AllowScope, asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.verdict import Decision, verdict_of

HOSTILE = (
    'one\n\n[n]: /u "hidden"\n\n```\n</div></pre><img src=x onerror=alert(1)> \u202etxt.exe \u200b\u3164;'
    " rm -rf ~ --no-preserve-root"
)
SPELT = (
    '[n]: /u "hidden"',
    "```",
    "</div></pre><img src=x onerror=alert(1)>",
    "<U+202E>",
    "<U+200B><U+3164>",
    "rm -rf ~",
)
LONG = "\n".join(f"echo {number}" for number in range(3000)) + "\nrm -rf ~ # the end of it"
FACTS = "all => all.map(({ children: [label, block] }) => [label.innerText, block.getBoundingClientRect().left])"
TOLD_OF_VIEW = "button => new Promise(done => new IntersectionObserver(done).observe(button))"
PLACES = """element => {
    const places = [], nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node; (node = nodes.nextNode()); ) {
        for (const at of node.data.matchAll(/\\S/g)) {
            range.setStart(node, at.index);
            range.setEnd(node, at.index + 1);
            places.push(range.getBoundingClientRect().left);
        }
    }
    return places;
}"""
"""How far from the left each letter of an element stands, in the order in which they are written."""
_NUMBERS = count()


def wants(
    house: House,
    kind: ActionKind = ActionKind.COMMAND,
    scopes: Any = (AllowScope.ONCE,),
    quorum: Quorum | None = None,
    **data: Any,
) -> Ask:
    """An agent asks to be allowed an action with this data."""
    action = Action(kind=kind, tool="deploy", folder=f"/srv/shop {next(_NUMBERS)}", data=data)
    asker = Asker(client="claude-code", project="/home/ada/shop")
    new = new_ask(confirm("The agent wants to do this."), title=f"Allow {action.title}?", asker=asker)
    return house.hold(asking(new, action, scopes, quorum=quorum)).ask


def decided(house: House, ask: Ask) -> Decision | None:
    found = verdict_of(house.desk.get(ask.id))
    return found.decision if found else None


def allow(page: Page | Locator) -> Locator:
    return page.get_by_role("button", name="Allow", exact=True)


def send(page: Page, ask: Ask, **changes: str | None) -> tuple[int, str]:
    """The form of the page as it is but for these fields, by hand."""
    told = page.evaluate(
        """async ([ask, changes]) => {
            const body = new URLSearchParams(new FormData(document.querySelector("form[data-answer]")));
            for (const [name, value] of Object.entries(changes)) {
                if (value === null) body.delete(name);
                else body.set(name, value);
            }
            const reply = await fetch(`/asks/${ask}`, { method: "POST", body });
            return [reply.status, await reply.text()];
        }""",
        [ask.id, {"settle": "allow-once", **changes}],
    )
    return told[0], told[1]


def test_letters_that_are_read_from_the_right_change_the_places_of_no_argument(house: House, sign_in: SignIn) -> None:
    ask = wants(house, argv=["cp", "א", "--to", "ב/ג", "٣", "٤", "/", "ד"])
    page = sign_in(f"/asks/{ask.id}")
    shown = page.locator("#q0 .part", has_text="Command line").locator(".line")
    expect(shown).to_have_text("cp 'א' --to 'ב/ג' '٣' '٤' / 'ד'")
    for exact in (shown, page.locator("h1")):
        places = exact.evaluate(PLACES)
        assert len(set(places)) > 10
        assert places == sorted(places)


@pytest.mark.finding("F-10", "F-12")
@pytest.mark.parametrize("script", [True, False])
def test_every_part_of_what_would_be_done_is_shown_in_a_block_that_it_cannot_leave(
    house: House, sign_in: SignIn, script: bool
) -> None:
    ask = wants(
        house,
        argv=["/bin/sh", "-c", HOSTILE, "two words", ""],
        stdin=HOSTILE,
        files={f"/srv/{HOSTILE[:3]}": HOSTILE, "/srv/two": ""},
        environment={"PATH": "/evil:$PATH"},
        tool_file={"path": "/home/ada/.config/sayso/tools/x.json", "sha256": "0" * 64},
    )
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    card = page.locator("#q0")
    for label in ("Standard input", "File /srv/one"):
        block = card.locator(".part", has_text=label).locator(".block")
        for told in SPELT:
            expect(block).to_contain_text(told)
        expect(block.locator(".line")).to_have_count(HOSTILE.count("\n") + 1)
    expect(card.locator(".part", has_text="File /srv/two").locator(".block")).to_have_text("(empty)")
    line = card.locator(".part", has_text="Command line").locator(".block").inner_text()
    assert line.startswith("/bin/sh -c $'one\\n\\n[n]")
    assert line.rstrip("\n").endswith("rm -rf ~ --no-preserve-root' 'two words' ''")
    for told in ("PATH='/evil:$PATH'", ask.wanted["action"]["folder"] if ask.wanted else "", "deploy", "0" * 64):
        expect(card).to_contain_text(told)
    assert card.locator("img, a[href^='/u']").count() == 0
    assert page.locator("#q0 .block *:not(.line, .unbroken, .short-word, .line > br)").count() == 0, (
        "nothing of it has become an element"
    )


@pytest.mark.finding("F-11")
def test_what_is_long_must_be_opened_before_it_can_be_allowed(house: House, sign_in: SignIn) -> None:
    ask = wants(house, argv=["/bin/sh"], stdin=LONG)
    page = sign_in(f"/asks/{ask.id}", **PHONE)
    expect(allow(page)).to_be_disabled()
    expect(page.get_by_text("Open every part and read it; then you can allow this.")).to_be_visible()
    # Words of a no that are taken back leave what is unread as it was.
    for words in ("Not now", ""):
        page.locator("[data-no]").first.fill(words)
    expect(allow(page)).to_be_disabled()
    status, told = send(page, ask)
    assert (status, "Not all of it was open: Standard input." in told) == (422, True)
    assert decided(house, ask) is None
    page.get_by_text("Standard input: 3,001 lines").click()
    expect(page.get_by_text("rm -rf ~ # the end of it")).to_be_attached()
    expect(allow(page)).not_to_have_attribute("disabled", "")
    box = allow(page).bounding_box()
    assert box
    assert box["y"] > 20_000, "below all of it"
    allow(page).scroll_into_view_if_needed()
    allow(page).click()
    expect(page.locator("#standing")).to_contain_text("Allowed by you in the browser")
    assert decided(house, ask) is Decision.ALLOWED


@pytest.mark.finding("F-11")
def test_without_a_script_a_page_that_shows_all_of_it_can_allow_it(house: House, sign_in: SignIn) -> None:
    ask = wants(house, argv=["/bin/sh"], stdin=LONG)
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=False)
    expect(allow(page)).to_be_disabled()
    page.get_by_role("link", name="Open every part").click()
    expect(page.get_by_text("rm -rf ~ # the end of it")).to_be_visible()
    allow(page).click()
    expect(page.locator("#standing")).to_contain_text("Allowed by you in the browser")


def test_the_server_takes_no_allow_without_the_digest_of_what_was_shown(house: House, sign_in: SignIn) -> None:
    shown, other = wants(house, argv=["make"]), wants(house, argv=["make", "clean"])
    page = sign_in(f"/asks/{shown.id}")
    for digest in (None, "", "0" * 64, other.digest):
        status, told = send(page, shown, digest=digest)
        assert (status, "not what the agent wants to do now" in told) == (422, True)
    assert send(page, other)[0] == 422, "nor for another ask"
    assert send(page, shown, settle="allow-session")[0] == 422, "nor further than was offered"
    assert send(page, shown, settle="allow")[0] == 200
    assert send(page, shown, settle="answer")[0] == 200
    assert [decided(house, ask) for ask in (shown, other)] == [None, None]
    assert send(page, shown)[0] == 200
    assert decided(house, shown) is Decision.ALLOWED


@pytest.mark.parametrize("place", ["its page", "its row"])
def test_enter_on_allow_does_nothing_and_space_presses_it(house: House, sign_in: SignIn, place: str) -> None:
    ask = permission(house, f"make by-keyboard in {place}")
    page = sign_in(f"/asks/{ask.id}" if place == "its page" else "/")
    here = page.locator("form[data-answer]") if place == "its page" else row(page, "by-keyboard")
    expect(allow(here)).to_be_enabled()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith(ask.id) else None)
    allow(here).focus()
    for keys in ("Enter", "NumpadEnter", "Shift+Enter", "Control+Enter"):
        page.keyboard.press(keys)
    for more in (" ", "Escape"):
        # One that is held, and one that somebody thinks better of before it is let go.
        for key in (" ", more):
            page.keyboard.down(key)
        for key in dict.fromkeys((more, " ")):
            page.keyboard.up(key)
    # What the keys had sent would be under way by now.
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert (sent, decided(house, ask)) == ([], None)
    page.keyboard.press("Space")
    assert wait_until(lambda: decided(house, ask) is Decision.ALLOWED, WAIT)


def row(page: Page, words: str) -> Locator:
    return page.locator("[data-inbox] .row", has_text=words)


def test_a_short_permission_is_decided_in_its_row_by_one_press(house: House, sign_in: SignIn) -> None:
    denied, allowed = permission(house, "make in-the-row-1"), permission(house, "make in-the-row-2")
    long = permission(house, "make in-the-row-3 && " + "true && " * 60 + "rm -rf ~")
    demand = Demand(rule="Bash", place="/etc/sayso/rules.toml:1", people=(USER, "grace"), need=2)
    wants(house, argv=["make", "in-the-row-4"], quorum=Quorum(demands=(demand,)))
    page = live(sign_in())
    expect(row(page, "in-the-row-3").get_by_role("button")).to_have_count(0)
    row(page, "in-the-row-1").get_by_role("button", name="Deny").click()
    expect(row(page, "in-the-row-1")).to_have_count(0)
    allow(row(page, "in-the-row-2")).click()
    expect(row(page, "in-the-row-2")).to_have_count(0)
    agreed = row(page, "in-the-row-4")
    allow(agreed).click()
    expect(agreed).to_contain_text("You have agreed. Awaited: 1 more of grace.")
    expect(allow(agreed)).to_have_count(0)
    agreed.get_by_role("button", name="Take my yes back").click()
    expect(allow(agreed)).to_be_visible()
    assert page.url == f"{house.web.address}/", "without leaving the place"
    found = [decided(house, ask) for ask in (denied, allowed, long)]
    assert found == [Decision.DENIED, Decision.ALLOWED, None]
    outcome = house.desk.get(allowed.id).outcome
    assert outcome
    assert (outcome.person, outcome.surface, outcome.scope) == (USER, "browser", AllowScope.ONCE)


def test_a_link_to_what_was_decided_is_underlined_throughout(house: House, sign_in: SignIn) -> None:
    ask = permission(house, f"rm -rf underlined-throughout{'-and-on' * 4}")
    PermissionDesk(house.desk).allow(ask.id, ask.digest, Settler(person=USER, surface="browser"))
    page = sign_in(f"/?sent={ask.id}")
    style = "word => (({ display, textDecorationLine }) => [display, textDecorationLine])(getComputedStyle(word))"
    # What is underlined leaves out blocks, so that a long word has a line of its own.
    short, long = (page.locator(".banner a span", has_text=words) for words in ("-rf", "throughout"))
    assert short.evaluate(style) == ["inline", "none"]
    assert long.evaluate(style) == ["inline-block", "underline"]


def is_below(shown: Locator) -> bool:
    """Whether it is in the lower half of what is seen of the page."""
    middle = (
        "one => { const { top, bottom } = one.getBoundingClientRect(); return (top + bottom) / 2 > innerHeight / 2; }"
    )
    return bool(shown.evaluate(middle))


def test_what_was_decided_in_a_row_is_told_when_the_row_is_gone(house: House, sign_in: SignIn) -> None:
    asks = [permission(house, f"rm -rf /srv/{name}") for name in ("told-first", "told-second")]
    page = live(sign_in(**PHONE))
    told = page.locator("[data-decided]", has_text="told-first")
    button = allow(row(page, "told-first"))
    button.scroll_into_view_if_needed()
    pressed_below = is_below(button)
    button.tap()
    expect(row(page, "told-first")).to_have_count(0)
    expect(told).to_have_text("Allowed: Bash: rm -rf /srv/told-first")
    expect(told).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-announce]")).to_have_text("Allowed: Bash: rm -rf /srv/told-first")
    assert is_below(told) != pressed_below, "what comes to where the finger is stays free"
    told.get_by_role("link").tap()
    expect(page.locator("#standing")).to_contain_text("Allowed by you")
    # And at the other end for what is pressed there.
    page = live(sign_in(**PHONE))
    page.locator("main").evaluate("main => (main.style.paddingTop = '30rem')")
    deny = row(page, "told-second").get_by_role("button", name="Deny")
    deny.tap()
    told = page.locator("[data-decided]")
    expect(told).to_have_text("Denied: Bash: rm -rf /srv/told-second")
    assert told.evaluate("told => told.getBoundingClientRect().bottom < 100 && told.getBoundingClientRect().top >= 0")
    expect(told).to_have_count(0)
    assert [decided(house, ask) for ask in asks] == [Decision.ALLOWED, Decision.DENIED]


def test_a_second_tap_in_the_list_does_not_reach_the_row_that_moves_up(house: House, sign_in: SignIn) -> None:
    asks = [permission(house, f"make moves-up-{number}") for number in range(3)]
    page = live(sign_in(**PHONE))
    expect(row(page, "moves-up-2")).to_be_visible()
    page.clock.install()
    run = stand_still(page)
    page.clock.run_for(1000)
    button = allow(row(page, "moves-up-0"))
    button.scroll_into_view_if_needed()
    # The browser says in its own time that it came into view: only then does the page's time count.
    for _ in range(100):
        if button.is_enabled():
            break
        page.clock.run_for(200)
    button.tap()
    expect(row(page, "moves-up-0")).to_have_count(0)
    tap_hastily(page, allow(row(page, "moves-up-1")))
    run()
    assert [decided(house, ask) for ask in asks] == [Decision.ALLOWED, None, None]


STALLED = """(words) => {
  const seen = new MutationObserver(() => {
    if (document.querySelector("main").textContent.includes(words)) return;
    seen.disconnect();
    requestAnimationFrame(() => {
      console.log("stalled");
      for (const end = performance.now() + 1500; performance.now() < end; );
    });
  });
  seen.observe(document.body, { subtree: true, childList: true });
}"""
"""A phone that has much to do: once what has these words is gone, what is there is drawn a second and a half later."""


def test_a_tap_made_before_what_moved_up_could_be_seen_allows_nothing(house: House, sign_in: SignIn) -> None:
    asks = [permission(house, f"make seen-late-{number}") for number in range(2)]
    page = live(sign_in(**PHONE))
    button = allow(row(page, "seen-late-0"))
    button.scroll_into_view_if_needed()
    expect(button).to_be_enabled()
    box = button.bounding_box()
    assert box
    hand = page.context.new_cdp_session(page)
    page.evaluate(STALLED, "seen-late-0")
    with page.expect_console_message(lambda said: said.text == "stalled"):
        house.desk.cancel(asks[0].id, Settler(person="an agent", surface="terminal"))
    # Made while the page is at work; it hears of that afterwards.
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(row(page, "seen-late-0")).to_have_count(0)
    assert page.evaluate("new Promise((told) => requestAnimationFrame(() => setTimeout(() => told(true), 100)))")
    assert decided(house, asks[1]) is None
    # It can be pressed all the same, once it has been seen.
    allow(row(page, "seen-late-1")).tap()
    expect(row(page, "seen-late-1")).to_have_count(0)
    assert decided(house, asks[1]) is Decision.ALLOWED


def wait_for(button: Locator, patience: int = 500) -> None:
    """Let the page's time go on until it can be pressed, but not before the browser has said, in its own time, what is
    in view."""
    for _ in range(patience):
        button.evaluate(TOLD_OF_VIEW)
        button.page.clock.run_for(100)
        if button.is_enabled():
            return


def list_that_stands_still(page: Page, words: str) -> list[Locator]:
    """The Allows of the rows with these words, of which the first has just been pressed."""
    expect(row(page, f"{words}-2")).to_be_visible()
    page.clock.install()
    stand_still(page)
    first, *others = (allow(row(page, f"{words}-{number}")) for number in range(3))
    first.scroll_into_view_if_needed()
    wait_for(first)
    place = first.bounding_box()
    first.tap()
    expect(row(page, f"{words}-0")).to_have_count(0)
    assert others[0].bounding_box() == place
    return others


def test_a_tap_where_the_last_permission_was_allowed_does_not_allow_the_next(house: House, sign_in: SignIn) -> None:
    asks = [permission(house, f"make same-place-{number}") for number in range(3)]
    page = live(sign_in(**PHONE))
    second, _ = list_that_stands_still(page, "same-place")
    wait_for(second, patience=15)
    expect(second).to_be_disabled()
    second.tap(force=True)
    page.goto("/settings")
    assert [decided(house, ask) for ask in asks] == [Decision.ALLOWED, None, None]


def test_whoever_waits_or_taps_elsewhere_allows_the_next_in_the_same_place(house: House, sign_in: SignIn) -> None:
    asks = [permission(house, f"make read-first-{number}") for number in range(3)]
    page = live(sign_in(**PHONE))
    second, third = list_that_stands_still(page, "read-first")
    wait_for(second)
    second.tap()
    expect(row(page, "read-first-1")).to_have_count(0)
    page.touchscreen.tap(2, 2)
    wait_for(third, patience=15)
    third.tap()
    expect(row(page, "read-first-2")).to_have_count(0)
    assert [decided(house, ask) for ask in asks] == [Decision.ALLOWED] * 3


def test_words_of_a_no_that_were_written_elsewhere_keep_a_row_from_allowing(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "make drafted-no")
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_label("Or say no.").fill("Not on a Friday")
    expect(page.locator("[data-draft-note]")).to_contain_text("Kept as a draft")
    page.goto("/")
    live(page)
    allow(row(page, "drafted-no")).click()
    expect(row(page, "drafted-no").get_by_role("alert")).to_contain_text(
        "You wrote why not, so this cannot be allowed."
    )
    assert decided(house, ask) is None


def test_what_was_decided_is_told_apart_with_the_action_and_by_whom(house: House, sign_in: SignIn) -> None:
    ask = wants(house, argv=["deploy", "--now"], stdin="to everybody")
    other = wants(house, argv=["deploy", "--later"])
    by = Settler(person="grace", surface="terminal")
    PermissionDesk(house.desk).deny(ask.id, by, "Not before the backup")
    PermissionDesk(house.desk).allow(other.id, other.digest, by)
    page = sign_in("/history")
    denied, allowed = (page.locator(".row", has_text=words) for words in ("--now", "--later"))
    expect(denied).to_contain_text("Denied")
    expect(denied).to_contain_text("by grace in the terminal")
    expect(allowed).to_contain_text("Allowed")
    page.goto(f"/asks/{ask.id}")
    expect(page.locator("#standing")).to_contain_text("Denied by grace in the terminal")
    expect(page.locator("#standing")).to_contain_text("Reason: Not before the backup")
    expect(page.locator(".part", has_text="Standard input")).to_contain_text("to everybody")
    assert house.desk.get(ask.id).state is State.ANSWERED


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_a_card_fits_every_screen(house: House, sign_in: SignIn, width: int) -> None:
    ask = wants(
        house,
        argv=["x" * 400, *(["--a-rather-long-option=value"] * 20)],
        stdin=LONG,
        files={"/" + "d/" * 90: "x"},
        input={"description": "What it is for"},
    )
    page = sign_in(f"/asks/{ask.id}", viewport={"width": width, "height": 844})
    page.locator("summary", has_text="Standard input").click()
    expect(allow(page)).not_to_have_attribute("disabled", "")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    hidden = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"
    assert page.locator(".block").evaluate_all(hidden) == [], "nothing is cut off at the side"
    shown = page.locator("[data-ask-page] .part.margin")
    facts = {label.partition(" ")[0]: left for label, left in shown.evaluate_all(FACTS)}
    assert {"Input", "Tool", "Folder"} <= facts.keys()
    assert len(set(facts.values())) == 1, "what they say begins at one edge"
