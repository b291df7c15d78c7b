// Starts a conversation: once, however often it is pressed, and the form says what became of it.
// The page works without this file.

const { reach, deliver } = sayso;
const form = document.querySelector("[data-start]");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (form.querySelector("[data-lock]").disabled) return;
  const body = new FormData(form);
  const { taken, reply } = await deliver(form, form.querySelector("button"), (attempt) => {
    body.set("attempt", attempt);
    return reach(form.action, { method: "POST", body, headers: { "X-Sayso-Script": "1" } });
  });
  dispatchEvent(new CustomEvent(taken ? "sayso:sent" : "sayso:not-sent", { detail: form.dataset.keep }));
  // Where only the reply was lost, the list leads to it.
  if (taken) location.assign(reply?.url ?? "talk");
});

// --- The models of the agent of the project

const project = form?.elements.project;

function fit() {
  const chosen = project.selectedOptions[0];
  form.elements.model.setAttribute("list", `models-${chosen?.value}`);
  // A model is one agent's.
  if (form.dataset.agent && chosen && form.dataset.agent !== chosen.dataset.agent) form.elements.model.value = "";
  form.dataset.agent = chosen?.dataset.agent ?? "";
}

// --- A worktree of its own: as the project has it, until the person says otherwise

const worktree = form?.elements.worktree;
let chosenBefore = project?.selectedOptions[0];
let wanted = null;

function fitWorktree() {
  const hasNone = "noGit" in (project.selectedOptions[0]?.dataset ?? {});
  worktree.disabled = hasNone;
  if (hasNone) worktree.checked = false;
  form.querySelector("[data-no-worktree]").hidden = !hasNone;
}

if (project) fit();
if (project) fitWorktree();
worktree?.addEventListener("change", () => {
  wanted = worktree.checked;
});
project?.addEventListener("change", () => {
  // One that differs from its project's was set by the person, also before the page was loaded again.
  const asBefore = "worktree" in (chosenBefore?.dataset ?? {});
  if (wanted === null && !worktree.disabled && worktree.checked !== asBefore) wanted = worktree.checked;
  chosenBefore = project.selectedOptions[0];
  worktree.checked = wanted ?? "worktree" in chosenBefore.dataset;
  fitWorktree();
  fit();
  form.dispatchEvent(new Event("input", { bubbles: true }));
});
