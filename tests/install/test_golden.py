"""For every client: what its file says before and after, again after a second time, and after it was taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.install.golden import after, before, machine, registration

from sayso.errors import CannotEdit
from sayso.install.ledger import Ledger
from sayso.install.notation import parsed, with_entry
from sayso.install.part import Done
from sayso.install.registration import Registration
from sayso.install.targets import TARGETS, Target

EVERY_CLIENT = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.key)
STARTS = pytest.mark.parametrize("start", ["empty", "ordinary"])
OTHER = {"command": "other"}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.json")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def given(target: Target, start: str, home: Path) -> Registration:
    """The client on a machine, with its file as it is at the start."""
    piece = registration(target, machine(home))
    data = before(target, start)
    if data is not None:
        piece.part.path.parent.mkdir(parents=True, exist_ok=True)
        piece.part.path.write_bytes(data)
    return piece


def everything(home: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(home.rglob("*"))}


@STARTS
@EVERY_CLIENT
def test_an_entry_is_added_once_and_taken_back_to_the_byte(
    target: Target, start: str, home: Path, ledger: Ledger
) -> None:
    piece = given(target, start, home)
    at_first = everything(home)
    assert piece.add(ledger) is Done.ADDED
    assert piece.part.path.read_bytes() == after(target, start)
    with_it = everything(home)
    assert piece.add(ledger) is Done.ALREADY
    assert everything(home) == with_it
    assert piece.remove(ledger) is Done.RESTORED
    assert everything(home) == at_first


@EVERY_CLIENT
def test_a_file_that_cannot_be_read_is_left_alone_with_a_clear_message(
    target: Target, home: Path, ledger: Ledger
) -> None:
    piece = given(target, "broken", home)
    at_first = everything(home)
    for act in (piece.add, piece.remove):
        with pytest.raises(CannotEdit) as caught:
            act(ledger)
        assert str(piece.part.path) in str(caught.value)
        assert "left as it is" in str(caught.value)
    assert everything(home) == at_first


@EVERY_CLIENT
def test_a_copy_of_the_file_lies_beside_it_until_it_is_put_back(target: Target, home: Path, ledger: Ledger) -> None:
    piece = given(target, "ordinary", home)
    piece.add(ledger)
    copy = piece.part.path.with_name(piece.part.path.name + ".before-sayso")
    assert copy.read_bytes() == before(target, "ordinary")


@EVERY_CLIENT
def test_what_others_added_since_stays_when_the_entry_is_taken_back(target: Target, home: Path, ledger: Ledger) -> None:
    piece = given(target, "ordinary", home)
    piece.add(ledger)
    path, other = piece.part.path, (*target.table, "other")
    text = path.read_bytes().decode().removeprefix("\ufeff")
    path.write_bytes(with_entry(target.notation, text, other, OTHER).encode())
    assert piece.remove(ledger) is Done.REMOVED
    first = (before(target, "ordinary") or b"").decode().removeprefix("\ufeff")
    left = path.read_bytes().decode()
    assert parsed(target.notation, left) == parsed(target.notation, with_entry(target.notation, first, other, OTHER))
    lines = [line for line in first.splitlines() if target.table[0] not in line]
    assert all(line.rstrip(",") in left for line in lines)


@EVERY_CLIENT
def test_an_older_entry_is_brought_up_to_date_and_keeps_what_a_person_added(
    target: Target, home: Path, ledger: Ledger
) -> None:
    piece = given(target, "ordinary", home)
    old = {**piece.part.wanted(), "mine": "kept", target.shape.command: ["/old"] if not target.shape.args else "/old"}
    text = piece.part.path.read_bytes().decode().removeprefix("\ufeff")
    piece.part.path.write_bytes(with_entry(target.notation, text, piece.part.steps, old).encode())
    assert piece.add(ledger) is Done.CHANGED
    assert piece.part.found(piece.part.path.read_text("utf-8")) == {**piece.part.wanted(), "mine": "kept"}
    assert piece.remove(ledger) is Done.REMOVED
    assert not piece.part.is_in(piece.part.path.read_text("utf-8"))
