"""Writes what docs/design-language.md shows: the names of colours, sizes and spacing as the stylesheet has them, which
text stands on which ground and how well that can be read, and the parts of the pages, drawn from the real templates.

python -m scripts.design_language              the tables
python -m scripts.design_language --pictures   docs/images/design-light.png and design-dark.png as well
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from sayso.asks.crowds import Crowd
from sayso.asks.model import Ask, Asker, Kind, Option, Question, Wait
from sayso.clock import now_ms
from sayso.web.pages import fragment

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "design-language.md"
STATIC = ROOT / "src" / "sayso" / "web" / "static"
STYLES = [(path.name, path.read_text("utf-8")) for path in sorted(STATIC.glob("*.css"))]
TOKENS = next(re.search(r":root \{.*?\n\}", css, re.S)[0] for name, css in STYLES if name == "app.css")  # type: ignore[index]
BEGIN, END = "<!-- made by scripts/design_language.py -->\n", "<!-- /made -->\n"
WAIT = Wait(id="w", process="1-a", since=0)
APART = ".part-shown { margin-bottom: 2rem; } .part-shown > h2 { margin-bottom: 0.5rem; } .empty { padding: 1rem; }"
TEXT, GRAPHIC = 4.5, 3.0
"""What WCAG 2.1 AA wants of text, and of the edges of what is operated."""
GROUNDS = ("page", "surface", "raised")
CONTRASTS: list[tuple[str, str, float]] = [
    *((text, ground, TEXT) for text in ("text", "muted", "accent", "accent-strong") for ground in GROUNDS),
    *(("danger", ground, TEXT) for ground in GROUNDS),
    *((f"on-{tone}", tone, TEXT) for tone in ("accent", "waiting", "done", "late", "quiet", "refused")),
    *((f"on-{tone}", "surface", TEXT) for tone in ("waiting", "done", "refused")),
    ("on-accent", "accent-strong", TEXT),
    ("on-done", "raised", TEXT),
    *(("raised", ground, TEXT) for ground in ("text", "muted", "accent", "danger", "on-done")),
    *(("raised", f"code-{kind}", TEXT) for kind in ("word", "string", "number")),
    *((f"code-{kind}", "raised", TEXT) for kind in ("word", "string", "number")),
    *(("edge", ground, GRAPHIC) for ground in ("page", "surface")),
]
"""Each text with its ground, and the contrast that it needs."""


@cache
def tokens() -> dict[str, dict[str, str]]:
    """Each name with its value in light and dark."""
    found = {}
    for name, value in re.findall(r"--([\w-]+): ([^;]+);", TOKENS):
        pair = re.fullmatch(r"light-dark\((.+), (.+)\)", value)
        found[name] = {"light": pair[1], "dark": pair[2]} if pair else {"light": value, "dark": value}
    return found


def contrast(one: str, other: str) -> float:
    """As WCAG counts it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def tables() -> str:
    colours = {name: value for name, value in tokens().items() if value["light"].startswith("#")}
    others = {name: value["light"] for name, value in tokens().items() if name not in colours}
    lines = ["| colour | light | dark |", "|---|---|---|"]
    lines += [f"| `--{name}` | `{value['light']}` | `{value['dark']}` |" for name, value in colours.items()]
    lines += ["", "| size, spacing, shape | |", "|---|---|"]
    lines += [f"| `--{name}` | `{value}` |" for name, value in others.items()]
    lines += ["", "| text or edge | on | needs | light | dark |", "|---|---|---:|---:|---:|"]
    for text, ground, least in CONTRASTS:
        has = [contrast(tokens()[text][theme], tokens()[ground][theme]) for theme in ("light", "dark")]
        lines.append(f"| `{text}` | `{ground}` | {least} | {has[0]:.1f} | {has[1]:.1f} |")
    return "\n".join(lines) + "\n"


def made() -> str:
    """The document as it should be."""
    before, _, rest = DOCUMENT.read_text("utf-8").partition(BEGIN)
    return before + BEGIN + "\n" + tables() + "\n" + END + rest.partition(END)[2]


# The parts


def _ask(number: int, question: Question, wait: Wait | None = WAIT) -> Ask:
    asker, now = Asker(client="claude-code", project="/home/ada/shop", host="atlas"), now_ms()
    return Ask(
        id=f"{number:032x}",
        call_id="",
        tool="ask_user",
        questions=(question,),
        asker=asker,
        created_at=now - 180_000,
        changed_at=now,
        wait=wait,
    )


def drawn_parts() -> str:
    """The parts of the pages, one below the other."""
    fruit = tuple(Option(id=name, label=name, recommended=name == "Pear") for name in ("Apple", "Pear", "Plum"))
    choice = _ask(1, Question(id="1", text="Which fruit goes into the cake?", kind=Kind.SELECT, options=fruit))
    confirm = _ask(2, Question(id="1", text="Delete the old branch?", kind=Kind.CONFIRM))
    words = _ask(3, Question(id="1", text="What shall the package be called?"), wait=None)
    crowd = Crowd(newest=words, size=12, attended=3, since=words.created_at)
    rows = "".join(fragment("entry.html", entry=entry) for entry in (choice, confirm, words, crowd))
    tones = ("waiting", "done", "late", "quiet", "refused")
    pills = " ".join(f'<span class="pill {tone}">{tone.capitalize()}</span>' for tone in tones)
    banner = '<div class="banner {}"><p><strong>{}.</strong> What it means.</p></div>'
    banners = "".join(banner.format(tone, tone.capitalize()) for tone in tones)
    parts = {
        "Rows": f'<ol class="rows">{rows}</ol>',
        "States": f"<p>{pills}</p>{banners}",
        "Buttons": f"<p>{_button('Send answer', 'primary')} {_button('Edit')} {_button('Deny', 'danger')}</p>",
        "A choice": f'<div class="options">{"".join(_option(option) for option in fruit)}</div>',
        "Nothing": '<div class="empty"><h2>Nothing waits for you</h2><p>Questions appear here.</p></div>',
    }
    return "".join(f'<section class="part-shown"><h2>{name}</h2>{html}</section>' for name, html in parts.items())


def _button(label: str, kind: str = "") -> str:
    return f'<button class="button {kind}">{label}</button>'


def _option(option: Option) -> str:
    label = f'<span class="option-text"><span class="option-label">{option.label}</span></span>'
    return f'<label class="option"><input type="radio" name="q0">{label}</label>'


def draw() -> None:
    from playwright.sync_api import sync_playwright
    from scripts.install_browser import find

    css = "".join(text for _, text in STYLES) + APART
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{css}</style>'
    html = f'{head}<main class="column">{drawn_parts()}</main>'
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=find(), args=["--no-sandbox"]) as browser,
    ):
        for theme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 760, "height": 800}, color_scheme=theme)
            page.set_content(html)
            page.screenshot(path=ROOT / "docs" / "images" / f"design-{theme}.png", full_page=True)


def main() -> None:
    DOCUMENT.write_text(made(), "utf-8")
    if "--pictures" in sys.argv:
        draw()


if __name__ == "__main__":
    main()
