"""The pages on which a person talks with an agent: what was said so far, a new conversation, the next turn, a stop."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sayso.agents import stopping
from sayso.agents.desk import RunDesk
from sayso.agents.kinds import AGENTS
from sayso.agents.model import (
    EventKind,
    NewEvent,
    Picture,
    Project,
    Run,
    RunChoices,
    RunState,
    Saying,
    Spoken,
)
from sayso.agents.offers import Offers, offers_of
from sayso.agents.supervisor import RunSupervisor
from sayso.brought import brought
from sayso.config import Config
from sayso.errors import (
    MAX_TEXT,
    InvalidInput,
    NotFound,
    Problem,
    RunGoesOn,
    RunHasEnded,
    SaysoError,
    ToolUnavailable,
    TooManyRuns,
    TreeUnavailable,
)
from sayso.pictures import (
    LONGEST_SIDE,
    MOST_BYTES,
    MOST_IN_ALL,
    MOST_PIXELS,
    is_drawable,
    media_type,
    without_metadata,
)
from sayso.records import replace
from sayso.web import talk_wording
from sayso.web.beside_talk import BesideReader
from sayso.web.conversations import ConversationPage, Conversations
from sayso.web.fields import Fields
from sayso.web.glances import agents_at_work
from sayso.web.pages import page
from sayso.web.refusal import as_data, status_of
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of
from sayso.web.start_form import check_choices, start_form
from sayso.web.talk_wording import AS_PROJECT
from sayso.web.transcript import Transcript

_ID = re.compile(r"[0-9a-f]{24}")
_LONGEST_QUERY = 200
_GONE = "There is no such conversation here. Old ones are deleted after a while."
SCRIPT = "x-sayso-script"
"""The header by which our own script says that it wants no page."""


def routes() -> list[Route]:
    return [
        Route("/talk", show_all, methods=["GET"]),
        Route("/talk", begin, methods=["POST"]),
        Route("/talk/{conversation}", show, methods=["GET"]),
        Route("/talk/{conversation}", go_on, methods=["POST"]),
        Route("/talk/{conversation}/stop", stop, methods=["POST"]),
        Route("/talk/{conversation}/interrupt", interrupt, methods=["POST"]),
        Route("/talk/{conversation}/choose", choose, methods=["POST"]),
        Route("/talk/{conversation}/title", rename, methods=["POST"]),
        Route("/talk/{conversation}/archive", archive, methods=["POST"]),
        Route("/runs/{run}", of_run),
        Route("/runs/{run}/pictures/{seq:int}/{number:int}", picture),
    ]


async def show_all(request: Request) -> Response:
    return await _overview(request, await required_browser(request))


async def begin(request: Request) -> Response:
    """Start a conversation in one of this person's projects."""
    visitor, fields = await sent_form(request)
    supervisor, prompt = supervisor_of(request), fields.one("prompt")
    try:
        project = await project_of(request, visitor, fields.one("project"))
        await site_of(request).read(supervisor.check_there, project)
        offers = await offers_in(request, project)
        choices = _begun_with(project, offers, fields)
        choices = replace(choices, directory=await _place(request, project, fields))
        pictures = pictures_in(fields, AGENTS[project.options.agent].label, offers)
        attempt = visitor.attempt(fields.one("attempt"))
        run = await supervisor.start(project, checked(prompt), attempt=attempt, choices=choices, pictures=pictures)
    except (InvalidInput, NotFound, ToolUnavailable, TooManyRuns, TreeUnavailable) as error:
        if SCRIPT in request.headers:
            return as_data(error)
        return await _overview(request, visitor, refused=error, given=fields)
    if SCRIPT in request.headers:
        # It goes there itself: that it has begun is told at once, however long the page takes.
        return JSONResponse({"made": run.conversation}, 201)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


async def _place(request: Request, project: Project, fields: Fields) -> str:
    """The working tree of its own in which the agent is to work; empty: in the project's folder."""
    if not fields.one("worktree"):
        return ""
    return await site_of(request).read(supervisor_of(request).worktrees.plan, project.directory)


def _begun_with(project: Project, offers: Offers, fields: Fields) -> RunChoices:
    """What a conversation begins with. Where nothing is chosen, the project's options hold, also when they change."""
    mode, model = fields.one("mode").strip(), fields.one("model").strip()
    check_choices(AGENTS[project.options.agent].label, offers, mode, model)
    return RunChoices(permission_mode=mode, model=model)


