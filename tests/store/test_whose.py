"""A store is opened where nobody else owns it: they could read and change all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sayso.config import Config, load
from sayso.desks import open_desks
from sayso.errors import StoreUnavailable

ELSE = "belongs to another user"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """That of a person who has a store."""
    config = load(environ={"SAYSO_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}, cwd=tmp_path)
    with open_desks(config) as desks:
        desks.accounts.add_user("ada")
    return config


def be(user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another user of this machine ran this."""
    monkeypatch.setattr(os, "geteuid", lambda: user)


def opens(config: Config) -> bool:
    with open_desks(config) as desks:
        return [user.name for user in desks.accounts.users()] == ["ada"]


def test_the_store_of_another_user_is_refused(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    given_away(config.state_dir)
    config.state_dir.chmod(0o777)
    config.database.chmod(0o666)
    be(4243, monkeypatch)
    with pytest.raises(StoreUnavailable, match=f"{config.state_dir} {ELSE}"):
        opens(config)


def test_a_file_of_another_user_in_ones_own_folder_is_refused(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(config.state_dir, 4243, -1) if os.geteuid() == 0 else pytest.skip("only root gives files away")
    os.chown(config.database, 4242, -1)
    be(4243, monkeypatch)
    with pytest.raises(StoreUnavailable, match=f"{config.database} {ELSE}"):
        opens(config)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_everybody_can_write_is_refused(config: Config, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    place = config.state_dir if what == "folder" else config.database
    mine(config, monkeypatch)
    place.chmod(0o777 if what == "folder" else 0o666)
    with pytest.raises(StoreUnavailable, match=f"{place} can be written by everybody.*chmod go= {place}"):
        opens(config)
    place.chmod(0o700 if what == "folder" else 0o600)
    assert opens(config)


def test_a_folder_that_root_has_made_for_it_is_used(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes such")
    config.state_dir.chmod(0o777)
    be(4243, monkeypatch)
    assert opens(config), "as a volume of a container is"


def test_root_looks_after_the_store_of_somebody_else(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    given_away(config.state_dir)
    be(0, monkeypatch)
    assert opens(config)


def given_away(folder: Path) -> None:
    """To another user, where this is root, who alone can; else the one who looks is another."""
    if os.geteuid() == 0:
        for place in (folder, *folder.rglob("*")):
            os.chown(place, 4242, -1)


def mine(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        given_away(config.state_dir)
        be(4242, monkeypatch)
