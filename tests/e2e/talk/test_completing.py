"""Completion in the field for messages: files of the project and commands of the agent."""

from __future__ import annotations

import subprocess

import pytest
from playwright.sync_api import expect
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import Stage

pytestmark = pytest.mark.usefixtures("read_quickly")

RIGHT_TO_LEFT = "\u202e"


def test_files_are_those_of_the_project_without_what_git_ignores_and_those_of_others_are_nobodys(stage: Stage) -> None:
    visitor, number, folder = stage.visitor(), stage.project("files", ask_user=False), stage.folder / "files"
    for name in ("src/checkout.py", "docs/check.md", "build/check.o", "two words", f"check{RIGHT_TO_LEFT}md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    (folder / ".gitignore").write_text("build\n")
    (stage.folder / "check_outside").touch()
    subprocess.run(["git", "init", "-q", folder], check=True)
    conversation = visitor.start(number, "say Done")
    stage.ended(conversation)
    (folder / "checked_later").touch()
    assert _values(visitor.get(f"/talk/{conversation}/files?q=CHECK").data) == [
        "@checked_later",
        "@docs/check.md",
        "@src/checkout.py",
    ]
    assert _values(visitor.get(f"/talk/{conversation}/files?q=../").data) == []
    assert visitor.get(f"/talk/{conversation}/commands").data["options"][0] == {
        "value": "/compact",
        "about": "Clear<U+202E> the history",
    }
    stage.house.accounts.add_user("eve")
    for what in ("files", "commands"):
        assert stage.visitor("eve").get(f"/talk/{conversation}/{what}").status == 404


def _values(data: dict[str, list[dict[str, str]]]) -> list[str]:
    return [option["value"] for option in data["options"]]


def test_a_list_completes_what_is_written_and_enter_in_it_sends_nothing(stage: Stage, sign_in: SignIn) -> None:
    number, folder = stage.project("completed", ask_user=False), stage.folder / "completed"
    for name in ("note.txt", "north.txt"):
        (folder / name).touch()
    conversation = stage.visitor().start(number, "say Done")
    stage.ended(conversation)
    page = sign_in(f"/talk/{conversation}")
    field, options = page.locator("#prompt"), page.locator("[data-completions] [role=option]")
    field.press_sequentially("say @no")
    expect(options).to_have_text(["@note.txt", "@north.txt"])
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(field).to_have_attribute("aria-activedescendant", "completion-0")
    field.press("ArrowDown")
    expect(page.locator("[aria-selected=true]")).to_have_text("@north.txt")
    field.press("Control+Enter")
    expect(field).to_have_value("say @north.txt ")
    expect(options).to_have_count(0)
    field.press_sequentially("and @note")
    expect(options).to_have_text(["@note.txt"])
    field.press("Escape")
    expect(options).to_have_count(0)
    expect(field).to_have_value("say @north.txt and @note")
    field.fill("")
    field.press_sequentially("/re")
    expect(options).to_have_text(["/reviewReview a change"])
    options.click()
    expect(field).to_have_value("/review ")
    expect(field).to_be_focused()
    assert len(stage.runs.turns(conversation, stage.latest(conversation).user)) == 1
    # The message that begins a conversation is completed too, by what the last one in the same project knew.
    page.goto("/talk")
    field.fill("")
    page.get_by_label("Project").select_option(str(number))
    field.press_sequentially("/re")
    expect(options).to_have_text(["/reviewReview a change"])
    field.press("Tab")
    field.press_sequentially("@nor")
    options.click()
    expect(field).to_have_value("/review @north.txt ")
    assert stage.visitor("eve").get(f"/projects/{number}/files?q=").status == 404
