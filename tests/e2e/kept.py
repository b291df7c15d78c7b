"""What takes long to start and is started at most once in a run, when the first test wants it.

A session's fixture with parameters would not do: it is torn down at every change of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Generic, Self, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Opens what is asked for by its key, and closes everything in the end."""

    def __init__(self, open_: Callable[[K], AbstractContextManager[V]]) -> None:
        self._open = open_
        self._opened: dict[K, V] = {}
        self._closing = ExitStack()

    def __getitem__(self, key: K) -> V:
        if key not in self._opened:
            self._opened[key] = self._closing.enter_context(self._open(key))
        return self._opened[key]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()
