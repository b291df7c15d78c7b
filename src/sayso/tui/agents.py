"""The agents at work: which, what each waits for or does, and what the one at the cursor asked and ran before."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from sayso.asks.model import Ask
from sayso.desks import Desks
from sayso.errors import StoreError
from sayso.operations.operation import Operation
from sayso.roster import AgentAtWork, of_agent
from sayso.text import one_line
from sayso.tui.bars import TextLine
from sayso.tui.commandlist import standing
from sayso.tui.entries import Entries
from sayso.tui.markdown import Block
from sayso.tui.prose import Pane, Prose
from sayso.tui.rows import Rows
from sayso.tui.screen import Open, SaysoScreen, Trouble
from sayso.tui.shared import Shared
from sayso.tui.wording import NAME_WIDTH

_LOOK_EVERY = 2.0
"""Seconds between two looks while the list is on the screen: nothing rings when the process of an agent ends."""
_MOST = 20
"""What is shown of an agent's past."""


class AgentList(Entries[AgentAtWork]):
    """Those that wait for the person first."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, id="asks")

    def since(self, item: AgentAtWork) -> int:
        return item.since

    def headline(self, item: AgentAtWork) -> Content:
        return Content.styled(doing(self._shared, item), "bold" if item.waits else "")

    def origin(self, item: AgentAtWork) -> Sequence[str]:
        texts, asker = self._shared.texts, item.asker
        branch = one_line(asker.branch, NAME_WIDTH)
        return [
            one_line(asker.project.rpartition("/")[2], NAME_WIDTH) or texts.unknown_project,
            one_line(asker.client, NAME_WIDTH) or texts.unknown_client,
            one_line(item.name, NAME_WIDTH),
            texts.branch.format(branch=branch) if branch else "",
            one_line(asker.host, NAME_WIDTH),
        ]

    def marks(self, item: AgentAtWork) -> Sequence[str]:
        return [self._shared.texts.agent_waits] if item.waits else []

    def standing_lasts(self, item: AgentAtWork) -> int | None:
        return None


class AgentsScreen(SaysoScreen[None]):
    """The list, and beside it, or in its place on a small screen, the agent at the cursor."""

    NEED_A_ROW = frozenset({"open"})

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, "agents")
        self._looked = False

    def body(self) -> ComposeResult:
        yield TextLine(id="empty")
        with Horizontal(id="inbox"):
            yield AgentList(self.shared)
            with Pane(id="beside"):
                yield Prose(id="preview")

    def on_mount(self) -> None:
        self.query_one(AgentList).focus()
        super().board_changed()
        self._look()
        self.set_interval(_LOOK_EVERY, self._look)

    def special(self) -> str:
        return " · ".join(part for part in (super().special(), self.shared.texts.agents_title) if part)

    def tick(self) -> None:
        self.query_one(AgentList).tick()

    def board_changed(self) -> None:
        super().board_changed()
        if self._looked and not self.shared.board.trouble:
            self._look()

    def _look(self) -> None:
        if self.alive and self.is_current:
            self.run_worker(self._find(), group="agents", exclusive=True)

    async def _find(self) -> None:
        try:
            agents = await self.shared.link.with_desks(lambda desks: desks.agents_at_work())
        except StoreError as error:
            self.app.post_message(Trouble(error))
            return
        if self.alive:
            self._looked = True
            self.query_one(AgentList).show(agents)
            empty = self.query_one("#empty", TextLine)
            empty.show(self.shared.texts.agents_empty)
            empty.display = not agents
            self.show_whether_empty(not agents)
            self._read()

    # The one at the cursor

    @on(Rows.Moved)
    def _read(self) -> None:
        agent = self.query_one(AgentList).item
        if agent:
            self.run_worker(self._look_into(agent), group="read", exclusive=True)

    async def _look_into(self, agent: AgentAtWork) -> None:
        def look(desks: Desks) -> tuple[list[Ask], list[Operation]]:
            asks = desks.asks.ended_of(agent.asker, agent.since, most=_MOST)
            ran = desks.operations.ended_of(agent.asker, agent.since, most=_MOST)
            return of_agent(asks, agent.id), of_agent(ran, agent.id)

        try:
            asks, ran = await self.shared.link.with_desks(look)
        except StoreError as error:
            self.app.post_message(Trouble(error))
            return
        if self.alive:
            self.query_one("#preview", Prose).show(whole(self.shared, agent, asks, ran))

    @on(Rows.Clicked)
    def action_open(self) -> None:
        """What it asks, to be answered; else all that is known of it, on a small screen in place of the list."""
        agent = self.query_one(AgentList).item
        if agent is None:
            return
        if not agent.asks:
            self.add_class("-reading")
        elif self.meant():
            self.post_message(Open(agent.asks[0]))

    def action_back(self) -> None:
        if self.has_class("-reading"):
            self.remove_class("-reading")
        else:
            self.dismiss(None)


def doing(shared: Shared, agent: AgentAtWork) -> str:
    """What it waits for, runs, or was last seen at, in one line."""
    if agent.asks:
        return shared.wording.headline(agent.asks[0])
    if agent.commands:
        return shared.texts.agent_runs.format(tool=one_line(agent.commands[0].tool, 100))
    return shared.texts.agent_last.format(what=agent.doing) if agent.doing else shared.texts.agent_at_work


def whole(shared: Shared, agent: AgentAtWork, asks: Sequence[Ask], ran: Sequence[Operation]) -> Sequence[Block]:
    """Everything about an agent, to read."""
    texts, wording, asker = shared.texts, shared.wording, agent.asker
    name = f"{one_line(asker.client, NAME_WIDTH) or texts.unknown_client} {one_line(agent.name, NAME_WIDTH)}"
    blocks = [Block(content=Content.styled(name, "bold"))]
    for line in (asker.project, asker.branch and texts.branch.format(branch=asker.branch), doing(shared, agent)):
        if line:
            blocks.append(Block(content=Content(one_line(line, 300)), tight=True))
    sections = {
        texts.agent_asks: [wording.headline(ask) for ask in agent.asks],
        texts.agent_commands: [f"{one_line(each.tool, 60)}: {standing(shared, each)}" for each in agent.commands],
        texts.agent_asked: [f"{wording.headline(ask)} · {wording.settled_by(ask)}" for ask in asks],
        texts.agent_ran: [f"{one_line(each.tool, 60)}: {standing(shared, each)}" for each in ran],
    }
    for title, lines in sections.items():
        if lines:
            blocks.append(Block(content=Content.styled(title, "bold $primary")))
            blocks += [Block(content=Content(line), tight=True) for line in lines]
    return blocks
