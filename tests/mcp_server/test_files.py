"""Pictures and files of answers in results: what goes where, for which client."""

from __future__ import annotations

import base64
import random
import zlib
from pathlib import Path

from tests.asks.samples import AGENT, ANNA, RED, ask
from tests.test_pictures import PNG, chunk, drawn

from sayso.asks.desk import AskDesk
from sayso.asks.handed_files import with_places
from sayso.asks.model import Answer, Ask, Asker
from sayso.mcp_server.files import MOST_TEXT, handed, put_into
from sayso.mcp_server.replies import add, say_stopping
from sayso.pictures import MOST_BYTES, without_metadata
from sayso.protocol.results import ToolResult
from sayso.records import replace

REMOTE = replace(AGENT, agent="a-token")


def answered(desk: AskDesk, *files: tuple[str, bytes]) -> Ask:
    left = desk.leave(ask(f"What is in {files[0][0]}?"))
    added = tuple(desk.add_attachment(left.id, "anna", name, data) for name, data in files)
    return desk.answer(left.id, [replace(RED[0], attachments=added)], ANNA)


def notes(told: Ask) -> list[str]:
    answer = told.answer("1")
    assert isinstance(answer, Answer)
    return answer.note.splitlines()


def result_for(asker: Asker, desk: AskDesk, settled: Ask, folder: Path) -> ToolResult:
    told = ToolResult("The words.", {"outcome": "answered"})
    put_into(told, handed(desk, folder, settled, asker), asker)
    return told


def test_an_agent_that_may_be_elsewhere_gets_all_that_a_result_can_carry(desk: AskDesk, tmp_path: Path) -> None:
    long, binary = b"x" * (MOST_TEXT + 1), b"\0\1\2"
    settled = answered(desk, ("a.png", PNG), ("notes.txt", b"Hello."), ("long.txt", long), ("tool.bin", binary))
    files = handed(desk, tmp_path / "files", settled, REMOTE)
    assert not (tmp_path / "files").exists()
    told = result_for(REMOTE, desk, settled, tmp_path / "files")
    picture = {"type": "image", "data": base64.b64encode(without_metadata(PNG)).decode(), "mimeType": "image/png"}
    assert told.blocks == [picture, {"type": "text", "text": "\nAttached, notes.txt:\nHello."}]
    assert told.data == {"outcome": "answered"}
    elsewhere = "which cannot be handed over here: ask the person what is in it"
    assert notes(with_places(settled, files)) == [
        "[Attached: a.png (image/png), with this result]",
        "[Attached: notes.txt (text/plain), with this result]",
        f"[Attached: long.txt (text/plain), {elsewhere}]",
        f"[Attached: tool.bin (application/octet-stream), {elsewhere}]",
    ]


def test_a_picture_that_is_too_large_for_a_model_is_a_file_alone(desk: AskDesk, tmp_path: Path) -> None:
    side = int(MOST_BYTES**0.5) + 1
    rows = zlib.compress(random.Random(7).randbytes(side * (side + 1)), 1)
    body = drawn(chunk(b"IDAT", rows), width=side, height=side)
    settled = answered(desk, ("large.png", body), ("small.png", PNG))
    large, small = handed(desk, tmp_path / "files", settled, AGENT)
    assert (large.in_result, small.in_result) == (False, True)
    assert large.path
    assert large.path.stat().st_size > MOST_BYTES
    assert len(result_for(AGENT, desk, settled, tmp_path / "files").blocks) == 1


def test_what_is_said_beside_an_answer_with_a_picture_does_not_hide_the_answer(desk: AskDesk, tmp_path: Path) -> None:
    settled = answered(desk, ("a.png", PNG))
    for client, keeps in (("claude-code", False), ("codex-mcp-client", False), ("gemini-cli-mcp-client", True)):
        told = result_for(replace(AGENT, client=client), desk, settled, tmp_path / "files")
        add(told, "late_answers", "Answers to earlier questions have arrived.")
        say_stopping(told)
        # The model of a client that shows the data alone sees nothing else of a result that has any.
        assert ("structuredContent" in told.on_the_wire()) is keeps
        assert told.texts[:2] == ["The words.", "\nAnswers to earlier questions have arrived."]
        assert not keeps or (told.data and told.data["late_answers"] == "Answers to earlier questions have arrived.")


def test_data_goes_only_where_it_would_hide_a_picture(desk: AskDesk, tmp_path: Path) -> None:
    settled = answered(desk, ("a.png", PNG))
    plain = answered(desk, ("notes.txt", b"Hello."))
    for client, keeps in (("claude-code", False), ("codex-mcp-client", False), ("gemini-cli-mcp-client", True)):
        asker = replace(AGENT, client=client)
        assert (result_for(asker, desk, settled, tmp_path / "files").data is not None) == keeps
        told = result_for(asker, desk, plain, tmp_path / "files")
        assert (told.data is not None, told.blocks) == (True, [])


def test_what_cannot_be_written_is_said_and_still_handed_over(desk: AskDesk, tmp_path: Path) -> None:
    settled = answered(desk, ("a.png", PNG))
    (tmp_path / "files").write_text("in the way")
    (file,) = handed(desk, tmp_path / "files", settled, AGENT)
    assert (file.path, file.in_result) == (None, True)
