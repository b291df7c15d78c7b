"""Commands that report while they run: monitored severities, and logs that are followed."""

from __future__ import annotations

import json

import pytest
from mcp_types import CallToolResult
from tests.e2e.run.kit import (
    Json,
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    text_of,
    tools_dir,
    worker,
    write_tool,
)
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, Pipe

MESSAGE = "notifications/message"
SECONDS = {"name": "seconds", "description": "How long.", "required": True}
LOG = {
    "source_command": "bash",
    "source_args": ["-c", 'echo quiet; echo "$1 broke"; sleep $2', "log", "${what}", "${seconds}"],
    "detection_prompt": "Anything that breaks.",
    "llm_provider": {"base_url": "http://127.0.0.1:9", "model": "none"},
    "prefilter_regex": "broke",
    "chunk_max_seconds": 1,
    "clear_command": ["-c", "touch cleared"],
    "parameters": [
        {"name": "what", "description": "What to watch.", "required": True},
        SECONDS,
    ],
}


def reporting(one: Worker, begun: CallToolResult) -> CallToolResult:
    """The reply with reports: the one that a command began with, where they are quicker than it, or a later one."""
    last = [begun]

    def reports() -> bool:
        if "alerts" not in data_of(last[0]):
            last[:] = [one.do("bg", script="true")]
        return "alerts" in data_of(last[0])

    eventually(reports)
    return last[0]


def test_lines_of_the_severity_that_a_file_names_are_told_with_the_next_reply(place: Place) -> None:
    background(place)
    script = [{"name": "script", "type": "string", "required": True}]
    default = {"name": "default", "description": "Run.", "positional_args": script}
    write_tool(place, "watched", command="bash -c", monitor_level="warn", subcommand=[default])
    token = fresh_token()
    with worker(place) as one:
        lines = "echo fine >&2; echo 'WARNING: odd' >&2; echo 'error: bad' >&2; echo 'error elsewhere'"
        begun = one.do("watched", script=f"{lines}; sleep {token}")
        running = data_of(begun)["id"]
        told = text_of(reporting(one, begun))
        assert f"watched (operation {running}) reports:\nWARNING: odd\nerror: bad\n" in told + "\n"
        assert "reports:" not in text_of(one.do("bg", script="true"))
        one.do("cancel", id=running)


def test_a_log_is_followed_in_the_background_until_it_is_stopped(place: Place) -> None:
    background(place)
    write_tool(place, "applog", command="bash", tool_type="livelog", livelog=LOG)
    token = fresh_token()
    with worker(place) as one:
        begun = one.do("applog", what="the pump", seconds=token)
        running, alerts = data_of(begun)["id"], data_of(reporting(one, begun))["alerts"]
        assert (place.project / "cleared").exists(), "before anything was followed"
        unseen = "The model that watches this log could not be asked: it could not be reached."
        assert alerts == [{"id": running, "lines": [unseen, "the pump broke"]}]
        assert one.status(running)["stdout"] == "quiet\nthe pump broke\n"
        assert "was cancelled" in text_of(one.do("cancel", id=running))
        assert gone(token)


def first_message(pipe: Pipe) -> Json:
    """The first log message of all. A quick command may have something to report before the reply that names it."""
    while not (told := [each for each in map(json.loads, pipe.received) if each.get("method") == MESSAGE]):
        pipe.next()
    params: Json = told[0]["params"]
    return params


def next_message(pipe: Pipe) -> Json:
    """The next log message; what else comes is passed over."""
    while (told := pipe.next()).get("method") != MESSAGE:
        pass
    params: Json = told["params"]
    return params


def monitored(place: Place, **fields: object) -> None:
    script = [{"name": "script", "type": "string", "required": True}]
    default = {"name": "default", "description": "Run.", "positional_args": script}
    write_tool(place, "watched", command="bash -c", monitor_level="warn", subcommand=[default], **fields)


