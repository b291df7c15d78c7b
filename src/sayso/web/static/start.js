// Starts a conversation: once, however often it is pressed, and the form says what became of it.
// The page works without this file.

const { reach, deliver, takeUp } = sayso;
const form = document.querySelector("[data-start]");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (form.querySelector("[data-lock]").disabled) return;
  const body = new FormData(form);
  let begun;
  const { taken, made } = await deliver(form, form.querySelector("button"), async (attempt) => {
    body.set("attempt", attempt);
    const reply = await reach(form.action, { method: "POST", body, headers: { "X-Sayso-Script": "1" } });
    if (reply.ok) begun = (await reply.json()).made;
    return reply;
  });
  if (taken) goTo(begun ?? made);
  else tell("sayso:not-sent");
});

function tell(what) {
  dispatchEvent(new CustomEvent(what, { detail: form.dataset.keep }));
}

function goTo(conversation) {
  tell("sayso:sent");
  location.assign(conversation ? `talk/${conversation}` : "talk");
}

// This page may have been loaded again before it knew what became of a conversation that it had begun.
async function goOn() {
  const { fate, made } = await takeUp(form);
  if (fate === "taken") goTo(made);
}

if (form) goOn();

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
