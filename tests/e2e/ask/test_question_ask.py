"""`question_ask`: the client's form and nothing else, no time limit, and a file for every answer."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from tests.e2e.ask.house import AUTO, LEGACY, SAYSO, connected, form_about
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import HOLD, CallCancelled, CallFailed, CallResult, Json, Reply, accept, refuse
from tests.e2e.clients.kinds import ClientKind
from tests.e2e.clients.process import wait_until
from tests.e2e.stdio.harness import WAIT, Place, new_place
from tests.e2e.stdio.pipe import HANDSHAKES, MODERN, Pipe

from sayso.clock import now_ms

TOOL = "question_ask"
NO_FORM = (
    "This tool requires client elicitation support, which is not available. Please upgrade your MCP client or manually "
    "create question files in .swissarmyhammer/questions/"
)
NASTY = ["C:\\Users\\me", 'She said "no"', "two\nlines", "key: value # not a comment", "  leading", "😀 – Größe", "no"]
SLOW_DECLINE, SLOW_CANCEL = Reply(action="decline", after_ms=500), Reply(action="cancel", after_ms=500)
BOTH = pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=["auto", "legacy"])


@pytest.fixture
def saved(machine: Place) -> Path:
    """The folder of the shared machine's answers."""
    return machine.project / ".swissarmyhammer" / "questions"


Line = Callable[[str, Json], tuple[Pipe, Place]]


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    """Servers behind bare pipes, each on a machine of its own: one for each hello that a client can say."""
    lines: dict[str, tuple[Pipe, Place]] = {}
    with ExitStack() as opened:

        def said(version: str, capabilities: Json) -> tuple[Pipe, Place]:
            hello = json.dumps([version, capabilities])
            if hello not in lines:
                place = opened.enter_context(new_place())
                flags = ["--profile", "swissarmyhammer", "--log-level", "debug"]
                pipe = opened.enter_context(place.pipe(program="sayso", flags=flags))
                pipe.connect(version, capabilities)
                lines[hello] = pipe, place
            return lines[hello]

        yield said


def answers_of(place: Place) -> set[Path]:
    return files(place.project / ".swissarmyhammer" / "questions")


def files(folder: Path) -> set[Path]:
    return set(folder.glob("*")) if folder.exists() else set()


def ask(program: ClientProgram, question: str, answer: str) -> CallResult:
    program.answer_with(accept({"answer": answer}))
    return program.call(TOOL, {"question": question})


# Its shape


@pytest.mark.requirement("S-01", "S-02", "S-66", "S-67", "S-69")
def test_it_takes_one_string_and_says_what_it_needs(swissarmyhammer: ClientProgram) -> None:
    tool = next(tool for tool in swissarmyhammer.list_tools() if tool["name"] == TOOL)
    assert tool["inputSchema"]["required"] == ["question"]
    assert {name: field["type"] for name, field in tool["inputSchema"]["properties"].items()} == {"question": "string"}
    assert "needs a client that supports MCP elicitation" in tool["description"]
    assert '{"type": "object", "properties": {"answer": {"type": "string"' in tool["description"]
    assert '{"question": "What is your preferred approach?"}' in tool["description"]


WRONG: list[tuple[str, Json]] = [
    ("missing", {}),
    ("a number", {"question": 7}),
    ("nothing", {"question": None}),
    ("empty", {"question": ""}),
    ("blank", {"question": " \n"}),
    ("an array", {"question": ["One?", "Two?"]}),
    ("an object", {"question": {"text": "One?"}}),
    ("several", {"question": "One?", "questions": ["Two?"]}),
    ("a schema", {"question": "One?", "requestedSchema": {"type": "object"}}),
]


