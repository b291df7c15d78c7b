"""What one test leaves behind in a page, no other finds there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.e2e.browser.conftest import STILL
from tests.e2e.browser.kept_pages import KeptPages
from tests.web.house import House

FILL = """() => {
  localStorage.setItem("mine", 1);
  sessionStorage.setItem("mine", 1);
  document.cookie = "mine=1";
  globalThis.mine = 1;
}"""
FOUND = "[localStorage.length, sessionStorage.length, document.cookie, 'mine' in globalThis]"


def hear(*_: object) -> None:
    """Something to be told to."""


CHANGES: Mapping[str, Callable[[Page], Any]] = {
    "clock": lambda page: page.clock.install(),
    "route": lambda page: page.route("**/draft", lambda route: route.abort()),
    "route of the browser": lambda page: page.context.route("**/draft", lambda route: route.abort()),
    "listener": lambda page: page.on("pageerror", hear),
    "listener of the browser": lambda page: page.context.on("response", hear),
    "script": lambda page: page.add_init_script("globalThis.mine = 1"),
    "function": lambda page: page.expose_function("mine", hear),
    "permission": lambda page: page.context.grant_permissions(["notifications"]),
    "size": lambda page: page.set_viewport_size({"width": 300, "height": 300}),
    "colours": lambda page: page.emulate_media(color_scheme="dark"),
    "no network": lambda page: page.context.set_offline(True),
    "line to the browser": lambda page: page.context.new_cdp_session(page),
    "key that is held": lambda page: page.keyboard.down("Shift"),
    "patience": lambda page: page.set_default_timeout(1),
    "end": lambda page: page.close(),
}


@pytest.fixture
def options(house: House) -> Mapping[str, Any]:
    return {**STILL, "base_url": house.address_of()}


def test_a_page_is_handed_on_with_nothing_left_in_it(kept_pages: KeptPages, options: Mapping[str, Any]) -> None:
    page = kept_pages.take(options, "")
    page.goto("/sign-in")
    page.evaluate(FILL)
    page.context.new_page()
    kept_pages.give_back(page)
    phone = kept_pages.take({**options, "is_mobile": True}, "")
    assert phone is not page
    kept_pages.give_back(phone)
    assert kept_pages.take(options, "") is page
    assert page.context.pages == [page]
    assert page.context.cookies() == []
    page.goto("/sign-in")
    assert page.evaluate(FOUND) == [0, 0, "", False]
    kept_pages.give_back(page)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_page_that_was_changed_for_good_is_not_handed_on(
    kept_pages: KeptPages, options: Mapping[str, Any], change: Callable[[Page], Any]
) -> None:
    page = kept_pages.take(options, "")
    change(page)
    kept_pages.give_back(page)
    other = kept_pages.take(options, "")
    assert other is not page
    kept_pages.give_back(other)
