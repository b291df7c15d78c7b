"""Whether the tests would notice: one small thing in the code is made wrong at a time, and a test has to fail.

Usage: python -m tests.mutants [--sample 400] [--seed 7] [--packages asks permissions store operations]
`make mutants` does the same. A change is put into the function that is already loaded, in a process of its own, and
only tests that call this function are run, the quickest first. Tests that start Sayso as a program of their own cannot
see it, so the share that is noticed is at least what is printed, and where a package is mostly tested in that way, much
more. Words for people are left alone.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sayso"
TESTS = {
    "asks": ["tests/asks"],
    "permissions": ["tests/permissions", "tests/rules"],
    "store": ["tests/store", "tests/asks", "tests/test_backup.py"],
    "operations": ["tests/operations", "tests/running"],
}
AT_ONCE = 2
PATIENCE = 60.0
"""Seconds after which a change counts as noticed: something waits for what never comes."""

_NOTICED, _BROKEN = 1, 70

Function = tuple[str, int]
"""The file of a function, and the line in which it begins."""


@dataclass(frozen=True)
class Mutant:
    """One thing made wrong."""

    function: Function
    name: str
    line: int
    number: int
    """Which of those in its function."""
    what: str

    @property
    def package(self) -> str:
        return Path(self.function[0]).relative_to(SOURCE).parts[0]

    def __str__(self) -> str:
        return f"{Path(self.function[0]).relative_to(ROOT)}:{self.line} {self.name}: {self.what}"


# What can be made wrong

_OTHERS: Mapping[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}


class _Maker(ast.NodeTransformer):
    """Goes through a function, and makes the thing with this number wrong; none without one."""

    def __init__(self, number: int | None = None) -> None:
        self._wanted, self._count = number, 0
        self.found: list[tuple[int, str]] = []

    def _choose(self, node: ast.AST, what: str, make: Callable[[], ast.AST]) -> ast.AST:
        self.found.append((getattr(node, "lineno", 0), what))
        self._count += 1
        return ast.copy_location(make(), node) if self._count - 1 == self._wanted else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._body_of(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self._body_of(node)

    def _body_of(self, node: Any) -> Any:
        """Neither its annotations nor what it is decorated with."""
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for place, each in enumerate(node.ops):
            if other := _OTHERS.get(type(each)):
                what = f"{type(each).__name__} is {other.__name__}"
                node.ops[place] = self._choose_plain(node, each, what, other)
        return node

    def _choose_plain(self, at: ast.AST, node: Any, what: str, other: type[ast.AST]) -> Any:
        self.found.append((getattr(at, "lineno", 0), what))
        self._count += 1
        return other() if self._count - 1 == self._wanted else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other = _OTHERS[type(node.op)]
        node.op = self._choose_plain(node, node.op, f"{type(node.op).__name__} is {other.__name__}", other)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if (other := _OTHERS.get(type(node.op))) and not isinstance(node.left, ast.Constant | ast.JoinedStr):
            node.op = self._choose_plain(node, node.op, f"{type(node.op).__name__} is {other.__name__}", other)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return self._choose(node, "no not", lambda: node.operand) if isinstance(node.op, ast.Not) else node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = self._turned(node.test, "if not")
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self._turned(node.test, "if not")
        return node

    def _turned(self, test: ast.expr, what: str) -> Any:
        if isinstance(test, ast.Compare | ast.UnaryOp):
            return test  # turned round by its own
        return self._choose(test, what, lambda: ast.UnaryOp(ast.Not(), test))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        if isinstance(value, bool):
            return self._choose(node, f"{value} is {not value}", lambda: ast.Constant(not value))
        if isinstance(value, int | float):
            return self._choose(node, f"{value} is {value + 1}", lambda: ast.Constant(value + 1))
        if isinstance(value, str) and value.isidentifier():
            return self._choose(node, f"{value!r} is {'x' + value!r}", lambda: ast.Constant("x" + value))
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            return node
        return self._choose(node, "returns None", lambda: ast.Return(ast.Constant(None)))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant) or _is_log(node.value):
            return node
        self.generic_visit(node)
        if isinstance(node.value, ast.Call | ast.Await):
            return self._choose(node, f"without {ast.unparse(node.value)[:60]}", ast.Pass)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        return self._choose(node, f"without {ast.unparse(node)[:60]}", ast.Pass)

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return self._choose(node, "break is continue", ast.Continue)

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return self._choose(node, "continue is break", ast.Break)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value:
            node.value = self.visit(node.value)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """What it says is for people."""
        return self._choose(node, "raises nothing", ast.Pass)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node


def _is_log(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and ast.unparse(call.func).startswith("logger.")


def functions(tree: ast.AST) -> Iterator[Any]:
    """The outermost functions of a module and of its classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node)


def _first_line(node: Any) -> int:
    return min(int(each.lineno) for each in (node, *node.decorator_list))


def mutants_of(file: Path) -> Iterator[Mutant]:
    for node in functions(ast.parse(file.read_text())):
        maker = _Maker()
        maker.visit(node)
        function = str(file), _first_line(node)
        for number, (line, what) in enumerate(maker.found):
            yield Mutant(function, node.name, line, number, what)


def _code_of(mutant: Mutant) -> CodeType:
    """The function, compiled with the thing made wrong."""
    tree = ast.parse(Path(mutant.function[0]).read_text())
    node = next(each for each in functions(tree) if _first_line(each) == mutant.function[1])
    _Maker(mutant.number).visit(node)
    whole = compile(ast.fix_missing_locations(tree), mutant.function[0], "exec", dont_inherit=True)
    return next(code for code in _codes(whole) if code.co_firstlineno == mutant.function[1] == _begin(code, node))


