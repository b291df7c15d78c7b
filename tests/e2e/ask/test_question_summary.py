"""`question_summary`: every pair of the project as one YAML text, for every client, in every session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.ask.house import AUTO, LEGACY, connected
from tests.e2e.clients.driver import ClientProgram
from tests.e2e.clients.events import CallResult, Json, accept
from tests.e2e.stdio.harness import Place, new_place

TOOL = "question_summary"


@pytest.fixture(scope="module", params=[AUTO, LEGACY], ids=["auto", "legacy"])
def reader(request: pytest.FixtureRequest) -> Iterator[tuple[ClientProgram, Place]]:
    """A client that can show no forms, and its machine."""
    with new_place() as place, connected(request.param, place, "swissarmyhammer", elicitation=None) as program:
        yield program, place


@pytest.fixture
def program(reader: tuple[ClientProgram, Place]) -> ClientProgram:
    return reader[0]


@pytest.fixture
def folder(reader: tuple[ClientProgram, Place]) -> Path:
    """The project's folder of answers, empty."""
    folder = reader[1].project / ".swissarmyhammer" / "questions"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    return folder


def write(folder: Path, number: int, **more: str) -> None:
    """A file as a person would write it."""
    data = {"timestamp": f"2025-06-05T13:30:{number:02d}.000Z", "question": f"Q{number}", "answer": f"A{number}"}
    (folder / f"20250605_1330{number:02d}_question.yaml").write_text(yaml.safe_dump({**data, **more}))


def entries(result: CallResult) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(result.structured["summary"])["entries"]
    return found


@pytest.mark.requirement("S-45", "S-46", "S-48", "S-68", "S-69")
def test_it_is_listed_for_a_client_without_forms_and_explains_its_yaml(program: ClientProgram) -> None:
    (tool,) = program.list_tools()
    assert tool["name"] == TOOL
    assert list(tool["inputSchema"]["properties"]) == ["limit"]
    assert "required" not in tool["inputSchema"]
    assert "# Question/Answer History" in tool["description"]
    assert "YAML" in tool["description"]
    assert "For example: read the entries" in tool["description"]


@pytest.mark.requirement("S-46")
def test_it_is_listed_for_a_client_with_forms_too(swissarmyhammer: ClientProgram) -> None:
    assert TOOL in [tool["name"] for tool in swissarmyhammer.list_tools()]


@pytest.mark.requirement("S-47", "S-49", "S-50", "S-51", "S-52", "S-53", "S-54", "S-58")
def test_it_gives_all_pairs_as_yaml(program: ClientProgram, folder: Path) -> None:
    for number in (1, 2):
        write(folder, number)
    result = program.call(TOOL)
    lines = result.structured["summary"].splitlines()
    assert lines[0] == "# Question/Answer History"
    generated = re.fullmatch(r"# Generated: (\S+Z)", lines[1])
    assert generated
    datetime.fromisoformat(generated[1])
    assert lines[2] == "# Total Q&A Pairs: 2"
    assert lines[4] == "entries:"
    assert (result.structured["count"], result.structured["total"]) == (2, 2)
    assert entries(result) == [
        {"timestamp": "2025-06-05T13:30:01.000Z", "question": "Q1", "answer": "A1"},
        {"timestamp": "2025-06-05T13:30:02.000Z", "question": "Q2", "answer": "A2"},
    ]
    assert yaml.safe_load(result.text) == result.structured


@pytest.mark.requirement("S-44", "S-54")
def test_files_made_by_hand_are_read_as_they_are_meant(program: ClientProgram, folder: Path) -> None:
    (folder / "mine.yml").write_text("timestamp: 2020-01-01\nquestion: Deploy?\nanswer: no\n")
    (folder / "notes.yaml").write_text(
        "question: >\n  Which\n  one?\nanswer: |\n  This:\n  # that\nmore: [1, {a: b}]\n"
    )
    (folder / "bom.yaml").write_text("\ufeffquestion: 'It''s?'\nanswer: 3.10\n", encoding="utf-8")
    found = {(one["question"], one["answer"]) for one in entries(program.call(TOOL))}
    assert found == {("Deploy?", "no"), ("Which one?\n", "This:\n# that\n"), ("It's?", "3.10")}


@pytest.mark.requirement("S-55")
def test_the_oldest_pair_comes_first_whatever_the_files_are_called(program: ClientProgram, folder: Path) -> None:
    write(folder, 1, timestamp="2025-06-05T14:00:00+02:00")
    write(folder, 2, timestamp="2025-06-05T12:30:00Z")
    write(folder, 3, timestamp="2025-06-05T11:00:00Z")
    assert [one["question"] for one in entries(program.call(TOOL))] == ["Q3", "Q1", "Q2"]


