"""`sayso config`."""

from __future__ import annotations

import pytest
from tests.cli.program import Home

from sayso.cli.setting_lines import as_toml, with_setting, without_setting
from sayso.config import SETTINGS
from sayso.errors import ConfigError
from sayso.setting_values import toml


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


FILE = """\
# who I am
person = "Ada # not a comment"  # me

redact = [
  "a]b",  # first
  "c",
]
# below
[keys]
send = "x"
person = "another's"
"""


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("person", "Bob", 'person = "Bob"  # me\n'),
        ("redact", '["z"]', 'redact = ["z"]\n'),
        ("history", "false", "history = false\n"),
        ("max_options", "7", "max_options = 7\n"),
        ("keep_ended", "30d", 'keep_ended = "30d"\n'),
    ],
)
def test_a_setting_is_set_where_it_stands_or_before_all_tables_and_all_else_stays(
    key: str, value: str, line: str
) -> None:
    after = with_setting(FILE, key, as_toml(value))
    assert line in after
    assert after.count(key) == FILE.count(key) + (key not in ("person", "redact"))
    assert toml(after) == toml(FILE) | toml(line)
    for comment in ("# who I am", "  # me", "# below\n[keys]"):
        assert comment in after


def test_a_setting_is_taken_out_with_all_its_lines() -> None:
    after = without_setting(FILE, "redact")
    assert after == FILE.replace('redact = [\n  "a]b",  # first\n  "c",\n]\n', "")
    assert without_setting(after, "redact") == after
    assert with_setting("", "person", '"Ada"') == 'person = "Ada"\n'
    assert with_setting("a = 1", "b", "2") == "a = 1\nb = 2\n"


@pytest.mark.parametrize("text", ["[person]\na = 1\n", "person.a = 1\n"])
def test_what_would_touch_something_else_is_not_changed(text: str) -> None:
    with pytest.raises(ConfigError, match="Edit the file"):
        with_setting(text, "person", '"Ada"')


def test_settings_are_set_and_unset_in_the_persons_file_through_its_link(home: Home) -> None:
    real, file = home.folder / "dotfiles.toml", home.folder / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    real.write_text("# mine\nmax_options = 3\n")
    file.symlink_to(real)
    assert home.run("config", "set", "keep_ended", "30d").code == 0
    assert real.read_text() == '# mine\nmax_options = 3\nkeep_ended = "30d"\n'
    assert file.is_symlink()
    assert home.run("config", "--json").data["settings"]["keep_ended"]["value"] == "30d"
    assert "SAYSO_KEEP_ENDED" in home.run("config", "set", "keep_ended", "20d", SAYSO_KEEP_ENDED="9d").err
    assert home.run("config", "unset", "keep_ended").code == 0
    assert real.read_text() == "# mine\nmax_options = 3\n"


def test_what_a_value_without_a_unit_means_is_told(home: Home) -> None:
    assert "keep_ended is now 30s." in home.run("config", "set", "keep_ended", "30").err
    assert "keep_ended is now 9d." in home.run("config", "set", "keep_ended", "20d", SAYSO_KEEP_ENDED="9d").err
    secret = home.run("config", "set", "notify_url", "https://ntfy.sh/a-secret").err
    assert "notify_url is now https://ntfy.sh/***." in secret
    assert "a-secret" not in secret
    asked = home.run("config", "get", "keep_ended")
    assert (asked.code, asked.error) == (2, "Error: There is no command 'get'. `sayso config` alone shows it.")


def test_what_a_project_is_set_to_holds_at_once_and_only_what_it_may_choose(home: Home) -> None:
    ran = home.run("config", "set", "--project", "max_options", "6")
    assert ran.code == 0, ran.err
    assert (home.project / ".sayso" / "config.toml").read_text() == "max_options = 6\n"
    assert home.run("config", "--json").data["settings"]["max_options"]["value"] == 6
    refused = home.run("config", "set", "--project", "person", "Eve")
    assert (refused.code, refused.error) == (
        2,
        "Error: person may not be set by a project, only by you. Leave --project out.",
    )


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["set", "keep_endet", "1d"], 2, "Error: There is no setting 'keep_endet'. Did you mean keep_ended?"),
        (["set", "keep_ended", "soon"], 2, "Error: keep_ended is 'soon'; it must be a time such as"),
        (["unset", "nothing-like-it"], 2, "Error: There is no setting 'nothing-like-it'."),
    ],
)
def test_wrong_names_and_values_change_nothing(home: Home, arguments: list[str], code: int, error: str) -> None:
    ran = home.run("config", *arguments)
    assert ran.code == code
    assert ran.error.startswith(error)
    assert not (home.folder / ".config").exists()


