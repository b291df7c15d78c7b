"""Nobody says yes by accident: not by a key in the field for a no, not by a second tap, not by a key held down."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect
from tests.asks.samples import permission_ask
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.clients.process import wait_until
from tests.web.house import WAIT, House, Reply, answers_of, confirm, multi_select, select, text

from sayso.asks.mark import mark
from sayso.asks.model import Ask, Asker, NewAsk, Settler, State
from sayso.dialects import approve
from sayso.permissions.desk import PermissionDesk

WITHOUT_SCRIPT = {"java_script_enabled": False}
SHOWN_ANEW = """
() => new Promise((done) => {
  let changes = 0, frames = 0;
  const observer = new MutationObserver((all) => { changes += all.length; });
  observer.observe(document, { subtree: true, attributeFilter: ["hidden"] });
  const next = () => (++frames < 20 ? requestAnimationFrame(next) : done(changes));
  next();
})
"""
"""How often a page that nobody touches says what is shown in it, in twenty frames."""
HANGING = """() => {
  const others = fetch;
  globalThis.hangs = new Promise((hangs) => {
    globalThis.fetch = (address, options) => {
      if (!String(address).endsWith("/draft")) return others(address, options);
      hangs();
      return new Promise(() => {});
    };
  });
}"""
"""No draft that a page sends ever comes to an end. (Where Playwright held it back, a redirect got lost: the page learnt
only once its patience was over that its answer was taken.)"""


def permission(house: House, command: str = "rm -rf build") -> Ask:
    """An agent asks to be allowed a command."""
    asker = Asker(client="claude-code", project="/home/ada/shop", session=command)
    wanted = approve.Permission(tool="Bash", given={"command": command})
    new: NewAsk = permission_ask(wanted, asker)
    return house.hold(new).ask


def is_open(house: House, ask: Ask) -> bool:
    return house.desk.get(ask.id).state is State.PENDING


def kept(page: Page) -> None:
    """Once the page has said that what was entered is a draft, everything it was going to send has been sent."""
    expect(page.locator("[data-draft-note]")).to_contain_text("Kept as a draft")


@pytest.mark.finding("F-02")
def test_control_and_enter_in_the_reason_for_a_no_never_sends_the_yes(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Delete the old tables now?", "Yes", "No"))
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("radio", name="Yes").check()
    page.get_by_text("Reject instead").click()
    page.get_by_label("Why?").press_sequentially("Not before the backup")
    expect(page.get_by_role("button", name="Send answer")).to_have_attribute("disabled", "")
    page.get_by_label("Why?").press("Control+Enter")
    # It sends what the field is for.
    expect(page.locator("#standing")).to_contain_text("Rejected by you")
    assert house.desk.get(ask.id).state is State.REJECTED


@pytest.mark.parametrize("place", ["its page", "its row"])
def test_enter_that_was_held_down_before_a_button_was_reached_presses_nothing(
    house: House, sign_in: SignIn, place: str
) -> None:
    ask = house.ask(confirm(f"Held in {place}?"))
    page = sign_in("/settings")
    page.clock.install()
    page.goto(f"/asks/{ask.id}" if place == "its page" else "/")
    here = page.locator("form[data-answer]") if place == "its page" else page.locator(".row", has_text="Held in")
    yes, no = (here.get_by_role("button", name=name) for name in ("Yes", "No"))
    expect(yes).to_be_visible()
    page.clock.run_for(2000)
    page.keyboard.down("Enter")
    yes.focus()
    for _ in range(3):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    no.click()
    assert wait_until(lambda: not is_open(house, ask), WAIT)
    assert [answer.chosen for answer in answers_of(house.desk.get(ask.id))] == [("no",)]


@pytest.mark.finding("F-02")
def test_a_yes_with_a_reason_for_a_no_is_refused_until_the_reason_is_gone(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Delete the old tables now?", "Yes", "No"))
    page = sign_in(f"/asks/{ask.id}", **WITHOUT_SCRIPT)
    page.get_by_role("radio", name="Yes").check()
    page.get_by_text("Reject instead").click()
    page.get_by_label("Why?").fill("Not before the backup")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("alert")).to_contain_text("You wrote why you reject this.")
    assert is_open(house, ask)
    page.get_by_label("Why?").fill("")
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you")


@pytest.mark.finding("F-01", "F-93")
@pytest.mark.parametrize("script", [True, False])
def test_words_of_a_no_make_it_impossible_to_allow(house: House, sign_in: SignIn, script: bool) -> None:
    ask = permission(house, f"rm -rf build/{script}")
    page = sign_in(f"/asks/{ask.id}", java_script_enabled=script)
    allow = page.get_by_role("button", name="Allow", exact=True)
    words = page.get_by_label("Or say no.")
    words.fill("Never!")
    if script:
        expect(allow).to_have_attribute("disabled", "")
        expect(page.get_by_text("You wrote why not.")).to_be_visible()
    else:
        allow.click()
        expect(page.get_by_role("alert")).to_contain_text("so this cannot be allowed")
    assert is_open(house, ask)
    words.fill("")
    if script:
        assert page.evaluate(SHOWN_ANEW) == 0
    allow.click()
    expect(page.locator("#standing")).to_contain_text("by you in the browser")
    answered = house.desk.get(ask.id).outcome
    assert answered
    assert answered.answers[0].chosen == ("allow",)


@pytest.mark.finding("F-01")
def test_the_server_refuses_an_allow_that_comes_with_the_words_of_a_no(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "rm -rf everything")
    page = sign_in(f"/asks/{ask.id}")
    for decision in ("allow-once", "allow-session"):
        told = page.evaluate(
            """async ([decision, ask]) => {
                const body = new URLSearchParams(new FormData(document.querySelector("form[data-answer]")));
                body.set("settle", decision);
                body.set("q0-note", "Never!");
                const reply = await fetch(`/asks/${ask}`, { method: "POST", body });
                return [reply.status, await reply.text()];
            }""",
            [decision, ask.id],
        )
        assert told[0] == 422
        assert "so this cannot be allowed" in told[1]
    assert is_open(house, ask)


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.finding("F-01", "F-02")
def test_no_key_in_any_other_field_sends_anything(house: House, sign_in: SignIn, script: bool) -> None:
    asks = [
        house.ask(confirm(), text("Why?", required=False)),
        house.ask(select()),
        house.ask(select(), multi_select("And which?")),
        permission(house, f"make sent {script}"),
    ]
    page = sign_in("/settings", java_script_enabled=script)
    for ask in asks:
        page.goto(f"/asks/{ask.id}")
        for name in ("Yes", "Red"):
            if page.get_by_role("radio", name=name).count():
                page.get_by_role("radio", name=name).check()
        # Only what is refused for its own sake may be refused: what is shown could be read by now.
        expect(page.locator("form[data-answer]")).not_to_have_attribute("aria-disabled", "true")
        fields = page.locator("form[data-answer] :is(input:not([type=hidden]), textarea)")
        seen = [field for field in fields.all() if field.is_visible()]
        assert seen
        for key in ("Control+Enter", "Enter"):
            for field in seen:
                # Empty, so that there is nothing to send by it: the first key leaves it as it is.
                field.press(key)
    # Whatever a key has sent comes before this.
    page.goto("/settings")
    page.get_by_role("heading").first.wait_for()
    assert [ask.questions for ask in asks if not is_open(house, ask)] == []


def test_an_answer_to_what_was_not_shown_is_refused(house: House, sign_in: SignIn) -> None:
    shown, other = house.ask(confirm("This one?")), house.ask(confirm("Another one?"))
    assert mark(shown) != mark(other)
    page = sign_in(f"/asks/{shown.id}")
    page.evaluate("id => { document.querySelector('form[data-answer]').action = `/asks/${id}`; }", other.id)
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("alert")).to_contain_text("What you answered is not what is asked here now.")
    assert is_open(house, other)
    assert is_open(house, shown)


@pytest.mark.finding("F-03")
@pytest.mark.parametrize("script", [True, False])
def test_a_second_tap_never_reaches_the_next_ask(house: House, sign_in: SignIn, script: bool) -> None:
    """With "Go on with the next question" the next ask has its buttons where those of the last one were."""
    asks = [permission(house, f"make {number} {script}") for number in range(3)]
    page = sign_in("/settings", java_script_enabled=script, **PHONE)
    page.get_by_label("Go on with the next question").check()
    page.get_by_role("button", name="Save").tap()
    expect(page.get_by_text("Saved for this browser.")).to_be_visible()
    page.clock.install()
    page.goto(f"/asks/{asks[0].id}")
    allow = page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_enabled()
    run = stand_still(page)
    allow.tap()
    page.wait_for_url(f"**/asks/{asks[1].id}?sent=*")
    next_allow = page.locator("form[data-answer] button[value=allow-once]")
    if not script:
        expect(next_allow).to_have_css("animation-duration", "0.7s")
    tap_hastily(page, next_allow)
    expect(page.locator(".banner.done")).to_be_visible()
    assert [is_open(house, ask) for ask in asks] == [False, True, True]
    # Somebody who has looked at it can decide it, because nothing else has.
    run()
    page.get_by_role("button", name="Deny", exact=True).tap()
    page.wait_for_url(f"**/asks/{asks[2].id}?sent=*")
    assert answers_of(house.desk.get(asks[1].id))[0].chosen == ("deny",)
    assert is_open(house, asks[2])


def tap_hastily(page: Page, button: Locator) -> None:
    """Go on tapping where a button is, as soon as it is there and four times a second, while the page's time stands
    still but for that."""
    box = button.bounding_box()
    assert box
    for _ in range(5):
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.clock.run_for(250)


def stand_still(page: Page) -> Callable[[], None]:
    """Stop the page's own time, so that a slow machine does not make a hasty tap a late one; its clock is
    installed before it is opened. What lets it go on."""
    motion = page.context.new_cdp_session(page)
    motion.send("Animation.enable")
    motion.send("Animation.setPlaybackRate", {"playbackRate": 0})
    page.clock.pause_at(time.time() + 10)

    def run() -> None:
        motion.send("Animation.setPlaybackRate", {"playbackRate": 1})
        page.clock.resume()

    return run


def rows_that_can_be_allowed(house: House, sign_in: SignIn, *commands: str) -> tuple[Page, list[Ask], list[Locator]]:
    """The inbox on a phone, and the Allow of each, which takes presses."""
    asks = [permission(house, command) for command in commands]
    page = sign_in("/healthz", **PHONE)
    page.clock.install()
    page.goto("/")
    allows = [page.locator(f"[data-ask='{ask.id}']").get_by_role("button", name="Allow", exact=True) for ask in asks]
    for allow in allows:
        allow.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    expect(allows[1]).to_be_enabled()
    return page, asks, allows


def test_what_slides_to_where_another_permission_was_is_not_allowed_by_the_finger_that_is_there(
    house: House, sign_in: SignIn
) -> None:
    page, asks, allows = rows_that_can_be_allowed(house, sign_in, *(f"make job-{number}" for number in range(4)))
    box = allows[1].bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    PermissionDesk(house.desk).deny(asks[0].id, Settler(person="ben", surface="terminal"))
    expect(allows[0]).to_have_count(0)
    under = "([x, y]) => document.elementFromPoint(x, y).closest('[data-ask]').dataset.ask"
    assert page.evaluate(under, [x, y]) == asks[2].id
    page.clock.run_for(1000)
    page.touchscreen.tap(x, y)
    page.clock.run_for(1000)
    page.touchscreen.tap(x, y)
    expect(allows[2]).to_have_attribute("aria-disabled", "true")
    # A finger that has been elsewhere has left what it was about to press.
    page.touchscreen.tap(5, 300)
    page.clock.run_for(1000)
    page.touchscreen.tap(x, y)
    assert wait_until(lambda: not is_open(house, asks[2]), WAIT)
    assert [is_open(house, ask) for ask in asks] == [False, True, False, True]


def test_a_finger_that_rests_on_allow_allows_nothing(house: House, sign_in: SignIn) -> None:
    page, asks, allows = rows_that_can_be_allowed(house, sign_in, "make one", "make two")
    box = allows[1].bounding_box()
    assert box
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    fingers = page.context.new_cdp_session(page)
    for held, is_allowed in ((1500, False), (100, True)):
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.clock.run_for(held)
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.clock.run_for(1000)
        assert wait_until(lambda: not is_open(house, asks[1]), WAIT if is_allowed else 0.5) is is_allowed


BACK_IN_SIGHT = {
    "the tab came to the front": "document.dispatchEvent(new Event('visibilitychange'))",
    "the browser went back to it": "dispatchEvent(new Event('pageshow'))",
    "what covered it is gone": "const detail = allow.getBoundingClientRect();"
    "dispatchEvent(new CustomEvent('sayso:uncovered', { detail }))",
}


@pytest.mark.parametrize("how", BACK_IN_SIGHT)
def test_a_press_on_what_has_only_just_come_into_sight_again_allows_nothing(
    house: House, sign_in: SignIn, how: str
) -> None:
    ask = permission(house, f"make shown because {how}")
    page = sign_in("/healthz")
    page.clock.install()
    page.goto(f"/asks/{ask.id}")
    allow = page.get_by_role("button", name="Allow", exact=True)
    page.clock.run_for(2000)
    expect(allow).to_be_enabled()
    run = stand_still(page)
    allow.focus()
    allow.evaluate(f"allow => {{ {BACK_IN_SIGHT[how]} }}")
    for _ in range(2):
        page.keyboard.press("Space")
    run()
    page.get_by_role("button", name="Deny", exact=True).click()
    assert wait_until(lambda: not is_open(house, ask), WAIT)
    assert answers_of(house.desk.get(ask.id))[0].chosen == ("deny",)


def test_where_fold_was_pressed_no_allow_counts_for_three_seconds(house: House, sign_in: SignIn) -> None:
    long = permission(house, "\n".join(f"echo {number}" for number in range(60)))
    short = permission(house, "rm -rf build")
    page = sign_in("/healthz", **PHONE)
    page.clock.install()
    page.goto("/")
    fold = page.locator(f"[data-ask='{long.id}'] details.row-open")
    fold.get_by_text("Show all of it here").tap()
    end = fold.locator("> [data-fold]")
    end.scroll_into_view_if_needed()
    page.clock.run_for(2000)
    box = end.bounding_box()
    assert box
    thumb = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(*thumb)
    expect(fold.locator("> [data-fold]")).to_be_hidden()
    row = page.locator(f"[data-ask='{short.id}']")
    row.get_by_role("button", name="Allow", exact=True).evaluate(
        """(allow, [x, y]) => {
          const { left, top, width, height } = allow.getBoundingClientRect();
          allow.closest(".row").style.translate = `${x - left - width / 2}px ${y - top - height / 2}px`;
        }""",
        thumb,
    )
    for wait in (300, 900, 1800):
        page.clock.run_for(wait)
        page.touchscreen.tap(*thumb)
        assert is_open(house, short)
    expect(page.locator(".too-early")).to_contain_text("Wait three seconds, then press again.")
    expect(page).to_have_url(f"{house.address_of()}/")
    page.clock.run_for(3500)
    page.touchscreen.tap(*thumb)
    assert wait_until(lambda: not is_open(house, short), WAIT)


@pytest.mark.parametrize("wanted", ["Send answer", "Yes", "Allow"])
def test_a_press_that_comes_too_early_is_told_beside_the_button_and_the_next_one_counts(
    house: House, sign_in: SignIn, wanted: str
) -> None:
    if wanted == "Allow":
        ask = permission(house, "make told")
    else:
        ask = house.ask(confirm("Told?") if wanted == "Yes" else select("Which?", *(f"No. {n}" for n in range(20))))
    page = sign_in("/healthz", **PHONE)
    page.clock.install()
    page.goto(f"/asks/{ask.id}" if wanted == "Send answer" else "/")
    if wanted == "Send answer":
        page.get_by_role("radio", name="No. 1", exact=True).check()
    here = page.locator(f"[data-ask='{ask.id}'] form")
    button = here.get_by_role("button", name=wanted, exact=True)
    page.clock.run_for(2000)
    expect(button).to_be_enabled()
    stand_still(page)
    page.evaluate("dispatchEvent(new Event('sayso:moved'))")
    before, height = button.bounding_box(), page.evaluate("document.documentElement.scrollHeight")
    assert before
    told = page.locator(".too-early")
    for _ in range(2):
        page.clock.run_for(300)
        page.touchscreen.tap(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
        expect(told).to_have_text("That press came too soon and did not count. Press again in a moment.")
        expect(page.locator("[data-announce]")).to_have_text(told.inner_text())
    assert is_open(house, ask)
    beside = told.bounding_box()
    assert beside
    gap = max(before["y"] - beside["y"] - beside["height"], beside["y"] - before["y"] - before["height"])
    assert 0 < gap < 20
    expect(told).to_be_in_viewport(ratio=1)
    # Nothing has moved for it.
    assert (button.bounding_box(), page.evaluate("document.documentElement.scrollHeight")) == (before, height)
    page.clock.run_for(1000)
    page.touchscreen.tap(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    expect(told).to_have_count(0)
    page.clock.run_for(6000)
    assert wait_until(lambda: not is_open(house, ask), WAIT)


def test_that_a_press_came_too_early_is_told_for_a_while_and_not_where_a_press_was_not_meant(
    house: House, sign_in: SignIn
) -> None:
    ask = house.ask(confirm("Told for a while?"))
    page = sign_in("/healthz")
    page.clock.install()
    page.goto(f"/asks/{ask.id}")
    yes, told = page.get_by_role("button", name="Yes"), page.locator(".too-early")
    page.clock.run_for(2000)
    expect(yes).to_be_enabled()
    stand_still(page)
    # Escape calls a press off that Space has begun.
    yes.focus()
    page.keyboard.down("Space")
    page.keyboard.press("Escape")
    page.keyboard.up("Space")
    expect(told).to_have_count(0)
    page.evaluate("dispatchEvent(new Event('sayso:moved'))")
    page.keyboard.press("Space")
    expect(told).to_be_visible()
    page.clock.run_for(5000)
    expect(told).to_have_count(0)
    expect(page.locator("[data-announce]")).to_have_text("")
    assert is_open(house, ask)


def test_a_key_on_a_button_that_is_not_in_sight_allows_nothing(house: House, sign_in: SignIn) -> None:
    ask = permission(house, "\n".join(f"echo {number}" for number in range(15)))
    page = sign_in("/healthz", viewport={"width": 600, "height": 200})
    page.clock.install()
    page.goto(f"/asks/{ask.id}")
    allow = page.get_by_role("button", name="Allow", exact=True)
    allow.scroll_into_view_if_needed()
    page.clock.run_for(2000)
    expect(allow).to_be_enabled()
    page.evaluate("scrollTo(0, 0)")
    expect(allow).to_have_attribute("aria-disabled", "true")
    # Nor does it after whatever has the page begin to count anew: a key that was refused, or a page that has moved.
    for anew in ("", "dispatchEvent(new Event('sayso:moved'))", "document.querySelector('h1').append('!')"):
        page.evaluate(anew)
        page.clock.run_for(2000)
        allow.evaluate("allow => allow.focus({ preventScroll: true })")
        page.keyboard.press("Space")
    page.get_by_role("button", name="Deny", exact=True).click()
    assert wait_until(lambda: not is_open(house, ask), WAIT)
    assert answers_of(house.desk.get(ask.id))[0].chosen == ("deny",)


def test_what_is_under_a_finger_after_a_page_has_led_to_what_was_not_sent_is_not_pressed_yet(
    house: House, sign_in: SignIn
) -> None:
    permission(house, "make under a finger")
    for number in range(12):
        house.ask(confirm(f"Is it {number}?"))
    page = sign_in("/healthz", **PHONE)
    page.clock.install()
    page.goto("/")
    allow = page.locator(".row", has_text="make under a finger").get_by_role("button", name="Allow", exact=True)
    page.clock.run_for(2000)
    expect(allow).not_to_have_attribute("aria-disabled", "true")
    moved = allow.evaluate("""allow => {
      const before = scrollY;
      sayso.problem([...document.querySelectorAll(".row form:has([data-problem-text])")].at(-1), "Not sent.");
      return [scrollY > before, allow.getAttribute("aria-disabled")];
    }""")
    assert moved == [True, "true"]


# While it is being sent


class Tunnel:
    """Holds back what a page sends about asks, as a phone without a network does."""

    def __init__(self, page: Page, house: House) -> None:
        self._page, self._house = page, house
        self.held: list[Route] = []
        page.clock.install()
        page.reload()
        page.route(re.compile("/asks/[0-9a-f]+$"), self._hold)

    def _hold(self, route: Route) -> None:
        if route.request.method == "POST":
            self.held.append(route)
        else:
            route.fallback()

    def wait_out(self) -> None:
        """Until the page gives up waiting for a reply."""
        self._page.clock.fast_forward(20_000)

    def late_arrival(self) -> Reply:
        """What was held back comes out at last, on the network's own account."""
        assert wait_until(self.holds_something, WAIT)
        return arrive(self._house, self._page, self.held[0].request)

    def holds_something(self) -> bool:
        self._page.title()  # what a page sends is heard of only while it is asked something
        return bool(self.held)


