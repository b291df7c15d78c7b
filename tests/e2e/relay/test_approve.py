"""`approve`, by which Claude Code asks for permissions and brings its own questions, through real MCP clients."""

from __future__ import annotations

import hashlib
import json
import math
import resource
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from tests.e2e.relay.kit import Bench, new_bench, under
from tests.e2e.stdio.harness import MODES, WAIT, Agent, Person, Place, new_place, text_of
from tests.e2e.stdio.pipe import MODERN

from sayso.agents import relay_file
from sayso.asks.model import Answer, Ask, State
from sayso.errors import AlreadySettled
from sayso.permissions.action import action_of
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log_words import ran
from sayso.permissions.parts import parts_of
from sayso.permissions.verdict import Decision, verdict_of

CLAUDE = "claude-code"
ALWAYS = "Allow this exact thing for the rest of the session"
COMMAND = {"command": "rm -rf build", "description": "Clean up"}


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with new_place() as place:
        yield place


@pytest.fixture(scope="module")
def person(place: Place) -> Iterator[Person]:
    with place.person() as person:
        yield person


@pytest.fixture(scope="module", params=MODES)
def claude(request: pytest.FixtureRequest, place: Place) -> Iterator[Agent]:
    with place.agent(request.param, program="sayso", flags=["--approve"], name=CLAUDE) as agent:
        yield agent


def wants(agent: Agent, tool: str, **given: Any) -> Future[types.CallToolResult]:
    return agent.call("approve", {"tool_name": tool, "input": given, "tool_use_id": "toolu_1"})


def verdict(call: Future[types.CallToolResult]) -> dict[str, Any]:
    """What a client makes of a result: its one text, as JSON."""
    result = call.result(WAIT)
    assert not result.is_error
    assert result.structured_content is None
    told: dict[str, Any] = json.loads(text_of(result))
    return told


def asked(person: Person, title: str) -> Ask:
    return person.wait_for_ask(lambda ask: ask.title == title)


@pytest.mark.finding("F-92")
def test_it_is_listed_where_it_was_asked_for_and_to_nobody_else(place: Place, claude: Agent) -> None:
    assert "approve" in [tool.name for tool in claude.tools()]
    with place.agent(program="sayso", name=CLAUDE) as unasked:
        assert "approve" not in [tool.name for tool in unasked.tools()]
    with place.pipe(program="sayso") as pipe:
        pipe.connect(MODERN)
        assert "approve" not in [tool["name"] for tool in pipe.request("tools/list")["tools"]]
        answer = pipe.response(pipe.begin("tools/call", name="approve", arguments={"tool_name": "X", "input": {}}))
        assert "There is no tool 'approve'" in answer["error"]["message"]


def test_any_client_and_any_profile_can_have_it_by_a_flag(place: Place) -> None:
    with place.pipe(program="sayso", flags=["--profile", "promptmanager", "--approve"]) as pipe:
        pipe.connect(MODERN)
        assert [tool["name"] for tool in pipe.request("tools/list")["tools"]] == ["ask_user", "approve"]


def test_a_permission_is_given_denied_with_a_word_and_given_for_the_rest(
    place: Place, claude: Agent, person: Person
) -> None:
    call = wants(claude, "Bash", **COMMAND)
    ask = asked(person, "Allow Bash: rm -rf build?")
    action = action_of(ask)
    assert action
    assert {part.label: part.text for part in parts_of(action)} == {
        "Shell command": "rm -rf build",
        "Input description": "Clean up",
        "Tool": "Bash",
        "Folder": str(place.project),
    }
    person.answer(ask, "Allow")
    assert verdict(call) == {"behavior": "allow", "updatedInput": COMMAND}
    assert person.wait_until_delivered(ask).state is State.ANSWERED
    # Once is once.
    call = wants(claude, "Bash", **COMMAND)
    noted = Answer(question="decision", chosen=("deny",), note="use make clean")
    person.answer(asked(person, "Allow Bash: rm -rf build?"), noted)
    assert verdict(call) == {"behavior": "deny", "message": "The user did not allow this. They said: use make clean"}
    call = wants(claude, "Bash", **COMMAND)
    person.answer(asked(person, "Allow Bash: rm -rf build?"), "yes, but only the cache")
    told = verdict(call)
    assert (told["behavior"], "yes, but only the cache" in told["message"]) == ("deny", True)
    call = wants(claude, "Bash", **COMMAND)
    person.reject(asked(person, "Allow Bash: rm -rf build?"), "never")
    assert verdict(call) == {"behavior": "deny", "message": "The user did not allow this. Reason: never"}
    call = wants(claude, "Bash", **COMMAND)
    for_the_rest = asked(person, "Allow Bash: rm -rf build?")
    person.answer(for_the_rest, ALWAYS)
    assert verdict(call)["behavior"] == "allow"
    person.wait_until_delivered(for_the_rest)
    before = len(person.asks())
    # The same, its fields in another order; anything else is asked again.
    assert verdict(wants(claude, "Bash", **dict(reversed(COMMAND.items()))))["behavior"] == "allow"
    assert len(person.asks()) == before
    (logged,) = [one for one in person.log.outcomes() if one.entry.event.ask == for_the_rest.id]
    assert (logged.entry.event.scope, logged.ran) == ("session", 2)
    for other in ({**COMMAND, "command": "rm -rf build "}, {**COMMAND, "timeout": 1}, {"command": COMMAND["command"]}):
        call = wants(claude, "Bash", **other)
        person.reject(asked(person, "Allow Bash: rm -rf build?"))
        assert verdict(call)["behavior"] == "deny"


