"""Numbers about this server for Prometheus, in its text format. Counts and times only: never a text, never a secret."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate

from sayso import __version__
from sayso.asks.model import State

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400)
"""Seconds: some calls take no time, others wait for a person."""

Labels = Mapping[str, object]
Sample = tuple[str, Labels, float]


class Histogram:
    """How often something took how long, by one label."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._sums: defaultdict[str, float] = defaultdict(float)

    def add(self, label: str, seconds: float) -> None:
        counts = self._counts.setdefault(label, [0] * (len(BOUNDS) + 1))
        counts[bisect_left(BOUNDS, seconds)] += 1
        self._sums[label] += seconds

    def samples(self, name: str, label_name: str) -> Iterator[Sample]:
        for label, counts in self._counts.items():
            labels = {label_name: label}
            for bound, so_far in zip((*BOUNDS, "+Inf"), accumulate(counts), strict=True):
                yield f"{name}_bucket", {**labels, "le": bound}, so_far
            yield f"{name}_sum", labels, self._sums[label]
            yield f"{name}_count", labels, sum(counts)


class Metrics:
    """What one server process has counted since it started."""

    def __init__(self, tools: Iterable[str]) -> None:
        self._tools = frozenset(tools)
        self._open: Counter[str] = Counter()
        self._calls = Histogram()
        self._handovers: Counter[str] = Counter()
        self._refused = 0

    def begin(self, tool: object) -> Callable[[object], None]:
        """A call of this tool is being served. What comes back is to be called at its end."""
        # Names that callers made up would make a number of their own each.
        name = tool if isinstance(tool, str) and tool in self._tools else "unknown"
        self._open[name] += 1
        return partial(self._end, name, time.monotonic())

    def _end(self, name: str, begun: float, _: object) -> None:
        self._open[name] -= 1
        self._calls.add(name, time.monotonic() - begun)

    def handed_over(self, written: bool) -> None:
        """An outcome was written to its agent, or could not be."""
        self._handovers["yes" if written else "no"] += 1

    def refused(self) -> None:
        """Somebody came without a token that lets them in."""
        self._refused += 1

    def text(self, *, asks: Mapping[State, int], sessions: int, exchanges: int) -> str:
        """Everything, with what others counted."""
        version = [("sayso_info", {"version": __version__}, 1.0)]
        by_state = [("sayso_asks", {"state": state}, count) for state, count in asks.items()]
        waiting = [("sayso_calls_open", {"tool": tool}, self._open[tool]) for tool in sorted(self._open)]
        handovers = [("sayso_handovers_total", {"written": yes}, self._handovers[yes]) for yes in ("yes", "no")]
        lines = [
            *_family("sayso_info", "gauge", "The version that runs.", version),
            *_family("sayso_asks", "gauge", "Asks in the store by state, the same on every replica.", by_state),
            *_family("sayso_calls_open", "gauge", "Tool calls that are being served or wait.", waiting),
            *_family(
                "sayso_call_seconds",
                "histogram",
                "How long tool calls took, waiting for a person included.",
                self._calls.samples("sayso_call_seconds", "tool"),
            ),
            *_family("sayso_handovers_total", "counter", "Outcomes written to their agent, or not.", handovers),
            *_family("sayso_http_open", "gauge", "Open requests at /mcp.", [("sayso_http_open", {}, exchanges)]),
            *_family("sayso_sessions_open", "gauge", "Handshake sessions.", [("sayso_sessions_open", {}, sessions)]),
            *_family(
                "sayso_refused_total",
                "counter",
                "Requests without a valid token.",
                [("sayso_refused_total", {}, self._refused)],
            ),
        ]
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, about: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for sample, labels, value in samples:
        shown = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
        yield f"{sample}{{{shown}}} {_plain(value)}" if shown else f"{sample} {_plain(value)}"


def _plain(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
