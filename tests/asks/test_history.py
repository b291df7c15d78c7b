"""Questions and answers as YAML files: whatever the text, it comes back as it went in, in every reader."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from sayso.asks import history
from sayso.errors import HistoryError

TEXTS = 1_000
WORDS = [
    *(
        "yes",
        "no",
        "null",
        "~",
        "true",
        "0x1F",
        "1e3",
        "0o17",
        "12:30:45",
        "2025-06-05",
        ".inf",
        "<<",
        "=",
        "---",
        "...",
    ),
    *(
        "- a",
        "? b",
        ": c",
        "# d",
        "!tag",
        "&a",
        "*a",
        "%YAML 1.1",
        "@e",
        "`f`",
        "|",
        ">",
        "[g]",
        "{h: i}",
        '"',
        "'",
        "\\",
    ),
    *(
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\t",
        "  ",
        " ",
        "\x00",
        "\x07",
        "\x1b[31m",
        "\x7f",
        "\x85",
        "\xa0",
        "\u2028",
        "\u2029",
    ),
    *(
        "\ufeff",
        "\ufffe",
        "\uffff",
        "\u200b",
        "\u202e",
        "é",
        "e\u0301",
        "ß",
        "Ж",
        "中文",
        "😀",
        "👩‍💻",
        "🇩🇪",
        "\U0010ffff",
    ),
    *(
        "C:\\Users\\x",
        "a: b",
        "key: value # comment",
        "\\n",
        "\\x41",
        "\\u0041",
        "\\U0001F600",
        "%s",
        "{}",
        "${HOME}",
        "Option A",
    ),
]
Reader = Callable[[str], Any]


def by_ruamel(text: str) -> Any:
    """The other library: pure Python, and YAML 1.2, where PyYAML reads 1.1 with a library in C."""
    return YAML(typ="safe", pure=True).load(text)


def by_pyyaml(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


READERS = pytest.mark.parametrize("reader", [by_pyyaml, by_ruamel])


def random_text(chance: random.Random) -> str:
    def piece() -> str:
        if chance.random() < 0.7:
            return chance.choice(WORDS)
        return chr(chance.choice([*range(0x300), *range(0x2000, 0x2100), *range(0x1F300, 0x1F400)]))

    return "".join(piece() for _ in range(chance.randrange(1, 12)))


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    chance = random.Random("a thousand texts")
    return [(random_text(chance), random_text(chance)) for _ in range(TEXTS)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> Path:
    """A project with a file for every pair."""
    project = tmp_path_factory.mktemp("project")
    for question, answer in pairs:
        history.save(project, question, answer)
    return project


@pytest.mark.requirement("S-39", "S-41")
@READERS
def test_a_thousand_files_read_back_equal(project: Path, pairs: list[tuple[str, str]], reader: Reader) -> None:
    files = list((project / history.FOLDER).iterdir())
    assert len(files) == TEXTS
    read = [reader(file.read_bytes().decode()) for file in files]
    assert all(list(one) == ["timestamp", "question", "answer"] for one in read)
    assert sorted((one["question"], one["answer"]) for one in read) == sorted(pairs)


@pytest.mark.requirement("S-54")
@READERS
def test_a_summary_of_a_thousand_pairs_reads_back_equal(
    project: Path, pairs: list[tuple[str, str]], reader: Reader
) -> None:
    summary = history.summarize(project)
    assert (summary.count, summary.total) == (TEXTS, TEXTS)
    entries = reader(summary.text)["entries"]
    assert sorted((one["question"], one["answer"]) for one in entries) == sorted(pairs)
    stamps = [one["timestamp"] for one in entries]
    assert stamps == sorted(stamps)


@pytest.mark.requirement("S-40")
def test_a_file_is_four_lines_that_a_person_can_read(tmp_path: Path) -> None:
    file = history.save(tmp_path, "Größe?", "zwei\nZeilen: 中文")
    _, timestamp, question, answer = file.read_text(encoding="utf-8").splitlines()
    assert timestamp.startswith('timestamp: "20')
    assert (question, answer) == ('question: "Größe?"', 'answer: "zwei\\nZeilen: 中文"')


def test_files_and_folders_are_the_persons_own(tmp_path: Path) -> None:
    file = history.save(tmp_path, "Whose?", "mine")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == [file.name], "nothing is left of writing it"


@pytest.mark.requirement("S-41", "S-42")
def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    first = history.save(tmp_path, "First?", "1")
    written = first.read_bytes()
    others = [history.save(tmp_path, "Again?", str(number)) for number in range(20)]
    assert len({first, *others}) == 21
    assert first.read_bytes() == written


def test_without_links_a_file_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that has none; a real one cannot be had in every place these tests run."""

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    files = {history.save(tmp_path, "In place?", str(number)) for number in range(5)}
    assert len(files) == 5
    assert history.summarize(tmp_path).count == 5


@pytest.mark.requirement("S-43")
def test_what_cannot_be_saved_is_told_with_the_answer_in_it(tmp_path: Path) -> None:
    (tmp_path / ".swissarmyhammer").mkdir()
    (tmp_path / history.FOLDER).write_text("a file in the way")
    with pytest.raises(HistoryError, match=r"The answer could not be saved in .*: File exists\..*was: precious"):
        history.save(tmp_path, "Where?", "precious")


def test_what_lies_outside_of_the_project_by_a_link_is_neither_told_nor_written_to(tmp_path: Path) -> None:
    other, cloned, third = (tmp_path / name for name in ("other", "cloned", "third"))
    file = history.save(other, "Which password?", "hunter2")
    cloned.mkdir()
    (cloned / history.FOLDER.parent).symlink_to(other / history.FOLDER.parent)
    (third / history.FOLDER).mkdir(parents=True)
    (third / history.FOLDER / "linked.yaml").symlink_to(file)
    assert [history.summarize(project).total for project in (other, cloned, third)] == [1, 0, 0]
    with pytest.raises(HistoryError, match=r"leads out of the project by a link\. The user's answer was: yes"):
        history.save(cloned, "Really?", "yes")
    assert list(file.parent.iterdir()) == [file]


def test_what_is_no_ordinary_file_of_ordinary_size_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / history.FOLDER
    history.save(tmp_path, "Here?", "yes")
    (folder / "folder.yaml").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "gone.yaml").symlink_to(folder / "nowhere")
    with (folder / "huge.yaml").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    assert history.summarize(tmp_path).count == 1


def test_a_file_may_hold_more_than_is_read_and_times_of_any_zone(tmp_path: Path) -> None:
    folder = tmp_path / history.FOLDER
    history.save(tmp_path, "Now?", "yes")
    for name, time in (("a", "2001-01-01T10:00:00+02:00"), ("b", "2001-01-01T09:00:00Z")):
        nested = f"tags: [one, {{two: 3}}]\nquestion: {name}?\ntimestamp: {time}\nmore: {{}}\nanswer: {name}\n"
        (folder / f"{name}.yaml").write_text(nested)
    told = [entry["question"] for entry in yaml.safe_load(history.summarize(tmp_path).text)["entries"]]
    assert told == ["a?", "b?", "Now?"]