@pytest.mark.requirement("S-03", "S-04", "S-05", "S-06")
@pytest.mark.parametrize(("_what", "arguments"), WRONG, ids=[what for what, _ in WRONG])
def test_anything_but_one_text_is_refused_and_shown_to_nobody(
    swissarmyhammer: ClientProgram, _what: str, arguments: Json
) -> None:
    before = len(swissarmyhammer.events("elicitation"))
    result = swissarmyhammer.call(TOOL, arguments)
    assert result.is_error
    assert re.match(r"(question|questions|requestedSchema): ", result.text)
    assert result.structured["outcome"] == "invalid"
    assert len(swissarmyhammer.events("elicitation")) == before


@pytest.mark.requirement("S-07", "S-08", "S-09")
def test_the_result_holds_the_answer_and_the_file_it_is_in(swissarmyhammer: ClientProgram, machine: Place) -> None:
    result = ask(swissarmyhammer, "What is your preferred approach?", "Option A")
    told = json.loads(result.text)
    assert told.keys() == {"answer", "saved_to"}
    assert told["answer"] == "Option A"
    assert re.fullmatch(r"\.swissarmyhammer/questions/\d{8}_\d{6}(_\d{6})?_question\.yaml", told["saved_to"])
    assert result.structured == {"answer": "Option A", "saved_to": str(machine.project / told["saved_to"])}
    assert (machine.project / told["saved_to"]).is_file()
    assert not result.is_error


# Its form


@pytest.mark.requirement("S-11", "S-12", "S-15")
def test_the_form_holds_one_text_field_and_the_call_waits_for_it(swissarmyhammer: ClientProgram) -> None:
    swissarmyhammer.answer_with(HOLD)
    key = swissarmyhammer.call_start(TOOL, {"question": "Which form?"})
    form = form_about(swissarmyhammer, "Which form?")
    assert form.message == "Which form?"
    assert form.schema == {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "Which form?"}},
        "required": ["answer"],
    }
    assert not [event for event in swissarmyhammer.events("done") if event.about(key)]
    swissarmyhammer.reply(form.form, accept({"answer": "this one"}))
    assert swissarmyhammer.wait_result(key).structured["answer"] == "this one"


@pytest.mark.requirement("S-10", "S-13")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_handshake_client_is_sent_one_request_for_a_form_and_nothing_else(version: str, line: Line) -> None:
    pipe, _ = line(version, {"elicitation": {}})
    call = pipe.begin("tools/call", name=TOOL, arguments={"question": "Over the wire?"})
    sent = pipe.next()
    assert (sent["method"], sent["params"]["message"]) == ("elicitation/create", "Over the wire?")
    shown = now_ms()
    assert wait_until(lambda: now_ms() > shown + 1, WAIT)  # nothing is taken from a form within its first millisecond
    pipe.send({"jsonrpc": "2.0", "id": sent["id"], "result": {"action": "accept", "content": {"answer": "yes"}}})
    assert pipe.response(call)["result"]["structuredContent"]["answer"] == "yes"
    pipe.request("ping")
    sent_methods = {json.loads(each).get("method") for each in pipe.received}
    assert sent_methods == {None, "elicitation/create"}


@pytest.mark.requirement("S-10", "S-13")
def test_a_modern_client_is_asked_for_a_form_in_the_result_and_brings_it_with_the_next_call(line: Line) -> None:
    pipe, place = line(MODERN, {"elicitation": {}})
    before = answers_of(place)
    arguments = {"question": "In rounds?"}
    first = pipe.request("tools/call", name=TOOL, arguments=arguments)
    assert first["resultType"] == "input_required"
    ((key, request),) = first["inputRequests"].items()
    assert request["method"] == "elicitation/create"
    reply = {"inputResponses": {key: {"action": "accept", "content": {"answer": "yes"}}}}
    again = {"name": TOOL, "arguments": arguments, "requestState": first["requestState"], **reply}
    assert pipe.request("tools/call", **again)["structuredContent"]["answer"] == "yes"
    repeated = pipe.request("tools/call", **again)
    assert repeated["isError"] is True
    assert "taken already" in repeated["content"][0]["text"]
    assert len(answers_of(place) - before) == 1


