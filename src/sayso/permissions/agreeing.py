"""How several people agree to one permission. Functions of one transaction, for the permission desk alone.

Each yes is a change of the ask: whoever has read it before another yes was written down has to read it again. Whether
there are enough of them, the desk then looks up in what is written.
"""

from __future__ import annotations

from sayso.action_data import digest_of
from sayso.asks.model import Ask, Outcome, Settler
from sayso.asks.quorum import Quorum, Yes, label, quorum_of, yeses_of
from sayso.asks.table import AskTable
from sayso.asks.words import title_with
from sayso.clock import FAR_FUTURE
from sayso.errors import AlreadySettled, InvalidInput, Problem
from sayso.permissions import delegations
from sayso.permissions.action import AllowScope, action_from, original_of
from sayso.permissions.quorum_words import progress
from sayso.records import asdict, replace
from sayso.store import Transaction
from sayso.text import iso_time

NOT_ASKED = "{person} cannot allow this. It takes {who}. Anyone who sees it can deny it."
NOT_ONES_OWN = "{person} cannot allow this: it is their own agent that asks. It takes {who}."
TIME_IS_OVER = "Its time was over at {at}. Your answer was not used."
NOT_AGREED = "{person} has not agreed to this, so there is nothing to take back."

_DEMANDED = ("scopes", "quorum", "deciders")
"""What is demanded of an edit may be more than of what the agent itself wants."""


def agree(table: AskTable, ask: Ask, quorum: Quorum, given: Outcome, by: Settler) -> Ask:
    """Write one yes down, for what `given` says. The same person's second yes changes nothing."""
    end = ask.created_at + min(ask.timeout_ms or FAR_FUTURE, quorum.timeout_ms or FAR_FUTURE)
    if table.now >= end:
        raise AlreadySettled(TIME_IS_OVER.format(at=iso_time(end)))
    yes = _yes(table, given, by)
    if not quorum.may_count(yes, ask.created_at):
        raise _refused(quorum, yes, table.now - ask.created_at)
    proposed = _proposed(ask, quorum, given, yes.person)
    if any(each.account == yes.account for each in yeses_of(proposed)):
        return ask
    agreed = _with(proposed, [*yeses_of(proposed), yes])
    return table.change(agreed, ask, kind="agreed", by=_named(agreed, yes, by), detail=progress(agreed))


def take_back(table: AskTable, ask: Ask, by: Settler) -> Ask:
    """Take one yes back. When the last yes to an edit is withdrawn, the agent's own action is put to people again."""
    left = [yes for yes in yeses_of(ask) if yes.account != account_of(table.tx, by.known_as)]
    if len(left) == len(yeses_of(ask)):
        raise _invalid(NOT_AGREED.format(person=by.known_as))
    after = _with(ask if left else _as_asked(ask), left)
    return table.change(after, ask, kind="taken_back", by=replace(by, person=by.known_as), detail=progress(after))


def _yes(table: AskTable, given: Outcome, by: Settler) -> Yes:
    return Yes(
        person=by.known_as,
        stands_for=tuple(each.person for each in delegations.now(table) if each.delegate == by.known_as),
        digest=given.digest,
        surface=by.surface,
        at=table.now,
        account=account_of(table.tx, by.known_as),
    )


def account_of(tx: Transaction, name: str) -> str:
    """The account that goes by this name."""
    user = tx.one("user", name=name)
    return user["account"] or name if user else name


def _proposed(ask: Ask, quorum: Quorum, given: Outcome, person: str) -> Ask:
    """The ask for what this yes is for. For another action than the others have agreed to, nobody has agreed yet."""
    if given.digest == ask.digest:
        return ask
    if given.changed is None:
        return _with(_as_asked(ask), [])
    before = ask.wanted or {}
    wanted = {
        **before,
        "action": dict(given.changed),
        "title": given.changed_title,
        "original": dict(original_of(ask)),
        "demanded": before.get("demanded") or {key: before.get(key) for key in _DEMANDED},
        "scopes": [AllowScope.ONCE.value],
        "changed_by": person,
        "quorum": quorum.plain,
        "deciders": quorum.first_asked,
    }
    title = title_with(ask, given.changed_title)
    return _with(replace(ask, title=title, wanted=wanted, digest=given.digest), [])


def _as_asked(ask: Ask) -> Ask:
    """The ask for what the agent itself wants."""
    wanted = dict(ask.wanted or {})
    original = wanted.pop("original", None)
    wanted.pop("changed_by", None)
    if original is None:
        return ask
    title = ask.title.replace(wanted["title"], action_from(original).title)
    wanted |= {"action": original, "title": action_from(original).title, **wanted.pop("demanded", {})}
    wanted = {key: value for key, value in wanted.items() if key not in _DEMANDED or value is not None}
    return replace(ask, title=title, wanted=wanted, digest=digest_of(original))


def _with(ask: Ask, yeses: list[Yes]) -> Ask:
    return replace(ask, wanted={**(ask.wanted or {}), "yeses": [asdict(yes) for yes in yeses]})


def _named(ask: Ask, yes: Yes, by: Settler) -> Settler:
    """Who agreed, and in whose place, as it is logged."""
    quorum = quorum_of(ask)
    counted = [quorum.counted(each, yeses_of(ask), ask.created_at) for each in quorum.demands] if quorum else []
    places = [place for seats in counted for place, person in seats.items() if person == yes.person]
    return replace(by, person=label(yes.person, places[0]) if places else yes.person)


def _refused(quorum: Quorum, yes: Yes, age: int) -> InvalidInput:
    left_out = {name for demand in quorum.demands for name in quorum.left_out(demand)}
    names = [name for name in quorum.named(age) if name not in left_out]
    who = f"a yes of {', '.join(names)}" if names else "somebody else's yes"
    text = NOT_ONES_OWN if quorum.is_of_asker(yes) and _excludes_asker(quorum) else NOT_ASKED
    return _invalid(text.format(person=yes.person, who=who))


def _excludes_asker(quorum: Quorum) -> bool:
    return any(demand.not_asker for demand in quorum.demands)


def _invalid(text: str) -> InvalidInput:
    return InvalidInput([Problem(path="", text=text)])
