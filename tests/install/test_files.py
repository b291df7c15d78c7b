"""Other programs' files on disk: links, modes, copies, and somebody who writes at the same moment."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from tests.install.golden import SERVER, machine, registration

from sayso.errors import CannotEdit
from sayso.install import files
from sayso.install.ledger import Ledger
from sayso.install.machine import Machine
from sayso.install.part import Done
from sayso.install.registration import Registration
from sayso.install.targets import BY_KEY, Scope


@pytest.fixture
def on(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    return machine(home)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "installed.json")


def cursor(on: Machine, text: str | None = "{}\n") -> Registration:
    piece = registration(BY_KEY["cursor"], on)
    if text is not None:
        piece.part.path.parent.mkdir()
        piece.part.path.write_text(text)
    return piece


def test_a_link_stays_a_link_and_the_file_behind_it_is_changed(on: Machine, ledger: Ledger) -> None:
    piece = cursor(on)
    behind = on.home / "dotfiles.json"
    piece.part.path.rename(behind)
    piece.part.path.symlink_to(behind)
    piece.add(ledger)
    assert piece.part.path.is_symlink()
    assert "sayso" in behind.read_text()
    piece.remove(ledger)
    assert piece.part.path.is_symlink()
    assert behind.read_text() == "{}\n"


def test_the_mode_of_the_file_and_of_its_copy_stays(on: Machine, ledger: Ledger) -> None:
    piece = cursor(on)
    piece.part.path.chmod(0o640)
    piece.add(ledger)
    for path in piece.part.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_was_not_there_is_made_for_its_owner_alone(on: Machine, ledger: Ledger) -> None:
    piece = cursor(on, None)
    piece.add(ledger)
    assert stat.S_IMODE(piece.part.path.stat().st_mode) == 0o600
    piece.remove(ledger)
    assert not piece.part.path.parent.exists()


def test_what_somebody_else_writes_at_the_same_moment_is_not_overwritten(on: Machine) -> None:
    path = on.home / "file"
    path.write_bytes(b"theirs")
    with pytest.raises(CannotEdit, match="changed while this ran"):
        files.write(path, b"ours", expected=b"what we read")
    assert path.read_bytes() == b"theirs"
    assert list(on.home.glob(".file*")) == []


def test_an_earlier_copy_is_never_overwritten(on: Machine, ledger: Ledger) -> None:
    piece = cursor(on)
    copy = piece.part.path.with_name("mcp.json.before-sayso")
    copy.write_text("precious")
    piece.add(ledger)
    piece.remove(ledger)
    assert copy.read_text() == "precious"
    assert piece.part.path.read_text() == "{}\n"


def test_without_the_note_of_what_was_done_the_entry_is_cut_out(on: Machine, ledger: Ledger, tmp_path: Path) -> None:
    piece = cursor(on, '{\n  "mcpServers": {}\n}\n')
    piece.add(ledger)
    assert piece.remove(Ledger(tmp_path / "another")) is Done.REMOVED
    assert piece.part.path.read_text() == '{\n  "mcpServers": {}\n}\n'


def test_a_project_gets_its_own_entry_and_the_persons_file_stays_untouched(on: Machine, ledger: Ledger) -> None:
    piece = registration(BY_KEY["claude-code"], on, Scope.PROJECT)
    piece.add(ledger)
    assert piece.part.path == on.project / ".mcp.json"
    assert [path.name for path in on.home.iterdir()] == ["project"]


def test_where_the_clients_own_command_fails_its_file_is_edited(on: Machine, ledger: Ledger) -> None:
    failing = on.home / "bin"
    failing.mkdir()
    (failing / "claude").write_text("#!/bin/sh\nexit 3\n")
    (failing / "claude").chmod(0o755)
    with_command = Machine(home=on.home, project=on.project, system="linux", environ={"PATH": str(failing)})
    piece = Registration(target=BY_KEY["claude-code"], scope=Scope.USER, machine=with_command, server=SERVER)
    assert piece.own is not None
    assert piece.add(ledger) is Done.ADDED
    assert piece.registered() is not None
    assert piece.remove(ledger) is Done.RESTORED
    assert not piece.part.path.exists()