def test_edits_are_shown_as_diffs_and_everything_else_in_full(claude: Agent, person: Person, place: Place) -> None:
    file = place.project / "greet.py"
    file.write_text("def greet():\n    print('hello')\n\n\ngreet()\n")
    edit = {"file_path": str(file), "old_string": "'hello'", "new_string": "'good day'"}
    shown = _shown(claude, person, "Edit", **edit)
    assert " def greet():\n-    print('hello')\n+    print('good day')\n" in shown["Change"]
    assert "Input new_string" not in shown, "what the change shows in one piece is not shown again"
    assert hashlib.sha256(file.read_bytes()).hexdigest() in shown["Compared with"]
    shown = _shown(claude, person, "MultiEdit", file_path="greet.py", edits=[edit | {"file_path": 1}])
    assert '"file_path": 1' in shown["Input"], "an edit with fields that are not known is shown as it is"
    edits = [
        {"old_string": "hello", "new_string": "hi"},
        {"old_string": "greet", "new_string": "g", "replace_all": True},
    ]
    assert (
        "-def greet():\n-    print('hello')\n+def g():\n+    print('hi')"
        in (_shown(claude, person, "MultiEdit", file_path="greet.py", edits=edits)["Change"])
    )
    written = _shown(claude, person, "Write", file_path=str(file), content="pass\n")
    assert "@@ -1,5 +1,1 @@\n-def greet():" in written["Change"]
    fresh = _shown(claude, person, "Write", file_path=str(place.project / "new.md"), content="```\nfence\n```\n")
    assert "+```\n+fence\n+```" in fresh["Change"]
    assert fresh["Compared with"].endswith("not there")
    unfit = _shown(claude, person, "Edit", file_path=str(file), old_string="not there", new_string="x")
    assert "@@ somewhere @@\n-not there\n" in unfit["Change"]
    notebook = place.project / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [{"id": "c1", "source": ["a = 1\n", "b = 2"]}]}))
    shown = _shown(claude, person, "NotebookEdit", notebook_path=str(notebook), cell_id="c1", new_source="a = 1\nb = 3")
    assert " a = 1\n-b = 2\n" in shown["Change"]
    assert shown["Input cell_id"] == "c1"
    fetched = _shown(claude, person, "WebFetch", url="https://x.example", prompt="what?")
    assert fetched["Input url"] == "https://x.example"


def test_each_tool_comes_to_an_action_of_its_kind(claude: Agent, person: Person) -> None:
    kinds = {"Bash": "shell", "Write": "edit", "Grep": "read", "WebFetch": "fetch", "mcp__git__push": "mcp"}
    for tool, kind in {**kinds, "ExitPlanMode": "plan", "Teleport": "other"}.items():
        call = wants(claude, tool, command="x", plan="Do it.", hidden={"deep": ["\u202e"]})
        ask = person.wait_for_ask(lambda ask: ask.tool == "approve")
        action = action_of(ask)
        assert action
        assert (action.kind, action.tool) == (kind, tool)
        assert "<U+202E>" in str(parts_of(action)) or "u202e" in str(parts_of(action))
        person.answer(ask, "Deny")
        assert verdict(call)["behavior"] == "deny"


