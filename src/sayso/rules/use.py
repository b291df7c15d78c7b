"""A use of a tool as rules see it: by which names it is known, which commands it runs, which paths it touches.

Made by `uses.py` of an action, or of what a person writes as an example.
"""

from __future__ import annotations

from sayso.records import record

Command = tuple[str, ...]
"""The words of one simple command."""


@record
class UsedPath:
    """A file or folder that a tool would touch."""

    named: str
    """As it was written, made absolute."""
    real: str | None
    """After links; None where that is not known."""
    project: str
    """The real folder that relative patterns are about."""
    folder: str
    """The one that the agent is in. It may change that, so nothing is allowed by what a pattern would mean there."""
    around: tuple[str, ...] = ()
    """The projects that this one lies in. Nor by what it would mean there."""
    is_whole_folder: bool = False
    """Whether all below it is touched too."""


@record
class ToolUse:
    """`doubts` say why it cannot be allowed by a rule, whatever rule there is."""

    names: frozenset[str]
    """By which a rule may allow it."""
    strict_names: frozenset[str]
    """By which a rule may deny it or ask."""
    commands: tuple[Command, ...] = ()
    """The simple commands that it runs: each must be allowed."""
    forms: tuple[Command, ...] = ()
    """The same in every form in which somebody may have denied it."""
    paths: tuple[UsedPath, ...] = ()
    possible: tuple[UsedPath, ...] = ()
    """Files that its input names, of which it is not known what becomes: they may be read, and they may be changed. No
    rule about files allows it because of them."""
    mentioned: tuple[UsedPath, ...] = ()
    """What the words of its commands would be as paths."""
    hides_paths: bool = False
    """Whether it may come to other files than it names."""
    searches: bool = False
    """Whether all that it touches without naming it lies in its paths."""
    reads_below: bool = False
    """Whether it reads files in folders without naming them."""
    is_plain: bool = False
    """Whether its shell line is nothing but its commands, joined by `&&`, in words that mean themselves."""
    beyond_words: bool = False
    """Whether more of it matters than the words of its command: input, files, variables."""
    domain: str = ""
    other_domains: tuple[str, ...] = ()
    """Hosts that it names besides, of which it is not known what becomes."""
    doubts: tuple[str, ...] = ()
