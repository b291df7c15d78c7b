"""`python -m sayso.adapters PROTOCOL ORDER`: what Talk starts for an agent. ORDER is an AdapterOrder as JSON."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from sayso.adapters.adapter import AdapterOrder
from sayso.adapters.serving import serve

if TYPE_CHECKING:
    from sayso.adapters.adapter import Adapter


def _kind(protocol: str) -> type[Adapter]:
    """Only the one that is named is imported."""
    match protocol:
        case "codex":
            from sayso.adapters.codex import CodexAdapter

            return CodexAdapter
        case "shared-codex":
            from sayso.adapters.shared_codex import SharedCodexAdapter

            return SharedCodexAdapter
        case "acp":
            from sayso.adapters.acp import AcpAdapter

            return AcpAdapter
    raise SystemExit(f"There is no adapter for {protocol}.")


def main() -> None:
    protocol, given = sys.argv[-2:]
    told: dict[str, Any] = json.loads(given)
    order: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}
    sys.exit(serve(_kind(protocol), AdapterOrder(**order)))


if __name__ == "__main__":
    main()
