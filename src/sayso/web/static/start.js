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

// --- What can be chosen for the agent of the project

const project = form?.elements.project;

function fit() {
  const chosen = project.selectedOptions[0];
  const modes = chosen?.dataset.modes.split(" ") ?? [];
  for (const option of form.elements.mode.options) {
    option.hidden = option.disabled = Boolean(option.value) && !modes.includes(option.value);
    if (option.disabled && option.selected) form.elements.mode.value = "";
  }
  form.elements.model.setAttribute("list", `models-${chosen?.value}`);
  // A model is one agent's.
  if (form.dataset.agent && chosen && form.dataset.agent !== chosen.dataset.agent) form.elements.model.value = "";
  form.dataset.agent = chosen?.dataset.agent ?? "";
}

if (project) fit();
project?.addEventListener("change", () => {
  form.elements.worktree.checked = "worktree" in project.selectedOptions[0].dataset;
  fit();
  form.dispatchEvent(new Event("input", { bubbles: true }));
});