@pytest.mark.requirement("S-14")
def test_where_the_form_cannot_be_shown_nothing_takes_its_place(
    swissarmyhammer: ClientProgram, machine: Place, saved: Path
) -> None:
    before = files(saved)
    swissarmyhammer.answer_with(refuse("no form today"))
    if swissarmyhammer.kind.modern:
        with pytest.raises(CallFailed):  # the library ends the call itself
            swissarmyhammer.call(TOOL, {"question": "Elsewhere?"})
    else:
        result = swissarmyhammer.call(TOOL, {"question": "Elsewhere?"})
        assert result.is_error
        assert "The client could not show the form: no form today" in result.text
    with machine.person() as person:
        assert not [each for each in person.asks() if each.tool == TOOL]
    assert files(saved) == before


@BOTH
@pytest.mark.requirement("S-16")
def test_no_setting_gives_it_a_time_limit(kind: ClientKind, place: Place) -> None:
    place.settings |= {"ask_timeout": "200ms", "ask_user_timeout": "200ms", "call_limits": "impatient=200ms"}
    with connected(kind, place, "swissarmyhammer", name="impatient") as program:
        program.answer_with(accept({"answer": "at last"}, after_ms=2000))
        assert program.call(TOOL, {"question": "Any hurry?"}).structured["answer"] == "at last"


JUMPING_CLOCK = """
import os, time
def jumped(clock):
    return lambda: clock() + float(open(os.environ["TEST_CLOCK_AHEAD"]).read())
time.monotonic, time.time = jumped(time.monotonic), jumped(time.time)
"""


@pytest.mark.requirement("S-16")
@pytest.mark.parametrize("version", HANDSHAKES[-2:])
def test_a_reply_after_a_month_is_still_delivered(version: str, place: Place) -> None:
    """The clocks of the server are set forward: whatever limit there were would be over."""
    (place.folder / "sitecustomize.py").write_text(JUMPING_CLOCK)
    ahead = place.folder / "ahead"
    ahead.write_text("0")
    environment = {"PYTHONPATH": str(place.folder), "TEST_CLOCK_AHEAD": str(ahead)}
    with place.pipe(program="sayso", flags=["--profile", "swissarmyhammer"], environment=environment) as pipe:
        pipe.connect(version, {"elicitation": {}})
        call = pipe.begin("tools/call", name=TOOL, arguments={"question": "Any hurry?"})
        while (form := pipe.next()).get("method") != "elicitation/create":
            pass
        (place.folder / "later").write_text(str(30 * 86_400))
        (place.folder / "later").rename(ahead)
        for _ in range(3):  # whatever was due by then has been done before the third is answered
            pipe.request("ping")
        pipe.send(
            {"jsonrpc": "2.0", "id": form["id"], "result": {"action": "accept", "content": {"answer": "at last"}}}
        )
        assert pipe.response(call)["result"]["structuredContent"]["answer"] == "at last"


@BOTH
@pytest.mark.requirement("S-17")
def test_a_client_that_goes_while_its_form_is_open_ends_its_server_alone(kind: ClientKind, place: Place) -> None:
    with connected(kind, place, "swissarmyhammer") as stays, connected(kind, place, "swissarmyhammer") as goes:
        waiting = stays.call_start(TOOL, {"question": "Are you still there?"})
        form = form_about(stays, "Are you still there?")
        goes.call_start(TOOL, {"question": "Leaving so soon?"})
        form_about(goes, "Leaving so soon?")
        goes.vanish()
        goes.wait_server_exit()
        assert "Traceback" not in goes.server_stderr
        stays.reply(form.form, accept({"answer": "yes"}))
        assert stays.wait_result(waiting).structured["answer"] == "yes"
    assert len(files(place.project / ".swissarmyhammer" / "questions")) == 1


