"""`sayso config`: every setting, its value and where that comes from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.brought import Used, brought
from sayso.cli import declared
from sayso.cli.program import settings
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import mark, tr, translated
from sayso.config import SETTINGS, Config, user_file
from sayso.setting_values import answer_wait, duration, duration_or_none, key_table, limits, words_for
from sayso.text import json_line, one_line

if TYPE_CHECKING:
    import click

DEFAULT = mark("default")
FOUND, ABSENT = mark("found"), mark("absent")
_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1))


@declared.reading_group()
@declared.option("--json", "as_json", is_flag=True, help="Print settings and files as JSON.")
def command(as_json: bool) -> None:
    """Show each setting, its value and where it comes from.

    Below them are the files that were looked at. Later ones win: defaults, your file, the project's file if you trust
    it (sayso trust), SAYSO_* in the environment, a command's options.

    \b
    Example:
      sayso config
      SAYSO_PROFILE=auq sayso config --json
      sayso config set keep_ended 30d
    """
    config = settings()
    if as_json:
        put_json(_data(config))
        return
    rows = [(name, _in_words(config, name), _source(config, name)) for name in SETTINGS]
    put(table(("SETTING", "VALUE", "FROM"), rows))
    put()
    put(table(("FILE", "", "PATH"), [(tr(what), tr(found), path) for what, (found, path) in _files(config).items()]))


def _complete_key(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    from click.shell_completion import CompletionItem

    named = [name for name in SETTINGS if name.startswith(incomplete)]
    return [CompletionItem(name, help=one_line(SETTINGS[name].metadata["about"], 80)) for name in named]


def _complete_value(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The words that the setting before it takes, where these are a few."""
    key = ctx.params.get("key")
    known = words_for(SETTINGS[key].metadata["read"]) if key in SETTINGS else ()
    return [word for word in known if word.startswith(incomplete)]


@command.command("set")
@declared.argument("key", metavar="KEY", shell_complete=_complete_key)
@declared.argument("value", metavar="VALUE", shell_complete=_complete_value)
@declared.option("--project", "in_project", is_flag=True, help="In the project's file instead of yours.")
def set_(key: str, value: str, in_project: bool) -> None:
    """Set a setting in your file, or in the project's.

    VALUE is checked first. Comments and everything else in the file stay as they are.

    \b
    Example:
      sayso config set keep_ended 30d
      sayso config set --project max_options 6
    """
    from sayso.cli.config_changes import Whose, set_setting

    set_setting(Whose.PROJECT if in_project else Whose.PERSON, key, value)
    say(tr("{key} is now {value}.", key=key, value=_in_words(settings(), key)))


@command.command("unset")
@declared.argument("key", metavar="KEY", shell_complete=_complete_key)
@declared.option("--project", "in_project", is_flag=True, help="In the project's file instead of yours.")
def unset(key: str, in_project: bool) -> None:
    """Take a setting out of your file, or out of the project's.

    \b
    Example:
      sayso config unset keep_ended
    """
    from sayso.cli.config_changes import Whose, unset_setting

    unset_setting(Whose.PROJECT if in_project else Whose.PERSON, key)


def shown(name: str, value: Any) -> Any:
    """A setting's value as a settings file would say it, with no secret in it."""
    if name in _MASKS:
        return _masked(value, _MASKS[name])
    if SETTINGS[name].metadata["read"] in (duration, duration_or_none, answer_wait):
        return _spoken(value)
    if SETTINGS[name].metadata["read"] is limits:
        return {client: _spoken(limit or None) for client, limit in value.items()}
    if SETTINGS[name].metadata["read"] is key_table:
        return dict(value)
    return str(value) if isinstance(value, Path) else value


def _in_words(config: Config, name: str) -> str:
    return one_line(_text(shown(name, getattr(config, name))), 60)


def _masked(value: str | tuple[str, ...], mask: Callable[[str], str]) -> str | list[str]:
    return mask(value) if isinstance(value, str) else [mask(each) for each in value]


def without_password(address: str) -> str:
    """A store's address with the password masked, in its user part or its query; rather too much than too little."""
    masked = re.sub(r"(//[^:/?#@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1***", masked)


def without_path(address: str) -> str:
    """Where messages go without what lets one send there: the path of a webhook or a topic is a secret."""
    return re.sub(r"(://[^/]*)/.+", r"\1/***", address)


def only_scheme(address: str) -> str:
    """An apprise address: every part of it but the service's name may be a token."""
    return re.sub(r"://.*", "://***", address)


_MASKS = {"store": without_password, "notify_url": without_path, "notify_apprise": only_scheme}


def _spoken(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "none"
    unit, size = next((unit, size) for unit, size in _UNITS if milliseconds % size == 0)
    return f"{milliseconds // size}{unit}"


def _text(value: Any) -> str:
    if value in (None, "", (), [], {}):
        return "-"
    return value if isinstance(value, str) else json_line(value)


def _source(config: Config, name: str) -> str:
    return translated(one_line(config.sources.get(name, DEFAULT), 200))


def _data(config: Config) -> dict[str, Any]:
    return {
        "settings": {
            name: {"value": shown(name, getattr(config, name)), "from": config.sources.get(name, DEFAULT)}
            for name in SETTINGS
        },
        "files": {
            what: {"found": found != ABSENT, "used": found == FOUND, "path": path}
            for what, (found, path) in _files(config).items()
        },
    }


def _files(config: Config) -> dict[str, tuple[str, str]]:
    """The files that matter here, whether each is there, and its path."""
    files = {mark("your settings"): user_file(), mark("project settings"): config.project_settings}
    if not config.store:
        files[mark("store")] = config.database
    found = {what: (FOUND if path.exists() else ABSENT, str(path)) for what, path in files.items()}
    if brought(config, config.project).kept_from(Used.SETTINGS):
        found["project settings"] = mark("not used: sayso trust"), str(config.project_settings)
    return found
