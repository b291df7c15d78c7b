"""How results reach a client that does not ask: updates of resources, the next reply, tasks, and late progress."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import mcp_types as types
import pytest
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.server.subscriptions import ResourceUpdated
from pydantic import ConfigDict, Field
from tests.e2e.run.kit import (
    WAIT,
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    text_of,
    with_argument,
    worker,
)
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, Pipe

TASKS = "io.modelcontextprotocol/tasks"


def is_update(uri: str, told: types.ServerNotification) -> bool:
    return isinstance(told, types.ResourceUpdatedNotification) and told.params.uri == uri


def updates(one: Worker, uri: str) -> list[types.ServerNotification]:
    return [told for told in one.heard.all if is_update(uri, told)]


@pytest.mark.requirement("H-03", "H-41")
def test_a_handshake_client_is_told_when_an_operation_it_subscribed_to_ends(place: Place) -> None:
    background(place)
    gate = place.project / "gate"
    with worker(place, "legacy") as one:
        capability = one.client.server_capabilities.resources
        assert capability
        assert (capability.subscribe, capability.list_changed) == (True, True)
        for script, ending in (("exit 0", "succeeded"), ("echo why >&2; exit 5", "failed with exit code 5")):
            gate.unlink(missing_ok=True)
            running = one.start("bg", script=f"until test -e {gate}; do sleep 0.05; done; {script}")
            uri = f"operation://{running}"
            one.subscribe(uri)
            assert uri in one.resources()
            assert "has been running" in one.read(uri)
            assert not updates(one, uri)
            gate.touch()
            one.heard.wait_for(partial(is_update, uri))
            assert ending in one.read(uri)
        late = one.start("bg", script="sleep 30", timeout_seconds=1)
        one.subscribe(f"operation://{late}")
        one.heard.wait_for(partial(is_update, f"operation://{late}"))
        assert "timed out" in one.read(f"operation://{late}")


@pytest.mark.requirement("H-03", "H-41")
def test_a_modern_client_is_told_on_the_stream_it_opened(place: Place) -> None:
    background(place)
    gate = place.project / "gate"
    with worker(place) as one:
        running = one.start("bg", script=f"until test -e {gate}; do sleep 0.05; done; exit 5")
        uri = f"operation://{running}"
        with one.listening(resource_subscriptions=[uri]) as next_event:
            gate.touch()
            assert next_event() == ResourceUpdated(uri=uri)
            # That it runs may have been news too.
            while "failed" not in one.read(uri):
                assert next_event() == ResourceUpdated(uri=uri)
        assert "failed with exit code 5" in one.read(uri)
        assert one.resources()[uri].name == f"bg {running}"


def test_a_resource_that_is_none_is_an_error(shared: Worker) -> None:
    for uri in ("operation://abcdef", "file:///etc/passwd"):
        with pytest.raises(Exception, match=r"abcdef|There is no resource"):
            shared.read(uri)


@pytest.mark.requirement("H-03")
def test_what_has_ended_meanwhile_stands_in_front_of_the_next_background_reply_once(place: Place, mode: str) -> None:
    background(place)
    with worker(place, mode) as one:
        failed = one.start("bg", script="echo what; echo why >&2; exit 9")
        eventually(lambda: data_of(one.do("output", id=failed))["status"] == "failed")
        token = fresh_token()
        result = one.do("bg", script=f"sleep {token}")
        assert len(result.content) == 2
        first = result.content[0]
        assert isinstance(first, types.TextContent)
        assert first.text.startswith(f"Since your last call:\n\nbg (operation {failed}) failed with exit code 9")
        assert "why" in first.text
        data = data_of(result)
        assert (data["status"], [each["id"] for each in data["finished"]]) == ("started", [failed])
        assert data["finished"][0]["stderr"] == "why\n"
        again = one.do("bg", script="true")
        assert len(again.content) == 1
        assert "finished" not in data_of(again)
        assert failed not in text_of(one.do("await", timeout_seconds=1))
        one.do("cancel", id=data["id"])


@pytest.mark.requirement("H-28", "H-41")
@pytest.mark.parametrize("version", [HANDSHAKES[0], HANDSHAKES[-1]])
def test_in_its_own_profile_a_handshake_client_gets_the_result_as_late_progress(place: Place, version: str) -> None:
    background(place)
    with place.pipe(program="sayso", flags=["--profile", "ahma"]) as pipe:
        pipe.connect(version)
        for script, ending in (("sleep 0.3; echo all good", "succeeded"), ("exit 6", "failed with exit code 6")):
            started = call_with_token(pipe, "bg", script=script)
            message = next_progress(pipe)
            assert message["progressToken"] == "later"
            assert message["progress"] == message["total"] == 1
            assert f"bg (operation {started['id']}) {ending}" in message["message"]
        assert "all good" in str(pipe.received)


@pytest.mark.parametrize(("version", "profile"), [(HANDSHAKES[-1], "all"), (MODERN, "ahma")])
def test_nobody_else_gets_progress_after_the_reply(place: Place, version: str, profile: str) -> None:
    background(place)
    with place.pipe(program="sayso", flags=["--profile", profile]) as pipe:
        pipe.connect(version)
        started = call_with_token(pipe, "bg", script="true")
        finished = pipe.request("tools/call", name="await", arguments={"id": started["id"]})
        assert "succeeded" in str(finished)
        pipe.close_input()
        pipe.rest()
        assert b"notifications/progress" not in b"".join(pipe.received)


def call_with_token(pipe: Pipe, tool: str, **arguments: Any) -> dict[str, Any]:
    before, pipe.meta = pipe.meta, {**pipe.meta, "progressToken": "later"}
    result = pipe.request("tools/call", name=tool, arguments=arguments)
    pipe.meta = before
    if "structuredContent" in result:
        told: dict[str, Any] = result["structuredContent"]
        return told
    return {"id": result["content"][0]["text"].partition("operation ")[2].partition(".")[0]}


def next_progress(pipe: Pipe) -> dict[str, Any]:
    while (message := pipe.next()).get("method") != "notifications/progress":
        pass
    told: dict[str, Any] = message["params"]
    return told


class TaskHandle(types.Result):
    """What a call returns to a client that knows tasks."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    poll_interval_ms: int


