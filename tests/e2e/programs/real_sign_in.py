"""The real Claude Code and Codex sign in: they know the address of `sayso web` and nothing else, open a browser, and a
person agrees in a real Chromium. `make test-clients` runs it; nothing of it is part of `make test`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from tests.cli.program import BIN
from tests.e2e.browser.conftest import NewContext
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.real_clients import (
    PATIENCE,
    QUESTION,
    SEAT,
    THE_ANSWER,
    Talk,
    await_asks,
    give,
    looking,
)
from tests.e2e.programs.seats import at_work, until
from tests.ports import lasting_port

ADD = {
    "claude-code": ("claude", "mcp", "add", "--transport", "http", "sayso"),
    "codex": ("codex", "mcp", "add", "sayso", "--url"),
}
LOGIN = {"claude-code": ("claude", "mcp", "login", "sayso"), "codex": ("codex", "mcp", "login", "sayso")}
AGENT = {"claude-code": "claude-code", "codex": "codex"}
"""What the page calls each, in small letters."""
ALLOWED = {
    "claude-code": {".claude/settings.json": json.dumps({"permissions": {"allow": ["mcp__sayso"]}})},
    "codex": {".codex/config.toml": 'mcp_oauth_credentials_store = "file"\n'},
}
_PATIENCE_MS = 120_000


@dataclass(frozen=True, kw_only=True)
class Server:
    address: str
    link: str


@contextmanager
def web(machine: Machine) -> Iterator[Server]:
    """`sayso web`, as a person starts it."""
    words = [str(BIN / "sayso"), "web", "--json", "--port", str(lasting_port())]
    served = subprocess.Popen(
        words, cwd=machine.home.project, env=machine.home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert served.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            line = served.stdout.readline()
            assert line, served.stderr.read() if served.stderr else ""
            text += line
        told = json.loads(text)
        yield Server(address=told["address"], link=told["link"])
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE)


class OpenedPages:
    """A browser of the machine that only notes what it is to open."""

    def __init__(self, folder: Path) -> None:
        self._notes = folder / "opened"
        self.program = folder / "xdg-open"
        self.program.write_text(f'#!/bin/sh\necho "$@" >> {self._notes}\n')
        self.program.chmod(0o755)

    @property
    def address(self) -> str:
        text = self._notes.read_text() if self._notes.exists() else ""
        found = re.findall(r"http://\S+/oauth/authorize\S+", text)
        return str(found[-1]) if found else ""


class AtTerminal:
    """A program that a person runs in a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self._process, self._terminal, self.said = process, terminal, ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):
            while more := os.read(self._terminal, 65_536):
                self.said += more.decode(errors="replace")

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def code(self) -> int | None:
        return self._process.poll()


@contextmanager
def at_terminal(machine: Machine, *words: str, **env: str) -> Iterator[AtTerminal]:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        words,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=machine.home.project,
        env={**machine.home.env, "TERM": "xterm-256color", **env},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield AtTerminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        os.close(ours)


def agree(page: Page, context_page: Page, address: str) -> str:
    """Open what the program wants opened, and agree in the inbox. The address that the browser came to."""
    context_page.goto(address)
    mark = context_page.locator("p.mark").inner_text()
    expect(page.locator("[data-connecting]")).to_contain_text(mark)
    page.get_by_role("link", name="Look at it").first.click()
    expect(page.locator("strong.mark")).to_have_text(mark)
    with page.expect_request(lambda request: "code=" in request.url) as came_back:
        page.get_by_role("button", name="Connect", exact=True).click(timeout=_PATIENCE_MS)
    return came_back.value.url


@pytest.mark.parametrize("key", ["claude-code", "codex"])
def test_a_real_client_signs_in_by_a_click_and_its_question_comes_to_the_person_who_let_it_in(
    machine: Machine, key: str, new_context: NewContext
) -> None:
    seat, home = SEAT[key], machine.home
    seat.move_in(home)
    for name, content in ALLOWED[key].items():
        path = home.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    pages = OpenedPages(home.folder)
    env = {"BROWSER": str(pages.program), "PATH": f"{home.folder}:{home.env['PATH']}", "DISPLAY": ":7"}
    with web(machine) as server:
        context = new_context()
        context.set_default_timeout(_PATIENCE_MS)
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Sign in").click()
        with at_terminal(machine, *ADD[key], f"{server.address}/mcp", **env) as adding:
            # Codex signs in as soon as it is told of a server.
            until(PATIENCE, lambda: pages.address or adding.has_ended, lambda: f"a page\n{adding.said}")
            if pages.address:
                callback = agree(page, context.new_page(), pages.address)
            until(PATIENCE, lambda: adding.has_ended, lambda: f"the end of it\n{adding.said}")
        if not pages.address:
            with at_terminal(machine, *LOGIN[key], **env) as signing_in:
                until(PATIENCE, lambda: pages.address or signing_in.has_ended, lambda: f"a page\n{signing_in.said}")
                assert pages.address, signing_in.said
                callback = agree(page, context.new_page(), pages.address)
                until(PATIENCE, lambda: signing_in.has_ended, lambda: f"the end of it\n{signing_in.said}")
                assert signing_in.code == 0, signing_in.said
        assert f"iss={quote(server.address, safe='')}" in callback
        page.goto(server.link.partition("/sign-in")[0] + "/settings")
        connected = page.locator("section", has=page.get_by_role("heading", name="Connected agents"))
        expect(connected).to_contain_text(re.compile(AGENT[key], re.IGNORECASE))

        if key == "codex":
            # Over HTTP it wants to be told that tools may be called without anybody at its terminal.
            config = home.folder / ".codex" / "config.toml"
            named = "[mcp_servers.sayso]\n"
            config.write_text(config.read_text().replace(named, f'{named}default_tools_approval_mode = "approve"\n'))
        talk = Talk(seat)
        with looking(home) as desk, talk.model.serving(), at_work(seat, "headless", home, talk.model.url) as client:
            (ask,) = await_asks(desk, 1, talk, client)
            assert (ask.questions[0].text, ask.asker.owner) == (QUESTION, "ada")
            assert ask.asker.agent.startswith(AGENT[key])
            give(desk, ask)
            until(PATIENCE, lambda: talk.results, lambda: f"the answer; the client shows\n{client.shows()}")
            assert THE_ANSWER in talk.results[0]
