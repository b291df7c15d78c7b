"""Draws the pictures of the web inbox: those of the documentation, every page for looking at, and the app's icons.

python -m scripts.screenshot_web                 docs/images/web-*.png
python -m scripts.screenshot_web --all FOLDER    every page: light, dark, and as a phone shows it
python -m scripts.screenshot_web --icons         the PNG icons, from icon.svg
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright
from scripts.install_browser import find

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, Settler
from sayso.config import load
from sayso.store import open_store

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
STATIC = ROOT / "src" / "sayso" / "web" / "static"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}


def option(number: int, label: str, description: str = "", recommended: bool = False) -> Option:
    return Option(id=f"o{number}", label=label, description=description, recommended=recommended)


MIGRATION = NewAsk(
    tool="ask_user",
    asker=Asker(client="claude-code", version="2.1", project="/home/ada/shop", host="atlas", pid=4711),
    title="Moving orders to the new schema",
    timeout_ms=1_800_000,
    questions=(
        Question(
            id="how",
            title="Strategy",
            kind=Kind.SELECT,
            text="The `orders` table has **4.2 million rows**. How should I migrate it?\n\n"
            "1. both schemas stay readable until you say otherwise\n2. no order is written twice",
            options=(
                option(0, "Online, in batches", "About 40 minutes, no downtime.", True),
                option(1, "In one transaction", "Six minutes, writes are blocked meanwhile."),
                option(2, "Copy and swap", "Needs 3 GB more disk for an hour."),
            ),
        ),
        Question(
            id="checks",
            title="Checks",
            kind=Kind.MULTI_SELECT,
            text="Which checks should run afterwards?",
            options=(
                option(0, "Row counts", recommended=True),
                option(1, "Checksums per day"),
                option(2, "Replay yesterday's traffic", "Takes about an hour."),
            ),
        ),
        Question(id="go", title="Start now", kind=Kind.CONFIRM, text="May I start right away?"),
        Question(
            id="else",
            title="Anything else",
            text="Is there something I should watch out for?",
            required=False,
            placeholder="For example: the nightly export at 02:00",
        ),
    ),
)


def short(client: str, project: str, text: str, *labels: str, timeout: int | None = None) -> NewAsk:
    kind = Kind.SELECT if labels else Kind.CONFIRM
    options = tuple(option(number, label) for number, label in enumerate(labels))
    question = Question(id="q", text=text, kind=kind, options=options)
    asker = Asker(client=client, project=f"/home/ada/{project}", host="atlas")
    return NewAsk(tool="ask_user", asker=asker, questions=(question,), timeout_ms=timeout)


class Stage:
    """A web inbox of its own with something in it."""

    def __init__(self, folder: Path) -> None:
        environment = {"HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state"), "SAYSO_PERSON": "ada"}
        self._store = open_store(load(environ=environment, cwd=folder))
        self.desk = AskDesk(self._store)
        self._process = subprocess.Popen(
            [Path(sys.executable).parent / "sayso", "web", "--port", "0", "--json"],
            env={**environment, "PATH": os.environ["PATH"]},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address, self.link = self._told()

    def _told(self) -> tuple[str, str]:
        assert self._process.stdout is not None
        text = ""
        for line in self._process.stdout:
            text += line
            if line == "}\n":
                break
        told: dict[str, Any] = json.loads(text)
        return told["page"], told["link"]

    def fill(self) -> Ask:
        """Some asks; the one to look at closely is given back."""
        desk = self.desk
        ada = Settler(person="ada", surface="browser")
        done = desk.hold(short("codex", "site", "Which licence should the new package have?", "MIT", "Apache-2.0")).ask
        desk.answer(done.id, [Answer(question="q", chosen=("o0",))], ada)
        refused = desk.hold(short("cursor", "shop", "Delete the staging database to free some space?")).ask
        desk.reject(refused.id, "Staging is needed until Friday.", ada)
        desk.leave(short("codex", "site", "The link checker fails on two archived pages. Skip them?"))
        ask = desk.hold(MIGRATION).ask
        desk.hold(
            short("gemini-cli", "atlas-infra", "Renew the wildcard certificate now or tonight?", "Now", "Tonight")
        )
        desk.time_out(desk.hold(short("claude-code", "mobile", "Raise the minimum iOS version to 18?", timeout=10_000)))
        return ask

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=30)
        self._store.close()


@contextmanager
def stage() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as folder:
        running = Stage(Path(folder))
        try:
            yield running
        finally:
            running.close()


def signed_in(browser: Browser, running: Stage, *, dark: bool = False, phone: bool = False) -> Page:
    context = browser.new_context(
        viewport=PHONE if phone else DESKTOP,  # type: ignore[arg-type]
        color_scheme="dark" if dark else "light",
        device_scale_factor=2,
    )
    page = context.new_page()
    page.goto(running.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{running.address}/")
    running.link = _next_link(page, running)
    return page


def _next_link(page: Page, running: Stage) -> str:
    page.goto(f"{running.address}/settings")
    page.get_by_role("button", name="Show a sign-in link").click()
    return page.get_by_role("textbox", name="Sign-in link").input_value()


def documentation(browser: Browser) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with stage() as running:
        ask = running.fill()
        page = signed_in(browser, running)
        _half_fill(page, running, ask)
        page.screenshot(path=IMAGES / "web-ask.png")
        phone = signed_in(browser, running, dark=True, phone=True)
        phone.goto(running.address)
        phone.wait_for_function("document.title.startsWith('(')")
        # What has only just come is pale, because it takes no press yet.
        expect(phone.locator("[data-guard][aria-disabled=true]")).to_have_count(0)
        phone.screenshot(path=IMAGES / "web-phone.png")


def everything(browser: Browser, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, dark, phone in (("light", False, False), ("dark", True, False), ("phone", False, True)):
        with stage() as running:
            _every_page(browser, running, folder, name, dark, phone)


def _every_page(browser: Browser, running: Stage, folder: Path, name: str, dark: bool, phone: bool) -> None:
    link = running.link
    page = signed_in(browser, running, dark=dark, phone=phone)

    def keep(what: str) -> None:
        page.screenshot(path=folder / f"{name}-{what}.png", full_page=True)

    keep("settings-code")
    page.goto(running.address)
    keep("inbox-empty")
    ask = running.fill()
    page.get_by_text("Moving orders").wait_for()
    keep("inbox")
    page.goto(f"{running.address}/history")
    keep("history")
    page.goto(f"{running.address}/history?q=zebra")
    keep("history-none")
    page.goto(f"{running.address}/settings")
    keep("settings")
    page.goto(f"{running.address}/asks/{'0' * 32}")
    keep("not-found")
    page.goto(f"{running.address}/asks/{ask.id}")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("alert").wait_for()
    keep("ask-problems")
    _half_fill(page, running, ask)
    keep("ask")
    page.get_by_text("Who asks").click()
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Answered").first.wait_for()
    keep("ask-answered")
    page.goto(link)
    keep("sign-in")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    keep("sign-in-refused")


def _half_fill(page: Page, running: Stage, ask: Ask) -> None:
    page.goto(f"{running.address}/asks/{ask.id}")
    page.get_by_label("Online, in batches").check()
    page.get_by_label("Row counts").check()
    page.get_by_label("Replay yesterday").check()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_text("Kept as a draft").wait_for()
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")


def icons(browser: Browser) -> None:
    """Square to the edge: systems cut their own shape out of them."""
    drawing = (STATIC / "icon.svg").read_text().replace('rx="112"', 'rx="0"')
    for size in (192, 512):
        page = browser.new_page(viewport={"width": size, "height": size})
        page.set_content(f"<style>body{{margin:0}}svg{{display:block;width:{size}px}}</style>{drawing}")
        page.screenshot(path=STATIC / f"icon-{size}.png")


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        match sys.argv[1:]:
            case []:
                documentation(browser)
            case ["--all", folder]:
                everything(browser, Path(folder))
            case ["--icons"]:
                icons(browser)
            case _:
                sys.exit(__doc__)
        browser.close()


if __name__ == "__main__":
    main()