def _begin(code: CodeType, node: Any) -> int:
    return code.co_firstlineno if code.co_name == node.name else 0


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


@cache
def _loaded() -> Mapping[Function, list[FunctionType]]:
    found: dict[Function, list[FunctionType]] = defaultdict(list)
    gc.unfreeze()  # what is frozen is not listed
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(str(SOURCE)):
            found[each.__code__.co_filename, each.__code__.co_firstlineno].append(each)
    return found


def make_wrong(mutant: Mutant) -> None:
    code = _code_of(mutant)
    for function in _loaded()[mutant.function]:
        function.__code__ = code


# Which tests call what


class Calls:
    """The functions of ours that are called meanwhile, in all threads."""

    def __init__(self) -> None:
        self.seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self.seen.add(frame.f_code)

    def since(self) -> set[Function]:
        seen, self.seen = self.seen, set()
        found = {(code.co_filename, code.co_firstlineno) for code in seen.copy()}  # a thread may not have let go yet
        return {each for each in found if each[0].startswith(str(SOURCE))}


@dataclass
class Test:
    place: int
    seconds: float
    calls: list[Function]


def _is_green(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))


def _watched(items: Sequence[pytest.Item], places: Sequence[int], told: Path) -> None:
    """Run these tests, and write down what they called."""
    calls, found = Calls(), []
    threading.setprofile(calls)
    sys.setprofile(calls)
    for place, following in pairwise([*places, None]):
        assert place is not None
        begun = time.monotonic()
        green = _is_green(items[place], None if following is None else items[following])
        called = calls.since()
        if green:
            found.append([place, time.monotonic() - begun, sorted(called)])
    told.write_text(json.dumps(found))


class Mutants:
    """In place of running the tests once, runs some of them for each mutant."""

    def __init__(self, chosen: Sequence[Mutant], folder: Path) -> None:
        self._chosen, self._folder = list(chosen), folder
        self.noticed: Counter[str] = Counter()
        self.all: Counter[str] = Counter()
        self.survivors: list[Mutant] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = session.items
        tests = self._tests(items)
        print(f"{len(tests):,} of {len(items):,} tests can be used; {len(self._chosen):,} changes", flush=True)
        by_function: dict[Function, list[Test]] = defaultdict(list)
        for test in sorted(tests, key=lambda test: test.seconds):
            for function in test.calls:
                by_function[function].append(test)
        running: dict[int, tuple[Mutant, float]] = {}
        waiting = list(reversed(self._chosen))
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                mutant = waiting.pop()
                places = [test.place for test in by_function[mutant.function]]
                running[_forked(lambda m=mutant, p=places: _try(items, m, p))] = mutant, time.monotonic()  # type: ignore[misc]
            self._reap(running)
        return True

    def _tests(self, items: Sequence[pytest.Item]) -> list[Test]:
        parts = [list(range(start, len(items), AT_ONCE)) for start in range(AT_ONCE)]
        files = [self._folder / f"calls-{number}" for number in range(AT_ONCE)]
        children = [
            _forked(lambda p=part, f=file: _watched(items, p, f) or 0)  # type: ignore[misc, func-returns-value]
            for part, file in zip(parts, files, strict=True)
        ]
        for child in children:
            os.waitpid(child, 0)
        return [
            Test(place, seconds, [(name, line) for name, line in calls])
            for file in files
            for place, seconds, calls in json.loads(file.read_text())
        ]

    def _reap(self, running: dict[int, tuple[Mutant, float]]) -> None:
        time.sleep(0.01)
        for child, (mutant, begun) in list(running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and time.monotonic() - begun < PATIENCE:
                continue
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            if not ended:
                os.waitpid(child, 0)
            del running[child]
            assert not ended or os.waitstatus_to_exitcode(status) != _BROKEN, f"cannot try {mutant}"
            self._note(mutant, noticed=not ended or status != 0)

    def _note(self, mutant: Mutant, *, noticed: bool) -> None:
        self.all[mutant.package] += 1
        self.noticed[mutant.package] += noticed
        if not noticed:
            self.survivors.append(mutant)
            print(f"not noticed: {mutant}", flush=True)


def _forked(work: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return child
    code = _BROKEN
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        code = work()
    finally:
        os._exit(code)


def _try(items: Sequence[pytest.Item], mutant: Mutant, places: Sequence[int]) -> int:
    make_wrong(mutant)
    for place, following in pairwise([*places, None]):
        assert place is not None
        if not _is_green(items[place], None if following is None else items[following]):
            return _NOTICED
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=400, help="how many changes, chosen at random")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--packages", nargs="+", choices=list(TESTS), default=list(TESTS))
    given = parser.parse_args()
    files = [file for package in given.packages for file in sorted((SOURCE / package).glob("*.py"))]
    everything = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(everything, min(given.sample, len(everything)))
    tests = sorted({folder for package in given.packages for folder in TESTS[package]})
    with tempfile.TemporaryDirectory(prefix="sayso-mutants-") as folder:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        found = Mutants(chosen, Path(folder))
        options = ["-p", "no:xdist", "-p", "no:cacheprovider"]
        begun = time.monotonic()
        ended = pytest.main([*options, f"--basetemp={folder}/tests", *tests], plugins=[found])
    assert found.all, f"pytest ended with {ended}"
    print(f"\n{len(everything):,} changes can be made; {len(chosen):,} were, seed {given.seed}.\n")
    print("| package | changes | noticed |\n|---------|--------:|--------:|")
    rows = [(package, found.all[package], found.noticed[package]) for package in given.packages]
    for name, count, noticed in [*rows, ("all", found.all.total(), found.noticed.total())]:
        print(f"| {name} | {count:,} | {noticed / max(count, 1):.0%} |")
    print(f"\n{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