async def offers_in(request: Request, project: Project) -> Offers:
    """What can be chosen of the agent in a project."""
    return await site_of(request).do(offers_of, supervisor_of(request).runs, project)


async def show(request: Request) -> Response:
    return await conversation_page(request, await required_browser(request))


async def go_on(request: Request) -> Response:
    """A message to an agent at work, at once or when it is done; else the next turn of the conversation."""
    visitor, fields = await sent_form(request)
    turns, prompt = await turns_of(request, visitor), fields.one("prompt")
    try:
        project = await project_of(request, visitor, str(turns[-1].project.id))
        attempt = visitor.attempt(fields.one("attempt"))
        pictures = pictures_in(fields, AGENTS[turns[-1].agent].label, await offers_in(request, turns[-1].project))
        message = Spoken(what=Saying.MESSAGE, text=checked(prompt), pictures=pictures)
        if is_at_work(turns[-1]) and (fields.one("when") == "done" or not AGENTS[turns[-1].agent].steers):
            await site_of(request).do(supervisor_of(request).runs.queue.add, turns[-1], message.text, attempt, pictures)
            supervisor_of(request).look_soon()
        elif not await said_to(request, visitor, turns[-1], message, attempt):
            conversation = turns[-1].conversation
            await supervisor_of(request).start(project, message.text, conversation, attempt, pictures=pictures)
    except (InvalidInput, NotFound, TooManyRuns, RunGoesOn) as error:
        if SCRIPT in request.headers:
            return as_data(error)
        return await conversation_page(request, visitor, refused=error, prompt=prompt)
    return done(request, turns[-1])


async def interrupt(request: Request) -> Response:
    """Have the agent stop what it does, and stay."""
    visitor, _ = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    if is_at_work(run) and run.to_copy:
        # Nothing was said to it yet: what waits for the terminal is taken back.
        return await _stopped(request, visitor, run)
    await said_to(request, visitor, run, Spoken(what=Saying.INTERRUPT))
    return done(request, run)


async def choose(request: Request) -> Response:
    """The permission mode and the model for the rest of the conversation: at once, if the agent is at work."""
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    try:
        choices = _choices(run, await offers_in(request, run.project), fields)
    except InvalidInput as error:
        if SCRIPT in request.headers:
            return as_data(error)
        raise
    for what, now, wanted in choices:
        said = Spoken(what=what, text=wanted)
        if wanted and wanted != now and not await said_to(request, visitor, run, said):
            await site_of(request).do(_choose_for_next, supervisor_of(request).runs, run, said)
    return done(request, run)


def _choose_for_next(runs: RunDesk, run: Run, said: Spoken) -> None:
    """Between two turns: it holds from the next one on, and the conversation says so."""
    runs.choose(run.id, said)
    note = NewEvent(kind=EventKind.NOTICE, body={"text": talk_wording.told(said.what, said.text)})
    runs.append(run.id, note)


async def rename(request: Request) -> Response:
    """Call a conversation something else; by nothing, as it began."""
    visitor, fields = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    await site_of(request).do(supervisor_of(request).runs.marks.name, run.conversation, fields.one("title"))
    return done(request, run)


async def archive(request: Request) -> Response:
    """Put a conversation away, or back into the list."""
    visitor, fields = await sent_form(request)
    run, marks = (await turns_of(request, visitor))[-1], supervisor_of(request).runs.marks
    if fields.one("do") == "bring back":
        await site_of(request).do(marks.bring_back, run.conversation)
        return done(request, run)
    await site_of(request).do(marks.archive, run.conversation)
    return RedirectResponse("/talk", 303)


def _wanted(fields: Fields, name: str) -> str:
    """What somebody chose. A page may show what held a while ago: what they left as it was shown is no choice."""
    wanted = fields.one(name).strip()
    return "" if wanted == fields.one(f"{name}-shown") else wanted


def _choices(run: Run, offers: Offers, fields: Fields) -> list[tuple[Saying, str, str]]:
    """What can be chosen, what holds now and what is wanted."""
    mode, model, chosen = _wanted(fields, "mode"), _wanted(fields, "model"), run.choices.permission_mode
    if mode == AS_PROJECT:
        mode = ""
        if chosen:
            text = f"was set to {chosen} for this conversation. Choose one of the modes."
            raise InvalidInput([Problem(path="mode", text=text)])
    check_choices(talk_wording.agent(run), offers, mode, model)
    return [(Saying.MODE, chosen, mode), (Saying.MODEL, run.options.model, model)]


def is_at_work(run: Run) -> bool:
    """Whether its agent is, and nobody wants it to end."""
    return not run.state.ended and not run.stopped_by


