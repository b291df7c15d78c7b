"""A person's say-so before a command runs: through the ordinary inbox, and anything but a yes is a no."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.run.kit import (
    SCRIPT,
    WAIT,
    Place,
    background,
    data_of,
    eventually,
    text_of,
    waited_for,
    worker,
    write_tool,
)

from sayso.asks.model import Answer, Ask, Settler
from sayso.errors import AlreadySettled, InvalidInput
from sayso.operations.desk import OperationDesk
from sayso.permissions.action import AllowScope, action_of, scopes_of
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.parts import parts_of
from sayso.permissions.verdict import Decision, verdict_of
from sayso.records import replace


def about(script: str) -> Callable[[Ask], bool]:
    def fits(ask: Ask) -> bool:
        return script in str(ask.wanted)

    return fits


def shown(ask: Ask) -> dict[str, str]:
    """What a person sees of what would be done, by what each part is called."""
    action = action_of(ask)
    assert action
    return {part.label: part.text for part in parts_of(action)}


def test_a_command_waits_for_a_yes_and_the_agent_goes_on(place: Place, mode: str) -> None:
    background(place, approve="always")
    with worker(place, mode) as one, place.person() as person:
        result = one.do("bg", script="touch done; echo ran")
        data = data_of(result)
        assert data["status"] == "queued"
        assert "begins after the user's say-so" in text_of(result)
        ask = person.wait_for_ask(about("touch done"))
        assert ask.title == "Run bg?"
        assert shown(ask)["Command line"] == "bash -c 'touch done; echo ran'"
        assert shown(ask)["Folder"] == str(place.project)
        assert one.status(data["id"])["status"] == "queued"
        assert not (place.project / "done").exists()
        person.answer(ask, "Yes")
        assert one.ended(data["id"])["stdout"] == "ran\n"
        again = one.start("bg", script="touch done; echo ran")
        assert person.wait_for_ask(about("touch done")).id != ask.id
        one.do("cancel", id=again)


def test_what_was_allowed_is_stopped_like_any_other_command_also_by_a_later_server(place: Place) -> None:
    background(place, approve="always")
    with place.person() as person:
        with worker(place) as one:
            first, second = [one.start("bg", script=f"sleep {900 + number}") for number in range(2)]
            for number in range(2):
                person.answer(person.wait_for_ask(about(f"sleep {900 + number}")), "Yes")
            for operation in (first, second):
                one.wait_until(operation, "running")
            one.do("cancel", id=first)
            assert one.ended(first)["status"] == "cancelled"
        with worker(place) as other:
            assert place.run("ops", "list").returncode == 0
            other.do("cancel", id=second)
            assert other.ended(second)["status"] == "cancelled"


def test_whatever_else_a_person_does_the_command_is_not_run(place: Place) -> None:
    waited_for(place, approve="always")
    background(place, approve="always")
    ada = Settler(person="ada", surface="test")
    with worker(place) as one, place.person() as person:
        ways: dict[str, Callable[[Ask], object]] = {
            "answered no": lambda ask: person.answer(ask, "No"),
            "rejected": lambda ask: person.reject(ask, "too dangerous"),
            "declined": lambda ask: person.desk.decline(ask.id, ada),
        }
        for way, say_no in ways.items():
            call = one.call("fg", {"script": f"touch never; echo {way}"})
            say_no(person.wait_for_ask(about(way)))
            result = call.result(WAIT)
            assert result.is_error
            assert "ada did not allow it" in text_of(result)
            assert ("Reason: too dangerous" in text_of(result)) == (way == "rejected")
            assert data_of(result)["status"] == "cancelled"

        # Nor is anybody bothered any more once the operation itself is cancelled.
        queued = one.start("bg", script="touch never")
        person.wait_for_ask(about("touch never"))
        one.do("cancel", id=queued)
        person.wait_until(lambda: True if not person.inbox() else None)
        assert one.status(queued)["status"] == "cancelled"
    assert not (place.project / "never").exists()


@pytest.mark.finding("F-93")
def test_a_note_beside_no_reaches_the_agent_and_an_answer_decides_nothing(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "touch never"})
        ask = person.wait_for_ask(about("touch never"))
        said = Answer(question=ask.questions[0].id, chosen=("yes",))
        with pytest.raises(InvalidInput, match="allow or deny it"):
            person.desk.answer(ask.id, [said], Settler(person="ada", surface="test"))
        person.answer(ask, replace(said, chosen=("no",), note="But not on Fridays."))
        assert "Reason: But not on Fridays." in text_of(call.result(WAIT))
    assert not (place.project / "never").exists()


def test_once_holds_for_the_tool_as_long_as_the_server_lives(place: Place) -> None:
    background(place, approve="once")
    with worker(place) as one, place.person() as person:
        first, second = one.start("bg", script="echo one"), one.start("bg", script="echo two")
        ask = person.wait_for_ask(lambda ask: ask.title == "Run bg?")
        assert "A yes holds for all further calls of bg in this session." in ask.questions[0].text
        assert len(person.inbox()) == 1
        person.answer(ask, "Yes")
        assert (one.ended(first)["stdout"], one.ended(second)["stdout"]) == ("one\n", "two\n")
        assert data_of(one.do("bg", script="echo three"))["status"] == "started"
        assert person.inbox() == []
    with worker(place) as again, place.person() as person:
        again.start("bg", script="echo four")
        assert person.wait_for_ask(lambda ask: ask.title == "Run bg?")


@pytest.mark.finding("F-06")
def test_a_call_that_cannot_wait_any_longer_takes_its_question_with_it(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place, environment={"SAYSO_CALL_LIMITS": "tester=1s"}) as one, place.person() as person:
        early = one.do("fg", script="touch ran")
        assert early.is_error
        assert "nobody allowed it while this call could wait" in text_of(early)
        eventually(lambda: person.inbox() == [])
        (ask,) = person.asks()
        with pytest.raises(AlreadySettled):
            person.answer(ask, "Yes")
        assert one.do("fg", script="touch ran").is_error
        assert len(person.asks()) == 2, "the same call is asked about again"
    assert not (place.project / "ran").exists()


def test_what_was_allowed_in_time_runs_though_its_call_loses_patience_while_it_starts(place: Place) -> None:
    counting(place, approve="always", synchronous=True, availability_check={"command": "sleep", "args": ["6"]})
    with worker(place, environment={"SAYSO_CALL_LIMITS": "tester=6s"}) as one, place.person() as person:
        call = one.call("all", {"script": "echo ran to its end"})
        person.answer(person.wait_for_ask(about("echo ran")), "Yes")
        result = call.result(WAIT)
        assert text_of(result) == "ran to its end"
        assert data_of(result)["status"] == "completed"


def test_whoever_awaits_a_command_hears_that_its_own_call_gave_it_up(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place, environment={"SAYSO_CALL_LIMITS": "tester=3s"}) as one, place.person() as person:
        call = one.call("fg", {"script": "touch never"})
        person.wait_for_ask(about("touch never"))
        (operation,) = OperationDesk(person.store, place.folder).under_way()
        one.do("await", id=operation.id)  # may be over first by a little: it has the same limit
        told = one.ended(operation.id)
        assert told["status"] == "cancelled"
        assert told["reason"] == "It was cancelled before anyone had allowed it."
        assert "nobody allowed it while this call could wait" in text_of(call.result(WAIT))
    assert not (place.project / "never").exists()


def test_a_command_that_was_let_go_of_while_it_waited_is_no_news_to_anybody(place: Place) -> None:
    waited_for(place, approve="always")
    with place.person() as person:
        with worker(place) as one:
            call = one.call("fg", {"script": "touch never"})
            person.wait_for_ask(about("touch never"))
            call.cancel()
            eventually(lambda: person.inbox() == [])
            assert "Since your last call" not in text_of(one.do("status"))
        with worker(place) as other:
            assert "Since your last call" not in text_of(other.do("status"))


def any_ask(ask: Ask) -> bool:
    return ask.is_permission


def counting(place: Place, **fields: Any) -> None:
    """A tool that takes everything a command can be given: words, input, a file, an environment."""
    options = [
        {"name": "text", "type": "string", "style": "stdin"},
        {"name": "message", "type": "string", "file_arg": True, "file_flag": "--message"},
    ]
    default = {"name": "default", "description": "Run it.", "positional_args": [SCRIPT], "options": options, **fields}
    env = {"COLOUR": "blue"}
    write_tool(place, "all", command="bash -c", schema_version=2, env=env, subcommand=[default])


HIDING = 'ls\n\n[n]: /u "; touch hidden # \x1b[8m"'


@pytest.mark.finding("F-10", "F-12")
def test_everything_that_is_executed_is_shown(place: Place) -> None:
    counting(place, approve="always", positional_args_first=True, synchronous=True)
    with worker(place) as one, place.person() as person:
        call = one.call("all", {"script": 'cat - "$1"; ' + HIDING, "text": "rm -rf /", "message": "wipe the disk"})
        seen = shown(person.wait_for_ask(any_ask))
        assert seen["Standard input"] == "rm -rf /"
        (file,) = [label for label in seen if label.startswith("File ")]
        assert seen[file] == "wipe the disk"
        assert seen["Environment"] == "COLOUR=blue"
        assert 'touch hidden # \\x1b[8m"' in seen["Command line"]
        assert file.removeprefix("File ") in seen["Command line"]
        assert seen["Tool file"].startswith(str(place.home))
        person.answer(person.wait_for_ask(any_ask), "Yes")
        assert "rm -rf /wipe the disk" in text_of(call.result(WAIT))


@pytest.mark.finding("F-13", "F-14")
def test_a_yes_for_a_call_that_is_over_allows_nothing_and_is_recorded_as_too_late(place: Place) -> None:
    counting(place, approve="always", synchronous=True)
    call = {"script": "cat > ran", "text": "one"}
    with worker(place, environment={"SAYSO_CALL_LIMITS": "tester=1s"}) as one, place.person() as person:
        assert one.call("all", call).result(WAIT).is_error
        eventually(lambda: person.inbox() == [])
        (ask,) = person.asks()
        with pytest.raises(AlreadySettled):
            person.answer(ask, "Yes")
        assert [event.detail[:8] for event in person.desk.events(ask.id) if event.kind == "refused"] == ["too late"]
        assert one.call("all", {**call, "text": "two"}).result(WAIT).is_error, "other input is asked about again"
        assert len(person.asks()) == 2
    with place.person() as person:
        with worker(place) as one:
            one.call("all", call)
            ask = person.wait_for_ask(any_ask)
            one.server.send_signal(signal.SIGKILL)
            person.wait_until(lambda: person.desk.release_the_dead() or None)
            with pytest.raises(AlreadySettled):
                person.answer(ask, "Yes")
        verdict = verdict_of(person.desk.get(ask.id))
        assert verdict
        assert verdict.decision is Decision.UNDECIDED
        with worker(place) as other:
            other.call("all", call)
            again = person.wait_for_ask(any_ask)
            assert again.id != ask.id
            person.reject(again)
    assert not (place.project / "ran").exists()


@pytest.mark.finding("F-15")
def test_once_ends_with_the_tool_file_that_was_allowed(place: Place) -> None:
    waited_for(place, approve="once")
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "echo one"})
        ask = person.wait_for_ask(any_ask)
        assert scopes_of(ask) == (AllowScope.TOOL,), "the card says how far a yes goes"
        person.answer(ask, "Yes")
        assert not call.result(WAIT).is_error
        assert not one.do("fg", script="echo two").is_error
        waited_for(place, approve="once", env={"PATH": "/elsewhere:/usr/bin:/bin"})
        # The server may not have read it yet: then it asks about the file as it was, and the runner refuses that.
        call = one.call("fg", {"script": "touch never"})
        ask = person.wait_for_ask(any_ask)
        person.answer(ask, "No" if "/elsewhere" in shown(ask).get("Environment", "") else "Yes")
        assert call.result(WAIT).is_error
    assert not (place.project / "never").exists()


@pytest.mark.finding("F-15")
def test_once_is_forgotten_when_the_tool_file_changes_though_it_changes_back(place: Place) -> None:
    waited_for(place, approve="once")
    (file,) = Path(place.home, ".config/sayso/tools").glob("fg.json")
    content = file.read_bytes()
    with worker(place) as one, place.person() as person:
        for _ in range(2):
            call = one.call("fg", {"script": "true"})
            person.answer(person.wait_for_ask(any_ask), "Yes")
            assert not call.result(WAIT).is_error
            assert not one.do("fg", script="true").is_error, "nobody is asked again"
            file.write_bytes(content + b" ")
            file.write_bytes(content)


@pytest.mark.finding("F-15")
def test_once_holds_for_the_program_that_was_shown_and_for_no_other_of_its_name(place: Place) -> None:
    def program(path: str, says: str) -> Path:
        file = place.project / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\necho {says}\n")
        file.chmod(0o700)
        return file

    program("run.sh", "shown")
    program("sub/run.sh", "another")
    default = {"name": "default", "description": "Run."}
    write_tool(place, "own", command="./run.sh", approve="once", synchronous=True, subcommand=[default])
    with worker(place) as one, place.person() as person:
        call = one.call("own", {})
        person.answer(person.wait_for_ask(any_ask), "Yes")
        assert "shown" in text_of(call.result(WAIT))
        assert "shown" in text_of(one.do("own")), "nobody is asked again"
        call = one.call("own", {"working_directory": "sub"})
        person.answer(person.wait_for_ask(any_ask), "No")
        assert call.result(WAIT).is_error
        program("new.sh", "put in its place").rename(place.project / "run.sh")
        call = one.call("own", {})
        person.answer(person.wait_for_ask(any_ask), "No")
        assert call.result(WAIT).is_error


@pytest.mark.finding("F-16")
def test_what_changes_after_the_question_was_put_is_not_what_was_allowed(place: Place) -> None:
    counting(place, approve="always", synchronous=True)
    folder, elsewhere = place.project / "here", place.project / "elsewhere"
    elsewhere.mkdir()

    def moved() -> None:
        folder.rmdir()
        folder.symlink_to(elsewhere)

    def edited() -> None:
        file = next(Path(place.home, ".config/sayso/tools").glob("all.json"))
        file.write_text(file.read_text() + "\n")

    changes: dict[str, Callable[[], None]] = {"the folder": moved, "the tool file": edited}
    for named, change in changes.items():
        folder.unlink() if folder.is_symlink() else None
        folder.mkdir(exist_ok=True)
        with worker(place) as one, place.person() as person:
            call = one.call("all", {"script": "touch never", "working_directory": "here", "text": "x"})
            ask = person.wait_for_ask(any_ask)
            assert shown(ask)["Folder"] == str(folder)
            change()
            person.answer(ask, "Yes")
            result = call.result(WAIT)
            assert result.is_error
            assert f"It was not run: {named} changed after it was allowed." in text_of(result)
            assert data_of(result)["status"] == "cancelled"
    assert not list(place.project.rglob("never"))


def test_a_path_that_leads_out_of_the_project_after_the_question_was_put_is_not_what_was_allowed(place: Place) -> None:
    path = {"name": "file", "type": "string", "format": "path", "required": True}
    default = {"name": "default", "description": "Show it.", "positional_args": [path]}
    write_tool(place, "show", command="cat", approve="always", synchronous=True, subcommand=[default])
    folder, outside = place.project / "notes", place.folder / "outside"
    for each in (folder, outside):
        each.mkdir()
        (each / "today").write_text(each.name)
    with worker(place) as one, place.person() as person:
        for changes in (False, True):
            call = one.call("show", {"file": "notes/today"})
            ask = person.wait_for_ask(any_ask)
            if changes:
                folder.rename(place.project / "before")
                folder.symlink_to(outside)
            person.answer(ask, "Yes")
            told = text_of(call.result(WAIT))
            assert ("It was not run: notes/today leads elsewhere" in told) if changes else told == "notes"


def test_another_program_under_the_same_name_is_not_what_was_allowed(place: Place) -> None:
    waited_for(place, approve="always")
    found = place.project / "bin" / "bash"
    found.parent.mkdir()
    path = f"{found.parent}:{os.environ['PATH']}"
    with worker(place, environment={"PATH": path}) as one, place.person() as person:
        call = one.call("fg", {"script": "true"})
        ask = person.wait_for_ask(any_ask)
        assert shown(ask)["Program"].startswith(shutil.which("bash") or "?")
        found.write_text("#!/bin/sh\ntouch never\n")
        found.chmod(0o755)
        person.answer(ask, "Yes")
        result = call.result(WAIT)
        assert f"It was not run: the program that is found (now {found}) changed" in text_of(result)
        call = one.call("fg", {"script": "true"})
        ask = person.wait_for_ask(any_ask)
        assert shown(ask)["Program"] == str(found)
        person.reject(ask)
        assert call.result(WAIT).is_error
    assert not (place.project / "never").exists()


@pytest.mark.finding("F-17")
def test_nothing_of_a_tool_file_runs_before_a_person_has_allowed_it(place: Place) -> None:
    check = {"command": "bash", "args": ["-c", "echo checked >> ran; test -e there"]}
    go = {"name": "go", "description": "Go.", "synchronous": True, "approve": "always"}
    steps = [{"tool": "gadget", "subcommand": "go"}]
    write_tool(place, "gadget", command="echo went", availability_check=check, subcommand=[go])
    write_tool(
        place, "both", command="true", availability_check=check, sequence=steps, synchronous=True, approve="always"
    )
    ran = place.project / "ran"
    with worker(place) as one, place.person() as person:
        for tool, answer in (("gadget_go", "No"), ("both", "No"), ("gadget_go", "Yes"), ("both", "Yes")):
            call = one.call(tool, {})
            ask = person.wait_for_ask(any_ask)
            assert "echo checked >> ran" in shown(ask)["Runs first"], "what runs first is allowed with the rest"
            assert not ran.exists()
            person.answer(ask, answer)
            result = call.result(WAIT)
            assert result.is_error
            assert ("could not be started: `bash -c" in text_of(result)) == (answer == "Yes")
            assert ran.exists() == (answer == "Yes")
            ran.unlink(missing_ok=True)
        (place.project / "there").touch()
        call = one.call("both", {})
        ask = person.wait_for_ask(any_ask)
        assert "echo checked >> ran" in shown(ask)["Step 1: Runs first"]
        person.answer(ask, "Yes")
        assert not call.result(WAIT).is_error
        assert ran.read_text() == "checked\n"
        call = one.call("both", {})
        ask = person.wait_for_ask(any_ask)
        assert "Runs first" not in shown(ask), "what is known to be there is not looked for again"
        person.answer(ask, "Yes")
        assert not call.result(WAIT).is_error


def test_a_step_that_may_be_skipped_says_when(place: Place) -> None:
    background(place, approve="always")
    steps: list[dict[str, Any]] = [
        {"tool": "bg", "subcommand": "default", "args": {"script": f"echo {n} >> ran"}} for n in range(2)
    ]
    steps[0] |= {"skip_if_file_exists": "tested", "skip_if_file_missing": "tests"}
    write_tool(place, "deploy", command="true", sequence=steps, synchronous=True, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("deploy", {})
        ask = person.wait_for_ask(any_ask)
        seen = shown(ask)
        assert seen["Step 1: Skipped if this file is there"] == str(place.project / "tested")
        assert seen["Step 1: Skipped if this file is missing"] == str(place.project / "tests")
        assert not any("Step 2: Skipped" in label for label in seen)
        assert "Step 2: Program" not in seen, "it is the same as in the step before"
        person.answer(ask, "Yes")
        assert not call.result(WAIT).is_error
        assert (place.project / "ran").read_text() == "1\n"


def test_a_step_may_run_what_the_step_before_has_made(place: Place) -> None:
    made = place.project / "made"
    background(place)
    write_tool(place, "made", command="./made", approve="always")
    script = f"printf '#!/bin/sh\ntouch {place.project}/ran\n' > made; chmod +x made"
    steps = [
        {"tool": "bg", "subcommand": "default", "args": {"script": script}},
        {"tool": "made", "subcommand": "default"},
    ]
    write_tool(place, "build", command="true", sequence=steps, synchronous=True, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("build", {})
        ask = person.wait_for_ask(any_ask)
        assert shown(ask)["Step 2: Program not found yet"] == "./made"
        person.answer(ask, "Yes")
        assert not call.result(WAIT).is_error
        assert made.exists()
        assert (place.project / "ran").exists()


def test_a_sequence_is_allowed_with_every_step_whole_or_not_at_all(place: Place) -> None:
    background(place, approve="always")
    steps = [{"tool": "bg", "subcommand": "default", "args": {"script": f"echo {n} >> ran"}} for n in range(25)]
    whole = {"name": "default", "description": "Run all.", "sequence": steps, "synchronous": True}
    write_tool(place, "careful", command="true", subcommand=[{**whole, "approve": "always"}])
    write_tool(place, "each", command="true", subcommand=[{**whole, "sequence": steps[:2], "approve": "never"}])
    with worker(place) as one, place.person() as person:
        call = one.call("careful", {})
        ask = person.wait_for_ask(any_ask)
        seen = shown(ask)
        assert [seen[f"Step {n + 1}: Command line"] for n in range(25)] == [
            f"bash -c 'echo {n} >> ran'" for n in range(25)
        ]
        person.answer(ask, "Yes")
        assert not call.result(WAIT).is_error
        assert (place.project / "ran").read_text().split() == [str(n) for n in range(25)]
        assert person.inbox() == [], "nobody is asked again about a step that was shown"
        (place.project / "ran").unlink()
        call = one.call("each", {})
        person.answer(person.wait_for_ask(about("echo 0")), "Yes")
        person.answer(person.wait_for_ask(about("echo 1")), "No")
        assert call.result(WAIT).is_error
        assert (place.project / "ran").read_text() == "0\n"


def test_nobody_deciding_is_told_as_that_and_not_as_a_no(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "touch never"})
        ask = person.wait_for_ask(any_ask)
        person.desk.lapse(ask.id)
        assert "Nobody decided whether it may run" in text_of(call.result(WAIT))
    assert not (place.project / "never").exists()


def test_what_cannot_be_shown_whole_is_not_run(place: Place) -> None:
    counting(place, approve="always", synchronous=True)
    with worker(place) as one, place.person() as person:
        result = one.do("all", script="touch never", text="x" * 1_000_001)
        assert result.is_error
        assert "It cannot be shown to the user as it is, so it was not run." in text_of(result)
        assert "at most 1,000,000 are allowed" in text_of(result)
        assert person.asks() == []
    assert not (place.project / "never").exists()


def test_an_allow_of_another_action_starts_nothing(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "touch never"})
        ask = person.wait_for_ask(any_ask)
        with pytest.raises(InvalidInput, match="is not the digest"):
            PermissionDesk(person.desk).allow(ask.id, "0" * 64, person.settler)
        person.reject(ask)
        assert call.result(WAIT).is_error
    assert not (place.project / "never").exists()
