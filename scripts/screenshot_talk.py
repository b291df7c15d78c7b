"""Draws the picture of Talk for the documentation: python -m scripts.screenshot_talk writes docs/images/talk.png.

With --all FOLDER: the pages of Talk in light, in the dark, and as a phone shows them, for looking at.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect, sync_playwright
from scripts.install_browser import find
from tests.e2e.browser.conftest import FLAGS, PHONE, sign_in_context
from tests.e2e.talk.stage import STAND_IN, Stage, begin, card, new_stage

IMAGE = Path(__file__).resolve().parent.parent / "docs" / "images" / "talk.png"
PROMPT = "Let the checkout take gift cards, and tell me if something is not clear."
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 1180}, "device_scale_factor": 2}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {**DESKTOP, "color_scheme": "light"},
    "dark": {**DESKTOP, "color_scheme": "dark"},
    "phone": {**PHONE, "color_scheme": "light"},
}

QUESTION = {
    "question": "A gift card can be worth **more than the order**. What happens to the rest?",
    "options": [
        {"label": "Keep it on the card", "description": "The card stays valid until it is used up."},
        {"label": "Turn it into shop credit", "description": "Needs an account."},
    ],
}
EDIT = {
    "file_path": "/home/ada/shop/src/checkout.py",
    "old_string": "def total(order):\n    return sum(item.price for item in order.items)\n",
    "new_string": "def total(order, card=None):\n    due = sum(item.price for item in order.items)\n"
    "    return max(due - card.balance, 0) if card else due\n",
}
STEPS = (
    "say I read the checkout and its tests. Two places have to change:\\n\\n"
    "1. `total()` must take a card into account\\n2. what was paid by card must be on the receipt",
    f"tool Bash {json.dumps({'command': 'pytest tests/checkout -q'})}",
    f"ask {json.dumps(QUESTION)}",
    f"permit Edit {json.dumps(EDIT)}",
    "say Done: gift cards are taken, and all **41 tests** pass.",
)


def draw(browser: Browser, stage: Stage, look: dict[str, Any], image: Path) -> None:
    context = browser.new_context(base_url=stage.house.web.address, **look)
    sign_in_context(context, stage.house)
    page = context.new_page()
    begin(page, stage.project(), PROMPT)
    question = card(page, "more than the order")
    question.get_by_label("Keep it on the card").check()
    question.get_by_role("button", name="Submit").click()
    allow = page.get_by_role("button", name="Allow", exact=True)
    allow.scroll_into_view_if_needed()
    expect(allow).to_be_enabled()
    page.mouse.move(0, 0)
    page.screenshot(path=image, full_page=True, animations="disabled")
    allow.click()
    page.get_by_text("Done", exact=True).wait_for()
    context.close()


def main() -> None:
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        script = Path(folder) / "script"
        script.write_text("\n".join(STEPS))
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        command = f"env STAND_IN_SCRIPT={script} {sys.executable} {STAND_IN}"
        with new_stage(claude_command=command, relay_dir=f"{folder}/relay") as stage:
            if wanted[:1] == ["--all"]:
                for name, look in LOOKS.items():
                    draw(browser, stage, look, Path(wanted[1]) / f"talk-{name}.png")
            else:
                draw(browser, stage, LOOKS["light"], IMAGE)
        browser.close()


if __name__ == "__main__":
    main()
