"""A newcomer in a real terminal, of an ordinary and of a small size: `make start` tells what to do at every step."""

from __future__ import annotations

import json
import re
from urllib.request import Request, urlopen

import pytest
from tests.e2e.stdio.harness import Place
from tests.e2e.terminal.harness import WAIT, Terminal, terminal

SIZES = [(100, 30), (60, 20)]


def read(screen: Terminal, width: int) -> str:
    """All that is on the screen. No line is wider than the screen, but for links and commands that are to be copied:
    they are one line for whoever selects them."""
    for line in screen.tmux("capture-pane", "-p", "-J").splitlines():
        assert len(line.rstrip()) <= width or re.match(r"https?://\S+$|claude mcp add ", line), line
    return screen.screen()


@pytest.mark.finding("F-69")
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_newcomer_gets_to_the_end_by_reading_the_screen(place: Place, size: tuple[int, int]) -> None:
    width, _ = size
    with terminal(place, size) as newcomer:
        newcomer.start("sayso demo --web")
        newcomer.sees("q to end the demo.")
        shown = read(newcomer, width)
        assert "Open this link in a browser" in shown
        assert "/sign-in?link=" in "".join(shown.split())
        assert "Press Enter to run the sample agent." in " ".join(shown.split())
        newcomer.keys("Enter")
        newcomer.sees("Where should the new service keep its data?", "press Enter to answer here")
        read(newcomer, width)
        newcomer.keys("Enter")
        newcomer.sees("demo-agent")
        newcomer.keys("Enter")
        newcomer.sees("1. SQLite")
        newcomer.keys("1")
        newcomer.sees("Formatter")
        newcomer.keys("1", "Enter")
        newcomer.sees("As soon as it is green")
        newcomer.keys("1")
        newcomer.sees("Check your answers")
        newcomer.keys("Enter")
        newcomer.sees("What the agent received", "→ As soon as it is green", "q to end the demo.")
        shown = " ".join(read(newcomer, width).split())
        for words in ("→ SQLite", "→ Formatter", "Press Enter to run the sample agent."):
            assert words in shown
        newcomer.keys("q", "Enter")
        assert newcomer.ended() == 0
        newcomer.sees("That was a demo", "To keep an inbox:", "sayso install", "sayso web")
        read(newcomer, width)


@pytest.mark.finding("F-69")
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_an_agent_of_ones_own_can_be_connected_to_the_demo(place: Place, size: tuple[int, int]) -> None:
    with terminal(place, size) as newcomer:
        newcomer.start("sayso demo --web")
        newcomer.sees("c to connect an agent of your own")
        newcomer.keys("c", "Enter")
        newcomer.sees("For Claude Code, run:", "claude mcp remove sayso-demo", "Press Enter to run the sample agent.")
        read(newcomer, size[0])
        joined = newcomer.tmux("capture-pane", "-p", "-J")
        pattern = r'^claude mcp add --transport http \S+ (\S+) --header "Authorization: (\S+ \S+)"'
        command = re.search(pattern, joined, re.M)
        assert command, joined
        headers = {
            "Authorization": command[2],
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mine", "version": "1"}}
        hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}).encode()
        with urlopen(Request(command[1], hello, headers), timeout=WAIT) as reply:
            assert b'"serverInfo"' in reply.read()
        newcomer.keys("q", "Enter")
        assert newcomer.ended() == 0


@pytest.mark.finding("F-64")
def test_the_demo_is_answered_at_prompts_where_no_screen_can_be_drawn(place: Place) -> None:
    with terminal(place) as newcomer:
        newcomer.start("env TERM=dumb sayso demo --web")
        newcomer.sees("q to end the demo.")
        newcomer.keys("Enter")
        newcomer.sees("Or press Enter to answer here.")
        newcomer.keys("Enter")
        newcomer.sees("Number, label or own words:")
        assert newcomer.told("alternate_on") == "0"
        newcomer.keys("C-c")
        assert newcomer.ended() == 0
