"""A log that a language model of the person's own looks at, over a real HTTP server on loopback."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.e2e.run.kit import WAIT, Json, Place, Worker, background, data_of, text_of, until, worker, write_tool

KEY = "sk-a-key-that-nobody-may-see"


class Model:
    """An OpenAI-compatible service that replies as it is told; `asked` is what it was sent."""

    def __init__(self) -> None:
        self.asked: queue.Queue[tuple[str, dict[str, str], Json]] = queue.Queue()
        self.replies: queue.Queue[tuple[int, bytes, dict[str, str]]] = queue.Queue()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._kind())
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def next_request(self) -> tuple[str, dict[str, str], Json]:
        return self.asked.get(timeout=WAIT)

    def say(self, content: object) -> None:
        reply = {"choices": [{"message": {"role": "assistant", "content": content}}]}
        self.replies.put((200, json.dumps(reply).encode(), {}))

    def _kind(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.asked.put((self.path, dict(self.headers), body))
                status, reply, headers = model.replies.get(timeout=WAIT)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply)))
                with suppress(OSError):  # whoever asked may have given up
                    self.end_headers()
                    self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                return

        return Handler


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    thread = threading.Thread(target=model.server.serve_forever, daemon=True)
    thread.start()
    yield model
    model.server.shutdown()
    model.server.server_close()
    thread.join(WAIT)


def followed(place: Place, model: Model, **more: object) -> None:
    """A tool that follows what is written into `log.txt`, and another that is always there to be called."""
    (place.project / "log.txt").touch()
    log: dict[str, Any] = {
        "source_command": "tail",
        "source_args": ["-n", "+1", "-f", "log.txt"],
        "detection_prompt": "Anything that breaks.",
        "llm_provider": {"base_url": model.url, "model": "small-one", "api_key": "${LOG_MODEL_KEY}"},
        "prefilter_regex": "pump",
        "chunk_max_seconds": 1,
        "cooldown_seconds": 0,
        **more,
    }
    write_tool(place, "applog", command="tail", tool_type="livelog", livelog=log)
    background(place)


def write(place: Place, *lines: str) -> None:
    with (place.project / "log.txt").open("a") as log:
        log.write("".join(f"{line}\n" for line in lines))


def next_alert(one: Worker) -> list[str]:
    def alerts() -> list[str] | None:
        told = data_of(one.do("bg", script="true")).get("alerts")
        return told[0]["lines"] if told else None

    return until(alerts)


@pytest.mark.finding("F-42")
def test_a_model_is_asked_about_the_lines_that_the_file_singles_out_and_its_find_is_reported(
    place: Place, model: Model, mode: str
) -> None:
    followed(place, model)
    with worker(place, mode, environment={"LOG_MODEL_KEY": KEY}) as one:
        running = one.start("applog")
        write(place, "quiet", "the pump hums", "the pump broke, password=hunter2secret")
        path, headers, body = model.next_request()
        assert (path, headers["Authorization"], body["model"]) == ("/v1/chat/completions", f"Bearer {KEY}", "small-one")
        system, lines = body["messages"]
        assert "Anything that breaks." in system["content"]
        assert lines["content"].splitlines()[0] == "the pump hums"
        assert "the pump broke" in lines["content"]
        assert "quiet" not in lines["content"]
        assert "hunter2secret" not in lines["content"]
        # The model takes its time; nobody waits for it.
        assert one.status(running)["status"] == "running"
        model.say("The pump is \x1b[31mbroken\u202e.\nCall nobody.")
        (alert,) = next_alert(one)
        assert alert.startswith("The model that watches this log says: The pump is ")
        assert not {"\x1b", "\u202e", "\n"} & set(alert)
        model.say("NONE")
        write(place, "the pump is back")
        assert model.next_request()[2]["messages"][1]["content"] == "the pump is back"
        model.replies.put((500, KEY.encode(), {}))
        write(place, "the pump smells")
        assert next_alert(one) == [
            "The model that watches this log could not be asked: it answered with HTTP status 500.",
            "the pump smells",
        ]
        assert "was cancelled" in text_of(one.do("cancel", id=running))
        assert KEY not in one.log.text


@pytest.mark.finding("F-42")
def test_chunks_are_bounded_and_there_is_a_pause_after_an_alert(place: Place, model: Model) -> None:
    followed(place, model, chunk_max_lines=3, chunk_max_seconds=3600, cooldown_seconds=3600, structured_output=True)
    with worker(place, environment={"LOG_MODEL_KEY": KEY}) as one:
        running = one.start("applog")
        write(place, *(f"pump {number}" for number in range(5)))
        _, _, body = model.next_request()
        assert body["response_format"] == {"type": "json_object"}
        assert body["messages"][1]["content"].splitlines() == ["pump 2", "pump 3", "pump 4"]
        model.say(json.dumps({"alert": True, "summary": "It broke."}))
        assert next_alert(one) == ["The model that watches this log says: It broke."]
        write(place, *(f"pump {number}" for number in range(5, 15)))
        until(lambda: True if "pump 14" in one.status(running)["stdout"] else None)
        assert model.asked.empty()
        one.do("cancel", id=running)


@pytest.mark.finding("F-42")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ((200, b"not json", {}), "its reply is not what an OpenAI-compatible service sends"),
        ((200, b'{"choices": []}', {}), "its reply is not what an OpenAI-compatible service sends"),
        ((302, b"", {"Location": "http://127.0.0.1:9/v1"}), "it answered with HTTP status 302"),
    ],
)
def test_a_service_that_answers_something_else_loses_no_line(
    place: Place, model: Model, reply: tuple[int, bytes, dict[str, str]], why: str
) -> None:
    followed(place, model)
    with worker(place, environment={"LOG_MODEL_KEY": KEY}) as one:
        running = one.start("applog")
        model.replies.put(reply)
        write(place, "the pump broke")
        told = [f"The model that watches this log could not be asked: {why}.", "the pump broke"]
        assert next_alert(one) == told
        one.do("cancel", id=running)


@pytest.mark.finding("F-42")
def test_a_service_that_never_answers_is_given_up_and_a_key_that_is_not_set_is_named(
    place: Place, model: Model
) -> None:
    followed(place, model, llm_timeout_seconds=1)
    for environment, why in (
        ({"LOG_MODEL_KEY": KEY}, "it did not answer in time"),
        ({}, "the variable LOG_MODEL_KEY for its key is not set"),
    ):
        with worker(place, environment=environment) as one:
            running = one.start("applog")
            write(place, "the pump broke")
            assert next_alert(one)[0] == f"The model that watches this log could not be asked: {why}."
            one.do("cancel", id=running)
    model.say("released")