@pytest.mark.requirement("S-18", "S-19")
def test_a_cancelled_call_ends_the_wait_and_writes_nothing(swissarmyhammer: ClientProgram, saved: Path) -> None:
    before = files(saved)
    swissarmyhammer.answer_with(HOLD)
    key = swissarmyhammer.call_start(TOOL, {"question": "Never mind?"})
    form = form_about(swissarmyhammer, "Never mind?")
    swissarmyhammer.cancel(key)
    with pytest.raises(CallCancelled):
        swissarmyhammer.wait_result(key)
    swissarmyhammer.wait_withdrawn(form.form)
    assert files(saved) == before
    assert ask(swissarmyhammer, "Does it still work?", "yes").structured["answer"] == "yes"


@pytest.mark.requirement("S-20")
@pytest.mark.parametrize("content", [None, {}, {"answer": ""}, {"answer": "  "}, {"reply": "yes"}])
def test_an_accept_without_an_answer_is_no_answer(
    swissarmyhammer: ClientProgram, saved: Path, content: Json | None
) -> None:
    before = files(saved)
    swissarmyhammer.answer_with(accept(content))
    result = swissarmyhammer.call(TOOL, {"question": "And?"})
    assert (result.text, result.is_error) == ("No answer provided", True)
    assert files(saved) == before


MALFORMED = [{}, {"action": "perhaps"}, {"action": "accept", "content": ["yes"]}, "yes", None]


@pytest.mark.requirement("S-21")
def test_a_malformed_reply_is_an_error_and_the_server_goes_on(line: Line) -> None:
    pipe, place = line("2025-11-25", {"elicitation": {}})
    before = answers_of(place)
    for reply in MALFORMED:
        call = pipe.begin("tools/call", name=TOOL, arguments={"question": "Well-formed?"})
        while (sent := pipe.next()).get("method") != "elicitation/create":
            assert "error" in sent, "only what is wrong with our reply may come between"
        pipe.send({"jsonrpc": "2.0", "id": sent["id"], "result": reply})
        result = pipe.response(call)["result"]
        assert result["isError"] is True
        assert re.search(r"reply to the form was malformed|could not show the form", result["content"][0]["text"])
        assert "pydantic" not in json.dumps(result)
    assert pipe.request("tools/list")["tools"]
    assert answers_of(place) == before


@pytest.mark.requirement("S-21")
def test_a_malformed_reply_of_a_modern_client_is_an_error_and_the_server_goes_on(line: Line) -> None:
    pipe, place = line(MODERN, {"elicitation": {}})
    before = answers_of(place)
    asked: Json = {"name": TOOL, "arguments": {"question": "Well-formed?"}}
    for reply in MALFORMED:
        first = pipe.request("tools/call", **asked)
        again = {"requestState": first["requestState"], "inputResponses": {"form": reply}}
        answer = pipe.response(pipe.begin("tools/call", **asked, **again))
        assert answer["error"]["code"] == -32602
        assert "pydantic" not in json.dumps(answer)
    assert pipe.request("tools/list")["tools"]
    assert answers_of(place) == before


@pytest.mark.requirement("S-22", "S-23")
@pytest.mark.parametrize(("reply", "done"), [(SLOW_DECLINE, "declined"), (SLOW_CANCEL, "cancelled")])
def test_a_persons_no_is_told_and_writes_nothing(
    swissarmyhammer: ClientProgram, saved: Path, reply: Reply, done: str
) -> None:
    before = files(saved)
    swissarmyhammer.answer_with(reply)
    result = swissarmyhammer.call(TOOL, {"question": "Would you rather not?"})
    assert result.text == f"The user {done} the question. Nothing was saved; do not assume an answer."
    assert (result.structured["outcome"], result.is_error) == (done, False)
    assert files(saved) == before


