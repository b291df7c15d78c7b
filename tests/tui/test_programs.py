"""Other programs of the person: editor, pager, clipboard. Real processes; a terminal is shown in tests/e2e."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tui.harness import NAME, Place, select

from sayso.tui.programs import editor, pager

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "emacs -nw"}, ["emacs", "-nw"]),
        ({"EDITOR": "'/opt/my editor/bin/ed' -x"}, ["/opt/my editor/bin/ed", "-x"]),
    ],
)
def test_the_persons_own_editor_is_used(environ: dict[str, str], command: list[str]) -> None:
    assert editor(environ) == command


def test_without_a_choice_a_common_program_is_used() -> None:
    assert editor({})[0] in ("nano", "vim", "vi")
    assert pager({})[0] in ("less", "more")
    assert pager({"PAGER": "most -s"}) == ["most", "-s"]


async def test_copying_puts_question_and_draft_on_the_clipboard(place: Place) -> None:
    place.ask(select("Which *colour*?"), NAME, title="Looks")
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1", "shift+tab", "c")
        await anna.sees("Copied.")
        assert anna.app.clipboard == "Looks\n1. Which *colour*?\n   → Red\n2. What should the service be called?"


async def test_an_editor_that_is_not_there_is_said_to_be_missing(place: Place, tmp_path: Path) -> None:
    place.ask(NAME)
    async with place.inbox(environ={"VISUAL": str(tmp_path / "nowhere")}) as anna:
        await anna.open()
        await anna.type("kept")
        await anna.press("ctrl+g")
        await anna.sees("could not be started: No such file or directory", "kept")
