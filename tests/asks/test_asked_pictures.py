"""Pictures that an agent shows with the options of a question: from its project alone, as they were when it asked."""

from __future__ import annotations

import base64
import os
import struct
from pathlib import Path

import pytest
from tests.asks.samples import AGENT, ANNA
from tests.e2e.programs.real_pictures import with_a_place
from tests.test_pictures import PNG

from sayso.asks.asked_pictures import MOST, read
from sayso.asks.desk import AskDesk
from sayso.asks.model import Attachment, Kind, NewAsk, Option, Question
from sayso.asks.words import with_previews
from sayso.errors import InvalidInput, NotFound
from sayso.pictures import MOST_BYTES, without_metadata

BASE64 = base64.b64encode(PNG).decode()


def asking(*images: str) -> NewAsk:
    options = [
        Option(id=str(number), label=f"Layout {number}", picture=Attachment(id="", name=image))
        for number, image in enumerate(images, start=1)
    ]
    question = Question(id="1", text="Which?", kind=Kind.SELECT, options=tuple(options))
    return NewAsk(tool="ask_user", questions=(question,), asker=AGENT)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "shots").mkdir(parents=True)
    (tmp_path / "project" / "shots" / "a.png").write_bytes(with_a_place(PNG))
    (tmp_path / "secret.png").write_bytes(PNG)
    return tmp_path / "project"


@pytest.mark.parametrize("image", ["shots/a.png", BASE64, f"data:image/jpeg;base64,{BASE64}"])
def test_what_is_shown_is_what_was_asked_whatever_becomes_of_the_file(desk: AskDesk, project: Path, image: str) -> None:
    new = read(asking(image), project)
    held = desk.hold(new)
    (project / "shots" / "a.png").write_bytes(b"something else")
    (picture,) = held.ask.pictures()
    assert (picture.width, picture.height, picture.media) == (192, 192, "image/png")
    assert desk.attachment(held.ask.id, picture.id)[1] == without_metadata(PNG)
    with pytest.raises(NotFound):
        desk.attachment(held.ask.id, "0" * 32, ANNA.person)


def test_the_same_question_with_the_same_picture_is_taken_up_again_and_with_another_is_not(
    desk: AskDesk, project: Path
) -> None:
    first = desk.leave(read(asking("shots/a.png"), project))
    assert desk.hold(read(asking(BASE64), None)).ask.id != first.id
    assert desk.hold(read(asking("shots/a.png"), project)).ask.id == first.id


def test_only_regular_files_inside_the_project_are_read(project: Path) -> None:
    (project / "out.png").symlink_to(project.parent / "secret.png")
    (project / "in.png").symlink_to(project / "shots" / "a.png")
    (project / "up").symlink_to(project.parent)
    os.mkfifo(project / "pipe.png")
    (project / "large.png").write_bytes(PNG + b"\0" * MOST_BYTES)
    (project / "page.png").write_bytes(b"<svg onload=alert(1)>")
    assert read(asking("in.png", str(project / "in.png")), project).files
    for image, why in [
        ("out.png", "is not in the project"),
        ("up/secret.png", "is not in the project"),
        ("../secret.png", "is not in the project"),
        (str(project.parent / "secret.png"), "is not in the project"),
        ("/etc/passwd", "is not in the project"),
        ("gone.png", "cannot be read: No such file or directory"),
        ("pipe.png", "cannot be read: it is not a regular file"),
        ("shots", "cannot be read"),
        ("a\0b", "cannot be read"),
        ("large.png", "is larger than 3.5 MB"),
        ("page.png", "is no PNG, JPEG, GIF or WebP picture, by its content"),
        ("data:image/png;base64,!", "expected a path in the project or a picture as base64"),
    ]:
        with pytest.raises(InvalidInput) as refused:
            read(asking("shots/a.png", image), project)
        (problem,) = refused.value.problems
        assert problem.path == "options[1].image"
        assert why in problem.text


def test_who_may_be_on_another_machine_names_no_path(project: Path) -> None:
    with pytest.raises(InvalidInput, match=r"Give the picture as base64"):
        read(asking("shots/a.png"), None)
    many = [b"GIF89a" + struct.pack("<HH", width, 1) + b"\0\0\0;" for width in range(1, 20)]
    with pytest.raises(InvalidInput, match=f"at most {MOST} pictures"):
        read(asking(*(f"data:,{base64.b64encode(each).decode()}" for each in many)), None)


def test_a_picture_that_was_not_read_is_not_asked(desk: AskDesk) -> None:
    with pytest.raises(InvalidInput, match="no pictures can be shown this way"):
        desk.hold(asking("shots/a.png"))


def test_previews_are_read_with_their_question_and_leave_no_fence() -> None:
    options = (Option(id="1", label="A", preview="```\n# not a heading\n```"), Option(id="2", label="B"))
    shown = with_previews(Question(id="1", text="Which?", options=options))
    assert shown == "Which?\n\n**A**\n\n````\n```\n# not a heading\n```\n````"
