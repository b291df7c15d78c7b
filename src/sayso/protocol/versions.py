"""The versions of the protocol, its two eras, and where a modern request says which it speaks."""

from __future__ import annotations

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that begin with `initialize`: the client says once who it is."""

MODERN = "2026-07-28"
"""The version in which every request says who its client is, and the server asks nothing by itself."""

LATEST_HANDSHAKE = HANDSHAKES[-1]
BATCHES = "2025-03-26"
"""The one version that has several messages in one."""
EMPTY_EVENTS = RICH_FORMS = "2025-11-25"
"""The first version that speaks of events without data, and whose forms know titled choices and several choices."""

PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = PREFIX + "protocolVersion"
CLIENT_KEY = PREFIX + "clientInfo"
CAPABILITIES_KEY = PREFIX + "clientCapabilities"
SERVER_KEY = PREFIX + "serverInfo"
LOG_LEVEL_KEY = PREFIX + "logLevel"
SUBSCRIPTION_KEY = PREFIX + "subscriptionId"