def test_an_agent_changes_no_settings(home: Home) -> None:
    ran = home.run("config", "set", "keep_ended", "1d", CLAUDECODE="1")
    assert ran.code == 5
    assert not (home.folder / ".config").exists()


def test_a_store_that_cannot_be_reached_does_not_keep_anybody_from_naming_another(home: Home) -> None:
    assert home.run("config", "set", "store", "postgresql://u:secret@127.0.0.1:1/none").code == 0
    assert home.run("list").code != 0
    assert home.run("config", "unset", "store", CLAUDECODE="1").code == 5
    assert home.run("config", "unset", "store").code == 0
    assert home.run("list").code == 0


@pytest.mark.parametrize("words", [["set", "state_dir", "{}/state"], ["unset", "state_dir"], ["set", "theme", "dark"]])
def test_a_state_folder_that_cannot_be_used_does_not_keep_anybody_from_changing_settings(
    home: Home, words: list[str]
) -> None:
    (home.folder / "in-the-way").write_text("not a folder")
    file = home.folder / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(before := f'state_dir = "{home.folder}/in-the-way/state"\n')
    spoken = [word.format(home.folder) for word in words]
    assert home.run("list", SAYSO_STATE_DIR="").code == 7
    assert home.run("config", *spoken, SAYSO_STATE_DIR="", CLAUDECODE="1").code == 5
    assert file.read_text() == before
    ran = home.run("config", *spoken, SAYSO_STATE_DIR="")
    assert (ran.code, ran.err.count("Error")) == (0, 0), ran.err
    assert file.read_text() != before
    if words[1] == "state_dir":
        assert home.run("list", SAYSO_STATE_DIR="").code == 0


def test_what_a_person_writes_into_a_project_is_written_though_the_store_cannot_note_it(home: Home) -> None:
    home.state.write_text("not a folder")
    for words, file in (
        ("config set --project max_options 6", "config.toml"),
        ("tools init git", "tools/git.json"),
    ):
        ran = home.run(*words.split())
        assert ran.code == 0, ran.err
        assert (home.project / ".sayso" / file).exists()
        assert "They are not used until you trust them: sayso trust" in ran.err


@pytest.mark.parametrize(
    ("line", "repair"),
    [
        ('keep_ended = "soon"', ["set", "keep_ended", "30d"]),
        ('keep_ended = "soon"', ["unset", "keep_ended"]),
        ('keep_endet = "30d"', ["unset", "keep_endet"]),
    ],
)
def test_a_setting_that_keeps_all_from_starting_can_be_mended_by_the_command(
    home: Home, line: str, repair: list[str]
) -> None:
    file = home.folder / ".config" / "sayso" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f"{line}\n")
    assert home.run("list").code == 2
    assert home.run("config", "set", "theme", "dark").code == 2
    assert home.run("config", *repair, CLAUDECODE="1").code == 5
    assert file.read_text() == f"{line}\n"
    assert home.run("config", *repair).code == 0
    assert home.run("list").code == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("store", "host=127.0.0.1 user=sayso password=hunter2"),
        ("store", "hunter2@db.example.org/sayso"),
        ("notify_url", "hooks.example.org/services/hunter2"),
    ],
)
def test_no_error_tells_the_secret_of_a_setting_that_is_wrong(home: Home, key: str, value: str) -> None:
    for ran in (home.run("list", **{f"SAYSO_{key.upper()}": value}), home.run("config", "set", key, value)):
        assert ran.code == 2
        assert "it must be" in ran.err
        assert "hunter2" not in ran.err


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("store", "/x", "VALUE: store is not an address; it must be a postgresql:// address, or empty for SQLite"),
        ("store", "sqlite:///x", "store begins with 'sqlite'; it must be a postgresql:// address"),
        ("keys", "foo=X", "keys has 'foo', which no key does"),
        ("keys", "reject=Q,allow=Y", "keys has reject = 'allow=Y', which is no key"),
        ("keys", "allow=enter", "A permission takes letters only"),
    ],
)
def test_what_would_keep_sayso_from_starting_is_not_set(home: Home, key: str, value: str, told: str) -> None:
    ran = home.run("config", "set", key, value)
    assert ran.code == 2
    assert told in ran.err
    assert home.run("config", "--json").code == 0
    assert value not in home.run("config", "--json").out
