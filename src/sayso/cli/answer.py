"""`sayso answer`: settle an ask with answers, given as arguments or at prompts."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sayso.asks.crowds import without_crowds
from sayso.asks.model import Answer, Ask
from sayso.cli.asks_in_words import headline
from sayso.cli.begun import Begun
from sayso.cli.conversation import choose_ask, converse
from sayso.cli.program import settings
from sayso.cli.settling import Settling, what_happens
from sayso.cli.shared import MOST_OPEN, complete_answer, complete_question
from sayso.cli.terminal import is_interactive, put_json, say
from sayso.cli.texts import tr
from sayso.cli.values import answers_from
from sayso.desks import Desks, open_desks
from sayso.dialects.asks_as_data import ask_data
from sayso.text import quoted

NOTHING_SENT = 1
MOST_TO_PICK_FROM = 50


@click.command()
@click.argument("ask_id", metavar="[ID]", required=False, shell_complete=complete_question)
@click.argument("values", metavar="[VALUE]...", nargs=-1, shell_complete=complete_answer)
@click.option("-q", "--question", "pairs", multiple=True, metavar="KEY=VALUE", help="Answer one of several questions.")
@click.option(
    "--attach",
    "attached",
    multiple=True,
    metavar="[KEY=]FILE",
    help="Send a picture or a file along; repeat it for several. Pictures lose where and when they were taken.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answered ask as JSON.")
def command(
    ask_id: str | None, values: tuple[str, ...], pairs: tuple[str, ...], attached: tuple[str, ...], as_json: bool
) -> None:
    """Answer an ask.

    ID is the ask's id or the beginning of it. VALUE answers its only question: an option's label or #NUMBER,
    yes or no, or your own words; several VALUEs choose several options. With several questions give -q KEY=VALUE for
    each, where KEY is the question's number or id; repeat a KEY to choose several options, and leave an optional
    question out to skip it. A VALUE of - is read from standard input.

    Without values you are asked at prompts; without an ID too, you are offered what is open. Permissions are decided
    by `sayso allow` and `sayso deny`.

    \b
    Example:
      sayso answer
      sayso answer 3f2a91bc SQLite
      sayso answer 3f2a91bc -q 1=SQLite -q 2=#1 -q 2=#3 -q 3="only on weekdays"
      sayso answer 3f2a91bc - < reply.txt
      sayso answer 3f2a91bc "as in this picture" --attach layout.png
    """
    with open_desks(settings()) as desks:
        if values or pairs or attached:
            settled: Ask | None = _answer_with(desks, ask_id, values, pairs, attached)
        else:
            settled = _answer_at_prompts(desks, ask_id)
    if settled is None:
        say(tr("Nothing was sent. The ask stays open."))
        raise click.exceptions.Exit(NOTHING_SENT)
    say(what_happens(settled))
    if as_json:
        put_json(ask_data(settled))


def _answer_with(
    desks: Desks, ask_id: str | None, values: Sequence[str], pairs: Sequence[str], attached: Sequence[str]
) -> Ask:
    if ask_id is None:
        raise click.UsageError("Say which ask is answered: sayso answer ID -q KEY=VALUE. `sayso list` shows the ids.")
    ask = desks.asks.find(ask_id)
    settling = Settling.of_question(desks, ask)
    answers = answers_from(ask, values, pairs)
    if attached:
        from sayso.cli.attaching import answer_with_files  # few answers have any

        settled = answer_with_files(desks, settling, answers, attached)
    else:
        settled = settling.answer(answers)
    _tell_own_words(ask, answers)
    return settled


def _tell_own_words(ask: Ask, answers: Sequence[Answer]) -> None:
    """Say what was no option, because somebody may have taken it for one."""
    with_options = {question.id for question in ask.questions if question.options}
    for given in answers:
        if given.text and given.question in with_options:
            say(tr("{words} is none of the options: it was sent as your own words.", words=quoted(given.text)))


def _answer_at_prompts(desks: Desks, ask_id: str | None) -> Ask | None:
    if not is_interactive():
        raise click.UsageError("Without a terminal give the answer as well: sayso answer ID VALUE, or -q KEY=VALUE.")
    ask = desks.asks.find(ask_id) if ask_id else _pick(desks)
    if ask is None:
        return None
    settling = Settling.of_question(desks, ask)
    if any(ask.pictures()):
        from sayso.cli.terminal_pictures import show_pictures

        show_pictures(desks, ask)
    begun = Begun(desks, ask)
    try:
        settlement = converse(ask, begun)
    except KeyboardInterrupt:
        say("\n" + _left(begun))
        raise
    if settlement is None:
        say(_left(begun))
        raise click.exceptions.Exit(NOTHING_SENT)
    settled = settling.as_wanted(settlement)
    begun.forget()
    return settled


def _left(begun: Begun) -> str:
    if begun.given:
        return tr("Nothing was sent. The ask stays open, and what you have answered is kept.")
    return tr("Nothing was sent. The ask stays open.")


def _pick(desks: Desks) -> Ask | None:
    desks.asks.release_the_dead()
    found, crowds = without_crowds(desks.asks.inbox(awake_for=desks.config.person, most=MOST_OPEN))
    asks, permissions = ([ask for ask in found if (ask.wanted is not None) is wanted] for wanted in (False, True))
    for ask in permissions[:MOST_TO_PICK_FROM]:
        say(tr("{headline} Decide it: sayso allow {id}", headline=headline(ask), id=ask.id[:8]))
    if not asks:
        say(tr("No questions are waiting."))
        raise click.exceptions.Exit(0)
    left_out = sum(len(each[MOST_TO_PICK_FROM:]) for each in (asks, permissions)) + sum(each.size for each in crowds)
    return choose_ask(asks[:MOST_TO_PICK_FROM], left_out)
