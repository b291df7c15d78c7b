"""The hosts that an input names somewhere, however they are written: they can only deny or ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

from sayso.records import record

_MOST_VALUES = 5_000
_MOST_LETTERS = 1_000_000
_ADDRESS = re.compile(r"(?i)(?:https?|wss?|ftps?):[/\\]*(?P<host>[^/\\?#\s\"'<>]+)|^[/\\]{2}(?P<same>[^/\\?#\s\"'<>]+)")
_ALONE = re.compile(r"(?i)(?:[^@\s/]*@)?(?P<host>[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\.?)(?::\d+)?(?:[/?#]\S*)?")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]")


@record
class Hosts:
    names: dict[str, None]
    is_whole: bool = True


def hosts_in(given: Mapping[str, Any]) -> Hosts:
    found, letters = dict[str, None](), 0
    texts = list(islice(_texts(given), _MOST_VALUES + 1))
    for text in texts[:_MOST_VALUES]:
        letters += len(text)
        if letters > _MOST_LETTERS:
            return Hosts(names=found, is_whole=False)
        for each in dict.fromkeys((text, _UNSEEN.sub("", text))):
            found.update(dict.fromkeys(_named(each)))
    return Hosts(names=found, is_whole=len(texts) <= _MOST_VALUES)


def _named(text: str) -> Iterator[str]:
    """Programs read `https:evil.com` and `https:\\\\evil.com` as well."""
    alone = _ALONE.fullmatch(text.strip()) if len(text) < 1_000 else None
    hosts = [found["host"] or found["same"] for found in _ADDRESS.finditer(text.strip())]
    for host in (*hosts, *([alone["host"]] if alone else [])):
        name = unquote(host).rpartition("@")[2].partition(":")[0].lower().rstrip(".,;)]}")
        if name:
            yield name


def _texts(given: Any) -> Iterator[str]:
    rest = [given]
    while rest:
        each = rest.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            rest += (*each.keys(), *each.values())
        elif isinstance(each, list):
            rest += each
