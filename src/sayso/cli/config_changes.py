"""`sayso config set` and `unset`: one setting in the person's file, or in the project's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path

from sayso.agent_guard import refuse_agents_anywhere
from sayso.brought import brought
from sayso.cli.program import settings
from sayso.cli.setting_lines import as_toml, with_setting, without_setting
from sayso.cli.terminal import say
from sayso.cli.texts import tr, translated
from sayso.cli.trusting import trust_changes
from sayso.config import SETTINGS, STORES, Config, settings_of, told, unknown_store, user_file
from sayso.errors import ConfigError
from sayso.files import replace_file
from sayso.setting_values import toml
from sayso.text import did_you_mean, one_line

Edit = Callable[[str], str]
_WANTED = "change settings"


class Whose(Enum):
    """Whose settings file is changed."""

    PERSON = "yours"
    PROJECT = "the project's"


def set_setting(whose: Whose, key: str, value: str) -> None:
    """Set it, if the value is one that it takes."""
    _check_name(key)
    if whose is Whose.PROJECT and not SETTINGS[key].metadata["anywhere"]:
        raise ConfigError(f"{key} may not be set by a project, only by you. Leave --project out.")
    try:
        SETTINGS[key].metadata["read"](value)
    except ValueError as error:
        raise ConfigError(f"{key} is {told(key, value)}; it must be {error}.") from None
    _check_for_others(key, value)
    _change(whose, key, lambda text: with_setting(text, key, as_toml(value)))


def _check_for_others(key: str, value: str) -> None:
    """What is wrong with it only for those who use it: they would not start any more."""
    if key == "store" and value and not value.startswith(STORES):
        raise ConfigError(unknown_store("VALUE", value))
    if key == "keys":
        from sayso.tui.keys import Keys  # which nothing else here needs

        Keys(dict(SETTINGS[key].metadata["read"](value)), "VALUE")


def unset_setting(whose: Whose, key: str) -> None:
    """Take it out of the file, so that what comes before it counts again."""
    if whose is Whose.PROJECT or not _stands_in(user_file(), key):
        _check_name(key)
    _change(whose, key, lambda text: without_setting(text, key))


def _stands_in(file: Path, key: str) -> bool:
    """Whether a file says something by this name, which may be that of no setting."""
    with suppress(OSError, ValueError):
        return key in toml(_text_of(file))
    return False


def _check_name(key: str) -> None:
    if key not in SETTINGS:
        hint = did_you_mean(key, SETTINGS, "`sayso config` shows all of them.")
        raise ConfigError(f"There is no setting {key!r}. {hint}")


def _change(whose: Whose, key: str, edit: Edit) -> None:
    if whose is Whose.PROJECT:
        config = settings(in_project=True)
        refuse_agents_anywhere(config, _WANTED)
        before = brought(config, config.project)
        file = _in_project(config)
        _write(file, edit)
        trust_changes(config, before, [file])
    else:
        file = user_file().resolve()
        refuse_agents_anywhere(_settings_with(key, file), _WANTED)
        _write(file, edit)
    _say_what_counts(key, file)


def _settings_with(key: str, file: Path) -> Config | None:
    """The settings as they are; none where this one is what is wrong with them."""
    try:
        return settings()
    except ConfigError:
        if not _stands_in(file, key):
            raise
        return None


def _write(file: Path, edit: Edit) -> None:
    text = _text_of(file)
    changed = edit(text)
    if changed == text:
        say(tr("{file} says so already.", file=one_line(str(file), 400)))
    else:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(file, changed.encode())
        say(tr("Changed: {file}", file=one_line(str(file), 400)))


def _in_project(config: Config) -> Path:
    """The project's file. Never one that a link leads to, which may be anywhere."""
    file = settings_of(config.project)
    if file.resolve() != config.project.resolve() / file.relative_to(config.project):
        raise ConfigError(f"{file} is reached by a link. Edit the file that it leads to.")
    return file


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return ""


def _say_what_counts(key: str, file: Path) -> None:
    source = settings().sources.get(key, "")
    if source and source != str(file) and source != str(user_file()):
        where = translated(one_line(source, 400))
        say(tr("What counts here is what {source} says: `sayso config` shows it.", source=where))
