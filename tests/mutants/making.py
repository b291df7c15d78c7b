"""What can be made wrong in the code, one small thing at a time, and making it wrong in functions that are loaded."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "sayso"

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

    @property
    def module(self) -> str:
        return ".".join(Path(self.function[0]).relative_to(SOURCE.parent).with_suffix("").parts)

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
        if node.value is None or (isinstance(node.value, ast.Constant) and not node.value.value):
            return node  # as good as None to nearly everybody
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


def make_wrong(mutant: Mutant) -> Callable[[], None]:
    """What it gives makes it right again."""
    import_module(mutant.module)
    found = _loaded()[mutant.function]
    right, wrong = [function.__code__ for function in found], _code_of(mutant)
    for function in found:
        function.__code__ = wrong

    def undo() -> None:
        for function, code in zip(found, right, strict=True):
            function.__code__ = code

    return undo
