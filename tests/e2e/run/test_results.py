"""What comes back: partial output, secrets hidden, what was cut said, and the rest by `output`."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from tests.e2e.run.kit import (
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    text_of,
    waited_for,
    worker,
    write_tool,
)

from sayso.operations.desk import OperationDesk
from sayso.store import open_store

NOISE = r"printf 'plain\033[31mred\033[0m\033]0;title\007 \342\200\256evil\033[2J\n'; printf 'one\rtwo\rthree\n'"


@pytest.mark.requirement("H-37", "H-39", "H-65")
def test_a_command_over_its_time_is_stopped_and_what_it_printed_is_kept(shared: Worker) -> None:
    token = fresh_token()
    slow = shared.start("bg", script=f"echo begun; sleep {token}", timeout_seconds=2)
    result = shared.do("await", id=slow)
    assert result.is_error
    assert "timed out: it was stopped when its time limit of 2 s was over" in text_of(result)
    (data,) = data_of(result)["finished"]
    assert (data["status"], data["stdout"]) == ("timed_out", "begun\n")
    assert gone(token)
    direct = shared.do("fg", script=f"echo begun; sleep {token}", timeout_seconds=2)
    assert direct.is_error
    assert "fg timed out" in text_of(direct)
    assert data_of(direct)["stdout"] == "begun\n"


@pytest.mark.requirement("H-65")
def test_the_limit_is_the_calls_before_the_subcommands_before_the_tools_before_the_servers(place: Place) -> None:
    script = {"name": "script", "type": "string", "required": True}
    subs = [
        {"name": name, "description": "Show the limit.", "positional_args": [script], **more}
        for name, more in (("default", {}), ("own", {"timeout_seconds": 22}))
    ]
    write_tool(place, "tool", command="sleep", timeout_seconds=33, subcommand=subs)
    write_tool(place, "bare", command="sleep", subcommand=subs[:1])
    with (
        worker(place, environment={"SAYSO_COMMAND_TIMEOUT": "44s"}) as one,
        closing(open_store(place.config())) as store,
    ):
        desk = OperationDesk(store, place.state)
        limits = {}
        for tool, arguments in (("tool", {}), ("tool_own", {}), ("tool_own", {"timeout_seconds": 11}), ("bare", {})):
            running = one.start(tool, script="0", **arguments)
            limits[tool, *arguments] = desk.get(running).timeout_seconds
    assert limits == {("tool",): 33, ("tool_own",): 22, ("tool_own", "timeout_seconds"): 11, ("bare",): 44}


def test_cancelling_keeps_what_was_printed_and_says_who_and_why(shared: Worker) -> None:
    token = fresh_token()
    running = shared.start("bg", script=f"echo begun; sleep {token}")
    shared.printed(running, "begun")
    told = shared.do("cancel", id=running, reason="not needed")
    assert not told.is_error
    assert "was cancelled by tester (not needed)" in text_of(told)
    assert gone(token)
    data = shared.status(running)
    assert (data["status"], data["stdout"], data["cancelled_by"]) == ("cancelled", "begun\n", "tester (not needed)")
    again = shared.do("cancel", id=running)
    assert "was cancelled by tester (not needed)" in text_of(again)


def test_cancelling_what_has_ended_changes_nothing(shared: Worker) -> None:
    done = shared.start("bg", script="echo fine")
    shared.ended(done)
    assert "succeeded" in text_of(shared.do("cancel", id=done))
    assert "There was nothing to cancel." in text_of(shared.do("cancel", id=done))
    assert shared.status(done)["status"] == "completed"


@pytest.mark.parametrize("tool", ["status", "await", "cancel", "output"])
def test_an_id_that_is_none_of_the_agents_is_refused(shared: Worker, tool: str) -> None:
    for wrong in ("abcdef", "nonsense", "../../etc"):
        result = shared.do(tool, id=wrong)
        assert result.is_error
        assert f"None of your operations has the id {wrong!r}." in text_of(result)


def test_the_tools_for_operations_refuse_what_they_do_not_know(shared: Worker) -> None:
    assert "id: expected a text, got nothing." in text_of(shared.do("cancel"))
    assert "idd: is not an argument of this tool. Did you mean `id`?" in text_of(shared.do("status", idd="x"))
    done = shared.start("bg", script="true")
    wrong = shared.do("output", id=done, stream="stdin", limit="x", offset=-1)
    assert [problem["path"] for problem in data_of(wrong)["problems"]] == ["stream", "offset", "limit"]
    assert "Give one of offset, tail and grep" in text_of(shared.do("output", id=done, tail=1, grep="x"))
    assert "must be a regular expression" in text_of(shared.do("output", id=done, grep="("))
    assert "timeout_seconds: expected a whole number" in text_of(shared.do("await", id=done, timeout_seconds=0))
    assert "ids: expected an array of ids" in text_of(shared.do("await", ids="all"))


def test_output_is_read_by_range_by_its_end_and_by_what_it_holds(modern: Worker) -> None:
    many = modern.start("bg", script="seq 1 5000; echo oops >&2")
    modern.ended(many)
    first = data_of(modern.do("output", id=many, offset=0, limit=10))
    assert (first["text"], first["next_offset"], first["total"]) == ("1\n2\n3\n4\n5\n", 10, 23893)
    assert data_of(modern.do("output", id=many, offset=10, limit=4))["text"] == "6\n7\n"
    assert data_of(modern.do("output", id=many, tail=2))["text"] == "4999\n5000\n"
    assert data_of(modern.do("output", id=many, stream="stderr"))["text"] == "oops\n"
    found = data_of(modern.do("output", id=many, grep="^12.4$"))
    assert [match["text"] for match in found["matches"]] == [f"12{n}4" for n in range(10)]
    at = found["matches"][0]["offset"]
    assert data_of(modern.do("output", id=many, offset=at, limit=4))["text"] == "1204"
    assert data_of(modern.do("output", id=many, grep="1", limit=3))["more"] is True


def test_a_running_commands_output_can_be_read_as_it_comes(modern: Worker) -> None:
    token = fresh_token()
    running = modern.start("bg", script=f"echo early; sleep {token}")
    modern.printed(running, "early")
    assert "It is running." in text_of(modern.do("output", id=running))
    modern.do("cancel", id=running)


def test_what_a_reply_leaves_out_is_said_with_the_way_to_get_it(modern: Worker) -> None:
    many = modern.start("bg", script="seq 1 20000")
    result = modern.do("await", id=many)
    (data,) = data_of(result)["finished"]
    assert "bytes left out. Call output with id" in data["stdout"]
    assert data["stdout"].startswith("1\n2\n3\n")
    assert data["stdout"].endswith("\n20000\n")
    assert len(data["stdout"]) < 17_000
    offset = int(data["stdout"].partition("offset ")[2].split()[0])
    shown = data["stdout"].partition("\n[...")[0]
    following = data_of(modern.do("output", id=many, offset=offset, limit=20))["text"]
    assert (shown + "\n" + following).startswith(shown)
    assert f"{shown}{following}".replace("\n", "")[-30:] in "".join(str(n) for n in range(1, 20001))
    direct = data_of(modern.do("fg", script="seq 1 20000"))["stdout"]
    assert "Have the command print less to see them." in direct


def test_a_gigabyte_is_taken_in_without_keeping_or_sending_it(place: Place) -> None:
    background(place, output={"max_bytes": 65536})
    with worker(place) as one:
        flood = one.start("bg", script="echo first; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last")
        data = one.ended(flood)
        assert data["stdout_bytes"] == 1_000_000_012
        assert data["stdout"].startswith("first\nxxx")
        assert data["stdout"].endswith("xxx\nlast\n")
        assert "of them not kept" in data["stdout"]
        assert len(data["stdout"]) < 20_000
        far = data_of(one.do("output", id=flood, offset=500_000_000, limit=10))
        assert far["skipped"] > 0
    kept = sum(file.stat().st_size for file in (place.state / "operations" / flood).iterdir())
    assert kept < 80_000


def test_binary_output_escape_sequences_and_hostile_text_are_made_harmless(shared: Worker) -> None:
    told = data_of(shared.do("fg", script=NOISE))["stdout"]
    assert told == "plainred <U+202E>evil\nthree\n"
    binary = shared.do("fg", script="head -c 20000 /dev/urandom; exit 1")
    assert binary.is_error
    assert "\x1b" not in json.dumps(data_of(binary), ensure_ascii=False)
    assert "\x00" not in text_of(binary)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("https://ada:hunter22@host/x", "https://ada:********@host/x"),
        ("token=abcdef123456", "token=************"),
        ("AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY: *************"),
        ('{"password": "correct horse"}', '{"password": "*************"}'),
        ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer ***********"),
        ("ghp_" + "a1" * 18, "*" * 40),
        ("AKIAABCDEFGHIJKLMNOP", "*" * 20),
        ("tokens=512 seen", "tokens=512 seen"),
    ],
)
def test_secrets_are_hidden_in_results_and_in_output(modern: Worker, printed: str, shown: str) -> None:
    running = modern.start("bg", script=f"cat <<'END'\n{printed}\nEND")
    assert modern.ended(running)["stdout"] == f"{shown}\n"
    assert data_of(modern.do("output", id=running, tail=1))["text"] == f"{shown}\n"
    (match,) = data_of(modern.do("output", id=running, grep="."))["matches"]
    assert match["text"] == shown


def test_a_secret_is_hidden_whichever_part_of_it_is_asked_for(modern: Worker) -> None:
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *["A" * 64] * 8, "-----END RSA PRIVATE KEY-----"])
    running = modern.start("bg", script=f"cat <<'END'\nsome text\n{key}\nmore text\nEND")
    modern.ended(running)
    for offset in (0, 30, 100, 300, 500):
        assert "AAA" not in data_of(modern.do("output", id=running, offset=offset, limit=100))["text"]
    assert "AAA" not in text_of(modern.do("output", id=running, grep="A"))
    assert "more text" in text_of(modern.do("output", id=running))


def test_the_owner_may_hide_more_or_nothing(place: Place) -> None:
    waited_for(place)
    with worker(place, environment={"SAYSO_MASK_PATTERNS": "code (?P<secret>[0-9]+)"}) as one:
        assert text_of(one.do("fg", script="echo code 1234 token=abcdef12")) == "code **** token=********"
    with worker(place, environment={"SAYSO_MASK_OUTPUT": "false"}) as one:
        assert text_of(one.do("fg", script="echo token=abcdef12")) == "token=abcdef12"


def test_await_tells_what_still_runs_when_its_time_is_over(shared: Worker) -> None:
    token = fresh_token()
    slow, quick = shared.start("bg", script=f"sleep {token}"), shared.start("bg", script="echo quick")
    eventually(lambda: data_of(shared.do("output", id=quick))["status"] == "completed")
    result = shared.do("await", ids=[slow, quick], timeout_seconds=1)
    assert not result.is_error
    data = data_of(result)
    assert [each["id"] for each in data["finished"]] == [quick]
    assert [each["id"] for each in data["running"]] == [slow]
    assert f"Still under way after the time this call could wait: bg ({slow})." in text_of(result)
    shared.do("cancel", id=slow)


def test_status_lists_the_agents_operations_and_a_short_id_will_do(shared: Worker) -> None:
    token = fresh_token()
    running, done = shared.start("bg", script=f"sleep {token}"), shared.start("bg", script="exit 4")
    shared.ended(done)
    told = {each["id"]: each for each in data_of(shared.do("status"))["operations"]}
    assert (told[running]["status"], told[done]["status"], told[done]["exit_code"]) == ("running", "failed", 4)
    assert shared.status(running[:10])["id"] == running
    shared.do("cancel", id=running[:10])
    eventually(lambda: gone(token))