async def said_to(
    request: Request, visitor: Visitor, run: Run, said: Spoken, attempt: str = "", queued: str = ""
) -> bool:
    """Say it to the agent if that is at work; whether it was."""
    if not is_at_work(run):
        return False
    try:
        await supervisor_of(request).say(run, said, by=visitor.user, attempt=attempt, queued=queued)
    except RunHasEnded:
        return False
    return True


async def stop(request: Request) -> Response:
    """End the agent, in this person's name."""
    visitor, _ = await sent_form(request)
    run = (await turns_of(request, visitor))[-1]
    if run.choices.joins and await said_to(request, visitor, run, Spoken(what=Saying.INTERRUPT)):
        # Its agent is the terminal's: what can be ended from here is the turn.
        return done(request, run)
    return await _stopped(request, visitor, run)


async def _stopped(request: Request, visitor: Visitor, run: Run) -> Response:
    if run.state is RunState.RUNNING:
        site = site_of(request)
        await site.do(stopping.stop, supervisor_of(request).runs, site.desk, run, visitor.settler)
    return done(request, run)


async def of_run(request: Request) -> Response:
    """From a run, which is what an ask knows of, to its conversation."""
    visitor, run_id = await required_browser(request), str(request.path_params["run"])
    run = await site_of(request).do(supervisor_of(request).runs.get, run_id) if _ID.fullmatch(run_id) else None
    if run is None or run.user != visitor.user:
        raise HTTPException(404, _GONE)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


def done(request: Request, run: Run) -> Response:
    if SCRIPT in request.headers:
        return Response(status_code=204)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


# Pages


async def _overview(
    request: Request, visitor: Visitor, *, refused: SaysoError | None = None, given: Fields | None = None
) -> Response:
    site, supervisor = site_of(request), supervisor_of(request)
    query = request.query_params.get("q", "").strip()[:_LONGEST_QUERY]
    listing, found = await _listed(request, visitor, query)
    projects = await site.do(supervisor.projects.all, visitor.user)
    chosen = given.one("project") if given else request.query_params.get("project", "")
    return page(
        request,
        "talk.html",
        visitor,
        status=status_of(refused),
        refused=str(refused or ""),
        start=await site.read(start_form, supervisor, projects, chosen, given),
        untrusted=await site.read(_untrusted, site.config, projects),
        can_add=may_add_projects(site, visitor),
        most=MAX_TEXT,
        conversations=found,
        agents=await agents_at_work(request, visitor),
        words=site.reader.words,
        listing=listing,
        query=query,
    )


async def _listed(request: Request, visitor: Visitor, query: str) -> tuple[str, ConversationPage]:
    """What is listed, and it: the `newest`, those `before` one, those `archived`, or those `found`."""
    site, asked = site_of(request), request.query_params
    conversations: Conversations = request.app.state.conversations
    if query:
        return "found", await site.do(conversations.search, visitor.user, query)
    if asked.get("archived"):
        return "archived", await site.do(conversations.archived, visitor.user)
    if before := await _latest(request, visitor, asked.get("before", "")):
        return "before", await site.do(conversations.before, visitor.user, before)
    return "newest", await site.do(conversations.newest, visitor.user)


def _untrusted(config: Config, projects: Sequence[Project]) -> list[tuple[Project, int]]:
    """The projects that bring something which nobody has trusted, and how many files that is."""
    counted = [(project, len(brought(config, project.directory).untrusted)) for project in projects]
    return [(project, files) for project, files in counted if files]


async def conversation_page(
    request: Request,
    visitor: Visitor,
    *,
    refused: SaysoError | None = None,
    not_done: str = "Not sent.",
    prompt: str = "",
) -> Response:
    """`not_done` says what was refused."""
    site, transcript = site_of(request), transcript_of(request, visitor)
    shown = await site.read(transcript.whole)
    listed: Conversations = request.app.state.conversations
    return page(
        request,
        "conversation.html",
        visitor,
        status=status_of(refused),
        refused=str(refused or ""),
        not_done=not_done,
        turns=shown.turns,
        beside=await site.read(transcript.beside.whole, shown.turns[0].run, shown.turns[-1].run),
        foot=shown.status,
        marks=shown.marks,
        conversations=await site.do(listed.newest, visitor.user),
        agents=await agents_at_work(request, visitor),
        words=site.reader.words,
        listing="newest",
        query="",
        place=str(shown.place),
        running=not shown.turns[-1].run.state.ended,
        steers=AGENTS[shown.turns[-1].run.agent].steers,
        queue=shown.queue,
        offers=await offers_in(request, shown.turns[-1].run.project),
        choices=talk_wording.choices(shown.turns[-1].run),
        as_project=AS_PROJECT,
        prompt=prompt,
        most=MAX_TEXT,
    )