@pytest.mark.requirement("S-22", "S-23")
@pytest.mark.parametrize(("action", "done"), [("decline", "declined"), ("cancel", "cancelled")])
def test_a_no_that_no_person_can_have_given_is_an_error(
    swissarmyhammer: ClientProgram, saved: Path, action: str, done: str
) -> None:
    before = files(saved)
    swissarmyhammer.answer_with(Reply(action="decline" if action == "decline" else "cancel", after_ms=10))
    result = swissarmyhammer.call(TOOL, {"question": "Who says so?"})
    assert result.is_error
    assert f"The client {done} the form by itself after " in result.text
    assert "do not assume" in result.text
    assert files(saved) == before


# Who sees it


def tools_of(pipe: Pipe) -> list[str]:
    """The names that this client sees, each time it asks."""
    first, second = ([tool["name"] for tool in pipe.request("tools/list")["tools"]] for _ in range(2))
    assert first == second
    return first


@pytest.mark.requirement("S-24", "S-26", "S-27")
@pytest.mark.parametrize(
    ("version", "declared"),
    [("2025-06-18", {}), (MODERN, {}), ("2025-11-25", {"form": {}}), (MODERN, {"form": {}, "url": {}})],
)
def test_a_client_that_declares_forms_is_shown_the_tool(line: Line, version: str, declared: Json) -> None:
    pipe, _ = line(version, {"elicitation": declared})
    assert tools_of(pipe) == ["question_ask", "question_summary"]
    told = "INFO sayso.mcp_server.offer: Client supports elicitation, registering 'question_ask' tool"
    pipe.log.wait_for(told)
    assert pipe.log.text.count(told) == 1


@pytest.mark.requirement("S-25", "S-28", "S-29")
@pytest.mark.parametrize(
    ("version", "declared"), [("2025-06-18", {}), (MODERN, {}), (MODERN, {"elicitation": {"url": {}}})]
)
def test_a_client_that_declares_none_is_not_shown_the_tool(line: Line, version: str, declared: Json) -> None:
    pipe, _ = line(version, declared)
    assert tools_of(pipe) == ["question_summary"]
    told = "DEBUG sayso.mcp_server.offer: Client does not support elicitation, 'question_ask' tool not available"
    pipe.log.wait_for(told)
    assert pipe.log.text.count(told) == 1
    assert "ERROR" not in pipe.log.text
    assert "WARNING" not in pipe.log.text


@pytest.mark.requirement("S-30")
@pytest.mark.parametrize("version", [HANDSHAKES[0], HANDSHAKES[-1]])
def test_a_call_without_forms_is_an_error_that_says_so(line: Line, version: str) -> None:
    pipe, _ = line(version, {})
    result = pipe.request("tools/call", name=TOOL, arguments={"question": "Can you hear me?"})
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": NO_FORM}]


@pytest.mark.requirement("S-30")
def test_a_modern_call_without_forms_names_the_missing_capability(line: Line) -> None:
    pipe, _ = line(MODERN, {})
    answer = pipe.response(pipe.begin("tools/call", name=TOOL, arguments={"question": "Can you hear me?"}))
    assert (answer["error"]["code"], answer["error"]["message"]) == (-32021, NO_FORM)
    assert answer["error"]["data"]["requiredCapabilities"] == {"elicitation": {}}


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_an_unknown_tool_is_an_error_that_names_those_this_client_has(line: Line, version: str) -> None:
    pipe, _ = line(version, {})
    for arguments in ({}, {"question": "x"}):
        error = pipe.response(pipe.begin("tools/call", name="ask_the_oracle", arguments=arguments))["error"]
        assert error["code"] == -32602
        assert error["message"] == "There is no tool 'ask_the_oracle'. The tools are question_summary."


@pytest.mark.requirement("S-31")
def test_without_any_client_the_server_says_so(place: Place) -> None:
    command = f"exec {SAYSO} server --profile swissarmyhammer <&- >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=place.environment, stderr=subprocess.PIPE, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "Standard input or output is closed" in done.stderr
    assert "Traceback" not in done.stderr


