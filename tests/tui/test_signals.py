"""Being told through the terminal: the right bytes, none that a text could bend, and all of it switchable."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from sayso.config import load
from sayso.tui.signals import Signals, kind_for, notification

ESC, BEL = "\x1b", "\a"


def written(tmp_path: Path, environ: dict[str, str], outer: str = "", **settings: str) -> list[str]:
    """What is written for one notification and a title."""
    named = {f"SAYSO_{name.upper()}": value for name, value in settings.items()}
    config = load(environ={"HOME": str(tmp_path), **named}, cwd=tmp_path)
    output: list[str] = []
    signals = Signals(config, environ, output.append, lambda: outer)
    signals.tell("Sayso: codex asks", "Ship it?")
    signals.title(3)
    return output


@pytest.mark.parametrize(
    ("terminal", "kind"),
    [
        ("xterm-kitty", "osc99"),
        ("foot", "osc777"),
        ("xterm-ghostty", "osc777"),
        ("xterm-256color WezTerm", "osc777"),
        ("rxvt-unicode", "osc777"),
        ("xterm-256color iTerm.app", "osc9"),
        ("xterm-256color", "osc9"),
    ],
)
def test_each_terminal_gets_the_sequence_it_understands(terminal: str, kind: str) -> None:
    assert kind_for(terminal) == kind


def test_osc_9_and_777_carry_title_and_text() -> None:
    assert notification("osc9", "Sayso: codex asks", "Ship it?") == f"{ESC}]9;Sayso: codex asks: Ship it?{ESC}\\"
    assert notification("osc777", "a;b", "c;d") == f"{ESC}]777;notify;a,b;c,d{ESC}\\"


def test_osc_99_carries_them_encoded() -> None:
    title, body = (base64.b64encode(text.encode()).decode() for text in ("Sayso", "Ship it?"))
    assert notification("osc99", "Sayso", "Ship it?") == (
        f"{ESC}]99;i=sayso:d=0:e=1;{title}{ESC}\\{ESC}]99;i=sayso:d=1:e=1:p=body;{body}{ESC}\\"
    )


@pytest.mark.parametrize("kind", ["osc9", "osc777"])
def test_a_hostile_text_cannot_end_the_sequence_or_begin_another(kind: str) -> None:
    hostile = f"a{BEL}b{ESC}\\c{ESC}]52;c;ZXZpbA=={BEL}\x9d\x9c\nd\u202e"
    sequence = notification(kind, hostile, hostile)
    inside = sequence.removeprefix(ESC).removesuffix(f"{ESC}\\")
    assert not set(inside) & set(f"{ESC}{BEL}\x9c\x9d\n\u202e")


def test_in_tmux_the_terminal_around_it_is_told(tmp_path: Path) -> None:
    environ = {"TMUX": "/tmp/tmux-0/default,1,0", "TERM": "tmux-256color"}
    told, bell, title = written(tmp_path, environ, outer="xterm-ghostty ghostty 1.1")
    assert told == f"{ESC}Ptmux;{ESC}{ESC}]777;notify;Sayso: codex asks;Ship it?{ESC}{ESC}\\{ESC}\\"
    assert bell == BEL
    assert title == f"{ESC}]2;(3) Sayso{BEL}"


def test_every_signal_can_be_switched_off(tmp_path: Path) -> None:
    assert written(tmp_path, {}, terminal_notify="off", terminal_bell="off", terminal_title="off") == []
    assert written(tmp_path, {}, terminal_notify="off", terminal_title="off") == [BEL]
    assert written(tmp_path, {}, terminal_notify="off", terminal_bell="off") == [f"{ESC}]2;(3) Sayso{BEL}"]


def test_the_sequence_can_be_chosen(tmp_path: Path) -> None:
    (told,) = written(tmp_path, {"TERM": "xterm-kitty"}, terminal_notify="osc9", terminal_bell="0", terminal_title="0")
    assert told.startswith(f"{ESC}]9;")


def test_nothing_open_is_a_title_without_a_number(tmp_path: Path) -> None:
    output: list[str] = []
    config = load(environ={"HOME": str(tmp_path)}, cwd=tmp_path)
    Signals(config, {}, output.append, lambda: "").title(0)
    assert output == [f"{ESC}]2;Sayso{BEL}"]