def arrive(house: House, page: Page, request: Request) -> Reply:
    """Bring a request to the server behind the browser's back."""
    cookie = "; ".join(f"{one.get('name')}={one.get('value')}" for one in page.context.cookies())
    body, headers = (request.post_data or "").encode(), request.headers
    address = urlsplit(request.url)._replace(scheme="", netloc="").geturl()
    return house.web.call("POST", address, body=body, headers=headers, cookie=cookie)


def test_a_second_tap_on_send_leads_to_no_other_page(house: House, sign_in: SignIn) -> None:
    ask = house.ask(select("Which colour?", *(f"Colour {number}" for number in range(20))))
    page = sign_in("/healthz", **PHONE)
    page.clock.install()
    page.goto(f"/asks/{ask.id}")
    page.get_by_role("radio", name="Colour 1", exact=True).check()
    stand_still(page)
    box = page.get_by_role("button", name="Send answer").bounding_box()
    assert box
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(*middle)
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    # However long that was, where to go on is in view.
    expect(page.get_by_role("link", name="Back to the inbox")).to_be_in_viewport(ratio=1)
    led_to: list[str] = []
    page.on("request", lambda request: led_to.append(request.url) if request.is_navigation_request() else None)
    page.touchscreen.tap(*middle)
    # Elsewhere a tap counts at once.
    page.get_by_role("link", name="‹ Inbox").tap()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    assert [urlsplit(url).path for url in led_to] == ["/"]


