"""The shadows of all conversations on this machine: begun with them, gone with them."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from sayso.errors import TreeUnavailable
from sayso.files import replace_file
from sayso.trees.shadow import Shadow

logger = logging.getLogger(__name__)
_CONVERSATION = re.compile(r"[0-9a-f]{24}")
_WHY_NOT = "why-not"


class Trees:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, conversation: str, directory: Path) -> None:
        """Keep what the files are like as a conversation begins. Where that cannot be, it is written down why; nobody
        has to wait for it in order to talk."""
        shadow = self.shadow(conversation)
        try:
            shadow.begin(directory)
        except (TreeUnavailable, OSError) as error:
            logger.info("What changes in conversation %s cannot be shown: %s", conversation, error)
            shutil.rmtree(shadow.folder, ignore_errors=True)
            shadow.folder.mkdir(parents=True, mode=0o700)
            replace_file(shadow.folder / _WHY_NOT, str(error).encode(errors="replace"))

    def shadow(self, conversation: str) -> Shadow:
        """Whether anything is kept in it yet or not."""
        return Shadow(self._folder / conversation)

    def of(self, conversation: str) -> Shadow:
        """TreeUnavailable, with the reason, where nothing was kept."""
        shadow = self.shadow(conversation)
        try:
            why_not = (shadow.folder / _WHY_NOT).read_text(encoding="utf-8", errors="replace")
        except OSError:
            why_not = ""
        if why_not:
            raise TreeUnavailable(why_not)
        _ = shadow.beginning
        return shadow

    def sweep(self, is_there: Callable[[str], bool]) -> None:
        """Delete those of conversations that are there no more."""
        for folder in self._folder.glob("*"):
            if _CONVERSATION.fullmatch(folder.name) and not is_there(folder.name):
                shutil.rmtree(folder, ignore_errors=True)
