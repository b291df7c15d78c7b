"""Pages that one test hands on to the next: a new browser with its first page costs a third of what most tests do.

Only what leaves nothing behind is handed on. Whatever Playwright is told to do with a page or its browser is held
against a list of what ends with the document that is shown: a clock, a route, a script for all pages, a permission,
another size, a listener or a key that was never let go is not on it, nor will be what nobody has thought of here. After
a test that failed, nothing is handed on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page

HARMLESS: Mapping[str, frozenset[str]] = {
    "BrowserContext": frozenset({"newPage", "addCookies", "cookies", "clearCookies", "__waitInfo__"}),
    "Page": frozenset(
        {
            *("reload", "goBack", "goForward", "bringToFront", "screenshot", "ariaSnapshot", "close", "__waitInfo__"),
            *("keyboardPress", "keyboardType", "keyboardInsertText"),
            *("mouseMove", "mouseClick", "mouseWheel", "touchscreenTap"),
        }
    ),
}
"""What can be done with a page, by its name in Playwright's protocol. (What is done with what a page shows, its frames
and all in them, is never asked about.)"""
MOST = 4
"""Browsers that are kept for others. Some tests want a phone, or no scripts, or to be somebody else."""
EMPTY = """async () => {
  localStorage.clear();
  sessionStorage.clear();
  const others = [navigator.serviceWorker?.getRegistrations(), indexedDB.databases(), caches.keys()];
  return (await Promise.all(others)).every((found) => !found?.length);
}"""
"""Whether nothing is left of what pages store. Where there are workers and their like, the page is not kept."""


QUICKLY = """{
  const [now, later] = [performance.now.bind(performance), setTimeout];
  const times = (wait) => ("__pwClock" in globalThis || wait < 700 || wait > 800 ? 1 : 8);
  performance.now = () => times(700) * now();
  globalThis.setTimeout = (act, wait, ...given) => later(act, wait / times(wait), ...given);
}"""
"""What has just appeared is read eight times as quickly: it can be pressed after less than a tenth of a second instead
of seven. What tells a second tap, and a pause between keys, is as quick. Nothing else is, and nothing at all where a
test puts the clock forward itself."""


class KeptPages:
    """All of one Chromium."""

    def __init__(self, browser: Browser, patience: float) -> None:
        self._browser, self._patience = browser, patience
        self._free: list[tuple[Mapping[str, Any], Page]] = []
        self._taken: dict[Page, tuple[Mapping[str, Any], Any]] = {}
        self._changed: set[str] = set()
        # It has no place where one could listen to what it is told.
        connection: Any = browser._impl_obj._connection
        self._send, self._instead = connection.send_message_to_server, vars(connection)
        self._instead[self._send.__name__] = self._note

    def take(self, options: Mapping[str, Any], script: str) -> Page:
        """An empty page in a browser with nothing in it, signed in nowhere, that runs this before anything else."""
        options = {**options, "script": script}
        found = next((one for one in self._free if one[0] == options), None)
        if found:
            self._free.remove(found)
        page = found[1] if found else self._open(**options)
        self._taken[page] = options, _listeners(page)
        return page

    def give_back(self, page: Page) -> None:
        """Keep it for another test, if it is as it was."""
        options, listeners = self._taken.pop(page)
        failed = getattr(sys, "last_value", None) is not None
        kept = False
        if not failed and not page.is_closed() and not self._is_changed(page) and _listeners(page) == listeners:
            with suppress(Error):
                kept = _empty(page, scripts=options.get("java_script_enabled", True))
        if failed:
            self._close_all_but(0)
        if not kept:
            page.context.close()
            return
        self._free.append((options, page))
        self._close_all_but(MOST)

    def close(self) -> None:
        self._close_all_but(0)
        del self._instead[self._send.__name__]

    def _open(self, *, script: str, **options: Any) -> Page:
        context = self._browser.new_context(**options)
        context.set_default_timeout(self._patience)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        self._changed -= {one._impl_obj._guid for one in _both(page)}
        return page

    def _close_all_but(self, most: int) -> None:
        while len(self._free) > most:
            self._free.pop(0)[1].context.close()

    def _note(self, owner: Any, method: str, *more: Any) -> Any:
        if method not in HARMLESS.get(owner._type, {method}):
            self._changed.add(owner._guid)
        return self._send(owner, method, *more)

    def _is_changed(self, page: Page) -> bool:
        own_patience = page._impl_obj._timeout_settings._default_timeout is not None
        return own_patience or any(one._impl_obj._guid in self._changed for one in _both(page))


def _both(page: Page) -> tuple[Any, ...]:
    """A page and its browser."""
    return page, page.context


def _listeners(page: Page) -> Any:
    """How many listen to what, in a page and in its browser."""
    events = [one._impl_obj._events.items() for one in _both(page)]
    return [{name: len(all) if isinstance(all, list) else 1 for name, all in these} for these in events]


def _empty(page: Page, *, scripts: bool) -> bool:
    """Leave what is shown, for a page of the same server that does nothing, and have forgotten what was stored."""
    context: BrowserContext = page.context
    for other in context.pages:
        if other != page:
            other.close()
    page.mouse.move(-1, -1)
    page.goto("/healthz")
    context.clear_cookies()
    return not scripts or bool(page.evaluate(EMPTY))
