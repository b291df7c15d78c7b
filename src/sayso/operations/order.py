"""A call that is to become an operation: which tool, with what arguments, for whom; and what that comes to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.errors import SandboxUnavailable, SaysoError
from sayso.operations.alerts import alert_pattern, alert_streams
from sayso.operations.operation import NewOperation, new_id, step_id
from sayso.permissions.action import action_from
from sayso.permissions.verdict import AllowedAction
from sayso.records import field, record, replace
from sayso.running.sandbox import NO_SANDBOX, Sandbox, SandboxWord, sandbox_for, why_not
from sayso.toolfiles.argv import Invocation, build_argv
from sayso.toolfiles.catalog import CommandTool
from sayso.toolfiles.leaves import WORKING_DIRECTORY, leaf_name


@record
class Order:
    """One call of a command tool."""

    tool: CommandTool
    arguments: Mapping[str, object]
    asker: Asker
    id: str = field(default_factory=new_id)
    parent: str = ""
    most_seconds: float | None = None
    """What is left of the time of the sequence that this is a step of."""
    held_lock: str | None = None
    """The lock that the sequence holds already."""
    sequences: tuple[CommandTool, ...] = ()
    """Those that this is a step of, from the outside in."""
    allowed: AllowedAction | None = None
    """What a person has allowed this to be, as a step of the sequence that was shown to them."""

    @property
    def project(self) -> Path:
        return Path(self.asker.project)

    def step(self, number: int, tools: Mapping[str, CommandTool]) -> Order:
        """The call that a step of this sequence makes, counting from 1."""
        step = self.tool.leaf.sequence[number - 1]
        name = leaf_name(step.tool, step.subcommand)
        if name not in tools:
            raise SaysoError(f"there is no tool {name!r} any more; its tool file has changed.")
        where = self.arguments.get(WORKING_DIRECTORY.name)
        return replace(
            self,
            tool=tools[name],
            arguments={WORKING_DIRECTORY.name: where, **step.args} if where else step.args,
            id=step_id(self.id, number),
            parent=self.id,
            sequences=(*self.sequences, self.tool),
            allowed=self._allowed_step(number),
        )

    def _allowed_step(self, number: int) -> AllowedAction | None:
        whole = self.allowed
        if whole is None:
            return None
        step = action_from(whole.action.data["steps"][number - 1])
        return replace(whole, action=step, part_of=whole.part_of or whole.action.digest)

    def command(self, config: Config, folder: Path) -> Invocation:
        """What is executed; an InvalidInput names every argument that does not fit."""
        roots = (self.project, *config.command_roots)
        return build_argv(self.tool.leaf, self.arguments, project=self.project, roots=roots, folder=folder)

    def sandbox(self, config: Config) -> Sandbox | None:
        """What the command is kept to; None for nothing. A SandboxUnavailable says why it cannot be, here."""
        tools = (self.tool, *self.sequences)
        if config.sandbox == NO_SANDBOX and not any(tool.leaf.settings.sandbox for tool in tools):
            return None
        found = sandbox_for(config, self.project, [_word(tool, config) for tool in tools])
        if found is None or not (trouble := why_not(found.network)):
            return found
        if config.sandbox_missing == "run":
            return None
        raise SandboxUnavailable(
            f"{self.tool.name} was not run: its sandbox ({found.profile}, network {found.network}) cannot be enforced "
            f"here: {trouble}. The user can look at it with `sayso doctor`."
        )

    def operation(self, command: Invocation, config: Config) -> NewOperation:
        settings = self.tool.leaf.settings
        return NewOperation(
            id=self.id,
            tool=self.tool.name,
            argv=() if self.tool.leaf.sequence else command.argv,
            cwd=str(command.cwd),
            asker=self.asker,
            lock=settings.lock if settings.lock != self.held_lock else None,
            success_exit_codes=(0,) if self.tool.leaf.sequence else settings.success_exit_codes or (0,),
            timeout_seconds=self._timeout(command, config),
            parent=self.parent,
            background=not command.synchronous and not self.parent,
            alert=alert_pattern(self.tool.file),
            alert_streams=alert_streams(self.tool.file),
        )

    def _timeout(self, command: Invocation, config: Config) -> float | None:
        """The call's word before the subcommand's, the tool's and the server's. A log is followed until it is stopped,
        a sequence has no limit but its own: its steps have theirs."""
        limit: float | None = command.timeout_seconds
        endless = self.tool.leaf.livelog is not None or self.tool.leaf.sequence
        if limit is None and not endless and config.command_timeout:
            limit = config.command_timeout / 1000
        given = [each for each in (limit, self.most_seconds) if each is not None]
        return min(given, default=None)

    def max_bytes(self, config: Config) -> int:
        said = self.tool.leaf.settings.output
        return said.max_bytes if said and said.max_bytes else config.output_bytes


def _word(tool: CommandTool, config: Config) -> SandboxWord:
    said, file = tool.leaf.settings, tool.file.file
    of_project = file is not None and config.is_of_project(file.parent)
    return SandboxWord(profile=said.sandbox, network=said.sandbox_network, of_project=of_project)
