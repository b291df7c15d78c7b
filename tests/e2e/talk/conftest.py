"""A real Chromium, a web page with agents behind it, and people signed in to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page
from tests.e2e.browser.conftest import (
    PATIENCE,
    NewContext,
    NewPage,
    browser,
    chromiums,
    kept_pages,
    new_context,
    new_page,
    playwright,
    read_quickly,
    sign_in_context,
)
from tests.e2e.talk.stage import Stage, new_stage
from tests.web.house import USER

__all__ = [
    "PATIENCE",
    "browser",
    "chromiums",
    "kept_pages",
    "new_context",
    "new_page",
    "playwright",
    "read_quickly",
]

SignIn = Callable[..., Page]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for each file; tests start conversations of their own in it."""
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay"))) as stage:
        yield stage


@pytest.fixture
def sign_in(new_context: NewContext, new_page: NewPage, stage: Stage) -> SignIn:
    """A page of a browser of its own in which somebody is signed in."""

    def signed_in(path: str = "/talk", user: str = USER, to: Stage | None = None, **options: object) -> Page:
        house = (to or stage).house
        house.accounts.add_user(user)
        options["base_url"] = house.address_of(user)
        # Of a server that goes with its test, no page is of use to another.
        page = new_context(**options).new_page() if to else new_page(**options)
        sign_in_context(page.context, house, user)
        page.goto(path)
        return page

    return signed_in
