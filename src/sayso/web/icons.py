"""The drawings of the pages: one line each, in the colour of the text around it. Words beside them say the same."""

from __future__ import annotations

from functools import cache

from markupsafe import Markup

_PATHS = {
    "question": "M7 7.5a3 3 0 1 1 4.4 2.7c-.9.5-1.4 1-1.4 2M10 15.2v.1",
    "choice": "M4 5.5h.1M4 10h.1M4 14.5h.1M7.5 5.5H17M7.5 10H17M7.5 14.5H17",
    "choices": "M3 5l1.2 1.2L6.5 4M3 10l1.2 1.2L6.5 9M3 15l1.2 1.2L6.5 14M9.5 5.5H17M9.5 10.5H17M9.5 15.5H17",
    "confirm": "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M6.8 10.2l2.2 2.2 4.4-4.6",
    "form": "M4.5 2.5h11v15h-11zM7.5 6.5h5M7.5 10h5M7.5 13.5h3",
    "many": "M4 7.5h12v9H4zM6 5h8M7.5 2.5h5",
    "command": "M2.5 4h15v12h-15zM5.5 8l2.5 2-2.5 2M10 12.5h4",
    "edit": "M3 17l.8-3.6L13.6 3.6a1.4 1.4 0 0 1 2 0l.8.8a1.4 1.4 0 0 1 0 2L6.6 16.2z",
    "read": "M5 2.5h7l3.5 3.5v11.5H5zM8 9h5M8 12h5",
    "fetch": "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M2.5 10h15M10 2.5q-6 7.5 0 15M10 2.5q6 7.5 0 15",
    "tool": "M7 2.5v4M13 2.5v4M5 6.5h10v3a5 5 0 0 1-10 0zM10 14.5v3",
    "plan": "M3 4.5l4.5-2 5 2 4.5-2v13l-4.5 2-5-2-4.5 2zM7.5 2.5v13M12.5 4.5v13",
    "server": "M3 3.5h14v5H3zM3 11.5h14v5H3zM6 6h.1M6 14h.1",
    "key": "M7 8.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8M9.8 9.8L17 2.5M13.5 6l2.5 2.5",
    "inbox": "M2.5 11.5L5 3.5h10l2.5 8v5h-15zM2.5 11.5H7c0 3.5 6 3.5 6 0h4.5",
    "agents": "M4 7.5h12v9H4zM10 7.5V4M7.5 11.5v1M12.5 11.5v1M10 3v.1",
    "talk": "M3 3.5h14v10H9.5l-4 3.5v-3.5H3z",
    "history": "M3 10a7 7 0 1 0 2.2-5.1L3 7M3 3v4h4M10 6v4l3 2",
    "settings": "M3 5.5h8M15 5.5h2M3 14.5h2M9 14.5h8M13 3.5a2 2 0 1 0 .1 0M7 12.5a2 2 0 1 0 .1 0",
}


@cache
def icon(name: str) -> Markup:
    """A drawing that says nothing to who does not see it."""
    start = Markup('<svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">')
    return Markup('{}<path d="{}"/></svg>').format(start, _PATHS[name])
