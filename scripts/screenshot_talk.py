"""Draws the pictures of Talk for the documentation: python -m scripts.screenshot_talk writes docs/images/talk*.png.

They are at three sizes, in light and in the dark. With --all FOLDER: more moments of the same, for looking at.
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

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PROMPT = "Let the checkout take gift cards, and tell me if something is not clear."
SIZES: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 800}, "device_scale_factor": 1.5},
    "tablet": {"viewport": {"width": 820, "height": 1180}, "device_scale_factor": 1, "has_touch": True},
    "phone": PHONE,
}
LOOKS: dict[str, dict[str, Any]] = {
    f"talk-{size}{name}": {**look, "color_scheme": scheme}
    for size, look in SIZES.items()
    for name, scheme in (("", "light"), ("-dark", "dark"))
}
OTHERS = ("Why is the build slow on Fridays?", "Rename the old templates, and keep links working")

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
    page.mouse.move(0, 0)
    page.screenshot(path=image.with_stem(f"{image.stem}-asked"), animations="disabled")
    question.get_by_label("Keep it on the card").check()
    question.get_by_role("button", name="Send answer").click()
    allow = page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_visible()
    page.mouse.move(0, 0)
    page.screenshot(path=image, animations="disabled")
    allow.scroll_into_view_if_needed()
    expect(allow).to_be_enabled()
    allow.click()
    expect(page.locator("[data-footer]")).to_contain_text("Done")
    page.screenshot(path=image.with_stem(f"{image.stem}-done"), animations="disabled")
    page.goto("/talk")
    page.screenshot(path=image.with_stem(f"{image.stem}-list"), animations="disabled")
    context.close()


def main() -> None:
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        drawn = Path(wanted[1] if wanted[:1] == ["--all"] else folder)
        script = Path(folder) / "script"
        script.write_text("\n".join(STEPS))
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        command = f"env STAND_IN_SCRIPT={script} {sys.executable} {STAND_IN}"
        with new_stage(claude_command=command, relay_dir=f"{folder}/relay") as stage:
            for prompt in OTHERS:
                stage.visitor().start(stage.project("api"), prompt)
            for name, look in LOOKS.items():
                draw(browser, stage, look, drawn / f"{name}.png")
        browser.close()
        if not wanted:
            for name in LOOKS:
                (IMAGES / f"{name}.png").write_bytes((drawn / f"{name}.png").read_bytes())


if __name__ == "__main__":
    main()
