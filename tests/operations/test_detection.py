"""When a model is asked to look at a log, and what is told where it cannot be."""

from __future__ import annotations

import http.client
import json
import urllib.error

import pytest

from sayso.operations import detection
from sayso.operations.detection import Detection
from sayso.toolfiles.model import Livelog, LlmProvider


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(detection, "time", clock)
    return clock


@pytest.fixture
def watched(clock: Clock) -> Detection:
    provider = LlmProvider(base_url="http://127.0.0.1:9/v1", model="small")
    log = Livelog(
        source_command="tail",
        detection_prompt="Crashes",
        llm_provider=provider,
        chunk_max_lines=3,
        chunk_max_seconds=30,
        cooldown_seconds=60,
        prefilter_regex="E",
    )
    return Detection(log)


def test_lines_are_looked_at_when_there_are_enough_or_they_have_waited_long_enough(
    watched: Detection, clock: Clock
) -> None:
    watched.collect(["1", "2"])
    assert watched.chunk() == []
    watched.collect(["3", "4"])
    assert watched.chunk() == ["2", "3", "4"], "the newest"
    watched.collect(["5", "6", "7"])
    assert watched.chunk() == [], "one look is under way"
    watched.looked([])
    assert watched.chunk() == ["5", "6", "7"]
    watched.looked([])
    watched.collect(["8"])
    clock.now += 29
    watched.collect(["9"])
    assert watched.chunk() == []
    clock.now += 1
    assert watched.chunk() == ["8", "9"]


def test_after_an_alert_the_model_is_left_in_peace_for_a_while(watched: Detection, clock: Clock) -> None:
    watched.collect(["1", "2", "3"])
    assert watched.chunk()
    watched.looked(["A crash"])
    watched.collect(["4", "5", "6"])
    clock.now += 59
    assert watched.chunk() == []
    clock.now += 1
    assert watched.chunk() == ["4", "5", "6"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (urllib.error.HTTPError("http://u", 503, "secret", http.client.HTTPMessage(), None), "HTTP status 503"),
        (TimeoutError("secret"), "it did not answer in time"),
        (urllib.error.URLError("secret"), "it could not be reached"),
        (http.client.BadStatusLine("secret"), "it could not be reached"),
        (json.JSONDecodeError("secret", "", 0), "its reply is not what an OpenAI-compatible service sends"),
        (KeyError("secret"), "its reply is not what an OpenAI-compatible service sends"),
        (ValueError("the variable KEY for its key is not set"), "the variable KEY for its key is not set"),
    ],
)
def test_why_the_model_could_not_be_asked_is_told_with_the_lines_but_without_its_words(
    watched: Detection, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fail(*_: object) -> bytes:
        raise error

    monkeypatch.setattr(watched, "_ask", fail)
    first, *quoted = watched.look(["E 1", "E 2"], {})
    assert first.endswith(f"{told}.")
    assert "secret" not in first
    assert quoted == ["E 1", "E 2"]
