"""What somebody wants to be told of, and when not: kinds, projects, quiet hours. The same for browsers and chats."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sayso.errors import InvalidInput, Problem
from sayso.records import asdict, record

if TYPE_CHECKING:
    from datetime import tzinfo

MOST_PROJECTS = 50
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class NewsKind(StrEnum):
    """What a message is about."""

    QUESTION = "question"
    PERMISSION = "permission"
    TURN = "turn"


@record
class Wishes:
    """What one browser or chat wants to be told of, and when not. Times are `22:00`, in its own zone."""

    kinds: tuple[str, ...] = tuple(NewsKind)
    quiet_from: str = ""
    quiet_until: str = ""
    zone: str = ""
    not_from: tuple[str, ...] = ()
    """Names of projects."""

    def want(self, kind: NewsKind, project: str, at: int) -> bool:
        return kind in self.kinds and project not in self.not_from and not self.is_quiet(at)

    def is_quiet(self, at: int) -> bool:
        """Whether a moment lies in the quiet hours, which may go past midnight."""
        if not self.quiet_from or not self.quiet_until:
            return False
        from datetime import datetime  # few have quiet hours

        now = datetime.fromtimestamp(at / 1000, _zone(self.zone)).strftime("%H:%M")
        if self.quiet_from <= self.quiet_until:
            return self.quiet_from <= now < self.quiet_until
        return now >= self.quiet_from or now < self.quiet_until

    @property
    def as_text(self) -> str:
        """As it is kept, without a zone that nobody knows."""
        return json.dumps({**asdict(self), "zone": self.zone if _is_zone(self.zone) else ""})

    def check(self) -> None:
        """Refuse what makes no sense; every field is named."""
        problems = [
            Problem(path=name, text=f"Quiet hours: {time!r} is no time. Give one such as 22:00.")
            for name, time in (("quiet_from", self.quiet_from), ("quiet_until", self.quiet_until))
            if time and not _TIME.fullmatch(time)
        ]
        if bool(self.quiet_from) != bool(self.quiet_until):
            missing, said = ("quiet_from", "an end") if self.quiet_until else ("quiet_until", "a beginning")
            text = f"Quiet hours have {said} alone. Fill in both times, or leave both empty."
            problems.append(Problem(path=missing, text=text))
        elif self.quiet_from and self.quiet_from == self.quiet_until:
            text = (
                f"Quiet hours from {self.quiet_from} until {self.quiet_until} would never be. Give two times, or none."
            )
            problems.append(Problem(path="quiet_until", text=text))
        if len(self.not_from) > MOST_PROJECTS:
            problems.append(Problem(path="not_from", text=f"More than {MOST_PROJECTS} projects are named. Name fewer."))
        if problems:
            raise InvalidInput(problems)


def read_wishes(text: str) -> Wishes:
    """Wishes as they were kept."""
    data: Mapping[str, Any] = json.loads(text)
    return Wishes(**{**data, "kinds": tuple(data["kinds"]), "not_from": tuple(data["not_from"])})


def _is_zone(name: str) -> bool:
    from datetime import UTC

    return bool(name) and _zone(name) is not UTC


def _zone(name: str) -> tzinfo:
    """A time zone by its name; that of Greenwich where the name is not known here."""
    from datetime import UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC
