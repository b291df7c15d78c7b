"""What a model is told when a call of its was not passed on to a guarded server."""

from __future__ import annotations

NOT_ACCEPTED = (
    "The tool {tool} of {server} was not called: it is new, or not what it was when the user accepted it. They have "
    "been asked to look at it. Go on with something else, and do not work around it."
)
NO_SUCH_TOOL = "The tool {tool} was not called: {server} does not list a tool of that name."
OTHER_CALL = "This call was not passed on: it is not what the user allowed."
WAITING = "Waiting for the user, {:.0f} s"
UNDECIDED = (
    "Nobody decided whether this call may be made, so it was not made. That is not a decision of the user's. Do not "
    "assume one."
)
LIMIT = (
    "Nobody decided within the time that your client lets a call last, so it was not made. That is not a decision of "
    "the user's. Call it again if it is still needed."
)
FAILED = "Sayso could not ask the user ({why}), so this call was not made."


def denied(person: str, surface: str, because: str) -> str:
    """A person's no."""
    who = f"{person or 'The user'} denied this call{f' ({surface})' if surface else ''}, so it was not made."
    return f"{who} They said: {because}" if because else f"{who} They gave no reason."
