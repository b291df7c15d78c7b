"""The lock files fit what they lock, name every package with its hashes, and name nobody's server."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from scripts.lock import LOCKS, PINS, ROOT

HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
SAYSO, EXTRAS, DEV, BUILD = "locks/sayso.txt", "locks/extras.txt", "locks/dev.txt", "locks/build.txt"
NODE_LOCKS = sorted((ROOT / PINS).glob("*/package-lock.json"))


def wanted(lock: str) -> list[Requirement]:
    """What the lock is made from."""
    if lock not in (SAYSO, EXTRAS, DEV):
        (source,) = LOCKS[lock]
        return [Requirement(line) for line in (ROOT / source).read_text("utf-8").splitlines()]
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    texts: list[str] = [*about["project"]["dependencies"]]
    if lock != SAYSO:
        texts += [text for extra in about["project"]["optional-dependencies"].values() for text in extra]
    if lock == DEV:
        texts += about["dependency-groups"]["dev"]
    return [Requirement(text) for text in texts]


def pins(lock: str) -> list[Requirement]:
    """What the lock names, with all its hashes checked for their form."""
    found = []
    for entry in re.split(r"\n(?=\S)", (ROOT / lock).read_text("utf-8")):
        if entry.startswith("#"):
            continue
        pin, *hashes = [line.removesuffix("\\").strip() for line in entry.strip().splitlines()]
        assert hashes, pin
        assert all(HASH.fullmatch(hash_) for hash_ in hashes), pin
        found.append(Requirement(pin))
    return found


def here(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def pinned_here(lock: str) -> dict[str, Version]:
    """What the lock installs on this machine."""
    pinned: dict[str, Version] = {}
    for pin in filter(here, pins(lock)):
        (exactly,) = pin.specifier
        assert exactly.operator == "=="
        pinned[canonicalize_name(pin.name)] = Version(exactly.version)
    return pinned


def needed(requirement: Requirement, seen: set[tuple[str, str]]) -> Iterator[Requirement]:
    """A requirement and all that it needs in turn, as the installed packages say."""
    yield requirement
    name = canonicalize_name(requirement.name)
    for extra in ("", *requirement.extras):
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for text in requires(name) or ():
            if here(next_one := Requirement(text), extra):
                yield from needed(next_one, seen)


@pytest.mark.finding("F-37")
@pytest.mark.parametrize("lock", [SAYSO, EXTRAS, DEV, BUILD])
def test_a_lock_pins_all_that_is_needed_and_nothing_else(lock: str) -> None:
    pinned, seen = pinned_here(lock), set[tuple[str, str]]()
    everything = [one for direct in filter(here, wanted(lock)) for one in needed(direct, seen)]
    for requirement in everything:
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{requirement} is missing from {lock}. Run: make lock"
        assert pinned[name] in requirement.specifier, f"{lock} has {pinned[name]} for {requirement}. Run: make lock"
    assert set(pinned) == {canonicalize_name(requirement.name) for requirement in everything}


@pytest.mark.finding("F-37")
@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_fits_what_it_is_made_from_on_every_platform(lock: str) -> None:
    versions = [(canonicalize_name(pin.name), *pin.specifier) for pin in pins(lock)]
    for requirement in wanted(lock):
        fitting = [exactly for name, exactly in versions if name == canonicalize_name(requirement.name)]
        assert fitting, f"{requirement} is missing from {lock}. Run: make lock"
        assert all(exactly.version in requirement.specifier for exactly in fitting), "Run: make lock"


def test_the_locks_agree_with_each_other() -> None:
    everything = pinned_here(DEV)
    for lock in (SAYSO, EXTRAS, BUILD):
        assert pinned_here(lock).items() <= everything.items(), lock


@pytest.mark.finding("F-37")
@pytest.mark.parametrize("lock", NODE_LOCKS, ids=lambda path: path.parent.name)
def test_every_package_of_a_node_lock_has_its_hash(lock: Path) -> None:
    packages: dict[str, Any] = json.loads(lock.read_text("utf-8"))["packages"]
    assert [name for name, about in packages.items() if name and not about["integrity"].startswith("sha512-")] == []


@pytest.mark.parametrize("lock", [*LOCKS, *(str(path.relative_to(ROOT)) for path in NODE_LOCKS)])
def test_no_lock_says_where_packages_come_from(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "--index-url" not in text
    assert '"resolved"' not in text
