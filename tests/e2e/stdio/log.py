"""A process's standard error, read as it comes."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Self

_SECONDS = 120.0


class Log:
    """The reading end of a pipe. `writer` is for the process; once it has it, close ours."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.writer = os.fdopen(writing, "w")
        self._reader = os.fdopen(reading, "rb", buffering=0)
        self._text = b""
        self._ended = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """What came so far."""
        return self._text.decode(errors="replace")

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def wait_for(self, text: str, timeout: float = _SECONDS) -> str:
        """The first line with this text."""
        with self._news:
            came = self._news.wait_for(lambda: self._ended or self._line_with(text), timeout)
        found = self._line_with(text)
        assert found, f"{'ended' if came else 'waited in vain'} without {text!r}:\n{self.text}"
        return found

    def whole(self, timeout: float = _SECONDS) -> str:
        """All of it, once every process that could write has ended."""
        with self._news:
            assert self._news.wait_for(lambda: self._ended, timeout), f"still open after:\n{self.text}"
        return self.text

    def close_our_end(self) -> None:
        self.writer.close()

    def _line_with(self, text: str) -> str | None:
        return next((line for line in self.lines if text in line), None)

    def _read(self) -> None:
        while chunk := self._reader.read(65536):
            with self._news:
                self._text += chunk
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_our_end()
        self._thread.join(_SECONDS)
        self._reader.close()
