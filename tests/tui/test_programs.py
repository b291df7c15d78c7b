"""Other programs of the person: editor, pager, clipboard. Real processes; a terminal is shown in tests/e2e."""

from __future__ import annotations

import pytest
from tests.tui.harness import NAME, Place, select

from sayso.tui.programs import editor, pager, told_of_utf_8

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "emacs -nw"}, ["emacs", "-nw"]),
        ({"EDITOR": "'/opt/my editor/bin/ed' -x"}, ["/opt/my editor/bin/ed", "-x"]),
        ({"EDITOR": "the editor's"}, ["the editor's"]),
    ],
)
def test_the_persons_own_editor_is_used(environ: dict[str, str], command: list[str]) -> None:
    assert editor(environ).words == command


def test_without_a_choice_a_common_program_is_used() -> None:
    assert editor({}).words[0] in ("nano", "vim", "vi")
    assert pager({}).words[0] in ("less", "more")
    assert pager({"PAGER": "most -s"}).words == ["most", "-s"]


@pytest.mark.parametrize(
    ("command", "environ", "told"),
    [
        (["less"], {"LC_ALL": "C"}, {"LESSCHARSET": "utf-8"}),
        (["/usr/bin/less", "-R"], {}, {"LESSCHARSET": "utf-8"}),
        (["less"], {"LESSCHARSET": "latin1"}, {}),
        (["less"], {"LESSCHARDEF": "8bcccbcc18b95.b"}, {}),
        (["most"], {}, {}),
    ],
)
def test_less_is_told_that_a_text_is_utf_8_where_the_person_says_nothing_else(
    command: list[str], environ: dict[str, str], told: dict[str, str]
) -> None:
    assert told_of_utf_8(command, environ) == told


async def test_copying_puts_question_and_draft_on_the_clipboard(place: Place) -> None:
    place.ask(select("Which *colour*?"), NAME, title="Looks")
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1", "shift+tab", "c")
        await anna.sees("Copied.")
        assert anna.app.clipboard == "Looks\n1. Which *colour*?\n   → Red\n2. What should the service be called?"


async def test_an_editor_or_pager_that_is_not_there_is_named_with_the_variable_that_chose_it(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox(environ={"EDITOR": "no-editor -x", "PAGER": "no-pager"}) as anna:
        await anna.press("v")
        await anna.sees("The program no-pager, which PAGER names, could not be started: No such file or directory")
        await anna.open()
        await anna.type("kept")
        await anna.press("ctrl+g")
        await anna.sees("no-editor, which EDITOR names, could not be started: No such file or directory", "kept")


async def test_without_a_choice_and_a_common_program_the_variable_to_set_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.press("v")
        await anna.sees("PAGER names no program, and more could not be started: No such file or directory")
