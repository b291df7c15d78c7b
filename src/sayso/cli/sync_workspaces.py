"""`sayso sync-workspaces`: PromptManager's name for `sayso project sync`."""

from __future__ import annotations

from sayso.cli.project import sync as command

__all__ = ["command"]
