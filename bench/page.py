"""The inbox with 10, 100 and 1,000 asks in a browser: how soon it can be used, and whether using it drops frames.

What counts is how many tasks of the page's thread took more than 50 ms of processor time, by the browser's own trace:
what else the machine does changes that least.
Usage: python -m bench.page [--asks N ...] [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.tables import setting, table
from bench.web import chromium, sayso_web, signed_in
from playwright.async_api import Browser, Page, async_playwright

from sayso.asks.model import Asker, Kind, NewAsk, Question
from sayso.asks.table import AskTable
from sayso.clock import now_ms
from sayso.store import Transaction, open_store

SCROLL = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  for (const by of [120, -120]) {
    for (let step = 0; step < 120; step += 1) {
      scrollBy(0, by);
      await frame();
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
}"""
INTERACTIVE = "Math.round(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd)"
WORDS = "number 77"
LONG = 50


@dataclass(frozen=True, kw_only=True)
class Round:
    """What one visit saw: milliseconds until the scripts had run, those of them that the page's thread worked, its
    longest task while scrolling and searching, and how many took more than 50 ms."""

    interactive: int
    worked: float
    longest: float
    long: int


async def visit(browser: Browser, page: Page, address: str) -> Round:
    loading = await _tasks(browser, page, lambda: _open(page, address))
    interactive = await page.evaluate(INTERACTIVE)
    using = await _tasks(browser, page, lambda: _use(page))
    return Round(
        interactive=interactive, worked=sum(loading), longest=max(using), long=sum(each > LONG for each in using)
    )


async def _open(page: Page, address: str) -> None:
    await page.goto(address)
    await page.wait_for_selector("[data-count]:not([hidden])")


async def _use(page: Page) -> None:
    await page.evaluate(SCROLL)
    await page.evaluate("scrollTo(0, 0)")
    await page.get_by_role("searchbox").press_sequentially(WORDS, delay=60)
    await page.wait_for_selector("[data-unfiltered][hidden]", state="attached")
    await page.wait_for_timeout(300)


async def _tasks(browser: Browser, page: Page, work: Callable[[], Awaitable[None]]) -> list[float]:
    """Milliseconds of processor time that each task of the page's thread took meanwhile."""
    await browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
    await work()
    events = json.loads(await browser.stop_tracing())["traceEvents"]
    named = {(one["pid"], one["tid"]) for one in events if one.get("args", {}).get("name") == "CrRendererMain"}
    ran = [one for one in events if one["ph"] == "X" and (one["pid"], one["tid"]) in named and "tdur" in one]
    tasks = [one["tdur"] / 1000 for one in ran if one["name"].endswith("RunTask")]
    assert tasks, "the browser has traced nothing"
    return tasks


def _fill(tx: Transaction, asks: int) -> None:
    """So many asks, each of an agent of its own: otherwise they would be one row."""
    for number in range(asks):
        question = Question(id="1", text=f"Shall I go on with number {number}?", kind=Kind.CONFIRM)
        asker = Asker(client="an-agent", project=f"/projects/{number}", host="bench", session=str(number))
        AskTable(tx, now_ms() + number - asks).open(NewAsk(tool="ask", questions=(question,), asker=asker), None, "")


async def measure(asks: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name, sayso_web(Path(name)) as (config, _, port):
        with closing(open_store(config)) as store:
            store.write(lambda tx: _fill(tx, asks))
            visitor = await signed_in(config, store)
        address = f"http://{visitor.host}:{port}/"
        cookie = {"name": visitor.cookie, "value": visitor.secret, "url": address}
        seen = []
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            context = await browser.new_context(viewport={"width": 390, "height": 844})
            await context.add_cookies([cookie])  # type: ignore[list-item]  # a TypedDict of the library's own
            for _ in range(rounds):
                page = await context.new_page()
                seen.append(await visit(browser, page, address))
                await page.close()
            await browser.close()
    print(f"The inbox with {asks:,} asks, rounds: {rounds}, at 390 by 844:\n")
    rows = [
        ("until it can be used, ms", [one.interactive for one in seen]),
        ("processor time of the page's thread for that, ms", [round(one.worked) for one in seen]),
        ("the longest task while scrolling and searching, ms", [round(one.longest) for one in seen]),
        (f"tasks over {LONG} ms meanwhile", [one.long for one in seen]),
    ]
    told = [[name, str(min(values)), f"{statistics.median(values):g}", str(max(values))] for name, values in rows]
    print(table(["", "least", "median", "most"], told) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asks", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(setting())
    for asks in given.asks:
        asyncio.run(measure(asks, given.rounds))


if __name__ == "__main__":
    main()