class TaskParams(types.RequestParams):
    task_id: str = Field(alias="taskId")


class GetTask(types.Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams


class CancelTask(types.Request[TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams


class Task(types.Result):
    model_config = ConfigDict(extra="allow")
    status: str = ""
    result: dict[str, Any] | None = None


class KnowsTasks(ClientExtension):
    """A client that polls a task to its end."""

    identifier = TASKS

    def __init__(self) -> None:
        self.handles: list[TaskHandle] = []
        self.seen: list[str] = []
        self.cancel_first = False

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=TaskHandle, resolve=self.drive)]

    async def drive(self, handle: TaskHandle, ctx: ClaimContext) -> types.CallToolResult:
        self.handles.append(handle)
        params = TaskParams(taskId=handle.task_id)
        if self.cancel_first:
            await ctx.session.send_request(CancelTask(params=params), types.EmptyResult)
        while True:
            task = await ctx.session.send_request(GetTask(params=params), Task)
            self.seen.append(task.status)
            if task.status != "working":
                return types.CallToolResult.model_validate(task.result or {"content": []})
            await asyncio.sleep(0.05)


@pytest.mark.requirement("H-03")
def test_a_client_that_knows_tasks_gets_a_task_and_its_result(place: Place) -> None:
    background(place)
    knows = KnowsTasks()
    with worker(place, extensions=[knows]) as one:
        assert one.client.server_capabilities.extensions == {TASKS: {}}
        result = one.do("bg", script="sleep 0.3; echo done; exit 2")
        assert (knows.handles[0].status, knows.seen[-1]) == ("working", "completed")
        assert result.is_error
        assert "failed with exit code 2" in text_of(result)
        assert data_of(result)["id"] == knows.handles[0].task_id
        assert "finished" not in data_of(one.do("status"))
        knows.cancel_first, token = True, fresh_token()
        one.do("bg", script=f"sleep {token}")
        assert knows.seen[-1] == "cancelled"
        assert gone(token)


def test_await_gives_signs_of_life_to_a_client_that_wants_them(place: Place, mode: str) -> None:
    background(place)
    told: list[tuple[float, str | None]] = []

    async def take(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    token = fresh_token()
    with worker(place, mode, environment={"SAYSO_HEARTBEAT": "100ms"}) as one:
        running = one.start("bg", script=f"sleep {token}")
        waiting = one.call_heeding("await", {"id": running}, take)
        eventually(lambda: len(told) > 2)
        one.do("cancel", id=running)
        waiting.result(WAIT)
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
    assert "1 operation still running" in str(told[0][1])


@pytest.mark.requirement("H-04")
def test_a_client_that_stops_waiting_leaves_the_operation_alone(shared: Worker) -> None:
    token = fresh_token()
    running = shared.start("bg", script=f"sleep {token}")
    waiting = shared.call("await", {"id": running})
    eventually(lambda: with_argument(token))
    waiting.cancel()
    assert shared.status(running)["status"] == "running"
    shared.do("cancel", id=running)
