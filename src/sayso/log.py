"""Logging for every process: standard library, to stderr or a file, never to stdout, never an answer's text."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.errors import ConfigError

if TYPE_CHECKING:
    import logging

LEVELS = ("debug", "info", "warning", "error")
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def set_up(level: str, file: Path | None) -> None:
    """Send what Sayso logs to stderr, or to `file` (made 0600)."""
    import logging  # only now: settings name the levels, and not everybody who reads them logs anything

    handler: logging.Handler = _file_handler(file) if file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger = logging.getLogger("sayso")
    for old in list(logger.handlers):
        logger.removeHandler(old)
        old.close()
    logger.addHandler(handler)
    # Else each line that finds the disk full is a traceback on stderr, which clients show as a failure of the server.
    logging.raiseExceptions = False
    logger.setLevel(level.upper())
    logger.propagate = False


def is_kept() -> bool:
    """Whether this process may keep a log. One that has not even imported what keeps it need not do so to be heard by
    nobody."""
    return "logging" in sys.modules


def _file_handler(file: Path) -> logging.Handler:
    import logging

    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        return logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"log_file: cannot write {str(file)!r} ({error.strerror}). Name a file you can write."
        ) from error