def test_while_a_yes_is_on_its_way_nothing_else_can_be_said_and_late_it_does_not_count(
    house: House, sign_in: SignIn
) -> None:
    ask = permission(house, "rm -rf /srv/everything")
    page = sign_in(f"/asks/{ask.id}", **PHONE)
    tunnel = Tunnel(page, house)
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page.get_by_role("button", name="Sending…")).to_be_disabled()
    words, deny = page.get_by_label("Or say no."), page.get_by_role("button", name="Deny", exact=True)
    expect(words).to_be_disabled()
    expect(deny).to_be_disabled()
    assert wait_until(tunnel.holds_something, WAIT)
    page.route("**/attempts", lambda route: route.abort())
    tunnel.wait_out()
    expect(page.get_by_role("alert")).to_contain_text("It is not known whether this arrived.")
    expect(deny).to_be_disabled()
    page.unroute("**/attempts")
    expect(page.get_by_role("alert")).to_contain_text("Not sent. It did not arrive.")
    page.unroute_all()
    words.fill("Never!")
    deny.click()
    expect(page.locator("#standing")).to_contain_text("Denied by you")
    assert tunnel.late_arrival().status == 409
    assert answers_of(house.desk.get(ask.id))[0].chosen == ("deny",)


def test_a_yes_that_was_given_up_never_counts_however_late_it_comes(house: House, sign_in: SignIn) -> None:
    ask = house.ask(confirm("Drop the table?"))
    page = sign_in(f"/asks/{ask.id}")
    tunnel = Tunnel(page, house)
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("button", name="No")).to_be_disabled()
    tunnel.wait_out()
    expect(page.get_by_role("alert")).to_contain_text("Not sent. It did not arrive. Press again to send it.")
    expect(page.get_by_role("button", name="Yes")).to_be_enabled()
    refused = tunnel.late_arrival()
    assert (refused.status, "called it off" in refused.text) == (409, True)
    assert is_open(house, ask)


