"""The words in which an action is told: command lines whose words keep their limits, and names of its parts."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.text import counted, exact_words

SUBJECTS = ("command", "file_path", "notebook_path", "path", "url", "pattern", "query", "plan")
"""The fields of an agent's tool that say what it is about, the most telling first."""


def command_line(argv: Sequence[str]) -> str:
    """The words of a command as a shell would have to be told them: pasted there, they are the same words again."""
    return " ".join(word(each) for each in argv)


def word(text: str) -> str:
    """One word of a command, quoted where its limits would not be seen, with everything spelt out."""
    import shlex  # gates that a rule decides do without

    return shlex.quote(text) if exact_words(text) == text else f"$'{''.join(map(_escaped, text))}'"


def steps(number: int) -> str:
    return counted(number, "step")


def _escaped(character: str) -> str:
    """As it is written within `$'...'`."""
    if character in "\\'":
        return f"\\{character}"
    if character in "\n\t":
        return {"\n": "\\n", "\t": "\\t"}[character]
    if exact_words(character) == character:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
