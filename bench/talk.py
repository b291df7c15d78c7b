"""Talk: how fast what an agent prints is on the page, its questions are cards, and answers are back with it.

A real `sayso web`, a real Chromium, and the stand-in for Claude of the tests, with a real MCP server of its own. The
rate of the stream is measured with and without that server, taking turns, so that whatever else the machine does hits
both alike. Usage: python -m bench.talk [--lines N] [--questions N] [--stream N] [--rounds N]
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.tables import ratio, setting, table
from playwright.sync_api import Page, sync_playwright
from scripts.install_browser import find
from tests.e2e.browser.conftest import FLAGS, sign_in_context
from tests.e2e.talk.stage import Stage, Visitor, ask, begin, new_stage

SETTLE = 3.0

SEEN = """
window.seen = [];
new MutationObserver((changes) => {
  for (const node of changes.flatMap((change) => [...change.addedNodes])) {
    const at = Number(/at (\\d{13})/.exec(node.textContent ?? "")?.[1]);
    if (at && node.matches?.(".spoken:not(.partial), [data-card]")) window.seen.push([node.id, Date.now() - at]);
  }
}).observe(document, { subtree: true, childList: true });
"""
"""Notes for each thing that appears how long ago the agent had it."""


def lines_to_page(page: Page, stage: Stage, project: int, count: int) -> list[float]:
    conversation = begin(page, project, f"pace {count} 0.1", "say That was all")
    stage.ended(conversation)
    page.get_by_text("That was all", exact=True).wait_for()
    return _seen(page)


def questions(page: Page, stage: Stage, project: int, count: int) -> tuple[list[float], list[float]]:
    """From the tool call to the card, and from the click to the agent."""
    steps = [step for number in range(count) for step in (ask(f"Question {number} at {{now}}"), "say Heard {now}")]
    conversation = begin(page, project, *steps)
    clicked = []
    for number in range(count):
        shown = page.locator("[data-card]", has_text=f"Question {number} at")
        shown.locator("textarea").fill("Yes")
        clicked.append(page.evaluate("Date.now()"))
        shown.locator("textarea").press("Control+Enter")
        page.locator(".spoken:not(.partial)", has_text="Heard ").nth(2 * number + 1).wait_for()
    run = stage.ended(conversation)
    heard = [int(text.split()[1]) for text in stage.texts(run) if text.startswith("Heard 1")]
    # The first question may have to wait for the agent's MCP server to start.
    seen = page.evaluate("window.seen.reverse()")
    cards = list({name: late for name, late in seen if name.startswith("ask-")}.values())[:-1]
    return cards, [there - sent for sent, there in zip(clicked, heard, strict=True)]


def rate(stage: Stage, visitor: Visitor, project: int, count: int) -> float:
    """Things that the agent says which reach a reader of the stream, per second, from the moment it may begin."""
    go = Path(stage.folder) / f"go-{time.time_ns()}"
    conversation = visitor.start(project, "say Ready", f"wait {go}", f"stream {count}")
    begun, there = 0.0, 0
    for message in messages(stage, visitor, conversation):
        if message["type"] == "text":
            there += 1
            if there == 1:
                # The agent's MCP server is still busy with its own start.
                time.sleep(SETTLE)
                go.touch()
                begun = time.perf_counter()
            if there == count + 1:
                break
    lasted = time.perf_counter() - begun
    stage.ended(conversation)
    return count / lasted


def messages(stage: Stage, visitor: Visitor, conversation: str) -> Iterator[dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", stage.house.web.port, timeout=60)
    headers = {"Cookie": visitor.cookie, "Host": stage.house.web.host}
    connection.request("GET", f"/talk/{conversation}/events?after=1.0", headers=headers)
    reply = connection.getresponse()
    while line := reply.readline():
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])
    connection.close()


def _seen(page: Page) -> list[float]:
    return [late for _, late in page.evaluate("window.seen")]


def spread(name: str, values: Sequence[float]) -> list[str]:
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return [name, f"{cuts[9]:.0f}", f"{cuts[18]:.0f}", f"{max(values):.0f}", str(len(values))]


def shown(latencies: Mapping[str, Sequence[float]], asking: Sequence[float], plain: Sequence[float]) -> str:
    """What took how long, and how many things a second got through with and without questions to look out for."""
    head = ["from the agent to the page and back", "p50 ms", "p95 ms", "most ms", "times"]
    late = table(head, [spread(name, values) for name, values in latencies.items()])
    with_, without = statistics.median(asking), statistics.median(plain)
    rates = [
        ["without an MCP server to ask by", f"{without:.0f}", ratio(without, without)],
        ["with one, each thing looked at for questions", f"{with_:.0f}", ratio(with_, without)],
    ]
    return f"{late}\n\n{table(['what an agent says, to a reader of the stream', 'a second', 'ratio'], rates)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=50)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--stream", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as relay, new_stage(relay_dir=relay) as stage, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        context = browser.new_context(base_url=stage.house.web.address)
        sign_in_context(context, stage.house)
        context.add_init_script(SEEN)
        page = context.new_page()
        asking, plain = stage.project(), stage.project("plain", ask_user=False)
        latencies = {"a line that the agent says, to the page": lines_to_page(page, stage, plain, wanted.lines)}
        cards, answers = questions(page, stage, asking, wanted.questions)
        latencies |= {"tool call to card": cards, "submit to agent": answers}
        browser.close()
        visitor = stage.visitor()
        rates: dict[int, list[float]] = {asking: [], plain: []}
        for _ in range(wanted.rounds):
            for project, found in rates.items():
                found.append(rate(stage, visitor, project, wanted.stream))
        print(f"{setting()}\n\n{shown(latencies, rates[asking], rates[plain])}")


if __name__ == "__main__":
    main()
