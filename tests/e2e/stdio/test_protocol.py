"""The protocol on the bare pipe, in every version: what is written, what is not, and what starting leaves behind."""

from __future__ import annotations

import stat

import pytest
from tests.e2e.run.kit import write_tool
from tests.e2e.stdio.harness import TOOL, Person, Place, new_place, question
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, VERSIONS, Pipe

NOISE = """
import _sqlite3, os, subprocess, sys, warnings
quiet = _sqlite3.connect
def noisy(*args, **options):
    print("a stray print", flush=True)
    sys.__stdout__.write("a stray line\\n")
    sys.__stdout__.flush()
    os.write(1, b"a stray write\\n")
    subprocess.run(["echo", "a stray child"], check=True)
    warnings.warn("a stray warning")
    return quiet(*args, **options)
_sqlite3.connect = noisy
"""


def is_not_answered_once_cancelled(pipe: Pipe, person: Person) -> None:
    """A call that is cancelled never gets an answer, and the next one does."""
    call = pipe.begin("tools/call", name=TOOL, arguments={"questions": [question("Still wanted?")]})
    ask = person.wait_for_ask("Still wanted?")
    pipe.cancel(call)
    person.wait_until_unattended(ask)
    person.answer(ask, "No")
    again = pipe.request("tools/call", name=TOOL, arguments={"questions": [question("Still wanted?")]})
    assert again["structuredContent"]["ask_id"] == ask.id
    pipe.close_input()
    assert call not in [message.get("id") for message in pipe.rest()]
    assert not [line for line in pipe.received if b'"id":%d,' % call in line]


@pytest.mark.requirement("A-01", "A-03", "A-06", "A-29")
@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_the_protocol_is_served(version: str, place: Place) -> None:
    with place.pipe() as pipe, place.person() as person:
        hello = pipe.connect(version)
        if version in HANDSHAKES:
            assert (hello["protocolVersion"], hello["serverInfo"]["name"]) == (version, "AskUserQuestions")
        else:
            assert version in hello["supportedVersions"]
            assert hello["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "AskUserQuestions"
        assert hello["instructions"]
        assert [tool["name"] for tool in pipe.request("tools/list")["tools"]] == [TOOL]
        call = pipe.begin("tools/call", name=TOOL, arguments={"questions": [question("Which version?")]})
        person.answer(person.wait_for_ask("Which version?"), "Yes")
        result = pipe.response(call)["result"]
        is_not_answered_once_cancelled(pipe, person)
    told = {"type": "text", "text": "Here are the user's answers:\n\n1. Which version?\n   → Yes"}
    assert result["content"] == [told]
    assert not result.get("isError")


def test_a_session_that_began_with_a_handshake_takes_no_request_of_the_new_protocol(place: Place) -> None:
    with place.pipe() as pipe:
        pipe.connect("2025-11-25")
        pipe.meta = {"io.modelcontextprotocol/protocolVersion": MODERN}
        error = pipe.response(pipe.begin("tools/list"))["error"]
        assert (error["code"], "began with a handshake" in error["message"]) == (-32600, True)
        pipe.meta = {}
        assert [tool["name"] for tool in pipe.request("tools/list")["tools"]] == [TOOL]


@pytest.mark.requirement("A-02")
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_stdout_carries_only_the_protocol_whatever_the_process_prints(version: str) -> None:
    """`Pipe` takes nothing but JSON-RPC; that the noise was really made is seen on stderr."""
    with new_place(log_level="debug", notify_command="echo a stray notifier") as place, place.person() as person:
        (place.folder / "sitecustomize.py").write_text(NOISE)
        loud = {"PYTHONPATH": str(place.folder), "PYTHONWARNINGS": "always", "PYTHONUNBUFFERED": "1"}
        with place.pipe(environment=loud) as pipe:
            pipe.connect(version)
            pipe.request("tools/list")
            call = pipe.begin("tools/call", name=TOOL, arguments={"questions": [question("Was that loud?")]})
            ask = person.wait_for_ask("Was that loud?")
            pipe.log.wait_for("a stray notifier")
            person.answer(ask, "Yes")
            assert "result" in pipe.response(call)
            pipe.close_input()
            assert pipe.rest() == []
        for noise in ("print", "line", "write", "child", "warning"):
            assert f"a stray {noise}" in pipe.log.whole()
        assert "Session completed successfully" in pipe.log.whole()


@pytest.mark.parametrize("version", ["2024-11-05", "2026-07-28"])
def test_starting_and_refusing_leave_nothing_behind(version: str, place: Place) -> None:
    """Clients start servers to see what they offer and end them again."""
    with place.pipe() as pipe:
        pipe.connect(version)
        pipe.request("tools/list")
        assert place.files() == set()
        result = pipe.request("tools/call", name=TOOL, arguments={"questions": []})
        assert result["isError"] is True
        assert "At least one question is required" in result["content"][0]["text"]
    assert pipe.process.wait(0) == 0
    assert place.files() == set()
    assert pipe.log.whole() == ""


def test_what_a_call_leaves_behind_is_for_its_person_alone(place: Place) -> None:
    with place.pipe() as pipe:
        pipe.connect("2025-11-25")
        pipe.send_line(b"{not json")
        assert pipe.next()["error"]["code"] == -32700
        pipe.begin("tools/call", name=TOOL, arguments={"questions": [question("In private?")]})
        with place.person() as person:
            person.wait_for_ask("In private?")
        found = {name: stat.S_IMODE((place.folder / name).stat().st_mode) for name in place.files()}
    assert {name.split("/")[0] for name in found} == {"state"}
    assert stat.S_IMODE(place.state.stat().st_mode) == 0o700
    assert {mode for name, mode in found.items() if name != "state/bell"} == {0o600}
    assert found["state/bell"] == 0o700


@pytest.mark.finding("F-87")
@pytest.mark.parametrize("starts", [1, 2], ids=["first start", "second start"])
def test_a_client_that_did_not_wait_for_the_answer_to_its_probe_can_still_shake_hands(starts: int) -> None:
    with new_place() as place:
        for _ in range(starts):
            with place.pipe(program="sayso") as pipe:
                named = {"protocolVersion": MODERN, "clientInfo": pipe.client, "clientCapabilities": {}}
                meta = {f"io.modelcontextprotocol/{name}": value for name, value in named.items()}
                pipe.begin("server/discover", _meta=meta)
                assert pipe.connect("2025-11-25")["protocolVersion"] == "2025-11-25"
                names = [tool["name"] for tool in pipe.request("tools/list")["tools"]]
                assert "ask_user" in names
                answer = pipe.request("tools/call", name="get_answers", arguments={})
                assert not answer.get("isError")


@pytest.mark.finding("F-80")
@pytest.mark.parametrize("name", ["ask_user", "ask_person", "get_answers"])
def test_no_tool_file_takes_a_name_that_clients_are_told_to_allow(name: str) -> None:
    with new_place(profile="ahma") as place:
        write_tool(place, name, command="echo")
        write_tool(place, "greet", command="echo")
        with place.agent(program="sayso", name="gemini-cli-mcp-client") as agent:
            shown = [tool.name for tool in agent.tools()]
    assert "greet" in shown
    assert name not in shown
