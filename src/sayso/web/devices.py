"""What a browser is called in the list of one's sessions: by what it says of itself, which nobody else relies on."""

from __future__ import annotations

from starlette.requests import Request

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""In this order: most of them claim to be those below as well."""
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def device_of(request: Request) -> str:
    """Such as "Firefox on Linux"."""
    says = request.headers.get("user-agent", "")
    browser = next((name for mark, name in _BROWSERS if mark in says), "")
    system = next((name for mark, name in _SYSTEMS if mark in says), "")
    return " on ".join(part for part in (browser or "A browser", system) if part)
