"""Processes that tests fork have the same thing wrong, and write down what they call: see `tests.warm.TOLD`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from tests.mutants.calls import write_down_calls
from tests.mutants.making import Mutant, make_wrong


def with_mutant(mutant: Mutant) -> str:
    return json.dumps({"mutant": asdict(mutant)})


def with_calls(folder: Path) -> str:
    return json.dumps({"calls": str(folder)})


def prepare(told: str) -> Callable[[], None]:
    """Do in the process that forks what can be done there. What it gives is done in each copy."""
    wanted = json.loads(told)
    if "calls" in wanted:
        return partial(write_down_calls, Path(wanted["calls"]))
    file, line = wanted["mutant"].pop("function")
    make_wrong(Mutant(function=(file, line), **wanted["mutant"]))
    return lambda: None
