"""`sayso demo --web` at work: the page is served, and a sample agent's questions are on it and in the terminal inbox.

Where nobody can type, the demo plays the person as well, and says so.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import urllib.request
from importlib import import_module

from sayso.accounts import LINK_LIFE
from sayso.asks.model import Ask
from sayso.cli.asks_in_words import headline
from sayso.cli.demo_page import DemoPage, page
from sayso.cli.demo_stage import ScriptedAgent, scripted_agent, stage
from sayso.cli.demo_words import HANDOVER_SECONDS, from_prompts, goodbye, told
from sayso.cli.terminal import bold, draws_screens, flowing, is_interactive, put
from sayso.cli.texts import mark, plural, tr, translated
from sayso.desks import Desks, open_desks
from sayso.text import one_line

AGENT = "your-agent"
PLAYER = "sample-person"

_RUN_IT = mark("Press Enter to run the sample agent.")
_OR_ELSE = mark("Or type a letter, then Enter: c to connect an agent of your own, q to end the demo.")
_IN_THE_INBOX = mark("Answer in the browser. Or press Enter to answer here, in the terminal inbox.")
_AT_PROMPTS = mark("Answer in the browser. Or press Enter to answer here.")
_STARTING = mark("The sample agent is starting. It connects to `sayso server` over MCP and asks…")


def play(port: int) -> None:
    """Serve the page in a folder that is removed at the end, and offer the sample agent."""
    with stage() as config, open_desks(config) as desks, page(config, port) as served:
        put(tr("Sayso is running, until this demo ends."))
        if is_interactive():
            _with_a_person(desks, served)
        else:
            _by_itself(desks, served)
    put(goodbye())


def _sign_in(served: DemoPage) -> str:
    about = tr("Open this link in a browser. It signs you in, once, within {n} minutes:", n=LINK_LIFE // 60_000)
    page, path, rest = served.link.partition("/sign-in")
    if page == served.address:
        return f"{about}\n\n{served.link}\n"
    same = tr("If your browser does not find that address, this is the same link:")
    return f"{about}\n\n{served.link}\n\n{same}\n\n{served.address}{path}{rest}\n"


# With a person


def _with_a_person(desks: Desks, served: DemoPage) -> None:
    put(flowing(f"\n1. {_sign_in(served)}"))
    put(flowing(f"2. {tr(_RUN_IT)} {tr('It asks you three questions; answer them in the browser or here.')}"))
    try:
        while (typed := _typed(f"\n{tr(_OR_ELSE)}")) != "q":
            if typed in ("", "c"):  # any other letter is asked for again
                put(_how_to_join(desks, served) if typed else _one_round(desks))
            put(flowing(f"\n{tr(_RUN_IT)}"))
    except KeyboardInterrupt:
        put()


def _how_to_join(desks: Desks, served: DemoPage) -> str:
    """How a person's own agent asks on this page."""
    token = desks.accounts.add_token(f"{AGENT}-{secrets.token_hex(2)}")
    server = f"{served.address}/mcp"
    first = flowing(tr("An agent of yours can ask on this page while the demo runs. For Claude Code, run:"))
    add = f'claude mcp add --transport http sayso-demo {server} --header "Authorization: Bearer {token}"'
    # Nothing of the demo is kept but what a person adds to a client.
    last = tr("And when the demo has ended, in the same folder:")
    return f"\n{first}\n\n{add}\n\n{last}\n\nclaude mcp remove sayso-demo"


def _one_round(desks: Desks) -> str:
    """What the agent received of one round of questions, in words."""
    put(flowing(f"\n{tr(_STARTING)}"))
    with scripted_agent(desks.config) as agent:
        return told(_answered(desks, agent, agent.first_ask(desks)))


def _answered(desks: Desks, agent: ScriptedAgent, ask: Ask) -> str | None:
    """What the agent received, wherever it was answered; None when the person does not want to."""
    size = plural(len(ask.questions), "1 question", "{n} questions")
    put(flowing(f"\n{bold(tr('It asks:'))} {headline(ask)} ({size})"))
    while desks.asks.get(ask.id).state.answerable:
        put(flowing("\n" + tr(_IN_THE_INBOX if draws_screens() else _AT_PROMPTS)))
        put(flowing(tr("Or type q, then Enter, to leave it unanswered.")))
        match _typed_or(agent):
            case None:
                break
            case "q":
                return None
        if not draws_screens():
            return from_prompts(desks, ask, agent)
        # It closes by itself once the agent has its answer, so that nobody looks at an empty inbox and wonders.
        import_module("sayso.tui.app").run(desks.config, until=agent.fileno(), translated=translated)
    return agent.received(HANDOVER_SECONDS)


def _typed(prompt: str) -> str:
    """A line that the person types. The end of input is a wish to leave."""
    put(flowing(prompt))
    return _line()


def _typed_or(agent: ScriptedAgent) -> str | None:
    """A line that the person types; None when something is heard from the agent before. Endless, as both may be."""
    ready, _, _ = select.select([0, agent.fileno()], [], [])
    return _line() if 0 in ready else None


def _line() -> str:
    # Not through `input`, which would keep what was typed after the line from the terminal inbox.
    data = os.read(0, 1024)
    return data.decode(errors="replace").strip().lower() if data else "q"


# Without one


def _by_itself(desks: Desks, served: DemoPage) -> None:
    put(f"\n{_sign_in(served)}")
    put(tr("There is no terminal here, so the demo plays the person as well. Run it in a terminal to answer yourself."))
    put(f"{tr(_STARTING)}\n")
    with scripted_agent(desks.config) as agent:
        ask = agent.first_ask(desks)
        for question in ask.questions:
            put(f"  {one_line(question.text)}")
        _answer(desks, served, ask)
        told_of = tr("The sample person signed in on the page and chose what was recommended, or the first option.")
        put(f"\n{told_of}")
        received = agent.received(HANDOVER_SECONDS)
    put(told(received))


def _answer(desks: Desks, served: DemoPage, ask: Ask) -> None:
    """Answer as a script of a person would: by the page's API."""
    accounts = desks.accounts
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
