"""Every client program against the reference server: the drivers do what they say, and the kinds differ as written.

What they do when a side goes away is seen with the real server, in `tests/e2e/ask/test_matrix.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.clients.driver import FORMS, ClientProgram, ServerCommand
from tests.e2e.clients.events import (
    CANCEL,
    DECLINE,
    HOLD,
    CallCancelled,
    CallFailed,
    Connected,
    accept,
    refuse,
)
from tests.e2e.clients.install import ROOT
from tests.e2e.clients.kinds import CLIENTS, OLDER_PROTOCOL, ClientKind
from tests.e2e.clients.reference_server import STARTS, TOOLS

ALL = [pytest.param(kind, id=kind.id) for kind in CLIENTS]
HANDSHAKE = [pytest.param(kind, id=kind.id) for kind in CLIENTS if not kind.modern]


def reference(**env: str) -> ServerCommand:
    return ServerCommand(command=sys.executable, args=["-m", "tests.e2e.clients.reference_server"], env=env, cwd=ROOT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client")


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest, folder: Path) -> Iterator[ClientProgram]:
    """One connected client for all the tests that leave it in order: starting one takes seconds."""
    kind: ClientKind = request.param
    with ClientProgram(kind, folder / kind.id) as program:
        server = reference(**{STARTS: str(folder / f"{kind.id}.starts")})
        program.connect(server, name="tester", version="7", default_reply=HOLD, log_level="info")
        yield program


@pytest.fixture(autouse=True)
def forms_are_held(request: pytest.FixtureRequest) -> None:
    if "client" in request.fixturenames:
        request.getfixturevalue("client").answer_with(default=HOLD)


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_connecting_negotiates_the_kinds_protocol(client: ClientProgram) -> None:
    assert client.connected == Connected(
        protocol_version=client.kind.protocol_version,
        server_info={"name": "reference", "version": "1.0"},
        capabilities={"tools": {"listChanged": True}},
        instructions="Only for tests.",
    )


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_the_server_is_started_as_often_as_the_kind_says(client: ClientProgram, folder: Path) -> None:
    client.call("echo")
    started = (folder / f"{client.kind.id}.starts").read_text().split()
    assert len(started) == client.kind.server_starts
    assert int(started[-1]) == client.server.pid


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_listing_gives_the_full_definitions_of_every_page(client: ClientProgram) -> None:
    tools = client.list_tools()
    assert [tool["name"] for tool in tools][: len(TOOLS)] == TOOLS
    assert tools[1] == {
        "name": "ask",
        "description": "The tool ask.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string", "default": None}}},
        "_meta": {"at": 1},
    }


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_a_call_returns_all_parts_of_the_result(client: ClientProgram) -> None:
    result = client.wait_result(client.call_start("echo", {"text": "hi"}, meta={"test/mark": 5}))
    assert result.structured["text"] == "hi"
    assert result.structured["client"] == ["tester", "7"]
    assert result.structured["meta"]["test/mark"] == 5
    assert result.text.startswith("text=hi")
    assert not result.is_error
    assert result.meta is not None
    assert result.meta["reference/answered"] is True


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_an_error_keeps_its_code_and_message(client: ClientProgram) -> None:
    with pytest.raises(CallFailed, match="no tool 'nonesuch'") as caught:
        client.call("nonesuch")
    assert caught.value.code == -32602


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_a_form_shows_its_message_and_schema_and_is_accepted(client: ClientProgram) -> None:
    key = client.call_start("ask")
    form = client.wait_elicitation()
    assert (form.message, form.mode) == ("What is your name?", "form")
    assert form.schema == {
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Name"}},
        "required": ["name"],
    }
    client.reply(form.form, accept({"name": "Ada"}))
    assert client.wait_result(key).structured == {"action": "accept", "content": {"name": "Ada"}}


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_queued_replies_come_in_turn_and_then_the_default(client: ClientProgram) -> None:
    client.answer_with(CANCEL, accept({"name": "Bo"}, after_ms=20), default=DECLINE)
    actions = [client.call("ask").structured["action"] for _ in range(4)]
    assert actions == ["cancel", "accept", "decline", "decline"]
    for _ in actions:
        client.wait_elicitation()


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_several_options_can_be_picked_in_one_form(client: ClientProgram) -> None:
    key = client.call_start("pick")
    form = client.wait_elicitation()
    assert form.schema is not None
    assert [option["title"] for option in form.schema["properties"]["colours"]["items"]["anyOf"]] == [
        "Red",
        "Green",
        "Blue",
    ]
    client.reply(form.form, accept({"colours": ["r", "b"]}))
    assert client.wait_result(key).structured["content"] == {"colours": ["r", "b"]}


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_a_form_refused_with_an_error_fails_the_call(client: ClientProgram) -> None:
    client.answer_with(refuse("no forms today"))
    with pytest.raises(CallFailed, match="no forms today"):
        client.call("ask")
    client.wait_elicitation()


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_progress_reaches_the_librarys_own_callback(client: ClientProgram) -> None:
    key = client.call_start("wait", {"label": "beats", "beats": 1000}, progress=True)
    for _ in range(3):
        client.wait_progress(key)
    heard = [(one.progress, one.total, one.message) for one in client.progress_of(key)]
    assert heard[:3] == [(1, 1000, "beat 1"), (2, 1000, "beat 2"), (3, 1000, "beat 3")]
    client.cancel(key)


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_some_libraries_lose_progress_that_arrives_together_with_the_result(client: ClientProgram) -> None:
    key = client.call_start("wait", {"label": "late", "beats": 5}, progress=True)
    client.wait_progress(key)
    client.go_silent()
    client.wait_server_stderr("wait sent: late")
    client.wake()
    client.wait_result(key)
    client.call("echo")
    assert (len(client.progress_of(key)) < 5) == client.kind.loses_late_progress


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_only_some_libraries_report_their_own_rounds_as_progress(client: ClientProgram) -> None:
    client.answer_with(DECLINE)
    key = client.call_start("ask", progress=True)
    client.wait_result(key)
    client.wait_elicitation()
    assert bool(client.progress_of(key)) == client.kind.reports_own_rounds


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_a_call_is_cancelled_in_the_middle_while_others_go_on(client: ClientProgram) -> None:
    key = client.call_start("wait", {"label": "cancel me"}, progress=True)
    client.wait_progress(key)
    assert client.call("echo", {"text": "meanwhile"}).structured["text"] == "meanwhile"
    client.cancel(key)
    with pytest.raises(CallCancelled):
        client.wait_result(key)
    client.wait_server_stderr("wait cancelled: cancel me")


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_a_call_that_takes_too_long_fails_at_the_client(client: ClientProgram) -> None:
    key = client.call_start("wait", {"label": "too long"}, timeout_ms=200)
    with pytest.raises(CallFailed) as caught:
        client.wait_result(key)
    assert caught.value.code in (-32001, 408, "REQUEST_TIMEOUT")
    if client.kind.cancels_on_timeout:
        client.wait_server_stderr("wait cancelled: too long")
    else:
        client.call("echo")
        assert "wait cancelled: too long" not in client.server_stderr


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_progress_extends_the_limit_where_the_library_can(client: ClientProgram) -> None:
    key = client.call_start(
        "wait", {"label": "extended", "beats": 15}, timeout_ms=1000, progress=True, extend_on_progress=True
    )
    if client.kind.extends_on_progress:
        assert client.wait_result(key).structured == {"waited": "extended"}
    else:
        with pytest.raises(CallFailed, match="cannot extend"):
            client.wait_result(key)


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_cancelling_a_call_takes_its_form_back(client: ClientProgram) -> None:
    key = client.call_start("ask")
    form = client.wait_elicitation()
    client.cancel(key)
    with pytest.raises(CallCancelled):
        client.wait_result(key)
    if not client.kind.modern:
        client.wait_server_stderr("form withdrawn: What is your name?")
    if client.kind.sees_withdrawal:
        client.wait_withdrawn(form.form)
    else:
        client.reply(form.form, DECLINE)
    assert client.call("echo", {"text": "still here"}).structured["text"] == "still here"


@pytest.mark.parametrize("client", HANDSHAKE, indirect=True)
def test_a_form_is_withdrawn_by_the_server(client: ClientProgram) -> None:
    racing = client.call_start("race")
    form = client.wait_elicitation()
    settling = client.call_start("settle")
    if client.kind.sees_withdrawal:
        client.wait_withdrawn(form.form)
    else:
        client.wait_server_stderr("form withdrawn: Who is first?")
        assert not [event for event in client.events("withdrawn") if event.about(form.form)]
        assert not [event for event in client.events("done") if event.about(settling)]
        client.reply(form.form, DECLINE)
    assert client.wait_result(settling).structured == {"settled": True}
    assert client.wait_result(racing).structured == {"action": "withdrawn"}


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_log_messages_arrive(client: ClientProgram) -> None:
    client.call("say", {"text": "hello"})
    event = client.wait_event(lambda event: event.kind == "log")
    assert event.fields["params"]["data"] == "hello"
    assert event.fields["params"]["level"] == "info"


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_changed_tools_are_announced(client: ClientProgram) -> None:
    client.watch_tools()
    client.call("grow")
    client.wait_event(lambda event: event.kind == "tools_changed")
    assert client.list_tools()[-1]["name"] == "grown"


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_a_silent_client_does_nothing_until_it_wakes(client: ClientProgram) -> None:
    client.go_silent()
    key = client.call_start("echo", {"text": "later"})
    with pytest.raises(TimeoutError):
        client.wait_result(key, timeout=0.2)
    client.wake()
    assert client.wait_result(key).structured["text"] == "later"


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_every_client_can_declare_forms_and_links(client: ClientProgram) -> None:
    assert client.call("echo").structured["elicitation"] == FORMS


def test_an_older_protocol_version_can_be_offered(tmp_path: Path) -> None:
    with ClientProgram(OLDER_PROTOCOL, tmp_path) as program:
        assert program.connect(reference()).protocol_version == "2025-06-18"
