"""`sayso demo --web` at work: the page is served, and a sample agent's questions are on it and in the terminal inbox.

Where nobody can type, the demo plays the person as well, and says so.
"""

from __future__ import annotations

import json
import os
import select
import urllib.request
from importlib import import_module

from sayso.accounts import LINK_LIFE, Accounts
from sayso.asks.model import Ask
from sayso.cli.asks_in_words import headline
from sayso.cli.connecting import how_to_connect, this_command
from sayso.cli.demo_page import Page, page
from sayso.cli.demo_stage import Agent, scripted_agent, stage
from sayso.cli.demo_words import HANDOVER_SECONDS, told
from sayso.cli.session import Session, open_session
from sayso.cli.terminal import bold, draw_link, is_interactive, put
from sayso.text import counted, one_line

AGENT = "your-agent"
PLAYER = "sample-person"


def play(port: int) -> None:
    """Serve the page in a folder that is removed at the end, and offer the sample agent."""
    with stage() as config, open_session(config) as session, page(config, port) as served:
        _introduce(Accounts(session.store), served)
        if is_interactive():
            _with_a_person(session)
        else:
            _by_itself(session, served)
    put("\nThe page is gone, and everything that was in it. For good:")
    put(f"\n  {this_command()} web    serves your own inbox\n\n{how_to_connect()}")


def _introduce(accounts: Accounts, served: Page) -> None:
    token = accounts.add_token(AGENT)
    put(f"Sayso is at {bold(served.page)}\n")
    put(f"Sign in as {served.user}. This works once, within {LINK_LIFE // 60_000} minutes:\n\n  {served.link}")
    draw_link(served.link)
    put("\nTo have an agent of yours ask on this page, as long as it is there, connect it over HTTP. Claude Code:\n")
    header = f'--header "Authorization: Bearer {token}"'
    put(f"  claude mcp add --transport http sayso-demo {served.address}/mcp {header}\n")


# With a person


def _with_a_person(session: Session) -> None:
    put("There is also a sample agent, a real MCP client. What it asks is on the page and in the terminal inbox alike.")
    try:
        while _typed("\nEnter lets it ask, q ends the demo: ") != "q":
            put("It starts, connects to `sayso server` over MCP, and asks…")
            with scripted_agent(session.config) as agent:
                received = _answered(session, agent, agent.first_ask(session))
            put(told(received))
    except KeyboardInterrupt:
        put()


def _answered(session: Session, agent: Agent, ask: Ask) -> str | None:
    """What the agent received, wherever it was answered; None when the person does not want to."""
    put(f"\n{bold('It asks:')} {headline(ask)} ({counted(len(ask.questions), 'question')})")
    while session.desk.get(ask.id).state.answerable:
        put("Answer on the page. Or here: Enter opens the terminal inbox, q leaves it unanswered.")
        match _typed_or(agent):
            case None:
                break
            case "q":
                return None
        import_module("sayso.tui.app").run(session.config)
    return agent.received(HANDOVER_SECONDS)


def _typed(prompt: str) -> str:
    """A line that the person types. The end of input is a wish to leave."""
    put(prompt)
    return _line()


def _typed_or(agent: Agent) -> str | None:
    """A line that the person types; None when something is heard from the agent before. Endless, as both may be."""
    ready, _, _ = select.select([0, agent.fileno()], [], [])
    return _line() if 0 in ready else None


def _line() -> str:
    # Not through `input`, which would keep what was typed after the line from the terminal inbox.
    data = os.read(0, 1024)
    return data.decode(errors="replace").strip().lower() if data else "q"


# Without one


def _by_itself(session: Session, served: Page) -> None:
    put("There is no terminal here, so the demo plays the person as well. Run it in one to answer yourself.")
    put("A sample agent starts, connects to `sayso server` over MCP, and asks…\n")
    with scripted_agent(session.config) as agent:
        ask = agent.first_ask(session)
        for question in ask.questions:
            put(f"  {one_line(question.text)}")
        _answer(session, served, ask)
        put(f"\nThe sample person signed in at {served.address} and chose what was recommended, or the first option.")
        received = agent.received(HANDOVER_SECONDS)
    put(told(received))


def _answer(session: Session, served: Page, ask: Ask) -> None:
    """Answer as a script of a person would: by the page's API."""
    accounts = Accounts(session.store)
    accounts.add_user(PLAYER)
    token = accounts.redeem(accounts.make_link(PLAYER))
    answers = []
    for question in ask.questions:
        chosen = next((option for option in question.options if option.recommended), question.options[0])
        answers.append({"question": question.id, "chosen": [chosen.id]})
    request = urllib.request.Request(  # noqa: S310
        f"{served.address}/api/asks/{ask.id}/answer",
        data=json.dumps({"answers": answers}).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=HANDOVER_SECONDS) as reply:  # noqa: S310
        reply.read()
