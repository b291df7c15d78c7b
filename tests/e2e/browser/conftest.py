"""A real Chromium, a web inbox, and people signed in to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright
from scripts.install_browser import find, find_whole
from tests.e2e.browser.kept_pages import QUICKLY, KeptPages
from tests.web.fixtures import house as house
from tests.web.fixtures import shared_house as shared_house
from tests.web.house import USER, House, new_house

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # One process draws all pages: starting one for each browser context takes a sixth of the time of these tests.
    "--renderer-process-limit=1",
]
STILL = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"}
"""What moves is drawn sixty times a second for as long as a test waits for something else, and no test looks at it."""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NewContext = Callable[..., BrowserContext]
NewPage = Callable[..., Page]
SignIn = Callable[..., Page]

PATIENCE = 60_000
"""Milliseconds for all that is waited for: on a busy machine a page, and an agent with its server, take their time.
What is set for `expect` holds for a whole run, whichever folder has set it."""
expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True, kw_only=True)
class Chromiums:
    """The browsers that are there: the quickest, and one with all that browsers have."""

    quick: str
    whole: str


@pytest.fixture(scope="session")
def chromiums() -> Chromiums:
    quick, whole = find(), find_whole()
    assert quick, "no Chromium is there: python scripts/install_browser.py installs one"
    assert whole, "no Chromium with windows is there: python scripts/install_browser.py installs one"
    return Chromiums(quick=quick, whole=whole)


@pytest.fixture(scope="package")
def playwright(chromiums: Chromiums) -> Iterator[Playwright]:
    """One for each folder: while it is open an event loop runs in this thread, and tests with their own cannot. Nor
    can Playwright be asked for its browsers meanwhile."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright, chromiums: Chromiums) -> Iterator[Browser]:
    with playwright.chromium.launch(executable_path=chromiums.quick, args=FLAGS) as browser:
        yield browser


@pytest.fixture(scope="package")
def kept_pages(browser: Browser) -> Iterator[KeptPages]:
    kept = KeptPages(browser, PATIENCE)
    yield kept
    kept.close()


@pytest.fixture
def own_house() -> Iterator[House]:
    """One that a test may stop and start."""
    with new_house() as house:
        yield house


@pytest.fixture
def new_context(browser: Browser) -> Iterator[NewContext]:
    """Browsers with cookies and storage of their own."""
    opened: list[BrowserContext] = []

    def new(**options: Any) -> BrowserContext:
        context = browser.new_context(**{**STILL, **options})
        context.set_default_timeout(PATIENCE)
        opened.append(context)
        return context

    yield new
    for context in opened:
        context.close()


@pytest.fixture
def read_quickly() -> None:
    """For tests that are not about when something may be pressed: to read what has appeared takes them hardly any time.
    A file says so for all its tests."""


@pytest.fixture
def new_page(kept_pages: KeptPages, request: pytest.FixtureRequest) -> Iterator[NewPage]:
    """Each in a browser of its own, which another test may have had before; nothing is left of that."""
    taken: list[Page] = []
    script = QUICKLY if "read_quickly" in request.fixturenames else ""

    def new(**options: Any) -> Page:
        taken.append(kept_pages.take({**STILL, **options}, script))
        return taken[-1]

    yield new
    for page in taken:
        kept_pages.give_back(page)


@contextmanager
def lasting_context(browser: Browser, house: House, **options: Any) -> Iterator[BrowserContext]:
    """A browser for many tests that leave nothing behind in it. A page stays open: the process that draws them all is
    started once."""
    with browser.new_context(**{**STILL, "base_url": house.address_of(), **options}) as context:
        context.set_default_timeout(PATIENCE)
        context.new_page().goto("/healthz")
        yield context


@contextmanager
def lasting_page(context: BrowserContext, house: House) -> Iterator[Page]:
    """A page in it, of somebody who is signed in, whatever became of the one before."""
    context.clear_cookies()
    sign_in_context(context, house)
    with context.new_page() as page:
        yield page


def _sign_in(new_page: NewPage, house: House, path: str = "/", user: str = USER, **options: Any) -> Page:
    house.accounts.add_user(user)
    page = new_page(base_url=house.address_of(user), **options)
    sign_in_context(page.context, house, user)
    # Under another name than the private one, the page is below the private path.
    private = house.accounts.private_name(user) in house.address_of(user)
    below = "" if private else house.accounts.private_path(user)
    page.goto(f"{below}{path}")
    return page


def sign_in_context(context: BrowserContext, house: House, user: str = USER) -> None:
    cookie = {"name": house.cookie_name, "value": house.session(user), "url": house.address_of(user)}
    context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Strict"}])  # type: ignore[typeddict-item]


@pytest.fixture
def sign_in(house: House, new_page: NewPage) -> SignIn:
    """A page of a browser of its own in which somebody is signed in to the shared inbox."""
    return partial(_sign_in, new_page, house)


@pytest.fixture
def sign_in_to(new_context: NewContext) -> Callable[..., Page]:
    """The same for any inbox."""
    return partial(_sign_in, lambda **options: new_context(**options).new_page())