@pytest.mark.requirement("S-56", "S-57", "S-58", "S-59")
@pytest.mark.parametrize(("limit", "kept"), [(0, []), (1, [4]), (2, [3, 4]), (4, [1, 2, 3, 4]), (99, [1, 2, 3, 4])])
def test_a_limit_keeps_the_newest_and_the_total_stays_visible(
    program: ClientProgram, folder: Path, limit: int, kept: list[int]
) -> None:
    for number in (1, 2, 3, 4):
        write(folder, number)
    result = program.call(TOOL, {"limit": limit})
    assert [one["question"] for one in entries(result)] == [f"Q{number}" for number in kept]
    assert (result.structured["count"], result.structured["total"]) == (len(kept), 4)
    assert "# Total Q&A Pairs: 4\n" in result.structured["summary"]


@pytest.mark.requirement("S-48")
@pytest.mark.parametrize("limit", [-1, 1.5, "3", True, [1]])
def test_a_limit_that_is_no_number_of_pairs_is_refused(program: ClientProgram, folder: Path, limit: object) -> None:
    arguments: Json = {"limit": limit}
    result = program.call(TOOL, arguments)
    assert result.is_error
    assert result.text.startswith("limit: expected a whole number from 0, got ")


@pytest.mark.requirement("S-48")
@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_limit_may_be_left_empty_or_be_written_as_a_fraction(
    program: ClientProgram, folder: Path, limit: float | None
) -> None:
    write(folder, 1)
    assert program.call(TOOL, {"limit": limit}).structured["count"] == 1


@pytest.mark.requirement("S-60")
def test_an_empty_folder_is_no_error(program: ClientProgram, folder: Path) -> None:
    result = program.call(TOOL)
    assert (result.structured["count"], entries(result), result.is_error) == (0, [], False)


@pytest.mark.requirement("S-61")
def test_a_missing_folder_is_no_error(program: ClientProgram, folder: Path) -> None:
    folder.rmdir()
    result = program.call(TOOL)
    assert (result.structured["count"], entries(result), result.is_error) == (0, [], False)


BROKEN = {
    "unclosed": b'question: "x\nanswer: y\n',
    "no mapping": b"- question: x\n- answer: y\n",
    "no answer": b"question: x\n",
    "answer is a list": b"question: x\nanswer: [y]\n",
    "not utf-8": b"question: x\nanswer: \xff\xfe\n",
    "nested too deep": b"answer: " + b"[" * 100_000,
    "alias bomb": b"a: &a [x, x]\nb: &b [*a, *a]\nquestion: *b\nanswer: *b\n",
    "two documents": b"question: x\nanswer: y\n---\nquestion: x\nanswer: y\n",
    "empty": b"",
    "tabs": b"\tquestion: x",
}


@pytest.mark.requirement("S-62")
def test_broken_files_are_left_out_and_the_rest_is_told(program: ClientProgram, folder: Path) -> None:
    for name, content in BROKEN.items():
        (folder / f"{name}.yaml").write_bytes(content)
    write(folder, 7)
    result = program.call(TOOL)
    assert [one["question"] for one in entries(result)] == ["Q7"]
    for name in BROKEN:
        program.wait_server_stderr(f"Left out {name}.yaml: ")


@pytest.mark.requirement("S-63")
def test_other_files_are_ignored(program: ClientProgram, folder: Path) -> None:
    write(folder, 1)
    for name in ("notes.txt", "a.json", "b.yaml.bak", "README", ".c.tmp"):
        (folder / name).write_text("question: x\nanswer: y\n")
    assert program.call(TOOL).structured["count"] == 1


@pytest.mark.requirement("S-64", "S-65")
@pytest.mark.parametrize("kind", [AUTO, LEGACY], ids=["auto", "legacy"])
def test_a_later_session_reads_what_an_earlier_one_asked(kind: Any, place: Place) -> None:
    with connected(kind, place, "swissarmyhammer") as first:
        first.answer_with(accept({"answer": "PostgreSQL"}))
        first.call("question_ask", {"question": "Which database should we use?"})
        assert first.call(TOOL).structured["count"] == 1
    with connected(kind, place, elicitation=None) as second:
        (entry,) = entries(second.call(TOOL))
    assert (entry["question"], entry["answer"]) == ("Which database should we use?", "PostgreSQL")
