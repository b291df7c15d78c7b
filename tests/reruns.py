"""How often a test may be tried again under `--reruns`: nowhere near the store and the waits, rarely elsewhere.

A race there is a fault to be found, and a second try hides it. Elsewhere whole programs meet a busy machine: what was
tried again is named at the very end, where little is shown of a run, and more than a few fail the run.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

MOST = 2
LONGEST = 600
"""Characters of the reason that are printed, from its end."""


@dataclass(eq=False)
class Reruns:
    """A plugin for pytest. Tests whose ids begin with `never_in` are not tried again."""

    never_in: Sequence[str]
    most: int = MOST
    tried_again: list[tuple[str, str]] = field(default_factory=list)
    """Each with the reason why."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Have workers send what they tell of each test at once: it is held back for 40 ms otherwise, most of the time
        that a small test takes."""
        line = getattr(getattr(session.config, "failures_db", None), "sock", None)
        if isinstance(line, socket.socket):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if item.nodeid.startswith(tuple(self.never_in)):
                item.add_marker(pytest.mark.flaky(reruns=0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # The word is that of pytest-rerunfailures, which pytest's own types do not know.
        if str(report.outcome) == "rerun":
            self.tried_again.append((report.nodeid, report.longreprtext[-LONGEST:]))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self.tried_again) > self.most and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.tried_again:
            return
        terminalreporter.section("tried again")
        for name, reason in self.tried_again:
            terminalreporter.write_line(f"{name}\n{reason}")
        if len(self.tried_again) > self.most:
            terminalreporter.write_line(
                f"{len(self.tried_again)} reruns; more than {self.most} fail the run.", red=True
            )

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """A worker has no reporter: it is all told once, by the process that started the workers."""
        terminalreporter = config.pluginmanager.get_plugin("terminalreporter")
        if terminalreporter and self.tried_again:
            terminalreporter.write_line("Tried again:")
            for name in dict.fromkeys(name for name, _ in self.tried_again):
                terminalreporter.write_line(name)
