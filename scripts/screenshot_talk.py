"""Draws the pictures of Talk for the documentation: python -m scripts.screenshot_talk writes docs/images/talk*.png.

They are at three sizes, in light and in the dark. With --all FOLDER: more moments of the same, for looking at.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright
from scripts.install_browser import find
from tests.e2e.browser.conftest import FLAGS, PHONE, sign_in_context
from tests.e2e.talk.stage import STAND_IN, Stage, begin, card, new_stage
from tests.web.house import USER

from sayso.agents.model import Ending, EventKind, NewEvent, NewRun, RunState

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
OTHERS = {
    "Why is the build slow on Fridays?": "The cache is thrown away on Thursdays, so Friday builds from nothing.",
    "Rename the old templates, and keep links working": "All 14 have their new names, and old links lead there.",
}

QUESTION = {
    "question": "A gift card can be worth **more than the order**. What happens to the rest?",
    "options": [
        {"label": "Keep it on the card", "description": "The card stays valid until it is used up."},
        {"label": "Turn it into shop credit", "description": "Needs an account."},
    ],
}
BEFORE = "def total(order):\n    return sum(item.price for item in order.items)\n"
EDIT = {
    "old_string": BEFORE,
    "new_string": "def total(order, card=None):\n    due = sum(item.price for item in order.items)\n"
    "    return max(due - card.balance, 0) if card else due\n",
}


def steps(folder: Path) -> str:
    """What the agent does in a project there, in which it finds the file that it is to change."""
    file = folder / "shop" / "src" / "checkout.py"
    file.parent.mkdir(parents=True)
    file.write_text(BEFORE)
    subprocess.run(["git", "init", "--quiet", str(folder / "shop")], check=True)
    return "\n".join((*STEPS[:-1], f"permit Edit {json.dumps({**EDIT, 'file_path': str(file)})}", STEPS[-1]))


STEPS = (
    "say I read the checkout and its tests. Two places have to change:\\n\\n"
    "1. `total()` must take a card into account\\n2. what was paid by card must be on the receipt",
    f"tool Bash {json.dumps({'command': 'pytest tests/checkout -q'})}",
    f"ask {json.dumps(QUESTION)}",
    "say Done: gift cards are taken, and all **41 tests** pass.",
)


CALLED = """([folder, name]) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(folder, name);
}"""


def shoot(page: Page, stage: Stage, image: Path) -> None:
    """A picture in which the folder that all of this is in is called as somebody's home."""
    page.evaluate(CALLED, [str(stage.folder), "/home/ada"])
    page.mouse.move(0, 0)
    page.screenshot(path=image, animations="disabled")


def draw(browser: Browser, stage: Stage, look: dict[str, Any], image: Path) -> None:
    context = browser.new_context(base_url=stage.house.web.address, **look)
    sign_in_context(context, stage.house)
    page = context.new_page()
    conversation = begin(page, stage.project(), PROMPT)
    question = card(page, "more than the order")
    expect(question).to_be_visible()
    shoot(page, stage, image.with_stem(f"{image.stem}-asked"))
    question.get_by_label("Keep it on the card").check()
    question.get_by_role("button", name="Send answer").click()
    allow = page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_visible()
    shoot(page, stage, image)
    allow.scroll_into_view_if_needed()
    expect(allow).to_be_enabled()
    allow.click()
    expect(page.locator("[data-footer]")).to_contain_text("Done")
    shoot(page, stage, image.with_stem(f"{image.stem}-done"))
    page.goto("/talk")
    shoot(page, stage, image.with_stem(f"{image.stem}-list"))
    stage.runs.marks.archive(conversation)
    context.close()


def talk_before(stage: Stage) -> None:
    """Conversations that are over, for the list."""
    project = stage.projects.of(USER, stage.project("api"))
    for prompt, answer in OTHERS.items():
        run = stage.runs.open(NewRun(project=project, prompt=prompt, token=prompt), most=100)
        stage.runs.append(run.id, NewEvent(kind=EventKind.TEXT, body={"text": answer}))
        stage.runs.end(run.id, RunState.COMPLETED, Ending())


def main() -> None:
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        drawn = Path(wanted[1] if wanted[:1] == ["--all"] else folder)
        script = Path(folder) / "script"
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        command = f"env STAND_IN_SCRIPT={script} {sys.executable} {STAND_IN}"
        with new_stage(claude_command=command, relay_dir=f"{folder}/relay") as stage:
            script.write_text(steps(stage.folder))
            talk_before(stage)
            for name, look in LOOKS.items():
                draw(browser, stage, look, drawn / f"{name}.png")
        browser.close()
        if not wanted:
            for name in LOOKS:
                (IMAGES / f"{name}.png").write_bytes((drawn / f"{name}.png").read_bytes())


if __name__ == "__main__":
    main()
