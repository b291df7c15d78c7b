"""Hands that slip: keys in every field, keys held down, taps on what has only just appeared. They never mean a yes.

The page's own clock stands still while they are at it, so that a slow machine does not make a hasty tap a late one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from random import Random

from playwright.sync_api import Error, Locator, Page

FORMS = "form[data-answer], form[data-card-form]"
WORDS = ("No! Never delete that.", "Not before Friday", "ochre", "y", "Allow")
KEYS = ("Enter", "Control+Enter", "Meta+Enter", "Control+Enter", "Shift+Enter")
STEP = 800
HASTY = 600
APPEARED = """
new MutationObserver(() => {
  for (const form of document.forms) form.dataset.appeared ??= performance.now();
}).observe(document, { subtree: true, childList: true });
"""
"""Notes when each form appeared, by the clock of the page."""
VISIBLE = """
all => all.flatMap((one, place) => {
  const { width, height } = one.getBoundingClientRect();
  return width && height && getComputedStyle(one).visibility === "visible" ? [place] : [];
})
"""
"""The places of those that can be seen, in one go: to ask about each by itself takes a tenth of these tests."""
AGE = "form => performance.now() - Number(form.dataset.appeared)"


def visit(page: Page, path: str) -> None:
    """Go to a page, also when the one before is just about to go on by itself: by way of an empty one, which does not.
    A page that takes its time to come would be overtaken as often as one tries."""
    for _ in range(5):
        with suppress(Error):
            page.goto("about:blank")
            break
    page.goto(path)


class Hands:
    """One person at one page, as a number makes them."""

    def __init__(self, page: Page, seed: int) -> None:
        self.page, self._random = page, Random(seed)
        self.acts = 0
        """How many keys, words and taps came through."""
        page.set_default_timeout(10_000)
        page.clock.install()
        page.add_init_script(APPEARED)

    def stop_time(self) -> None:
        self.page.clock.pause_at(time.time() + 60)

    def press(self, button: Locator) -> None:
        """A deliberate press: on what has been there to be read."""
        for _ in range(100):
            button.scroll_into_view_if_needed()
            self.page.clock.run_for(STEP)
            if button.is_enabled():
                break
        button.tap()

    def tap(self, times: int) -> None:
        """Tap on buttons as hastily as a second tap comes: no time has passed since they appeared."""
        for _ in range(times):
            # The page may go on to another in the midst of it.
            with suppress(Error):
                form = self._one_of(self.page.locator(FORMS))
                if form and form.evaluate(AGE) < HASTY:
                    self._tap(form)
                    self.acts += 1

    def fidget(self, times: int) -> None:
        """Choose, write, and press keys in all fields, with all the time in the world; but press no button."""
        acts: list[Callable[[Locator], None]] = [self._type, self._key, self._key, self._choose]
        for _ in range(times):
            with suppress(Error):
                self.page.clock.run_for(STEP)
                if form := self._one_of(self.page.locator(FORMS)):
                    form.evaluate("form => form.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
                    self._random.choice(acts)(form)
                    self.acts += 1

    def _type(self, form: Locator) -> None:
        if field := self._one_of(form.locator("textarea, input[type=text]")):
            words = self._random.choice(WORDS)
            field.press_sequentially(words)

    def _key(self, form: Locator) -> None:
        """A key in a field, perhaps held down. Never on a button: that would be meant."""
        field = self._one_of(form.locator("textarea, input[type=text], input[type=radio], input[type=checkbox]"))
        if not field:
            return
        field.focus()
        *modifiers, key = self._random.choice(KEYS).split("+")
        for held in modifiers:
            self.page.keyboard.down(held)
        for _ in range(self._random.choice((1, 1, 5))):
            self.page.keyboard.down(key)
        self.page.keyboard.up(key)
        for held in modifiers:
            self.page.keyboard.up(held)

    def _tap(self, form: Locator) -> None:
        """Where a button is, in the moment in which it came."""
        box = (button := self._one_of(form.locator("button"))) and button.bounding_box()
        if not box:
            return
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for _ in range(self._random.randint(1, 3)):
            if self._random.random() < 0.5:
                self.page.touchscreen.tap(x, y)
            else:
                self.page.mouse.click(x, y, click_count=self._random.randint(1, 2))

    def _choose(self, form: Locator) -> None:
        """An option, which decides nothing before it is sent."""
        if option := self._one_of(form.locator("input[type=radio], input[type=checkbox]")):
            option.dispatch_event("click")

    def _one_of(self, found: Locator) -> Locator | None:
        visible = found.evaluate_all(VISIBLE)
        return found.nth(self._random.choice(visible)) if visible else None
