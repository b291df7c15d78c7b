"""What the command palette offers before anything is typed."""

from __future__ import annotations

from textual.command import DiscoveryHit, Hits
from textual.system_commands import SystemCommandsProvider


class PaletteCommands(SystemCommandsProvider):
    """All that can be done, in the order in which the app tells it: Textual would sort it, all colours first."""

    async def discover(self) -> Hits:
        for name, about, callback, discover in self.app.get_system_commands(self.screen):
            if discover:
                yield DiscoveryHit(name, callback, help=about)
