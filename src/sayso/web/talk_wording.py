"""How a run is told on a page: who works where, how it stands, what it cost. Plain text only."""

from __future__ import annotations

from pathlib import Path

from sayso.agents.costs import Cost
from sayso.agents.kinds import AGENTS
from sayso.agents.model import Conversation, EventKind, Marks, Run, RunEvent, RunState, Saying
from sayso.agents.takeover import RESUMED, command_to_go_on
from sayso.processes import this_host
from sayso.text import isolated, lasting, one_line
from sayso.web import tool_wording
from sayso.web.markdown import plain_line
from sayso.web.talk_status import TalkStatus
from sayso.web.wording import Standing

LINE_WIDTH = 160
"""Characters of a line in a list."""
_WORDS = {
    RunState.RUNNING: ("At work", "waiting"),
    RunState.COMPLETED: ("Done", "done"),
    RunState.FAILED: ("Failed", "refused"),
    RunState.STOPPED: ("Stopped", "quiet"),
    RunState.LOST: ("Lost", "refused"),
}


AS_PROJECT = "as-project"
"""What the list of modes says where none was chosen: nothing is set then, whatever the agent makes of that."""
SENT, TAKEN = "Sent while it works", "Sent while it worked, and taken up"
UNTAKEN = "Not taken up: its turn ended first. Send it again if you still mean it."


def said_state(run: Run, taken: bool) -> str:
    """How a message stands that was sent to an agent at work."""
    if taken:
        return TAKEN
    return UNTAKEN if run.state.ended else SENT


def told(what: str, text: str) -> str:
    """What somebody told an agent besides messages."""
    text = one_line(text, 100)
    match what:
        case Saying.MODE:
            return f"You set the permission mode to {text} for the rest of the conversation."
        case Saying.MODEL:
            return f"You chose the model {text} for the rest of the conversation."
    return "You interrupted it."


def agent(run: Run) -> str:
    return AGENTS[run.agent].label


def project(run: Run) -> str:
    return one_line(run.project.name, 60)


def choices(run: Run) -> dict[str, str]:
    """What holds for the rest of the conversation, by the fields in which it is chosen."""
    return {"mode": run.choices.permission_mode or AS_PROJECT, "model": run.options.model}


def mode_of_project(run: Run) -> str:
    """The mode that holds where none was chosen in the conversation."""
    mode = run.project.options.permission_mode
    return f"as the project says ({mode})" if mode else "as the project says"


def title(conversation: Conversation) -> str:
    return one_line(conversation.marks.title or conversation.first_prompt, 200)


def happened(event: RunEvent, folder: Path) -> str:
    """Something that was said or done, in one line; files below the agent's folder by their names there."""
    body = event.body
    match event.kind:
        case EventKind.TOOL:
            return ": ".join(filter(None, (tool_wording.name(body), isolated(tool_wording.subject(body, folder)))))
        case EventKind.SAID if body["what"] == Saying.MESSAGE:
            return f"You: {isolated(one_line(body['text'], LINE_WIDTH))}"
        case EventKind.SAID:
            return told(body["what"], body["text"])
    return plain_line(body["text"], LINE_WIDTH)


def last_line(conversation: Conversation, happened_last: str) -> str:
    """What a row says below the name of a conversation: why its last turn ended as it did, what happened last in it,
    else what the person said, if that is not its name."""
    latest, marks = conversation.latest, conversation.marks
    if latest.ending and latest.ending.message:
        return one_line(latest.ending.message, LINE_WIDTH)
    is_its_name = latest.turn == 1 and not marks.title
    said = "" if is_its_name or latest.is_unbidden else f"You: {isolated(one_line(latest.prompt, LINE_WIDTH))}"
    return happened_last or said


def headline(prompt: str, marks: Marks) -> str:
    """What a conversation is called that began with this."""
    return one_line(marks.title or prompt.strip().partition("\n")[0], 80)


def tabs(run: Run) -> list[tuple[str, str]]:
    """The pages of a conversation, and where they are."""
    here = f"talk/{run.conversation}"
    return [("Talk", here), ("Changes", f"{here}/changes")]


def goes_on_in_terminals(run: Run) -> bool:
    """Whether a terminal can go on with the sessions of its agent."""
    return run.agent in RESUMED and not is_gone(run)


def in_terminal(run: Run) -> str:
    """The command that goes on with a conversation in a terminal."""
    return command_to_go_on(run)


def is_gone(run: Run) -> bool:
    """Whether the worktree was discarded in which its agent worked, on this machine."""
    return run.has_worktree and run.host == this_host() and run.state.ended and not run.directory.exists()


def unbidden(run: Run) -> str:
    """How a turn came about that no message here began."""
    if run.choices.joins:
        return f"{agent(run)} in the terminal, which shares this session."
    if run.only_takes_over:
        return f"Taken over from the terminal. {agent(run)} goes on with your next message."
    return f"{agent(run)} went on by itself: something that it had left running told it to."


def is_empty(run: Run) -> bool:
    """Whether nothing was done in a turn: it only took over."""
    return run.only_takes_over and run.state is RunState.COMPLETED and run.said == 1


def invitation(run: Run) -> str:
    """What stands in the empty field for a message."""
    if is_gone(run):
        return "The worktree is gone. Start another conversation."
    if run.state.ended:
        return f"Write to {agent(run)}"
    if AGENTS[run.agent].steers:
        return f"Write to {agent(run)} as it works"
    return f"For when {agent(run)} is done"


def standing(run: Run, waits: bool = False) -> Standing:
    """How a run stands, in a word and in which tone; `waits`: it is blocked until somebody answers."""
    word, tone = ("Waits for you", "late") if waits and not run.state.ended else _WORDS[run.state]
    return Standing(word=word, tone=tone, meaning=run.ending.message if run.ending else "")


def doing(run: Run, waits: bool) -> str:
    """What the agent of a run does that has not ended."""
    if run.stopped_by:
        return "Stopping"
    if waits:
        return f"{agent(run)} waits for you"
    # Of a takeover a notice in the conversation says from where, and what is waited for.
    return "Taking over" if run.to_copy else f"{agent(run)} is at work"


def cost(told: Cost | None) -> str:
    """What a turn cost, as far as the agent says so; and the whole conversation, once there were others."""
    if not told or not told.conversation:
        return ""
    if told.turn == told.conversation:
        return _dollars(told.turn)
    return f"{_dollars(told.turn)} for this turn, {_dollars(told.conversation)} for the conversation so far"


def facts(status: TalkStatus) -> list[str]:
    """What else is known of a conversation, each in a few words."""
    options, full, cost = status.run.options, status.use.percent, status.cost
    # After the first turn, that says it itself.
    spent = [lasting(status.worked_ms)] if status.run.turn > 1 else []
    spent += [_dollars(cost.conversation)] if cost and cost.turn != cost.conversation else []
    told = [
        f"{options.permission_mode} mode" if options.permission_mode else "",
        one_line(options.model or status.use.model, 40),
        f"context {full}% full" if full is not None else "",
        f"{', '.join(spent)} so far" if spent else "",
    ]
    return [fact for fact in told if fact]


def _dollars(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"


def lasted(run: Run) -> str:
    """How long a turn took that has ended."""
    return "" if run.ended_at is None else lasting(run.ended_at - run.started_at)