def test_an_edit_of_a_file_that_changed_after_it_was_shown_is_denied(
    claude: Agent, person: Person, place: Place
) -> None:
    file = place.project / "settings.ini"
    file.write_text("safe = yes\n")
    call = wants(claude, "Edit", file_path=str(file), old_string="yes", new_string="no")
    ask = person.wait_for_ask(lambda ask: ask.tool == "approve")
    file.write_text("unsafe = yes\n")
    person.answer(ask, "Allow")
    told = verdict(call)
    assert told["behavior"] == "deny"
    assert "the file that it edits changed after they had looked at it" in told["message"]
    person.wait_until_delivered(ask)
    logged = person.log.outcomes()[0]
    assert (logged.entry.event.ask, logged.ran) == (ask.id, 0)
    assert logged.stopped
    assert logged.stopped.why.endswith("the file that it edits")
    found = verdict_of(person.desk.get(ask.id))
    assert (found and found.decision) is Decision.NOT_DONE


def test_a_person_can_change_the_input_and_the_client_does_that_instead(claude: Agent, person: Person) -> None:
    call = wants(claude, "Bash", command="rm -rf /", description="Clean up")
    ask = person.wait_for_ask(lambda ask: ask.tool == "approve")
    instead = {"command": "rm -rf build", "description": "Clean up"}
    allowed = PermissionDesk(person.desk).allow(ask.id, ask.digest, person.settler, changed_input=instead)
    assert verdict(call) == {"behavior": "allow", "updatedInput": instead}
    assert allowed.outcome
    assert allowed.outcome.digest != ask.digest


def _shown(agent: Agent, person: Person, tool: str, **given: Any) -> dict[str, str]:
    call = wants(agent, tool, **given)
    ask = person.wait_for_ask(lambda ask: ask.tool == "approve")
    person.answer(ask, "Deny")
    assert verdict(call)["behavior"] == "deny"
    action = action_of(ask)
    assert action
    return {part.label: part.text for part in parts_of(action)}


QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "preview": "~~~"}],
        "multiSelect": False,
    },
    {
        "question": "Which sizes?",
        "header": "Size",
        "options": [{"label": "S", "description": ""}, {"label": "M", "description": ""}, {"label": "L"}],
        "multiSelect": True,
    },
]


def test_claudes_own_questions_are_ordinary_asks_and_their_answers_go_back_in_its_form(
    claude: Agent, person: Person
) -> None:
    call = wants(claude, "AskUserQuestion", questions=QUESTIONS, metadata={"source": "x"})
    ask = person.wait_for_ask("Which colour?")
    assert (ask.tool, [question.title for question in ask.questions]) == ("AskUserQuestion", ["Colour", "Size"])
    assert ask.questions[0].options[1].preview == "~~~"
    several = Answer(question="2", chosen=("3", "1"), text="a crate", note="soon")
    person.answer(ask, "none of them", several)
    answers = {"Which colour?": "none of them", "Which sizes?": "S, L, a crate (note: soon)"}
    assert verdict(call) == {
        "behavior": "allow",
        "updatedInput": {"questions": QUESTIONS, "metadata": {"source": "x"}, "answers": answers},
    }
    assert person.wait_until_delivered(ask).delivered
    call = wants(claude, "AskUserQuestion", questions=QUESTIONS[:1])
    person.reject(person.wait_for_ask("Which colour?"), "decide yourself")
    told = verdict(call)
    assert (told["behavior"], "decide yourself" in told["message"]) == ("deny", True)
    twice = verdict(wants(claude, "AskUserQuestion", questions=[QUESTIONS[0], QUESTIONS[0]]))
    assert (twice["behavior"], "same text" in twice["message"]) == ("deny", True)


def test_what_cannot_be_understood_is_denied_with_a_word_on_why(claude: Agent, person: Person) -> None:
    before = len(person.asks())
    huge = {"tool_name": "Write", "input": {"file_path": "x", "content": "x" * 1_100_000}}
    for wrong, word in (
        ({}, "tool_name"),
        ({"tool_name": "Bash"}, "input"),
        ({"tool_name": "Bash", "input": "rm"}, "input"),
        ({"tool_name": "AskUserQuestion", "input": {"questions": []}}, "1 to 10 questions"),
        ({"tool_name": "AskUserQuestion", "input": {"questions": "?"}}, "array of questions"),
        (huge, "at most 1,000,000"),
    ):
        told = verdict(claude.call("approve", wrong))
        assert (told["behavior"], word in told["message"]) == ("deny", True), told
    assert len(person.asks()) == before


