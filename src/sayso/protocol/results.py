"""What comes of a tool call: a result for the model, or that the client is to call again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.protocol.messages import Json


class ToolResult:
    """Texts for the model, the same as data, and whether it is an error.

    What is said beside the result itself is on lines of its own: some clients put texts together with nothing between.
    """

    __slots__ = ("blocks", "data", "is_error", "texts")

    def __init__(self, text: str, data: Mapping[str, Any] | None = None, *, is_error: bool = False) -> None:
        self.texts, self.data, self.is_error = [text], data, is_error
        self.blocks: list[Json] = []
        """What else there is to see: pictures, and texts of files."""

    def say_before(self, text: str) -> None:
        self.texts.insert(0, f"{text}\n")

    def say_after(self, text: str) -> None:
        self.texts.append(f"\n{text}")

    def on_the_wire(self) -> Json:
        texts = [{"type": "text", "text": text} for text in self.texts]
        told: Json = {"content": [*texts, *self.blocks], "isError": self.is_error}
        return told if self.data is None else {**told, "structuredContent": self.data}


class InputRequired:
    """The client is to call again with this state, and with the reply to a form where there is one. 2026-07-28 only."""

    __slots__ = ("requests", "state")

    def __init__(self, state: str, requests: Mapping[str, Json] | None = None) -> None:
        self.state, self.requests = state, requests

    def on_the_wire(self) -> Json:
        told: Json = {"resultType": "input_required", "requestState": self.state}
        return {**told, "inputRequests": self.requests} if self.requests else told
