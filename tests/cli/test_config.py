"""`sayso config`."""

from __future__ import annotations

import pytest
from tests.cli.program import Home

from sayso.config import SETTINGS


def test_every_setting_is_shown_with_its_value_and_where_it_comes_from(home: Home) -> None:
    user = home.folder / ".config" / "sayso" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('keep_ended = "90m"\nlog_level = "debug"\n')
    (home.project / ".sayso").mkdir()
    ours = home.project / ".sayso" / "config.toml"
    ours.write_text('log_level = "warning"\nmax_questions = 7\n')
    home.trust()
    data = home.run("config", "--json", SAYSO_MAX_QUESTIONS="9").data
    found = {name: (item["value"], item["from"]) for name, item in data["settings"].items()}
    assert set(found) == set(SETTINGS)
    assert found["keep_ended"] == ("90m", str(user))
    assert found["log_level"] == ("warning", str(ours))
    assert found["max_questions"] == (9, "SAYSO_MAX_QUESTIONS")
    assert found["profile"] == ("all", "default")
    assert found["ask_timeout"] == ("none", "default")
    assert found["keep_unattended"] == ("7d", "default")
    assert found["history"] == (True, "default")
    assert data["files"]["your settings"] == {"found": True, "used": True, "path": str(user)}
    assert data["files"]["project settings"] == {"found": True, "used": True, "path": str(ours)}
    assert data["files"]["store"] == {"found": False, "used": False, "path": str(home.state / "sayso.db")}


def test_the_table_names_every_setting_and_file(home: Home) -> None:
    ran = home.run("config")
    assert ran.code == 0
    assert all(f"\n{name} " in ran.out for name in SETTINGS)
    for words in ("SAYSO_STATE_DIR", "absent", ".config/sayso/config.toml", "project/.sayso/config.toml"):
        assert words in ran.out


@pytest.mark.parametrize(
    ("address", "masked"),
    [
        ("postgresql://ada:secret@db/sayso", "postgresql://ada:***@db/sayso"),
        ("postgresql://ada:p@ss:secret@db:5432/sayso", "postgresql://ada:***@db:5432/sayso"),
        ("postgresql://db/sayso?user=ada&password=secret&x=1", "postgresql://db/sayso?user=ada&password=***&x=1"),
        ("postgresql://ada@db:5432/sayso", "postgresql://ada@db:5432/sayso"),
        ("host=db password=secret", "host=db password=***"),
    ],
)
def test_passwords_in_the_stores_address_are_masked(home: Home, address: str, masked: str) -> None:
    for arguments in (["config"], ["config", "--json"]):
        ran = home.run(*arguments, SAYSO_STORE=address)
        assert masked in ran.out
        assert "secret" not in ran.out


def test_where_notifications_go_is_shown_without_what_lets_one_send_there(home: Home) -> None:
    ran = home.run("config", SAYSO_NOTIFY_URL="https://ntfy.sh/secret", SAYSO_NOTIFY_APPRISE="discord://secret/token")
    assert "https://ntfy.sh/***" in ran.out
    assert "discord://***" in ran.out
    assert "secret" not in ran.out


def test_started_as_auq_the_profile_is_auq_unless_something_says_else(home: Home) -> None:
    def profile(program: str, **env: str) -> tuple[str, str]:
        item = home.run("config", "--json", program=program, **env).data["settings"]["profile"]
        return item["value"], item["from"]

    assert profile("sayso") == ("all", "default")
    assert profile("auq") == ("auq", "the command auq")
    assert profile("auq", SAYSO_PROFILE="all") == ("all", "SAYSO_PROFILE")
    (home.project / ".sayso").mkdir()
    (home.project / ".sayso" / "config.toml").write_text('profile = "all"')
    home.trust()
    assert profile("auq")[0] == "all"