def test_what_could_not_be_handed_back_as_it_came_is_not_put_to_anybody(place: Place, person: Person) -> None:
    before = len(person.asks())
    reasons: list[tuple[Any, str]] = [
        ([math.inf], "input.a[0]: is Infinity. Give a number."),
        (math.nan, "input.a: is NaN. Give a number."),
        ("cut \ud83d", "it holds half of a surrogate pair"),
    ]
    with place.pipe(program="sayso", flags=["--approve"]) as pipe:
        pipe.connect(MODERN)
        for given, reason in reasons:
            call = {"tool_name": "Bash", "input": {"a": given}}
            answer = pipe.response(pipe.begin("tools/call", name="approve", arguments=call))
            told = json.loads(answer["result"]["content"][0]["text"])
            assert (told["behavior"], reason in told["message"]) == ("deny", True), told
    assert len(person.asks()) == before


def test_a_call_that_is_let_go_takes_its_permission_along(claude: Agent, person: Person) -> None:
    call = wants(claude, "Bash", command="sleep 1")
    ask = asked(person, "Allow Bash: sleep 1?")
    call.cancel()
    gone = person.wait_for_change(ask, lambda now: now.state is State.EXPIRED)
    assert gone.wait is None
    with pytest.raises(AlreadySettled):
        person.answer(ask, "Allow")
    # The very same again is another request, whatever became of the first.
    again = wants(claude, "Bash", command="sleep 1")
    second = asked(person, "Allow Bash: sleep 1?")
    assert second.id != ask.id
    person.answer(second, "Deny")
    assert verdict(again)["behavior"] == "deny"


def test_two_requests_at_once_are_two_asks_however_alike(claude: Agent, person: Person) -> None:
    calls = [wants(claude, "Bash", command="twice") for _ in range(2)]
    first, second = person.wait_until(lambda: _both(person, "Allow Bash: twice?"))
    person.answer(first, ALWAYS)
    person.answer(second, "Deny")
    assert sorted(verdict(call)["behavior"] for call in calls) == ["allow", "deny"]


def _both(person: Person, title: str) -> list[Ask] | None:
    found = [ask for ask in person.inbox() if ask.title == title]
    return found if len(found) == 2 else None


def test_nobody_deciding_in_time_is_a_denial() -> None:
    with (
        new_place(approve_timeout="1s") as place,
        place.person() as person,
        place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude,
    ):
        told = verdict(wants(claude, "Bash", command="ls"))
        assert told["behavior"] == "deny"
        assert told["message"].startswith("Nobody decided within 1 second, so this was not allowed.")
        (ask,) = person.asks()
        assert ask.state is State.EXPIRED
        told = verdict(wants(claude, "AskUserQuestion", questions=QUESTIONS))
        assert (told["behavior"], "Nobody answered within 1 second." in told["message"]) == ("deny", True)


def test_what_a_client_was_told_is_in_the_log_though_its_server_is_killed_right_then() -> None:
    with new_place() as place, place.person() as person:
        with place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude:
            call = wants(claude, "Bash", command="ls")
            ask = asked(person, "Allow Bash: ls?")
            person.answer(ask, "Allow")
            told = verdict(call)
            claude.server.kill()
            claude.server.wait(WAIT)
        assert told["behavior"] == "allow"
        person.wait_until(lambda: person.desk.release_the_dead() or person.desk.get(ask.id).wait is None or None)
        (outcome,) = person.log.outcomes()
        assert (ran(outcome), outcome.ran) == ("handed over", 1)
        assert person.log.check().whole


def test_a_store_that_fails_and_a_server_that_is_killed_allow_nothing() -> None:
    with new_place() as place:
        place.state.write_text("no directory")
        with place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude:
            for tool in ("Bash", "AskUserQuestion"):
                told = verdict(wants(claude, tool, command="ls", questions=QUESTIONS))
                assert (told["behavior"], "could not ask" in told["message"] or "store" in told["message"]) == (
                    "deny",
                    True,
                )
        place.state.unlink()
        with place.person() as person, place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude:
            call = wants(claude, "Bash", command="ls")
            ask = asked(person, "Allow Bash: ls?")
            late = wants(claude, "Bash", command="rm -rf build")
            allowed = asked(person, "Allow Bash: rm -rf build?")
            place.suspend(claude)
            person.answer(allowed, "Allow")
            claude.server.send_signal(signal.SIGKILL)
            for lost in (call, late):
                with pytest.raises(MCPError):
                    lost.result(WAIT)
            person.wait_until(lambda: person.desk.release_the_dead() or None)
            assert person.desk.get(ask.id).state is State.EXPIRED
        # A yes of which nobody was told allows nothing later, however alike.
        with place.person() as person, place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude:
            call = wants(claude, "Bash", command="rm -rf build")
            person.answer(asked(person, "Allow Bash: rm -rf build?"), "Deny")
            assert verdict(call)["behavior"] == "deny"


