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
_LONGEST_LIST = 1_000
_ADDRESS = re.compile(
    r"(?i)(?:(?:https?|wss?|ftps?):[/\\]*|(?<![a-z\d+.-])(?!file:)[a-z][a-z\d+.-]+:[/\\]{2,})(?P<host>[^/\\?#\s\"'<>]+)"
    r"|^[/\\]{2}(?P<same>[^/\\?#\s\"'<>]+)"
)
_ALONE = re.compile(
    r"(?i)(?:[^@\s/]*@)?(?P<host>[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\.?|\d+(?:\.\d+){3}|localhost|[a-z][\w-]*(?=:\d))(?::[^\s/?#]*)?"
    r"(?:[/?#]\S*)?"
)
_LIST = re.compile(r"[\s,;|]+")
_ENDS = re.compile(r"[,;|&)]")
"""What a host may end with in a list or a sentence. A name and a password before it may hold that as well."""
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


def hosts_within(url: str) -> Hosts:
    """The hosts that an address names behind its own one, for a server that leads on or fetches for others."""
    rest = unquote(unquote(re.sub(r"^[^:]*:[/\\]*[^/\\?#]*", "", url)))
    _, _, query = rest.partition("?")
    return hosts_in({"rest": rest, "query": [each for each in re.split("[?&;=#]", query) if each]})


def _named(text: str) -> Iterator[str]:
    """Programs read `https:evil.com` and `https:\\\\evil.com` as well."""
    parted = _ENDS.sub(" ", text) if _ENDS.search(text) else ""
    hosts = [found["host"] or found["same"] for each in (text, parted) for found in _ADDRESS.finditer(each.strip())]
    for host in dict.fromkeys((*hosts, *_alone(text))):
        told = unquote(host).rpartition("@")[2]
        name = told[1:].partition("]")[0] if told.startswith("[") else told.partition(":")[0]
        yield from filter(None, (each.lower().rstrip(".,;)]}") for each in (name, _ENDS.split(name)[0])))


def _alone(text: str) -> list[str]:
    """Hosts without anything before them, if there is nothing else."""
    pieces = [each for each in _LIST.split(text) if each] if len(text) < _LONGEST_LIST else []
    found = [_ALONE.fullmatch(each) for each in pieces if not _ADDRESS.match(each)]
    return [each["host"] for each in found if each] if all(found) else []


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
