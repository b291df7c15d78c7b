"""Whether the program of a tool is there: asked when the tool is first called, and remembered once it is."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sayso.errors import ToolUnavailable
from sayso.running.folder import Status
from sayso.running.launch import Launch
from sayso.running.spawner import Spawner
from sayso.toolfiles.leaves import Leaf, Probe

PROBE_SECONDS = 20.0
_OUTPUT_BYTES = 4096


class Availability:
    """Runs the probes of tools. What was not there is asked for again: it may have been installed."""

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._there: set[tuple[Probe, Path]] = set()

    def check(self, leaf: Leaf, project: Path, environment: Mapping[str, str]) -> None:
        """Return when every probe of the tool succeeds; a ToolUnavailable says what does not, and how to install it."""
        for probe in leaf.probes:
            if (probe, project) not in self._there:
                status = self._run(probe, project, environment)
                if status.reason != "exit" or status.exit_code not in probe.success_exit_codes:
                    raise ToolUnavailable(_unavailable(leaf, probe, status))
                self._there.add((probe, project))

    def _run(self, probe: Probe, project: Path, environment: Mapping[str, str]) -> Status:
        with tempfile.TemporaryDirectory(prefix="sayso-probe-") as folder:
            launch = Launch(
                folder=Path(folder),
                argv=probe.argv,
                cwd=project / (probe.cwd or ""),
                env=environment,
                timeout_seconds=PROBE_SECONDS,
                max_bytes=_OUTPUT_BYTES,
            )
            # Bounded by the launch's own limit, and by how long a tree takes to end.
            return self._spawner.start_operation(launch).result()


def install_hint(leaf: Leaf) -> str:
    told = leaf.settings.install_instructions
    return f" To install it: {told}" if told else ""


def _unavailable(leaf: Leaf, probe: Probe, status: Status) -> str:
    match status.reason:
        case "exit":
            how = f"ended with {status.ended_with}"
        case "timed_out":
            how = f"took more than {PROBE_SECONDS:.0f} s"
        case _:
            how = f"could not run: {status.text}"
    return f"{leaf.name} is not available here: `{shlex.join(probe.argv)}` {how}.{install_hint(leaf)}"
