"""A person who has looked at what a project brings, and trusts it as it is now."""

from __future__ import annotations

from pathlib import Path

from sayso.brought import brought
from sayso.config import Config


def trust(state_dir: Path, project: Path) -> None:
    config = Config(state_dir=state_dir, project=project)
    config.trust.give(brought(config, project).as_trusted())
