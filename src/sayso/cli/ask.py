"""`sayso ask`: put an ask from a script and wait for its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from sayso import __version__
from sayso.asks.askers import asker_here
from sayso.asks.desk import Held
from sayso.asks.model import Answer, Ask, Asker, Kind, State
from sayso.asks.truth import BY_COMMAND
from sayso.cli.ask_input import from_json, new_ask
from sayso.cli.program import has_output, settings
from sayso.cli.terminal import flowing, put_json, put_part, say
from sayso.cli.texts import tr, translated
from sayso.cli.values import stdin_text
from sayso.clients import SESSION_VARIABLE
from sayso.config import Config
from sayso.dialects.outcomes import outcome_data, refusal_words, selected_labels
from sayso.errors import WaitEnded
from sayso.processes import name_of
from sayso.setting_values import duration_or_none
from sayso.text import lasting, one_line, printable

EXIT_CODES = {
    State.ANSWERED: 0,
    State.TIMED_OUT: WaitEnded.exit_code,
    State.REJECTED: 10,
    State.DECLINED: 11,
    State.CANCELLED: 12,
}
OTHER_END = 13
_SAY_WHAT = 'Say what to ask: sayso ask "QUESTION?", or JSON on standard input.'


def _read_time(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A span of time as the settings write it, in milliseconds."""
    try:
        return None if value is None else duration_or_none(value)
    except ValueError as error:
        raise click.BadParameter(tr("{value} is not {what}.", value=repr(value), what=translated(str(error)))) from None


@click.command()
@click.argument("question", required=False)
@click.option("-o", "--option", "options", multiple=True, metavar="LABEL", help="A choice; repeat it for each.")
@click.option("--multi", "kind", flag_value=Kind.MULTI_SELECT.value, help="Several options may be chosen.")
@click.option("--confirm", "kind", flag_value=Kind.CONFIRM.value, help="A yes-or-no question.")
@click.option("--title", metavar="TEXT", help="What it is about, in a few words.")
@click.option(
    "--timeout", callback=_read_time, metavar="TIME", help="Stop waiting after this long: 90s, 10m. Default: never."
)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the questions as JSON from standard input.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole outcome as JSON.")
def command(
    question: str | None,
    options: tuple[str, ...],
    kind: str | None,
    title: str | None,
    timeout: int | None,
    from_stdin: bool,
    as_json: bool,
) -> None:
    """Ask a person a question and wait for the answer.

    Prints what was chosen or written, one per line. The exit code is 0 for an answer, a No
    too, 10 when it was rejected, 11 declined, 12 cancelled, 6 when the time ran out. An ask that was left stays open:
    the same command again takes it up, and says on standard error when the answer is older than the command. An older
    yes or no is not printed: it is asked again.

    In a terminal it can be answered right there too, unless an agent runs the command: choose, and Enter sends. The
    first answer counts, wherever it is given. Ctrl-C leaves the ask open.

    Without QUESTION the questions are read as JSON from standard input:
    {"title": ..., "questions": [{"question", "type", "options", "required", "placeholder", "title", "id"}]}.

    \b
    Example:
      sayso ask "Deploy to production?" --confirm --timeout 10m
      sayso ask "Which database?" -o "SQLite (recommended)" -o PostgreSQL
      echo '{"questions": [{"question": "Why?"}]}' | sayso ask --json
    """
    if not has_output():
        raise click.UsageError("Standard output is closed, so the answer could not be printed.")
    if question is not None and from_stdin:
        raise click.UsageError("Give either QUESTION or --stdin, not both.")
    if question is None and not from_stdin and sys.stdin and sys.stdin.isatty():
        raise click.UsageError(_SAY_WHAT)
    data = _from_stdin(options, kind) if question is None else _from_flags(question, options, kind)
    if title is not None:
        data = {**data, "title": title}
    ask = _put(settings(), data, timeout, _print_json if as_json else _print_plain)
    raise click.exceptions.Exit(EXIT_CODES.get(ask.state, OTHER_END))