@pytest.mark.parametrize("leaves", [False, True])
def test_an_answer_whose_reply_was_lost_is_shown_as_sent(house: House, sign_in: SignIn, leaves: bool) -> None:
    ask = house.ask(text())
    page = sign_in(f"/asks/{ask.id}")
    tunnel = Tunnel(page, house)
    if leaves:
        page.route("**/attempts", lambda route: route.abort())
    page.get_by_role("textbox", name="Question").fill("Sayso")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("button", name="Sending…")).to_be_visible()
    assert tunnel.late_arrival().status == 303
    tunnel.wait_out()
    if leaves:
        expect(page.get_by_role("alert")).to_contain_text("It is not known whether this arrived.")
        page.unroute("**/attempts")
        page.reload()
    expect(page.locator("#standing")).to_contain_text("Answered by you")
    expect(page.locator(".unsent")).to_have_count(0)
    assert answers_of(house.desk.get(ask.id))[0].text == "Sayso"


def test_a_no_whose_reply_was_lost_with_the_server_is_not_shown_as_unsent(
    own_house: House, sign_in_to: Callable[..., Page]
) -> None:
    ask = own_house.ask(text())
    page = sign_in_to(own_house, f"/asks/{ask.id}")
    tunnel = Tunnel(page, own_house)
    page.get_by_text("Reject instead").click()
    page.get_by_label("Why?").fill("Not now")
    page.get_by_role("button", name="Reject the question").click()
    expect(page.get_by_role("button", name="Sending…")).to_be_visible()
    assert tunnel.late_arrival().status == 303
    own_house.web.stop(signal.SIGKILL)
    tunnel.wait_out()
    expect(page.get_by_role("alert")).to_contain_text("It is not known whether this arrived.")
    own_house.restart()
    expect(page.locator("#standing")).to_contain_text("Rejected by you")
    expect(page.locator(".unsent")).to_have_count(0)


def test_a_draft_that_hangs_does_not_hold_up_the_answer(house: House, sign_in: SignIn) -> None:
    ask = house.ask(text())
    page = sign_in(f"/asks/{ask.id}")
    page.evaluate(HANGING)
    page.get_by_role("textbox", name="Question").fill("Sayso")
    page.evaluate("hangs")
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator("#standing")).to_contain_text("Answered by you")