@pytest.mark.finding("F-46")
@pytest.mark.requirement("H-41")
@pytest.mark.parametrize("version", [HANDSHAKES[0], HANDSHAKES[-1]])
def test_a_handshake_client_is_sent_what_is_wrong_with_tool_files_at_the_start_and_later(
    place: Place, version: str
) -> None:
    background(place)
    broken = tools_dir(place) / "broken.json"
    broken.write_text("{")
    with place.pipe(program="sayso") as pipe:
        assert "logging" in pipe.connect(version)["capabilities"]
        pipe.begin("tools/list")
        told = next_message(pipe)
        assert (told["level"], told["logger"]) == ("error", "sayso.toolfiles")
        assert told["data"].startswith("1 tool file was left out because of faults")
        assert "broken.json:1: [json]" in told["data"]
        broken.unlink()
        assert next_message(pipe)["data"] == "All tool files are in order again."
        write_tool(place, "later", command=5)
        assert "later.json:1: command: [type]" in next_message(pipe)["data"]
    assert "Traceback" not in pipe.log.text


@pytest.mark.finding("F-46")
@pytest.mark.requirement("H-41")
@pytest.mark.parametrize("version", [HANDSHAKES[0], HANDSHAKES[-1]])
def test_a_handshake_client_is_sent_what_a_command_reports_while_it_runs(place: Place, version: str) -> None:
    monitored(place)
    with place.pipe(program="sayso") as pipe:
        pipe.connect(version)
        script = f"echo 'warning: odd'; echo 'error: bad' >&2; sleep {fresh_token()}"
        running = pipe.request("tools/call", name="watched", arguments={"script": script})["structuredContent"]["id"]
        told = first_message(pipe)
        assert (told["level"], told["logger"]) == ("warning", "sayso.operations")
        assert told["data"] == f"watched (operation {running}) reports:\nerror: bad"
        shown = pipe.request("tools/call", name="status", arguments={"id": running})
        assert shown["structuredContent"]["status"] == "running"
        pipe.request("logging/setLevel", level="error")
        reply = pipe.request("tools/call", name="watched", arguments={"script": script})["structuredContent"]
        other = reply["id"]
        while not reply.get("alerts"):
            reply = pipe.request("tools/call", name="watched", arguments={"script": "true"})["structuredContent"]
        for operation in (running, other):
            pipe.request("tools/call", name="cancel", arguments={"id": operation})
        assert sum(b"notifications/message" in line for line in pipe.received) == 1


@pytest.mark.finding("F-46")
@pytest.mark.requirement("H-41")
@pytest.mark.parametrize("wanted", ["warning", "error", None])
def test_a_modern_client_is_sent_it_with_the_open_call_that_asks_for_it(place: Place, wanted: str | None) -> None:
    monitored(place, synchronous=True)
    with place.pipe(program="sayso") as pipe:
        pipe.connect(MODERN)
        gate = place.project / "gate"
        # Ends by itself where nothing is sent that could be waited for.
        script = f"echo 'error: bad' >&2; for n in $(seq 60); do test -e {gate} && exit; sleep 0.05; done"
        meta = {**pipe.meta, "progressToken": "mine"}
        if wanted:
            meta["io.modelcontextprotocol/logLevel"] = wanted
        params = {"name": "watched", "arguments": {"script": script}, "_meta": meta}
        pipe.send({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params})
        methods: list[str] = []
        while (told := pipe.next()).get("id") != "call":
            methods.append(told["method"])
            if told["method"] == "notifications/progress":
                assert told["params"]["message"].endswith("reports:\nerror: bad")
                gate.touch()
        assert methods.count(MESSAGE) == (1 if wanted == "warning" else 0)
        assert "notifications/progress" in methods


def test_lines_that_a_pattern_would_take_for_ever_with_are_told_of_and_the_server_goes_on(place: Place) -> None:
    background(place)
    log = {**LOG, "source_args": ["-c", "printf 'a%.0s' {1..60}; echo '!'; sleep $1", "log", "${seconds}"]}
    log |= {"prefilter_regex": "^(a+)+$", "parameters": [SECONDS]}
    write_tool(place, "applog", command="bash", tool_type="livelog", livelog=log)
    token = fresh_token()
    with worker(place) as one:
        begun = one.do("applog", seconds=token)
        assert "1 lines could not be held against `^(a+)+$` in time." in str(data_of(reporting(one, begun))["alerts"])
        one.do("cancel", id=data_of(begun)["id"])
        assert gone(token)
