"""Pictures and files of answers on their way to an agent: in the result where its client shows them to the model, and
on the disk where the agent works on this machine."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from sayso.asks.desk import AskDesk
from sayso.asks.handed_files import HandedFile, fetched, has_files, on_disk
from sayso.asks.model import Ask, Asker
from sayso.clients import Pictures, known
from sayso.pictures import MOST_BYTES, MOST_IN_ALL
from sayso.protocol.messages import Json
from sayso.protocol.results import ToolResult
from sayso.records import replace

MOST_TEXT = 50_000
"""Bytes of a text file that is put into a result, where there is no disk that both can read."""


def handed(desk: AskDesk, folder: Path, ask: Ask, asker: Asker) -> list[HandedFile]:
    """The files of an answer, each where this agent can find it."""
    if not has_files(ask):
        return []
    # Who comes with a token may be on any machine.
    files = fetched(desk, ask) if asker.agent else on_disk(desk, folder, ask)
    pictures = [each for each in files if each.attachment.is_picture and each.attachment.size <= MOST_BYTES]
    sizes = accumulate(each.attachment.size for each in pictures)
    fitting = [each for each, size in zip(pictures, sizes, strict=True) if size <= MOST_IN_ALL]
    shows = known(asker.client).pictures is not Pictures.NONE
    return [replace(each, in_result=(shows and each in fitting) or _is_told_as_text(each)) for each in files]


def _is_told_as_text(file: HandedFile) -> bool:
    return file.path is None and file.attachment.media == "text/plain" and file.attachment.size <= MOST_TEXT


def put_into(told: ToolResult, files: Sequence[HandedFile], asker: Asker) -> None:
    """Put into a result what goes with it. Where a client shows the model nothing but the data of a result that has
    some, that is left out: the texts say all of it."""
    told.blocks += _blocks(files)
    if told.blocks and known(asker.client).pictures is Pictures.WITHOUT_DATA:
        told.data = None


def _blocks(files: Sequence[HandedFile]) -> Iterator[Json]:
    for each in files:
        if each.in_result and each.attachment.is_picture:
            data = base64.b64encode(each.data).decode()
            yield {"type": "image", "data": data, "mimeType": each.attachment.media}
        elif each.in_result:
            yield {"type": "text", "text": f"\nAttached, {each.attachment.name}:\n{each.data.decode()}"}
