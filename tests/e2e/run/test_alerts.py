"""Commands that report while they run: monitored severities, and logs that are followed."""

from __future__ import annotations

from tests.e2e.run.kit import Place, background, data_of, eventually, fresh_token, gone, text_of, worker, write_tool

LOG = {
    "source_command": "bash",
    "source_args": ["-c", 'echo quiet; echo "$1 broke"; sleep $2', "log", "${what}", "${seconds}"],
    "detection_prompt": "Anything that breaks.",
    "llm_provider": {"base_url": "http://127.0.0.1:9", "model": "none"},
    "prefilter_regex": "broke",
    "clear_command": ["-c", "touch cleared"],
    "parameters": [
        {"name": "what", "description": "What to watch.", "required": True},
        {"name": "seconds", "description": "How long.", "required": True},
    ],
}


def test_lines_of_the_severity_that_a_file_names_are_told_with_the_next_reply(place: Place) -> None:
    background(place)
    script = [{"name": "script", "type": "string", "required": True}]
    default = {"name": "default", "description": "Run.", "positional_args": script}
    write_tool(place, "watched", command="bash -c", monitor_level="warn", subcommand=[default])
    token = fresh_token()
    with worker(place) as one:
        lines = "echo fine >&2; echo 'WARNING: odd' >&2; echo 'error: bad' >&2; echo 'error elsewhere'"
        running = one.start("watched", script=f"{lines}; sleep {token}")
        told: list[str] = []

        def reported() -> bool:
            told[:] = [text_of(one.do("bg", script="true"))]
            return "reports:" in told[0]

        eventually(reported)
        assert f"watched (operation {running}) reports:\nWARNING: odd\nerror: bad\n" in told[0] + "\n"
        assert "reports:" not in text_of(one.do("bg", script="true"))
        one.do("cancel", id=running)


def test_a_log_is_followed_in_the_background_until_it_is_stopped(place: Place) -> None:
    background(place)
    write_tool(place, "applog", command="bash", tool_type="livelog", livelog=LOG)
    token = fresh_token()
    with worker(place) as one:
        running = one.start("applog", what="the pump", seconds=token)
        assert (place.project / "cleared").exists()
        alerts: list[dict[str, object]] = []

        def reported() -> bool:
            alerts[:] = data_of(one.do("bg", script="true")).get("alerts", [])
            return bool(alerts)

        eventually(reported)
        assert alerts == [{"id": running, "lines": ["the pump broke"]}]
        assert one.status(running)["stdout"] == "quiet\nthe pump broke\n"
        assert "was cancelled" in text_of(one.do("cancel", id=running))
        assert gone(token)
