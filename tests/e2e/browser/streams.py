"""Event streams of pages that die without a word, as they do when a phone goes from one network to another."""

from __future__ import annotations

from playwright.sync_api import Page

DEAF = """
window.EventSource = class extends EventSource {
  addEventListener(type, listener) {
    super.addEventListener(type, (event) => this.deaf || listener(event));
    (window.streams ??= new Set()).add(this);
  }
};
"""
"""Makes it possible."""


def go_deaf(page: Page) -> None:
    """Nothing more is heard by the streams that there are."""
    page.evaluate("for (const stream of window.streams) stream.deaf = true")