def _from_flags(question: str, options: Sequence[str], kind: str | None) -> dict[str, Any]:
    if kind == Kind.MULTI_SELECT and not options:
        raise click.UsageError("--multi needs the options to choose from: -o LABEL -o LABEL.")
    if kind == Kind.CONFIRM and options:
        raise click.UsageError("--confirm takes yes or no, so -o cannot be given with it.")
    if twice := next((label for place, label in enumerate(options) if label in options[:place]), None):
        raise click.UsageError(f"The option {twice!r} is given twice. Nobody could tell which one was chosen.")
    named = {"type": kind, "options": list(options)}
    return {"questions": [{"question": question, **{key: value for key, value in named.items() if value}}]}


def _from_stdin(options: Sequence[str], kind: str | None) -> dict[str, Any]:
    if options or kind:
        raise click.UsageError("-o, --multi and --confirm go with a QUESTION.")
    text = stdin_text()
    if not text.strip():
        raise click.UsageError(_SAY_WHAT)
    return from_json(text)


def _put(config: Config, data: dict[str, Any], timeout: int | None, show: Callable[[Ask], None]) -> Ask:
    new = new_ask(data, _asker(config), timeout)
    if any(question.is_visual for question in new.questions):
        from sayso.asks.asked_pictures import read

        new = read(new, config.project)
    from sayso.cli.asking import put_and_wait

    try:
        return put_and_wait(config, new, _say_opened, show)
    except KeyboardInterrupt:
        say(tr("\nThe ask stays open. Run the same command again to wait for its answer."))
        raise


def _asker(config: Config) -> Asker:
    """Who asks: this process. What started it may well be the person, or a script that asks one and tells another."""
    session = os.environ.get(SESSION_VARIABLE, "")
    return asker_here(
        name_of(os.getpid()), config.project_name, client=BY_COMMAND, version=__version__, session=session
    )


def _say_opened(held: Held) -> None:
    from sayso.cli.asking import is_old_yes_or_no, settled_before

    ask, short, since = held.ask, held.ask.id[:8], held.wait.since
    ago = lasting(since - (ask.ended_at or since))
    if is_old_yes_or_no(held):
        said = one_line("; ".join(_answers(ask)), 200)
        told = tr("This was answered {ago} ago, before this command: {said}. It is asked again.", ago=ago, said=said)
    elif settled_before(held):
        told = tr("This was asked before, and settled {ago} ago, before this command.", ago=ago)
    elif held.reattached:
        told = tr(
            "This was asked before and is taken up again: {id}. Waiting for a person: sayso answer {id}", id=short
        )
    else:
        told = tr("Asked: {id}. Waiting for a person: sayso answer {id}", id=short)
    say(flowing(told, sys.stderr))


def _print_json(ask: Ask) -> None:
    put_json(outcome_data(ask))


def _print_plain(ask: Ask) -> None:
    if ask.state is State.ANSWERED:
        _print_intact("".join(f"{line}\n" for line in _answers(ask)))
    elif ask.state is State.TIMED_OUT and ask.confirms:
        say(tr("Nobody answered in time. A yes or no that comes now does not count: the same command asks again."))
    elif ask.state is State.TIMED_OUT:
        say(tr("Nobody answered in time. The ask stays open; the same command again takes it up."))
    else:
        say(printable(translated(refusal_words(ask))))


def _answers(ask: Ask) -> Iterator[str]:
    for question in ask.questions:
        answer = ask.answer(question.id) or Answer(question=question.id)
        yield from selected_labels(question, answer)
        if answer.text is not None:
            yield answer.text
        # Where each of them lies is told after the note.
        yield from answer.note.splitlines()[-len(answer.attachments) :] if answer.attachments else ()
        if answer.skipped:
            yield ""


def _print_intact(text: str) -> None:
    """A program gets every character; a terminal only those that cannot drive it."""
    put_part(printable(text) if sys.stdout.isatty() else text)
