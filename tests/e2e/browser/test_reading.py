"""What a person reads: nothing hidden, nothing broken, what became of an ask, and what is most urgent first."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_live import live
from tests.e2e.browser.test_meant import permission
from tests.web.house import House, confirm, new_ask, select, text

from sayso.asks.model import Answer, Asker, Kind, Option, Question, Settler
from sayso.permissions.desk import PermissionDesk

pytestmark = pytest.mark.usefixtures("read_quickly")

GRACE = Settler(person="grace", surface="terminal")
HIDDEN = (
    "Delete &#x202e;gpj.elif&#x202c; now? [a&ZeroWidthSpace;b](https://example.org/) **&rlm;bold&shy;** ~~&lrm;~~\n\n"
    "# Head&#8203;ing\n\n- item&#xFEFF;\n\n| a&#x2066; | b |\n|---|---|\n| &zwj; | x |"
)
TABLE = """
| Setting | Default value | What it means for the reconciliation |
|---|---|---|
| `reconciliation_interval_seconds` | `SAYSO_RECONCILIATION_INTERVAL` | internationalization counterrevolutionaries |
| `notification_endpoint_address` | `SAYSO_NOTIFICATION_ENDPOINT` | disproportionately incomprehensibilities |
"""
RAW = r"() => document.body.innerText.match(/[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u)"
BROKEN = """
() => [...document.querySelectorAll(".prose td, .prose th")].filter((cell) => {
  const range = document.createRange();
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const word of node.data.matchAll(/[^\\s]+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) return true;
    }
  }
  return false;
}).map((cell) => cell.textContent)
"""
"""The cells in which a word is broken."""


@pytest.mark.finding("F-35")
def test_hidden_characters_are_spelt_out_however_they_were_written(house: House, sign_in: SignIn) -> None:
    page = sign_in(f"/asks/{house.ask(text(HIDDEN)).id}")
    expect(page.get_by_role("article")).to_contain_text("<U+202E>")
    for name in ("<U+200B>", "<U+200F>", "<U+200E>", "<U+FEFF>", "<U+2066>", "<U+200D>"):
        expect(page.get_by_role("article")).to_contain_text(name)
    assert page.evaluate(RAW) is None
    page.goto("/")
    expect(page.locator(".row-title")).to_contain_text("<U+202E>")
    assert page.evaluate(RAW) is None


@pytest.mark.finding("F-60")
@pytest.mark.parametrize("look", [PHONE, {"viewport": {"width": 1280, "height": 860}}])
def test_a_table_scrolls_and_breaks_no_word(house: House, sign_in: SignIn, look: dict[str, object]) -> None:
    page = sign_in(f"/asks/{house.ask(text(TABLE)).id}", **look)
    expect(page.locator(".prose table")).to_be_visible()
    assert page.evaluate(BROKEN) == []
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page itself does not scroll sideways"


def decide(house: House, command: str, chosen: str) -> str:
    ask, desk = permission(house, command), PermissionDesk(house.desk)
    if chosen == "allow":
        desk.allow(ask.id, ask.digest, GRACE)
    else:
        desk.deny(ask.id, GRACE)
    return ask.id


def row(page: Page, ask: str) -> str:
    found = page.locator(".row", has=page.locator(f"a[href$='asks/{ask}']"))
    return " ".join(found.inner_text().split())


@pytest.mark.finding("F-51")
def test_the_history_tells_what_was_allowed_from_what_was_denied(house: House, sign_in: SignIn) -> None:
    allowed = decide(house, "rm -rf allowed-one", "allow")
    denied = decide(house, "rm -rf denied-one", "deny")
    asked = house.ask(select("Which colour for the door?"))
    house.desk.answer(asked.id, [Answer(question=asked.questions[0].id, chosen=("option 1",))], GRACE)
    page = sign_in("/history")
    assert "Allowed by grace in the terminal" in row(page, allowed)
    assert "Denied by grace in the terminal" in row(page, denied)
    assert "Green" in row(page, asked.id)
    told = {line.split()[0]: line for line in house.place.run("history").stdout.splitlines()}
    assert " denied " in told[denied[:8]]
    assert " allowed " in told[allowed[:8]]
    page.goto(f"/asks/{denied}")
    expect(page.locator("#standing")).to_contain_text("Denied by grace in the terminal")
    page.goto(f"/asks/{asked.id}")
    expect(page.locator(".said")).to_have_text("Green")
    expect(page.get_by_role("list", name="Not chosen").get_by_role("listitem")).to_have_text(["Red", "Blue"])


@pytest.mark.finding("F-61")
def test_agents_that_wait_come_before_what_nobody_waits_for(house: House, sign_in: SignIn) -> None:
    held = house.hold(new_ask(confirm("Long forgotten?")))
    house.desk.release(held, "the client went away")
    house.ask(confirm("Blocked first?"))
    second = house.ask(confirm("Blocked second?"))
    page = live(sign_in())
    titles = page.locator("[data-inbox] .row-title")
    expect(titles).to_have_text(["Blocked first?", "Blocked second?", "Long forgotten?"])
    page.goto(f"/asks/{second.id}")
    page.get_by_role("button", name="Yes").click()
    page.get_by_role("link", name="Next question").click()
    expect(page.locator(".prose")).to_have_text("Blocked first?")
    listed = house.place.run("list").stdout
    assert listed.index("Blocked first?") < listed.index("Long forgotten?")


def test_a_word_of_a_command_is_never_broken_at_a_hyphen(house: House, sign_in: SignIn) -> None:
    command = "git push --force-with-lease origin main --set-upstream --follow-tags --no-verify --atomic " * 3
    page = sign_in(f"/asks/{permission(house, command).id}", **PHONE)
    words = page.locator(":is(.block, h1) :is(.unbroken, .short-word)")
    assert words.count() > 12
    lines = "words => words.map(word => new Set([...word.getClientRects()].map(({ top }) => Math.round(top))).size)"
    heights = "words => words.map(word => word.offsetHeight / parseFloat(getComputedStyle(word).lineHeight))"
    assert max(words.evaluate_all(lines)) == 1
    assert max(words.evaluate_all(heights)) < 1.5, "each on one line"
    assert command.strip() in page.locator(".block").first.inner_text(), "and copied as it is"


WORDS_FROM_THE_LEFT = """(title) => {
  const walker = document.createTreeWalker(title, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const word of node.data.matchAll(/[-a-z]*[a-z]/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const { left, top } = range.getBoundingClientRect();
      found.push([Math.round(top), left, word[0]]);
    }
  }
  return found.sort(([a, b], [c, d]) => a - c || b - d).map(([, , word]) => word);
}"""


def test_a_command_in_a_question_that_is_read_from_the_right_keeps_its_order(house: House, sign_in: SignIn) -> None:
    house.ask(confirm("هل أنفذ rsync prod-db test-db --delete الآن؟"))
    page = live(sign_in())
    title = page.locator("[data-inbox] .row-title", has_text="rsync")
    assert title.evaluate(WORDS_FROM_THE_LEFT) == ["rsync", "prod-db", "test-db", "--delete"]


def test_marks_and_buttons_stand_where_a_question_is_read_from_whatever_each_option_is(
    house: House, sign_in: SignIn
) -> None:
    asked, other = house.ask(select("هل نبدأ الآن؟", "نعم", "Later")), house.ask(select("Which?", "العربية", "English"))
    page = sign_in(f"/asks/{asked.id}", **PHONE)
    lefts = "all => all.map(one => Math.round(one.getBoundingClientRect().left))"
    # The last of them is for own words.
    right = page.get_by_role("radio").evaluate_all(lefts)
    assert len(right) == 3
    assert len(set(right)) == 1
    assert right[0] > 290
    page.goto(f"/asks/{other.id}")
    left = page.get_by_role("radio").evaluate_all(lefts)
    assert len(set(left)) == 1
    assert left[0] < 100
    page.goto("/")
    row = page.locator(".row", has_text="Later")
    first, second = (row.get_by_role("button", name=name).bounding_box() for name in ("نعم", "Later"))
    assert first
    assert second
    assert 250 < second["x"] + second["width"] < first["x"]


BAND = """() => {
  const card = document.querySelector(".card.question");
  const first = [...card.querySelectorAll("*")].find((one) => {
    const { width, height } = one.getBoundingClientRect();
    return width > 1 && height > 1;
  });
  const inside = card.getBoundingClientRect().top + parseFloat(getComputedStyle(card).paddingTop);
  return first.getBoundingClientRect().top - inside;
}"""
"""Pixels between the upper edge of what a card shows and the first thing in it."""


READ_FROM_THE_RIGHT = """(place, words) => {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const [node, at] = [walker.currentNode, walker.currentNode.data.indexOf(words)];
    if (at < 0) continue;
    const [first, last] = [at, at + words.length - 1].map((start) => {
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, start + 1);
      return range.getBoundingClientRect();
    });
    return last.right <= first.left;
  }
}"""
"""Whether the last character of these words stands left of the first; nothing if they are not there."""


def read_from_the_right(place: Locator, words: str) -> bool:
    """Once they are there."""
    expect(place).to_contain_text(words)
    return bool(place.evaluate(READ_FROM_THE_RIGHT, words))


@pytest.mark.parametrize("look", [PHONE, {}])
def test_what_is_read_from_the_right_ends_on_the_left_beside_words_of_ours(
    house: House, sign_in: SignIn, look: dict[str, object]
) -> None:
    asker = Asker(client="codex", project="/home/ada/חנות!", branch="ענף!", host="here")
    house.ask(confirm("למחוק (old)?"), asker=asker)
    page = sign_in(**look)
    row = page.locator("[data-inbox] > .row", has_text="למחוק")
    assert all(read_from_the_right(row, words) for words in ("למחוק (old)?", "חנות!", "ענף!"))
    # Whose it is and where comes first all the same, and the time last.
    who, where, when = (row.locator(part).bounding_box() for part in (".who", ".where >> nth=0", "time"))
    assert who
    assert where
    assert when
    assert who["x"] < where["x"] < when["x"]
    asked = house.ask(select("איזה צבע?", "אדום!", "כחול!"), asker=asker)
    answer = Answer(question=asked.questions[0].id, chosen=("option 0",), note="לא ביום שישי!")
    house.desk.answer(asked.id, [answer], GRACE)
    refused = house.desk.reject(house.ask(text("ולמה?"), asker=asker).id, "לא עכשיו!", GRACE)
    page.goto("/history")
    listed = page.locator(".row", has_text="איזה צבע").first
    assert all(read_from_the_right(listed, words) for words in ("חנות!", "כחול!", "אדום! (לא ביום שישי!)"))
    page.goto(f"/asks/{asked.id}")
    assert all(read_from_the_right(page.locator("main"), words) for words in ("חנות!", "ענף!", "לא ביום שישי!"))
    page.goto(f"/asks/{refused.id}")
    assert read_from_the_right(page.locator("#standing"), "לא עכשיו!")
    denied = permission(house, "make shop")
    page.goto(f"/asks/{denied.id}")
    page.get_by_label("Or say no.").fill("לא היום!")
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(page.locator("#standing")).to_contain_text("Denied by you")
    page.goto(f"/log/{denied.id}")
    assert read_from_the_right(page.locator(".events"), "לא היום!")


def test_nothing_empty_stands_above_what_a_card_shows(house: House, sign_in: SignIn) -> None:
    settled = house.ask(confirm("Settled?"))
    house.desk.answer(settled.id, [Answer(question=settled.questions[0].id, chosen=("yes",))], GRACE)
    withdrawn = house.ask(select("Rejected?"))
    house.desk.reject(withdrawn.id, "", GRACE)
    code = house.ask(select("With code?\n\n```sh\nmake all\n```"))
    page = sign_in("/healthz")
    for ask in (settled, withdrawn, code, house.ask(confirm("Open?")), house.ask(text("Words?")), house.ask(select())):
        page.goto(f"/asks/{ask.id}")
        assert -1 <= page.evaluate(BAND) <= 2, ask.questions[0].text


def test_a_wide_preview_scrolls_and_shows_that_there_is_more(house: House, sign_in: SignIn) -> None:
    wide = Option(id="1", label="Wide", description="As in `a.txt`", preview="+" * 200)
    page = sign_in(f"/asks/{house.ask(Question(id='1', text='Which?', kind=Kind.SELECT, options=(wide,))).id}", **PHONE)
    preview = page.locator(".option-preview")
    assert preview.evaluate("one => (one.scrollBy(500, 0), one.scrollLeft)") == 500
    assert "local" in preview.evaluate("one => getComputedStyle(one).backgroundAttachment")
    expect(page.locator(".option-about code")).to_have_text("a.txt")