# What it keeps


@pytest.fixture(scope="module", params=[AUTO, LEGACY], ids=["auto", "legacy"])
def notebook(request: pytest.FixtureRequest) -> Iterator[tuple[ClientProgram, Path]]:
    """A client, and the project it works in, which holds nothing yet."""
    with new_place() as place, connected(request.param, place, "swissarmyhammer") as program:
        yield program, place.project


@pytest.mark.requirement("S-32", "S-33", "S-34", "S-35", "S-36", "S-37", "S-38")
def test_an_answer_is_a_file_of_its_own_in_the_project(notebook: tuple[ClientProgram, Path]) -> None:
    program, project = notebook
    began = datetime.now(UTC).replace(microsecond=0)
    result = ask(program, "Which target?", "staging")
    file = Path(result.structured["saved_to"])
    assert file.parent == project / ".swissarmyhammer" / "questions"
    named = datetime.strptime(file.name[:15] + "+0000", "%Y%m%d_%H%M%S%z")
    assert began <= named <= datetime.now(UTC)
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    assert first == f"# Saved at {named:%Y-%m-%d %H:%M:%S} UTC"
    data = yaml.safe_load("\n".join(rest))
    assert list(data) == ["timestamp", "question", "answer"]
    assert (data["question"], data["answer"]) == ("Which target?", "staging")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", data["timestamp"])
    assert datetime.fromisoformat(data["timestamp"]).replace(microsecond=0) == named


@pytest.mark.requirement("S-39", "S-40")
@pytest.mark.parametrize("text", NASTY)
def test_any_text_comes_back_as_it_went_in(notebook: tuple[ClientProgram, Path], text: str) -> None:
    program, _ = notebook
    file = Path(ask(program, f"{text}?", text).structured["saved_to"])
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert (data["question"], data["answer"]) == (f"{text}?", text)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.finding("F-48")
@pytest.mark.requirement("S-40")
def test_emoji_and_rare_letters_can_be_read_in_the_file_itself(notebook: tuple[ClientProgram, Path]) -> None:
    program, _ = notebook
    text = "Ja 😀 👩‍💻 🇩🇪 𠮷, not \\U0001F600"
    file = Path(ask(program, f"{text}?", text).structured["saved_to"])
    written = file.read_text(encoding="utf-8")
    assert "Ja 😀 👩‍💻 🇩🇪 𠮷, not" in written
    assert yaml.safe_load(written)["answer"] == text


@pytest.mark.requirement("S-41", "S-42")
def test_answers_of_the_same_second_stay_apart_and_none_is_touched_again(
    notebook: tuple[ClientProgram, Path],
) -> None:
    program, project = notebook
    folder = project / ".swissarmyhammer" / "questions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "by_hand.yaml").write_text("question: mine\nanswer: yes\n")
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files(folder)}
    program.answer_with(*(accept({"answer": f"answer {number}"}) for number in range(5)))
    keys = [program.call_start(TOOL, {"question": "At once?"}) for _ in range(5)]
    made = {Path(program.wait_result(key).structured["saved_to"]) for key in keys}
    assert len(made) == 5
    assert files(folder) == made | before.keys()
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in before} == before


@BOTH
@pytest.mark.requirement("S-43")
def test_an_answer_that_cannot_be_saved_is_told_with_the_reason(kind: ClientKind, place: Place) -> None:
    (place.project / ".swissarmyhammer").write_text("in the way")
    with connected(kind, place, "swissarmyhammer") as program:
        result = ask(program, "Where to?", "a precious answer")
        assert result.is_error
        assert "The answer could not be saved in " in result.text
        assert "Not a directory" in result.text or "File exists" in result.text
        assert "a precious answer" in result.text
        assert result.structured["answer"] == "a precious answer"
