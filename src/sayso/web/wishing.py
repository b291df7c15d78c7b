"""The forms of the settings page by which somebody says what they want to be told of: in a browser, in a chat."""

from __future__ import annotations

from sayso.records import record
from sayso.web.fields import Fields
from sayso.wishes import NewsKind, Wishes

KINDS = {
    NewsKind.QUESTION: "Questions",
    NewsKind.PERMISSION: "Permissions",
    NewsKind.TURN: "Turns in Talk that end or fail",
}


@record
class RefusedWishes:
    """What somebody entered in one of the forms, and why it was not taken."""

    wishes: Wishes
    why: str
    link: str = ""
    """The chat whose form it was; empty for that of the browser."""


def read_wishes_form(fields: Fields) -> Wishes:
    names = (name.strip() for name in fields.one("not_from").split(","))
    return Wishes(
        kinds=tuple(kind for kind in NewsKind if kind in fields.all("kind")),
        quiet_from=fields.one("quiet_from"),
        quiet_until=fields.one("quiet_until"),
        zone=fields.one("zone"),
        not_from=tuple(dict.fromkeys(name for name in names if name)),
    )
