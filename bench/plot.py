"""Draws curves over a growing number as an SVG, both axes logarithmic: a straight line is a law, a bend is news."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 50, 80
IN_A_ROW = 3
LEAST = 0.01
"""What is less than that, or nothing, is drawn as that."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")
"""Told apart by people who see colours differently."""

MIDDLE = 'text-anchor="middle"'
FONT = 'font-family="sans-serif" font-size="12"'

Curve = Sequence[tuple[float, float]]


def plot(title: str, across: str, curves: Mapping[str, Curve]) -> str:
    """An SVG of the curves, each by its name, which says what it measures."""
    points = [(x, max(y, LEAST)) for curve in curves.values() for x, y in curve]
    xs, ys = _decades([x for x, _ in points]), _decades([y for _, y in points])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
        *(_upright(_x(10.0**power, xs), _number(10.0**power)) for power in range(xs[0], xs[1] + 1)),
        *(_level(_y(10.0**power, ys), _number(10.0**power)) for power in range(ys[0], ys[1] + 1)),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - BOTTOM + 32}" {MIDDLE}>{escape(across)}</text>',
    ]
    for number, (name, curve) in enumerate(curves.items()):
        parts += _curve(name, [(_x(x, xs), _y(max(y, LEAST), ys)) for x, y in curve], number)
    return "\n".join([*parts, "</svg>\n"])


def _curve(name: str, places: Sequence[tuple[float, float]], number: int) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    row, column = divmod(number, IN_A_ROW)
    key, level = LEFT + column * (WIDTH - LEFT - RIGHT) / IN_A_ROW, HEIGHT - 26 + 18 * row
    return [
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places),
        f'<rect x="{key:.0f}" y="{level - 9}" width="10" height="10" fill="{colour}"/>',
        f'<text x="{key + 14:.0f}" y="{level}">{escape(name)}</text>',
    ]


def _upright(x: float, name: str) -> str:
    line = f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
    return f'{line}<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" {MIDDLE}>{name}</text>'


def _level(y: float, name: str) -> str:
    line = f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
    return f'{line}<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{name}</text>'


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around all of them."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _x(value: float, decades: tuple[int, int]) -> float:
    return LEFT + _share(value, decades) * (WIDTH - LEFT - RIGHT)


def _y(value: float, decades: tuple[int, int]) -> float:
    return HEIGHT - BOTTOM - _share(value, decades) * (HEIGHT - TOP - BOTTOM)


def _share(value: float, decades: tuple[int, int]) -> float:
    return (math.log10(value) - decades[0]) / (decades[1] - decades[0])


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
