"""`sayso trust`: look at what a project brings, and let Sayso use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sayso.agent_guard import refuse_agents
from sayso.brought import Brought, BroughtFile, brought
from sayso.cli import declared
from sayso.cli.program import settings
from sayso.cli.terminal import (
    block,
    bold,
    flowing,
    forget_typed_ahead,
    is_interactive,
    put,
    put_json,
    read_line,
    say,
    table,
)
from sayso.cli.texts import mark, plural, tr
from sayso.config import Config
from sayso.desks import open_desks
from sayso.errors import InvalidInput, NotFound, NotTrusted, Problem
from sayso.records import record, replace
from sayso.text import iso_time, spelt_out
from sayso.trust import TrustedProject, content_hash, real, relative_name

_YES = ("y", "yes", "j", "ja")
_BROKEN = mark("It is broken and gives no tool, trusted or not. `sayso tools validate {file}` says all of it:")
_ONE_OF_THEM = "--show, --digest, --list and --revoke do not go together. Give one of them."
_MOST_FAULTS = 3
"""How many faults of a file are told here."""


@declared.reader("--list", "--show")
@declared.argument("place", metavar="[DIR|FILE]", required=False, type=declared.PATH)
@declared.option("--show", "only_show", is_flag=True, help="Only show what it brings, whole.")
@declared.option("--digest", metavar="DIGEST", help="Trust what `--show --json` gave this digest, without a prompt.")
@declared.option("--list", "list_all", is_flag=True, help="Show the projects that you trust.")
@declared.option("--revoke", is_flag=True, help="Trust nothing in DIR, or FILE, any more.")
@declared.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    place: Path | None, only_show: bool, digest: str | None, list_all: bool, revoke: bool, as_json: bool
) -> None:
    """Look at what a project brings, and let Sayso use it.

    Tool files, settings and rules in DIR, and what agents that the web page starts there would load of it (hooks, MCP
    servers, permissions), are not used until you trust them. This shows each file whole with every command that it
    names, and asks. Trust is in the files as they are: it ends for a file when that changes.

    With FILE: that one of them alone, of the project at hand. Without either: all of that project. Without a terminal,
    look at what `--show --json` prints and give its digest.

    \b
    Example:
      sayso trust                    look at this project, then say y or n
      sayso trust ~/shop --show      only look
      sayso trust .mcp.json          this file alone
      sayso trust --list             what you trust
      sayso trust --revoke           trust nothing here any more
    """
    config = settings(in_project=place is None and not (list_all or revoke))
    if [only_show, digest is not None, list_all, revoke].count(True) > 1:
        raise InvalidInput([Problem(path="--show", text=_ONE_OF_THEM)])
    if list_all:
        _list(config, as_json)
        return
    wish = _wish(config, place, may_be_gone=revoke)
    if revoke:
        _revoke(wish)
    elif only_show or (as_json and digest is None):
        seen = wish.look()
        put_json(_data(seen)) if as_json else _show(seen, seen.files)
    else:
        _trust(wish, digest, as_json)


@record
class TrustWish:
    """What somebody wants to look at, and perhaps to trust: all that a project brings, or one file of it."""

    config: Config
    project: Path
    file: Path | None

    @property
    def name(self) -> str:
        """What the file is called in its project; empty for all of them."""
        return relative_name(self.file, real(self.project)) if self.file else ""

    def look(self) -> Brought:
        self.config.trust.check(self.project)
        seen = brought(self.config, self.project)
        if self.file is None:
            return seen
        files = tuple(file for file in seen.files if file.name == self.name)
        if not files:
            raise NotFound(
                f"{spelt_out(str(self.file))} is nothing that Sayso would use in {spelt_out(str(seen.folder))}. "
                "`sayso trust --show` lists what is."
            )
        return replace(seen, files=files)

    def give(self, seen: Brought) -> None:
        """Trust exactly what was seen: instead of all before, or where it is one file, beside it."""
        trust, trusted = self.config.trust, seen.as_trusted()
        known = trust.of(self.project).files if self.file else {}
        files = {**known, **trusted.files}
        trust.give(TrustedProject(folder=trusted.folder, files=files, since=trusted.since))


def _wish(config: Config, place: Path | None, *, may_be_gone: bool) -> TrustWish:
    """What is meant by DIR or FILE. What was deleted since can still be trusted no more: it may come back."""
    if place is None or place.is_file():
        return TrustWish(config=config, project=config.project, file=place)
    if place.exists() or (may_be_gone and config.trust.of(place).files):
        return TrustWish(config=config, project=place, file=None)
    gone = TrustWish(config=config, project=config.project, file=place)
    if may_be_gone and gone.name in config.trust.of(config.project).files:
        return gone
    nowhere = f"there is no file or folder {spelt_out(str(place))}. `sayso trust --list` shows what you trust."
    raise InvalidInput([Problem(path="DIR|FILE", text=nowhere)])


def _trust(wish: TrustWish, digest: str | None, as_json: bool) -> None:
    with open_desks(wish.config) as desks:
        refuse_agents(desks, "trust a project's files")
    seen = wish.look()
    wanted = [file for file in seen.untrusted if not file.trouble]
    if digest is not None:
        _check(digest, seen)
    elif wanted:
        _ask(wish, seen)
    else:
        _show(seen, seen.untrusted)
        return
    wish.give(seen)
    if as_json:
        put_json(_data(wish.look()))
    said = plural(len(wanted), "Trusted: 1 file, as it is now.", "Trusted: {n} files, as they are now.")
    say(f"{said} {tr('When one changes, it is not used until you run this again.')}")


def _check(digest: str, seen: Brought) -> None:
    if digest != seen.digest:
        raise NotTrusted(
            f"{spelt_out(str(seen.folder))} does not bring what this digest stands for. Nothing was trusted. "
            "Look again: sayso trust --show --json"
        )


def _ask(wish: TrustWish, seen: Brought) -> None:
    """Return when the person has agreed to exactly what they were shown."""
    if not is_interactive():
        raise InvalidInput(
            [
                Problem(
                    path="--digest",
                    text="is needed where there is no terminal. Look at what `sayso trust --show --json` prints, and "
                    "give the digest in it.",
                )
            ]
        )
    _show(seen, seen.untrusted)
    put()
    put(flowing(tr("Programs of the project that these files start are not looked at here, and may change.")))
    forget_typed_ahead()
    count = sum(not file.trouble for file in seen.untrusted)
    question = plural(count, "Trust this file as shown? [y/N]: ", "Trust these {n} files as shown? [y/N]: ")
    if (read_line(question) or "").strip().lower() not in _YES:
        say(tr("Nothing was trusted."))
        raise SystemExit(1)
    now = wish.look()
    if now.digest != seen.digest:
        changed = ", ".join(spelt_out(name) for name in _differences(seen, now))
        raise NotTrusted(f"What you were shown has changed meanwhile: {changed}. Nothing was trusted. Look again.")


def _differences(before: Brought, after: Brought) -> list[str]:
    one, other = ({file.name: file.data for file in seen.files} for seen in (before, after))
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))


# Showing


def _show(seen: Brought, whole: tuple[BroughtFile, ...]) -> None:
    """One line for each file, and those that are still to be looked at whole."""
    folder = spelt_out(str(seen.folder))
    if not seen.files:
        say(tr("{folder} brings nothing that Sayso would use.", folder=folder))
        return
    put(plural(len(seen.files), "{folder} brings 1 file:", "{folder} brings {n} files:", folder=folder))
    for file in seen.files:
        put()
        put(f"{bold(spelt_out(file.name))}  ({tr(file.used)}): {tr(file.standing)}")
        if file.trouble:
            put("  " + tr("It {trouble}, so it is not used.", trouble=file.trouble))
        elif file in whole:
            _show_whole(file)
    if not seen.untrusted:
        say("\n" + tr("All of it is trusted."))


def _show_whole(file: BroughtFile) -> None:
    if faults := file.faults:
        broken = tr(_BROKEN, file=spelt_out(file.name))
        put(f"  {broken}")
        put("\n".join(block(spelt_out(str(fault))) for fault in faults[:_MOST_FAULTS]))
    if file.commands:
        put("  " + tr("It names these commands:"))
        put("\n".join(block(spelt_out(each)) for each in file.commands))
    text = file.text
    if text is None:
        put("  " + tr("It is no text: {n} bytes, SHA-256 {hash}", n=len(file.data), hash=content_hash(file.data)))
        return
    put("  " + tr("The whole file:"))
    put(block(text.rstrip("\n")))


def _data(seen: Brought) -> dict[str, Any]:
    return {"project": str(seen.folder), "digest": seen.digest, "files": [_file_data(file) for file in seen.files]}


def _file_data(file: BroughtFile) -> dict[str, Any]:
    return {
        "file": file.name,
        "used_by": file.used,
        "standing": file.standing,
        "trouble": file.trouble or None,
        "sha256": None if file.trouble else content_hash(file.data),
        "commands": list(file.commands),
        "text": file.text,
    }


# What was trusted


def _list(config: Config, as_json: bool) -> None:
    projects = config.trust.all()
    if as_json:
        put_json([_trusted_data(config, project) for project in projects])
    elif projects:
        rows = [row for project in projects for row in _rows(config, project)]
        put(table(("SINCE", "STANDING", "FILE", "PROJECT"), rows, may_miss=(0,)))
    else:
        say(tr("You trust no project's files. `sayso trust` shows what the project at hand brings."))


def _standings(config: Config, project: TrustedProject) -> dict[str, str]:
    """How each file that was trusted stands now."""
    now = {file.name: file.standing.value for file in brought(config, project.folder).files}
    return {name: now.get(name, "gone") for name in project.files}


def _rows(config: Config, project: TrustedProject) -> list[tuple[str, ...]]:
    since = (iso_time(project.since) or "")[:10]
    folder = spelt_out(str(project.folder))
    return [(since, tr(standing), spelt_out(name), folder) for name, standing in _standings(config, project).items()]


def _trusted_data(config: Config, project: TrustedProject) -> dict[str, Any]:
    files = [
        {"file": name, "sha256": project.files[name], "standing": standing}
        for name, standing in _standings(config, project).items()
    ]
    return {"project": str(project.folder), "since": iso_time(project.since), "files": files}


def _revoke(wish: TrustWish) -> None:
    with open_desks(wish.config) as desks:
        # A project can make things stricter, too.
        refuse_agents(desks, "take back trust in a project's files")
    folder, trust = spelt_out(str(wish.project)), wish.config.trust
    trust.check(wish.project)
    if wish.file is not None:
        known = trust.of(wish.project)
        if wish.name not in known.files:
            raise NotFound(f"{spelt_out(wish.name)} was not trusted. `sayso trust --list` shows what is.")
        others = {name: was for name, was in known.files.items() if name != wish.name}
        trust.give(TrustedProject(folder=known.folder, files=others, since=known.since))
        say(tr("{file} is not trusted any more.", file=spelt_out(wish.name)))
        return
    if not trust.revoke(wish.project):
        raise NotFound(f"Nothing in {folder} was trusted. `sayso trust --list` shows what is.")
    say(tr("Nothing in {folder} is trusted any more. Agents that are connected lose its tools at once.", folder=folder))
