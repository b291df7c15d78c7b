"""Starting a registered server exactly as its client would, and going the whole way of a question with it."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Settler
from sayso.config import Config
from sayso.doctor.client import StdioClient, text_of
from sayso.doctor.finding import Finding, fault, ok
from sayso.errors import ProtocolError, SaysoError
from sayso.install.entry import ServerProgram
from sayso.install.targets import Target
from sayso.store import open_store
from sayso.store.bell import LOOK_EVERY

SECONDS = 40.0
FEW = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ")
"""What clients that hand on little of their environment do hand on."""

SPARING = ("codex", "claude-desktop")
_REPLY = "All is well."
_TAIL = 600


def probe(target: Target, server: ServerProgram, config: Config) -> Iterator[Finding]:
    """The steps as they were gone, each with the time it took; or the first that failed, and what the server said."""
    yield from _steps(target, server, config)


def _steps(target: Target, server: ServerProgram, config: Config) -> list[Finding]:
    """All at once: whoever looks at the first ones alone must not keep a file open."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        steps: list[Finding] = []
        try:
            _go(target, server, config, steps, log)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            log.seek(0)
            said = log.read()[-_TAIL:].strip()
            text = f"After {len(steps)} of 4 steps: {_first(error)}." + (f" The server said: {said}" if said else "")
            return [*steps, fault(target.key, text, f"sayso install {target.key}, then look again")]
        return steps


def _go(target: Target, server: ServerProgram, config: Config, steps: list[Finding], log: TextIO) -> None:
    """The whole way."""
    begun = time.perf_counter()

    def step(text: str) -> None:
        steps.append(ok(target.key, f"{text} ({(time.perf_counter() - begun) * 1000:.0f} ms)"))

    with StdioClient(
        [server.command, *server.args],
        name=target.known_as,
        version="doctor",
        environment=environment(target, server, os.environ),
        folder=config.project,
        errors=log,
        seconds=SECONDS,
    ) as client:
        step(f"started as {target.title} would, speaks MCP {client.version}")
        tools = {tool["name"]: tool["inputSchema"] for tool in client.tools()}
        step(f"lists {len(tools)} tools: {', '.join(sorted(tools)[:6])}")
        mark = f"sayso doctor {secrets.token_hex(4)}: a test question, answered by itself"
        text = _asked(client, *_question(tools, mark), config, mark)
        step("asked, and the question was in your inbox")
        if _REPLY not in text:
            raise SaysoError(f"the agent received {text[:200]!r} instead of the answer")
        step("answered, and the agent received it")


def _asked(client: StdioClient, tool: str, arguments: dict[str, Any], config: Config, mark: str) -> str:
    """What the agent receives for a question that is answered from the inbox."""
    returned = threading.Event()
    with ThreadPoolExecutor(1) as beside:
        answering = beside.submit(_answer, config, mark, returned)
        # Where the question never arrives, that is the fault, and not that the call has no end.
        answering.add_done_callback(lambda done: client.close() if done.exception() else None)
        try:
            text = text_of(client.call(tool, arguments))
        except ProtocolError:
            if answering.done():
                answering.result()
            raise
        finally:
            returned.set()
        answering.result()
    return text


def environment(target: Target, server: ServerProgram, environ: Mapping[str, str]) -> dict[str, str]:
    """What the client hands to the server."""
    kept = {name: environ[name] for name in FEW if name in environ} if target.key in SPARING else dict(environ)
    return {**kept, **server.env}


def _question(tools: Mapping[str, Any], mark: str) -> tuple[str, dict[str, Any]]:
    """One that the tools at hand can put."""
    if "question" in tools.get("ask_user", {}).get("properties", {}):
        return "ask_user", {"question": mark, "options": [_REPLY, "Something is wrong."]}
    options = [{"label": _REPLY}, {"label": "Something is wrong."}]
    if "ask_user_questions" in tools:
        asked = {"title": "Doctor", "prompt": mark, "options": options, "multiSelect": False}
        return "ask_user_questions", {"questions": [asked]}
    if "ask_user" in tools:
        return "ask_user", {"questions": [{"id": "1", "question": mark, "type": "select", "options": options}]}
    raise SaysoError(f"it shows no tool that asks a person, only {', '.join(sorted(tools)) or 'none'}")


def _answer(config: Config, mark: str, returned: threading.Event) -> None:
    """Look for the question as the person's inbox would, and answer it; unless the call is over before."""
    opened = open_store(config)
    try:
        desk, end = AskDesk(opened), time.monotonic() + SECONDS / 2
        desk.show_up("doctor", config.person)
        try:
            ask = _found(desk, mark)
            while ask is None and not returned.is_set() and time.monotonic() < end:
                opened.bell().wait(LOOK_EVERY)
                ask = _found(desk, mark)
            if returned.is_set():
                return
            if ask is None:
                raise SaysoError("the question did not arrive in your inbox: the server uses another store")
            chosen = next(option.id for option in ask.questions[0].choices if option.label == _REPLY)
            answer = Answer(question=ask.questions[0].id, chosen=(chosen,))
            desk.answer(ask.id, [answer], Settler(person=config.person, surface="doctor"))
        finally:
            desk.go_away()
    finally:
        opened.close()


def _found(desk: AskDesk, mark: str) -> Ask | None:
    return next((ask for ask in desk.all_open() if ask.questions and ask.questions[0].text == mark), None)


def _first(error: BaseException) -> str:
    """The reason, in words."""
    if isinstance(error, TimeoutError):
        return f"nothing came within {SECONDS:g} s"
    return (str(error) or type(error).__name__).rstrip(".")
