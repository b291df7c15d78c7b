"""Editing what an agent wants to do, before it is allowed: in the person's own editor, or with an input from a file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sayso.asks.draft import from_json, to_json
from sayso.asks.model import Ask
from sayso.cli.terminal import is_interactive, put, read_line
from sayso.cli.texts import explained, tr
from sayso.cli.values import STDIN, stdin_text
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problem
from sayso.permissions.action import Action, action_of, takes_changes
from sayso.permissions.desk import NO_CHANGES
from sayso.permissions.editing import EditText, changed, edited, input_from, to_edit
from sayso.records import replace

NOTHING_DECIDED = 1


def edited_by_person(desks: Desks, ask: Ask) -> Action:
    """What the person at this terminal makes of it. What they typed is kept, whatever comes of it."""
    action = _editable(ask, "--edit")
    if not is_interactive():
        raise click.UsageError(
            f"--edit needs a terminal. From a script: sayso allow {ask.id[:8]} --input FILE --digest DIGEST."
        )
    person, form = desks.config.person, to_edit(action)
    begun = from_json(ask, desks.asks.draft(ask.id, person))
    text = form.text if begun.edit is None else begun.edit
    if text != form.text:
        put(tr("Your editor has what you wrote before."))
    while True:
        text = _in_editor(text, form)
        desks.asks.keep_draft(ask.id, person, to_json(ask, replace(begun, edit=text)))
        try:
            return edited(action, text)
        except InvalidInput as error:
            put(explained(error))
            if read_line(tr("Enter opens it again, anything else leaves it: ")) != "":
                put(tr("What you wrote is kept. Go on with it: sayso allow {id} --edit", id=ask.id[:8]))
                raise click.exceptions.Exit(NOTHING_DECIDED) from None


def with_input(ask: Ask, file: str) -> Action:
    """The action with the input that a file holds."""
    action = _editable(ask, "--input")
    return changed(action, input_from(stdin_text() if file == STDIN else _content(Path(file))))


def _editable(ask: Ask, option: str) -> Action:
    action = action_of(ask)
    if action is None or not takes_changes(ask):
        raise InvalidInput([Problem(path=option, text=NO_CHANGES)])
    return action


def _in_editor(text: str, form: EditText) -> str:
    """Editors end the last line of a file; where the agent's text had no such end, that is not the person's change."""
    try:
        found = click.edit(text, extension=form.suffix, require_save=False) or ""
    except click.ClickException as error:
        variable = next((name for name in ("VISUAL", "EDITOR") if os.environ.get(name)), "EDITOR")
        told = f"your editor could not be started, or failed ({error.message}). Nothing was decided."
        raise InvalidInput([Problem(path=variable, text=told)]) from None
    return found if form.text.endswith("\n") else found.removesuffix("\n")


def _content(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput([Problem(path="--input", text=f"{file} cannot be read: {why}.")]) from None
