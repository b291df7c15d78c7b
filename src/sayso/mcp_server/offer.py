"""What a server shows to a client before anything is called: who it is, what it says of itself, and its tools.

Plain code, and cheap to import: it serves the first requests before the event loop is there.
"""

from __future__ import annotations

import logging
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sayso.clients import known
from sayso.config import Config
from sayso.dialects.dialect import Tool
from sayso.dialects.profiles import Profile
from sayso.protocol.connection import Connection, Served
from sayso.protocol.request import ClientInfo
from sayso.records import replace
from sayso.text import counted

if TYPE_CHECKING:
    from sayso.toolfiles.catalog import Catalog, LoadedTools

logger = logging.getLogger(__name__)

TASKS = "io.modelcontextprotocol/tasks"
ASKING = ("tools/list", "tools/call")
RUNNING = (
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "logging/setLevel",
    "tasks/get",
    "tasks/cancel",
)
"""The methods of servers that run commands."""

_UNTRUSTED = (
    "Not used: {n} that this project brings, because the user has not trusted them as they are. Only the user can, "
    "with `sayso trust`; tell them if you need one."
)
CORE_ANSWERS = ("subscriptions/listen", "logging/setLevel")
"""Those of them that the protocol's core answers."""


class Offer:
    """One server as its clients see it. With a profile that has commands, it shows those of the tool files."""

    def __init__(self, config: Config, shown: Profile) -> None:
        self.shown, self._config = shown, config
        self._told: set[bool] = set()
        self._listing: tuple[LoadedTools | None, list[Tool]] = (None, [])
        self.served = Served(
            name=shown.server_name,
            version=shown.server_version,
            methods=(*ASKING, *RUNNING) if shown.commands else ASKING,
        )
        if shown.commands:
            self.served.announces = True
            self.served.extensions = {TASKS: {}}
            if self.shown.strict or self._may_have_files():
                self.catalog.load()
        self.refresh()

    def connect(self) -> Connection:
        return Connection(self.served)

    @cached_property
    def catalog(self) -> Catalog:
        """The tools of the tool files. Empty until it has looked at them."""
        # Only now: most projects have none, and a fast start is a feature.
        from sayso.dialects import ahma
        from sayso.toolfiles.catalog import Catalog

        return Catalog(self._config, reserved=ahma.own_names(self.shown.tools))

    def look(self) -> None:
        """Take in what has changed of the tool files, as long as nobody else watches them."""
        if self.shown.commands and self._may_have_files() and self.catalog.look():
            self.refresh()

    @property
    def has_catalog(self) -> bool:
        """Whether tool files were worth looking at."""
        return "catalog" in self.__dict__

    def has_files(self) -> bool:
        """Whether there are tool files, in order or not."""
        return any(_has_tool_file(str(folder)) for folder in self._config.tools_dirs)

    @property
    def shows_commands(self) -> bool:
        """Beside other tools, only where there are tool files."""
        if not self.shown.commands:
            return False
        return self.shown.strict or (self.has_catalog and bool(self.catalog.loaded.files))

    def refresh(self) -> None:
        """Say what holds now of tool files: which were left out, and which nobody has trusted."""
        parts = [self.shown.instructions, self.shown.commands if self.shows_commands else ""]
        if self.has_catalog and self.catalog.loaded.faults:
            from sayso.dialects import operation_replies

            parts.append(operation_replies.left_out(self.catalog.loaded.faults))
        if self.has_catalog and self.catalog.loaded.untrusted:
            parts.append(_UNTRUSTED.format(n=counted(len(self.catalog.loaded.untrusted), "tool file")))
        self.served.instructions = "\n\n".join(part for part in parts if part)

    def tools(self, client: ClientInfo) -> list[Tool]:
        """The tools that this client can use."""
        about = known(client.name)
        asking = [
            replace(tool, name=about.other_names.get(tool.name, tool.name))
            for tool in self.shown.tools
            if not tool.needs_form or (self._shows_forms(client) and not about.keeps_lists)
        ]
        return [*asking, *self._command_tools()]

    def listed(self, client: ClientInfo) -> dict[str, Any]:
        """The same as the result of `tools/list`."""
        return {"tools": [_definition(tool) for tool in self.tools(client)]}

    def tool(self, client: ClientInfo, name: str) -> Tool | None:
        """The tool that this client knows by that name, commands apart."""
        ours = {other: ours for ours, other in known(client.name).other_names.items()}
        return self.shown.tool(ours.get(name, name))

    def _command_tools(self) -> list[Tool]:
        if not self.shows_commands:
            return []
        from sayso.dialects import ahma

        loaded, known_tools = self._listing
        if loaded is not self.catalog.loaded:
            loaded = self.catalog.loaded
            known_tools = [*ahma.tools(), *map(ahma.command_tool, loaded.tools.values())]
            self._listing = loaded, known_tools
        return known_tools

    def _may_have_files(self) -> bool:
        """Whether it is worth loading what reads tool files."""
        return self.has_catalog or self._config.tools_dir is not None or self.has_files()

    def _shows_forms(self, client: ClientInfo) -> bool:
        """Whether this client can be shown tools that need a form; said in the log once."""
        able = client.shows_forms
        if able not in self._told:
            self._told.add(able)
            if able:
                logger.info("Client supports elicitation, registering 'question_ask' tool")
            else:
                logger.debug("Client does not support elicitation, 'question_ask' tool not available")
        return able


def _has_tool_file(folder: str) -> bool:
    try:
        return any(name.endswith(".json") and not name.startswith(".") for name in os.listdir(folder))
    except OSError:
        return False


def _definition(tool: Tool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": tool.name}
    if tool.title:
        told["title"] = tool.title
    told |= {"description": tool.description, "inputSchema": tool.schema, "annotations": tool.annotations}
    return {**told, "_meta": {"anthropic/alwaysLoad": True}} if tool.always_loaded else told
