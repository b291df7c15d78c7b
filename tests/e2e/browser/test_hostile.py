"""Agents may write anything into any field. Nothing of it runs, loads, deceives or breaks the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect
from tests.e2e.browser.conftest import PHONE, SignIn, lasting_context, lasting_page
from tests.web.house import House, new_ask

from sayso.asks.model import Answer, Ask, Asker, Kind, Option, Question, Settler

ATTACKS = {
    "html": '"><script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">',
    "svg": "'><svg/onload=window.hacked=3><iframe srcdoc='<script>parent.hacked=4</script>'></iframe>",
    "attribute": '" autofocus onfocus="window.hacked = 5" x="',
    "closing": "</textarea></title></style></script><script>window.hacked = 6</script>",
    "links": "[click](javascript:window.hacked=7) <javascript:hacked> [x](data:text/html,<script>hacked</script>)",
    "loading": "![pixel](https://evil.example/p.png) <link rel=stylesheet href=//evil.example/s.css>"
    "<meta http-equiv=refresh content='0;url=https://evil.example'><base href=https://evil.example>",
    "template": "{{ 7 * 7 }} {% for x in y %} ${window.hacked = 8} <%= 1 %>",
    "styles": '<style>body{display:none}</style><div style="position:fixed;inset:0;background:red">',
    "long word": "W" * 5_000,
    "stacked marks": "a" + "\u0300\u0301\u0302\u0303\u0489" * 300,
    "wide": "﷽" * 200 + "𒐫" * 200,
    "bidi": "safe \u202etxt.exe\u2066 \u200f deploy \u2067 production",
    "invisible": "yes\u200b\u200c\u2060\ufeff no\u00ad \U000e0041\U000e0042",
    "controls": "a\x00b\x07c\x1b[31md\x7f\x9b",
    "many lines": "\n" * 3_000 + "end",
    "nesting": "> " * 2_000 + "- " * 2_000 + "[" * 4_000,
    "tables": "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n|" + "b|" * 300,
    "code": "```\n" + "x" * 3_000 + "\n```\n\n" + "`" * 1_000,
    "right to left": "מה השאלה? האם להמשיך בפריסה לסביבת הייצור " * 10,
}


def hostile_ask(text: str) -> Any:
    """An ask with the text in every field that an agent can fill."""
    asker = Asker(client=text, version=text, session=text, project=text, host=text, pid=1, started=text, agent=text)
    options = (
        Option(id=text, label=text, description=text, recommended=True),
        Option(id=text + "2", label=text, description=text),
    )
    questions = tuple(
        Question(id=f"{text}{kind}", text=text, kind=kind, title=text, placeholder=text, required=False)
        if kind in (Kind.TEXT, Kind.CONFIRM)
        else Question(id=f"{text}{kind}", text=text, kind=kind, options=options, title=text, placeholder=text)
        for kind in Kind
    )
    return new_ask(*questions, title=text, asker=asker)


def settle(house: House, ask: Ask, text: str) -> None:
    """Answered with hostile words as well, by somebody with a hostile name."""
    answers = [
        Answer(question=question.id, text=None if question.kind is Kind.CONFIRM else text, note=text)
        for question in ask.questions
    ]
    house.desk.answer(ask.id, answers, Settler(person=text, surface=text))


@pytest.fixture(scope="module")
def phone(browser: Browser, shared_house: House) -> Iterator[BrowserContext]:
    with lasting_context(browser, shared_house, **PHONE) as context:
        yield context


@pytest.fixture
def page(phone: BrowserContext, house: House) -> Iterator[Page]:
    with lasting_page(phone, house) as page:
        yield page


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_in_every_field_does_nothing(house: House, page: Page, attack: str) -> None:
    text = ATTACKS[attack]
    held = house.hold(hostile_ask(text))
    foreign, problems = watch(page, house)
    look_at(page, f"/asks/{held.ask.id}")
    settle(house, held.ask, text)
    house.desk.keep_draft(held.ask.id, "ada", '{"reason": "<script>window.hacked = 9</script>"}')
    look_at(page, f"/asks/{held.ask.id}")
    assert foreign == [], "nothing was asked of anybody else"
    assert problems == [], "no dialog, no error, nothing that the policy had to stop"


def test_hostile_texts_in_the_lists_do_nothing(house: House, page: Page) -> None:
    asks = [(house.hold(hostile_ask(text)).ask, text) for text in ATTACKS.values()]
    ids = {ask.id for ask, _ in asks}
    foreign, problems = watch(page, house)
    look_at(page, "/")
    assert ids <= listed(page)
    for ask, text in asks:
        settle(house, ask, text)
    look_at(page, "/history")
    assert ids <= listed(page)
    assert foreign == [], "nothing was asked of anybody else"
    assert problems == [], "no dialog, no error, nothing that the policy had to stop"


def listed(page: Page) -> set[str]:
    """The asks to which the rows of a list lead."""
    return set(page.locator("main .row > a").evaluate_all("links => links.map(link => link.href.split('/').pop())"))


def watch(page: Page, house: House) -> tuple[list[str], list[str]]:
    foreign: list[str] = []
    problems: list[str] = []

    def asked(request: Request) -> None:
        if not request.url.startswith((house.web.address, "data:")):
            foreign.append(request.url)

    page.on("request", asked)
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
    return foreign, problems


def look_at(page: Page, path: str) -> None:
    page.goto(path)
    page.evaluate(UNFOLD)
    seen = page.evaluate(SEEN)
    assert seen.get("hacked") is None
    assert seen["width"] <= 390, f"{path} can be scrolled sideways"
    assert seen["elements"] == 0
    assert seen["display"] == "block"
    assert seen["outside"] == [], f"something on {path} sticks out of its box"


UNFOLD = """() => document.querySelectorAll('details > summary').forEach(fold => {
    fold.focus();
    if (!fold.parentElement.open) fold.click();
})"""
SEEN = """() => ({
    hacked: window.hacked,
    width: document.documentElement.scrollWidth,
    elements: document.querySelectorAll('main script, main img, main iframe, main style, main link').length,
    display: getComputedStyle(document.body).display,
    outside: [...document.querySelectorAll('main *')].filter(element => {
        if (element.closest('.unseen') || !element.checkVisibility()) return false;
        // A table that is too wide scrolls by itself, in a box that does not stick out.
        const around = element.closest('table')?.parentElement;
        if (around && getComputedStyle(around).overflowX === 'auto') return false;
        const box = element.getBoundingClientRect();
        return box.width && (box.right > innerWidth + 1 || box.left < -1);
    }).map(element => element.outerHTML.slice(0, 100)),
})"""
"""Looked for in one go: each question to the page takes longer than the answer."""


def test_characters_that_deceive_are_spelt_out(house: House, sign_in: SignIn) -> None:
    held = house.hold(hostile_ask(ATTACKS["bidi"]))
    page = sign_in(f"/asks/{held.ask.id}")
    shown = page.locator("main").inner_text() + page.title()
    assert "<U+202E>txt.exe" in shown
    assert not any(deceiver in page.content() for deceiver in "\u202e\u2066\u2067\u200f")


def test_where_a_link_of_an_agent_leads_is_seen_and_nothing_of_ours_goes_there(house: House, sign_in: SignIn) -> None:
    ask = house.ask(Question(id="q", text="See [our bank](https://evil.example/x 'a title')"))
    page = sign_in(f"/asks/{ask.id}")
    link = page.locator(".prose a")
    expect(link).to_have_accessible_name("our bank (https://evil.example/x)")
    assert link.get_attribute("rel") == "noopener noreferrer nofollow"
    assert link.get_attribute("title") is None


def test_a_text_too_long_for_the_page_can_be_read_in_full(house: House, sign_in: SignIn) -> None:
    words = "<b>word</b> " * 10_000
    ask = house.ask(Question(id="q", text=words + "THE END"))
    page = sign_in(f"/asks/{ask.id}")
    page.get_by_role("link", name="Read the whole text").click()
    page.wait_for_url("**/questions/0")
    assert page.locator("body").inner_text().endswith("THE END")
    assert page.locator("b").count() == 0