def test_what_was_allowed_while_the_disk_was_full_is_told_once_there_is_space() -> None:
    with new_place() as place, place.person() as person:
        with place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude:
            call = wants(claude, "Bash", command="ls")
            ask = asked(person, "Allow Bash: ls?")
            unlimited = resource.prlimit(claude.server.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            person.answer(ask, "Allow")
            claude.log.wait_for("has to wait for the store")
            assert not call.done()
            resource.prlimit(claude.server.pid, resource.RLIMIT_FSIZE, unlimited)
            assert verdict(call)["behavior"] == "allow"
            assert person.wait_until_delivered(ask).state is State.ANSWERED
        (outcome,) = person.log.outcomes()
        assert (ran(outcome), outcome.ran) == ("handed over", 1)


def test_a_disk_that_stays_full_turns_an_allow_into_a_no_that_says_why_and_the_person_is_told() -> None:
    with new_place() as place, place.person() as person:
        with place.agent(program="sayso", flags=["--approve"], name=CLAUDE) as claude:
            call = wants(claude, "Bash", command="ls")
            ask = asked(person, "Allow Bash: ls?")
            unlimited = resource.prlimit(claude.server.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            person.answer(ask, "Allow")
            told = verdict(call)
            assert told["behavior"] == "deny"
            assert told["message"].startswith("Sayso could not keep what the user decided, or learn of it: The store")
            assert told["message"].endswith("So this may not be done now.")
            resource.prlimit(claude.server.pid, resource.RLIMIT_FSIZE, unlimited)
        (outcome,) = person.log.outcomes()
        assert (ran(outcome), outcome.ran) == ("no", 0)


def test_a_person_decides_from_the_command_line_and_sees_all_of_it(place: Place, claude: Agent) -> None:
    call = wants(claude, "Bash", command="make deploy")
    with place.person() as person:
        ask = asked(person, "Allow Bash: make deploy?")
    assert "Allow Bash: make deploy?" in place.run("list").stdout
    shown = place.run("show", ask.id[:8]).stdout
    for word in ("make deploy", "Bash", str(place.project), ask.digest):
        assert word in shown
    assert place.run("answer", ask.id[:8], "allow").returncode != 0, "an answer decides nothing"
    done = place.run("allow", ask.id[:8], "--digest", ask.digest)
    assert done.returncode == 0, done.stderr
    assert verdict(call) == {"behavior": "allow", "updatedInput": {"command": "make deploy"}}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with new_bench() as bench:
        yield bench


def test_in_a_run_permissions_and_questions_go_to_its_user_alone_and_into_its_conversation(bench: Bench) -> None:
    run, place = bench.run(), bench.place
    environment = under(bench.relay_file(run))
    assert relay_file.entry(place.config()).args == ("server", "--approve")
    with (
        place.person() as person,
        place.agent(program="sayso", flags=["--approve"], environment=environment, name=CLAUDE) as claude,
    ):
        assert [tool.name for tool in claude.tools()] == ["ask_user", "approve"]
        # All at once: a question by the relay, one of Claude's own, and a permission.
        relayed = claude.call("ask_user", {"question": "Relayed?"})
        native = wants(claude, "AskUserQuestion", questions=QUESTIONS[:1])
        allowed = wants(claude, "Bash", command="ls")
        asks = [person.wait_for_ask("Relayed?"), person.wait_for_ask("Which colour?"), asked(person, "Allow Bash: ls?")]
        assert [(ask.asker.owner, ask.asker.run) for ask in asks] == [("ada", run.id)] * 3
        noted = person.wait_until(lambda: _noted(bench, run.id, 3))
        assert noted == {ask.id for ask in asks}
        grace = f"{bench.house.cookie_name}={bench.house.session('grace')}"
        for ask in asks:
            host = bench.house.host_of("grace")
            assert bench.house.web.call("GET", f"/asks/{ask.id}", cookie=grace, host=host).status == 404
        assert bench.submit(run, answer="by the relay").status == 200
        person.answer(asks[2], "Allow")
        person.answer(asks[1], "Red")
        assert text_of(relayed.result(WAIT)) == "User answered: by the relay"
        assert verdict(native)["updatedInput"]["answers"] == {"Which colour?": "Red"}
        assert verdict(allowed)["behavior"] == "allow"


def _noted(bench: Bench, run: str, count: int) -> set[str] | None:
    found = {event.body["ask"] for event in bench.runs.events(run)}
    return found if len(found) == count else None
