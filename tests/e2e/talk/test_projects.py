"""Projects that are added from the page, where the server's owner has allowed a folder for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.talk.stage import STAND_IN, Stage, new_stage
from tests.web.house import USER

from sayso.agents.model import Options, RunState


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The allowed folder."""
    folder = tmp_path_factory.mktemp("allowed") / "code"
    for name in ("shop/.git", "late/.git", "replaced/.git", "<b>attic"):
        (folder / name).mkdir(parents=True)
    (folder.parent / "secret").mkdir()
    return folder


@pytest.fixture(scope="module")
def home(code: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A page that is served by Ada, who has allowed the folder."""
    relay = str(tmp_path_factory.mktemp("relay"))
    with new_stage(relay_dir=relay, person=USER, projects_in=str(code)) as stage:
        yield stage


def test_a_folder_becomes_a_project_by_a_form_and_an_agent_works_in_it(home: Stage, code: Path) -> None:
    visitor, shop = home.visitor(), code / "shop"
    assert '<a class="button primary" href="projects/new">' in visitor.get("/talk").text
    page = visitor.get("/projects/new").text
    assert page.index(f'value="{shop}"') < page.index("&lt;b&gt;attic")
    assert '<option value="claude" data-modes="default acceptEdits plan dontAsk" selected>Claude</option>' in page
    assert "bypassPermissions" not in page
    form = {"folder": str(shop), "agent": "claude", "permission_mode": "plan", "model": "haiku"}
    added = visitor.post("/projects/new", **form)
    assert (added.status, visitor.post("/projects/new", **form).headers["location"]) == (303, added.headers["location"])
    (project,) = home.projects.all(USER)
    assert (project.name, project.directory) == ("shop", shop)
    assert project.options == Options(permission_mode="plan", model="haiku", added_below=str(code))
    assert f'<option value="{project.id}" selected ' in visitor.get(added.headers["location"]).text
    assert str(shop) not in visitor.get("/projects/new").text
    assert home.texts(home.ended(visitor.start(project.id, "settings"))) == ["Mode plan, model haiku"]
    refused = visitor.post("/projects/new", **{**form, "permission_mode": ""})
    assert (refused.status, "your project" in refused.text) == (422, True)
    assert home.projects.all(USER) == [project]


def test_what_does_not_fit_is_refused_and_the_field_is_named(home: Stage, code: Path) -> None:
    visitor = home.visitor()
    fitting = {"folder": str(code / "late"), "agent": "claude", "permission_mode": "", "model": ""}
    wrong = {
        "folder": str(code.parent / "secret"),
        "agent": "acp",
        "permission_mode": "bypassPermissions",
        "model": "--flag",
    }
    before = home.projects.all()
    for field, value in wrong.items():
        refused = visitor.post("/projects/new", **{**fitting, field: value})
        told = f"The {field.replace('_', ' ')} is &#39;{value}&#39;; it must be"
        assert (refused.status, told in refused.text) == (422, True), field
    assert visitor.post("/projects/new", **{**fitting, "csrf": "wrong"}).status == 403
    assert home.projects.all() == before


def test_nobody_but_the_servers_owner_adds_a_project(home: Stage, code: Path) -> None:
    home.house.accounts.add_user("bob")
    bob = home.visitor("bob")
    assert "sayso project add" in bob.get("/talk").text
    assert bob.get("/projects/new").status == 403
    assert bob.post("/projects/new", folder=str(code / "late"), agent="claude").status == 403
    assert home.projects.all("bob") == []


def test_an_agent_does_not_start_where_a_link_has_taken_the_folders_place(home: Stage, code: Path) -> None:
    visitor, late = home.visitor(), code / "replaced"
    added = visitor.post("/projects/new", folder=str(late), agent="claude")
    late.rename(code / "moved")
    late.symlink_to(code.parent / "secret")
    run = home.ended(visitor.start(int(added.headers["location"].rpartition("=")[2]), "say Here"))
    assert run.state is RunState.FAILED
    assert run.ending is not None
    assert "a link leads somewhere else now" in run.ending.message


def test_where_no_folder_is_allowed_the_page_says_what_to_type(stage: Stage) -> None:
    visitor = stage.visitor()
    assert "sayso project add ~/shop" in visitor.get("/talk").text
    assert visitor.get("/projects/new").status == 403


def _start_form(page: str) -> str:
    return page.partition("data-start")[2].partition("</form>")[0]


def test_a_conversation_begins_with_the_mode_and_the_model_that_were_chosen_for_it(stage: Stage) -> None:
    visitor, project = stage.visitor(), stage.project("chosen", permission_mode="plan")
    form = {"project": str(project), "prompt": "settings", "mode": "acceptEdits", "model": "haiku"}
    begun = visitor.post("/talk", **form)
    conversation = begun.headers["location"].removeprefix("/talk/")
    assert stage.texts(stage.ended(conversation)) == ["Mode acceptEdits, model haiku"]
    assert stage.texts(stage.ended(visitor.start(project, "settings"))) == ["Mode plan, model "]
    refused = visitor.post("/talk", **{**form, "mode": "bypassPermissions", "worktree": "1"})
    assert refused.status == 422
    assert "mode: must be one of default, acceptEdits, plan, dontAsk." in refused.text
    kept = _start_form(refused.text)
    assert all(
        words in kept for words in (">settings</textarea>", 'value="haiku"', 'name="worktree" value="1" checked')
    )


def test_the_form_offers_what_the_agent_has_told_of_and_nothing_that_it_lacks(stage: Stage) -> None:
    visitor = stage.visitor()
    claude = stage.project("told")
    other = stage.project("other", agent="acp", command=(sys.executable, str(STAND_IN.with_name("acp.py"))))
    gemini = stage.project("known", agent="gemini", command=(sys.executable, "-c", ""))
    for project in (claude, other):
        assert stage.ended(visitor.start(project, "say Here")).state is RunState.COMPLETED
    form = _start_form(visitor.get(f"/talk?project={claude}").text)
    assert f'<datalist id="models-{claude}"><option value="default"><option value="stand-in-2"></datalist>' in form
    assert f'<datalist id="models-{other}"><option value="stand-in-1"><option value="haiku"></datalist>' in form
    assert 'data-agent="The agent" data-modes="default plan"' in form
    assert f'value="{gemini}" data-agent="Gemini" data-modes="default acceptEdits plan"' in form
    refused = visitor.post("/talk", project=str(gemini), prompt="say No", mode="dontAsk")
    assert (refused.status, "mode: must be one of default, acceptEdits, plan." in refused.text) == (422, True)
    conversation = visitor.start(other, "say Here")
    stage.ended(conversation)
    page = visitor.get(f"/talk/{conversation}").text
    assert "<option>plan</option>" in page
    assert "<option>dontAsk</option>" not in page
    assert '<datalist id="models"><option value="stand-in-1"><option value="haiku"></datalist>' in page


def test_a_project_remembers_whether_conversations_begin_in_a_worktree_and_needs_its_agent(stage: Stage) -> None:
    apart, gone = stage.project("apart", worktree=True), stage.project("gone", agent="acp", command=("/no/such",))
    form = _start_form(stage.visitor().get(f"/talk?project={apart}").text)
    assert 'name="worktree" value="1" checked>' in form
    assert f'value="{gone}" ' in form
    assert "gone, The agent, which is not installed" in form
    other = _start_form(stage.visitor().get(f"/talk?project={stage.project('here')}").text)
    assert 'name="worktree" value="1">' in other
