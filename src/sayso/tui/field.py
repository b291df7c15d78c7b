"""A field for own words: several lines, wide characters, and keys that lead out of it again."""

from __future__ import annotations

import re

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from sayso.errors import MAX_TEXT
from sayso.tui.keys import Keys

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class TextField(TextArea):
    """Enter is done, another key begins a new line. Going up from the first line leads out."""

    class Done(Message):
        """The person is done with this field."""

        def __init__(self, field: TextField) -> None:
            super().__init__()
            self.field = field

        @property
        def control(self) -> TextField:
            return self.field

    class LeftUp(Message):
        """The person wants to move on to what is above."""

        def __init__(self, field: TextField) -> None:
            super().__init__()
            self.field = field

        @property
        def control(self) -> TextField:
            return self.field

    def __init__(self, keys: Keys, *, id: str) -> None:
        super().__init__(id=id, highlight_cursor_line=False, tab_behavior="focus")
        keys.add(self, "field")

    def put(self, text: str) -> None:
        """Show this text without counting it as typed."""
        with self.prevent(TextArea.Changed):
            self.text = clean(text)
        self.move_cursor(self.document.end)

    def action_done(self) -> None:
        self.post_message(self.Done(self))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self.post_message(self.LeftUp(self))
        else:
            super().action_cursor_up(select)

    def on_paste(self, event: events.Paste) -> None:
        """Take what was pasted as text only: terminals can put anything into it."""
        event.prevent_default()
        event.stop()
        self.insert(clean(event.text))


def clean(text: str) -> str:
    """The text without what no keyboard types, and no longer than an answer may be."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))[:MAX_TEXT]