def may_add_projects(site: Site, visitor: Visitor) -> bool:
    """Whether this is the person whose folders these are, and one was allowed for projects."""
    return bool(site.config.projects_in) and site.permissions.own_rules.is_of(visitor.user)


def transcript_of(request: Request, visitor: Visitor) -> Transcript:
    site, conversation = site_of(request), _id(request)
    supervisor = supervisor_of(request)
    beside = BesideReader(supervisor.takeovers)
    return Transcript(supervisor.runs, site.desk, conversation, beside, user=visitor.user, csrf=visitor.csrf)


# What a request is about


async def turns_of(request: Request, visitor: Visitor) -> list[Run]:
    return await site_of(request).do(supervisor_of(request).runs.turns, _id(request), visitor.user)


async def _latest(request: Request, visitor: Visitor, conversation: str) -> Run | None:
    """The last turn of a conversation that a query parameter names."""
    if not _ID.fullmatch(conversation):
        return None
    try:
        return (await site_of(request).do(supervisor_of(request).runs.turns, conversation, visitor.user))[-1]
    except NotFound:
        return None


async def project_of(request: Request, visitor: Visitor, given: str) -> Project:
    if not given.isdecimal() or len(given) >= 18:
        raise InvalidInput([Problem(path="project", text=f"is {given[:50]!r}. Choose one of your projects.")])
    return await site_of(request).do(supervisor_of(request).projects.of, visitor.user, int(given))


def pictures_in(fields: Fields, agent: str, offers: Offers) -> tuple[Picture, ...]:
    """The pictures of a form, without what a camera writes into them besides."""
    sent = [file.data for file in fields.files("picture") if file.data]
    problems = []
    if sent and not offers.takes_pictures:
        text = f"cannot be sent: {agent} takes none, or has not been talked with here yet. Send your words without it."
        problems.append(Problem(path="picture", text=text))
    if not all(media_type(each) for each in sent):
        problems.append(Problem(path="picture", text="must be a PNG, JPEG, GIF or WebP picture, by its content."))
    elif not all(is_drawable(each) for each in sent):
        text = f"may have {LONGEST_SIDE:,} pixels on a side, and {MOST_PIXELS / 1_000_000:.0f} million in all."
        problems.append(Problem(path="picture", text=text))
    if any(len(each) > MOST_BYTES for each in sent) or sum(map(len, sent)) > MOST_IN_ALL:
        most, in_all = (number / 1_000_000 for number in (MOST_BYTES, MOST_IN_ALL))
        problems.append(Problem(path="picture", text=f"may have {most:.1f} MB, and all of a message {in_all:.0f} MB."))
    if problems:
        raise InvalidInput(problems)
    return tuple(Picture(media=media_type(each), data=without_metadata(each)) for each in sent)


async def picture(request: Request) -> Response:
    """A picture of one of this person's conversations. Browsers are told what it is, and may take it for nothing
    else."""
    visitor, wanted = await required_browser(request), request.path_params
    runs, run_id = supervisor_of(request).runs, str(wanted["run"])
    run = await site_of(request).do(runs.get, run_id) if _ID.fullmatch(run_id) else None
    if run is None or run.user != visitor.user:
        raise HTTPException(404, _GONE)
    found = await site_of(request).do(runs.picture, run_id, wanted["seq"], wanted["number"])
    media = media_type(found.data)
    if not media:
        raise HTTPException(404, _GONE)
    headers = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "private, max-age=86400"}
    return Response(found.data, media_type=media, headers=headers)


def checked(prompt: str) -> str:
    if not prompt.strip():
        raise InvalidInput([Problem(path="prompt", text="is empty. Say what the agent should do.")])
    if len(prompt) > MAX_TEXT:
        raise InvalidInput([Problem(path="prompt", text=f"is longer than {MAX_TEXT:,} characters. Shorten it.")])
    return prompt


def _id(request: Request) -> str:
    conversation = str(request.path_params["conversation"])
    if not _ID.fullmatch(conversation):
        raise HTTPException(404, _GONE)
    return conversation


def supervisor_of(request: Request) -> RunSupervisor:
    supervisor: RunSupervisor = request.app.state.supervisor
    return supervisor
