"""Pictures in a terminal that can show them: by kitty's graphics protocol, or as sixels where `chafa` is there to draw
them. A terminal is asked what it can do and has a moment to answer; all others get the name of the picture, and the way
to it."""

from __future__ import annotations

import base64
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sayso.asks.model import Ask, Attachment
from sayso.cli.asks_in_words import attachment_words
from sayso.cli.terminal import put, say
from sayso.cli.texts import tr
from sayso.desks import Desks
from sayso.errors import NotFound

WITHIN = 1.0
"""Seconds that a terminal has to say what it can do."""
DRAWN_WITHIN = 10
_CHUNK = 4096
_CELL = 10
"""Pixels that a column of most terminals has; a picture is made narrower where it would not fit."""
_QUERY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c"
"""Whether pictures are taken; and what every terminal answers, so that nobody waits for one that stays silent."""
_ATTRIBUTES = re.compile(rb"\x1b\[\?([0-9;]+)c")
_SIXEL = b"4"


def show_pictures(desks: Desks, ask: Ask) -> None:
    """Show the pictures of an ask, as far as this terminal can."""
    pictures = [each for each in (*ask.pictures(), *ask.attachments()) if each.is_picture]
    if not pictures or not sys.stdout.isatty():
        return
    way = _way()
    for each in pictures:
        with suppress(NotFound):
            drawn = _drawn(way, each, desks.asks.attachment(ask.id, each.id)[1]) if way else b""
            put(attachment_words(each))
            sys.stdout.flush()
            sys.stdout.buffer.write(drawn + b"\n" * bool(drawn))
            sys.stdout.flush()
    if not way:
        if page := desks.config.web_url.rstrip("/"):
            say(tr("This terminal shows no pictures. Look at them: {page}", page=f"{page}/asks/{ask.id}"))
        else:
            say(tr("This terminal shows no pictures. Save them: sayso show {id} --save FOLDER", id=ask.id[:8]))


def _way() -> str:
    """`kitty`, `sixels`, or nothing."""
    if os.environ.get("TERM") in (None, "", "dumb") or not sys.stdin.isatty():
        return ""
    in_tmux = bool(os.environ.get("TMUX"))
    kitty_asked = not in_tmux or _tmux_passes()
    query = _passed(_QUERY.encode()) + b"\x1b[c" * in_tmux if kitty_asked else b"\x1b[c"
    said = _answer(query)
    if b"_Gi=31;OK" in said:
        return "kitty"
    found = _ATTRIBUTES.search(said)
    return "sixels" if found and _SIXEL in found[1].split(b";") and shutil.which("chafa") else ""


def _tmux_passes() -> bool:
    """Whether tmux hands on what it does not know itself; nothing is sent through one that would print it."""
    with suppress(OSError, subprocess.SubprocessError):
        asked = ["tmux", "show-options", "-Apqv", "allow-passthrough"]
        return subprocess.run(asked, capture_output=True, timeout=1, check=False).stdout.strip() in (b"on", b"all")
    return False


def _passed(sequence: bytes) -> bytes:
    """The sequence as it gets through tmux, where that is around us."""
    if not os.environ.get("TMUX"):
        return sequence
    return b"\x1bPtmux;" + sequence.replace(b"\x1b", b"\x1b\x1b") + b"\x1b\\"


def _answer(query: bytes) -> bytes:
    """What the terminal answers, up to what every terminal says last."""
    said, deadline = b"", time.monotonic() + WITHIN
    with _unechoed() as terminal:
        if terminal is None:
            return b""
        os.write(terminal, query)
        while not _ATTRIBUTES.search(said) and (left := deadline - time.monotonic()) > 0:
            if select.select([terminal], [], [], left)[0]:
                said += os.read(terminal, 1024)
    return said


@contextmanager
def _unechoed() -> Iterator[int | None]:
    """The terminal while what it answers is not shown on it; None where there is none."""
    try:
        import termios
        import tty

        terminal = os.open(os.ttyname(sys.stdin.fileno()), os.O_RDWR | os.O_NOCTTY)
    except (ImportError, OSError, ValueError):
        yield None
        return
    try:
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSANOW)
            yield terminal
        finally:
            termios.tcsetattr(terminal, termios.TCSANOW, before)
    finally:
        os.close(terminal)


def _drawn(way: str, picture: Attachment, data: bytes) -> bytes:
    columns = min(max(1, -(-picture.width // _CELL)), shutil.get_terminal_size().columns - 2)
    if way == "kitty" and picture.media == "image/png":
        return _by_kitty(data, columns)
    return _by_chafa(way, data, columns) if shutil.which("chafa") else b""


def _by_kitty(data: bytes, columns: int) -> bytes:
    """Kitty's protocol takes a PNG as it is."""
    text = base64.b64encode(data)
    chunks = [text[place : place + _CHUNK] for place in range(0, len(text), _CHUNK)]
    heads = [f"a=T,f=100,q=2,c={columns},", *[""] * (len(chunks) - 1)]
    more = [*[1] * (len(chunks) - 1), 0]
    return b"".join(
        _passed(f"\x1b_G{head}m={goes_on};".encode() + chunk + b"\x1b\\")
        for head, goes_on, chunk in zip(heads, more, chunks, strict=True)
    )


def _by_chafa(way: str, data: bytes, columns: int) -> bytes:
    with tempfile.NamedTemporaryFile(prefix="sayso-") as file, suppress(OSError, subprocess.SubprocessError):
        file.write(data)
        file.flush()
        words = ["chafa", "-f", way, "--animate", "off", "--polite", "on", "--size", f"{columns}x30", file.name]
        return subprocess.run(words, capture_output=True, timeout=DRAWN_WITHIN, check=True).stdout
    return b""
