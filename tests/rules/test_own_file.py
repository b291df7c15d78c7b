"""The person's own file as a text: one rule taken out of it, and another text in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.errors import InvalidInput
from sayso.rules.own_file import CHANGED, made_ready, read_own, without_rule

MINE = """\
# My rules.

# Added on 2026-11-01 by ada for Bash: npm test (ask 1234abcd)
[[rule]]
allow = [
  "Bash(npm test *)",  # all of them
]
[rule.when]
project = "/srv/shop"

# About the network.
[[rule]]
deny = ["WebFetch(domain:evil.example)"]

[groups]
release = ["ada"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "rules.toml"
    path.parent.mkdir()
    path.write_text(MINE)
    return path


def test_a_rule_is_taken_out_with_its_note_and_the_comments_of_others_stay(file: Path) -> None:
    text = without_rule(read_own(file), 4)
    assert text == "# My rules.\n\n# About the network." + MINE.partition("# About the network.")[2]
    text = without_rule(read_own(file), 12)
    assert "evil" not in text
    assert "# About the network.\n" in text
    assert text.endswith('[groups]\nrelease = ["ada"]\n')


@pytest.mark.parametrize("line", [0, 1, 5, 99])
def test_where_no_rule_begins_nothing_is_taken_out(file: Path, line: int) -> None:
    with pytest.raises(InvalidInput, match="no rule on this line"):
        without_rule(read_own(file), line)


def test_a_rule_whose_end_is_not_certain_is_left_to_the_person(file: Path) -> None:
    file.write_text('[[rule]]\nallow = ["Bash(ls)"]\nbecause = """\n[groups]\nwhy"""\n')
    with pytest.raises(InvalidInput, match="by itself"):
        without_rule(read_own(file), 1)


def save(file: Path, text: str, tmp_path: Path, *, meanwhile: str = "") -> None:
    own = read_own(file)
    with made_ready(own, text, tmp_path / "state") as put:
        if meanwhile:
            file.write_text(meanwhile)
        put()


def test_a_text_is_saved_as_it_is_and_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    save(link, '[[rule]]\nask = ["Bash"]', tmp_path)
    assert file.read_text() == '[[rule]]\nask = ["Bash"]'
    assert link.is_symlink()
    assert [one.name for one in file.parent.iterdir()] == ["rules.toml"]


def test_lines_that_end_as_windows_ends_them_stay_so(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf[[rule]]\r\nask = ["Bash"]\r\n')
    assert read_own(file).text == '[[rule]]\nask = ["Bash"]\n'
    save(file, '[[rule]]\ndeny = ["Bash"]\n', tmp_path)
    assert file.read_bytes() == b'[[rule]]\r\ndeny = ["Bash"]\r\n'


def test_what_an_editor_saves_meanwhile_is_not_overwritten(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=CHANGED):
        save(file, "", tmp_path, meanwhile="# by an editor\n")
    assert file.read_text() == "# by an editor\n"
    own = read_own(file)
    file.write_text("# again\n")
    with pytest.raises(InvalidInput, match=CHANGED), made_ready(own, "", tmp_path / "state"):
        raise AssertionError("it was made ready")
    assert file.read_text() == "# again\n"


def test_a_text_with_a_fault_is_not_even_made_ready(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="exactly one of allow, ask and deny"):
        save(file, "[[rule]]\n", tmp_path)
    with pytest.raises(InvalidInput, match="more than"):
        save(file, "#" * (1024 * 1024 + 1), tmp_path)
    assert file.read_text() == MINE


def test_a_file_that_is_no_text_or_that_others_can_write_cannot_be_edited(file: Path) -> None:
    assert read_own(file).why_not == ""
    file.chmod(0o666)
    assert f"somebody else can write {file}" in read_own(file).why_not
    file.chmod(0o600)
    file.write_bytes(b"\xff\xfe")
    assert "UTF-8" in read_own(file).why_not
    file.unlink()
    assert (read_own(file).text, read_own(file).why_not) == ("", "")
    file.mkdir()
    assert "regular file" in read_own(file).why_not
