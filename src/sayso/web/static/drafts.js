// What is typed in a conversation is kept in this browser until it is sent: over a reload, a restart of the server, and
// an answer that came from elsewhere. (What is typed on the page of an ask the server keeps too; see app.js.)
// This tab's own words come first, so that two tabs do not take them from each other.

const PREFIX = `sayso:${document.querySelector("meta[name=sayso-user]").content}:draft:`;
const STARTING = `${PREFIX}starting`;
const NEW = "talk:new";
const LEFT = `${PREFIX}left`;
// Of a form that is sent as browsers do it, only the words are kept: all else is as the page shows it now.
const PLAIN = "[data-plain]";
const WORDS = "textarea, input[type=text]";

const { $, $$ } = sayso;
const sending = new Set();

function entered(form) {
  if (form.matches(PLAIN)) return new URLSearchParams($$(WORDS, form).filter((field) => field.value.trim() && (field.matches("textarea") || field.value !== field.defaultValue)).map(({ name, value }) => [name, value])).toString();
  const said = [...new FormData(form)].filter(([name, value]) => !["csrf", "shown"].includes(name) && typeof value === "string" && value.trim());
  // The words of what was chosen, which a card that has ended may not show any more.
  const chosen = $$("input:checked", form).map((one) => ["chosen", $(".option-label", one.closest("label"))?.firstChild.textContent.trim()]);
  return new URLSearchParams([...said, ...chosen.filter(([, words]) => words)]).toString();
}

const kept = (key) => sessionStorage.getItem(PREFIX + key) ?? localStorage.getItem(PREFIX + key);

function keep(key, said) {
  for (const store of [sessionStorage, localStorage]) {
    if (said) store.setItem(PREFIX + key, said);
    else store.removeItem(PREFIX + key);
  }
}

function drop(key) {
  // What another tab has written since stays.
  if (localStorage.getItem(PREFIX + key) === sessionStorage.getItem(PREFIX + key)) localStorage.removeItem(PREFIX + key);
  sessionStorage.removeItem(PREFIX + key);
}

function restore(form) {
  form.dataset.restored = "";
  const said = kept(form.dataset.keep);
  const linked = form.elements.project && linkedProject();
  if (!said && !linked) return;
  const values = new URLSearchParams(said ?? "");
  for (const field of form.matches(PLAIN) ? $$(WORDS, form) : form.elements) {
    // Which files go with an answer, the server knows. A box that is not checked is not named.
    if (field.closest("[data-attached]") || (field.type === "checkbox" ? !said : !values.has(field.name))) continue;
    if (field.type === "radio" || field.type === "checkbox") field.checked = values.getAll(field.name).includes(field.value);
    else field.value = values.get(field.name);
    if (field.matches("textarea") && field.value && field.closest("details.note, details.reject")) field.closest("details").open = true;
  }
  if (form.elements.project) restoreProject(form, linked ?? values.get("project"));
  form.dispatchEvent(new Event("input", { bubbles: true }));
}

// The project that the link to this page named: once, and not again with each reload.
function linkedProject() {
  const here = new URL(location);
  const project = here.searchParams.get("project");
  here.searchParams.delete("project");
  if (project) history.replaceState(history.state, "", here);
  return project;
}

// What was written for one project is never sent to another.
function restoreProject(form, project) {
  form.elements.project.value = project;
  if (form.elements.project.selectedIndex < 0) sayso.problem(form, "The project for which you had written this is not here any more. Choose one.");
}

// --- What can no longer be sent

function showUnsent(card) {
  const key = `card:${card.dataset.card}`;
  const words = sending.has(key) || sayso.unknown(key) ? [] : [...new URLSearchParams(kept(key) ?? "")].filter(([name]) => name === "chosen" || /^reason$|-(own|note)$/.test(name));
  if (!words.length) return;
  const told = document.createElement("div");
  told.className = "unsent";
  told.dataset.unsent = "";
  told.innerHTML = '<p class="quiet-text">What you had entered here was not sent:</p><button class="button" type="button">Discard it</button>';
  for (const [, text] of words) {
    const said = document.createElement("p");
    said.className = "said";
    said.dir = "auto";
    said.textContent = text;
    $("button", told).before(said);
  }
  $("button", told).addEventListener("click", () => {
    keep(key, "");
    told.remove();
  });
  card.append(told);
}

function look() {
  for (const form of $$("form[data-keep]:not([data-restored])")) restore(form);
  for (const card of $$("[data-card]:not([data-state=open]):not(:has([data-unsent]))")) showUnsent(card);
}

// What was not taken comes back with the page that says why not; so does, by a reload, what never arrived.
function forgetWhatWasTaken() {
  const key = sessionStorage.getItem(LEFT);
  sessionStorage.removeItem(LEFT);
  const refused = key && $$(`form[data-keep="${key}"] textarea`).some((field) => field.defaultValue.trim());
  if (key && !refused && performance.getEntriesByType("navigation")[0]?.type === "navigate") drop(key);
}

// --- Begin

addEventListener("input", (event) => {
  const form = event.target.closest?.("form[data-keep]");
  if (form) keep(form.dataset.keep, entered(form));
});

addEventListener("submit", (event) => {
  const key = event.target.dataset.keep;
  if (!key) return;
  sending.add(key);
  if (event.target.matches(PLAIN) && !event.defaultPrevented) sessionStorage.setItem(LEFT, key);
  if (key === NEW) sessionStorage.setItem(STARTING, "1");
});

addEventListener("sayso:sent", (event) => {
  drop(event.detail);
  sending.delete(event.detail);
  for (const told of $$(`[data-card="${event.detail.split(":")[1]}"] [data-unsent]`)) told.remove();
});

addEventListener("sayso:not-sent", (event) => {
  sending.delete(event.detail);
  if (event.detail === NEW) sessionStorage.removeItem(STARTING);
  look();
});

if (sessionStorage.getItem(STARTING)) {
  sessionStorage.removeItem(STARTING);
  // The conversation that was to be started is here.
  if ($("[data-talk]")) drop(NEW);
}
forgetWhatWasTaken();
new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
look();
