// Keys on the pages: never while somebody types, never with other keys held, never by a key that is held down. What a key
// presses is pressed like a button, so that guard.js refuses it on what has only just appeared or moved. No key allows,
// and on the page of a question, where nothing can be undone, they choose and do not send.
// The pages work without this file.

const { $, $$, openDialog } = sayso;

const HELP = [
  ["j", "Next row"],
  ["k", "Previous row"],
  ["y", "Yes: a row sends it, on a page Enter does"],
  ["n", "No, likewise"],
  ["1–9", "That option: a row sends it, on a page it is chosen"],
  ["u", "Undo the latest answer of a row, or the latest no to several, for five seconds"],
  ["x", "Mark the row, to reject or snooze several"],
  ["z", "Snooze the row, or those that are marked"],
  ["/", "Search"],
  ["?", "These keys"],
];

const rows = () => $$(".rows > .row > a").filter((link) => link.checkVisibility());
// An answer that can still be undone has its place elsewhere, and its row all the same.
function rowHere() {
  const of = document.activeElement?.closest("[data-held-of]")?.dataset.heldOf;
  return of ? $(`.rows > .row[data-ask="${of}"]`) : document.activeElement?.closest(".rows > .row");
}

function step(by) {
  const links = rows();
  const here = links.indexOf($(":scope > a", rowHere() ?? document.createElement("li")));
  const next = links[here < 0 ? (by > 0 ? 0 : links.length - 1) : here + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

// The buttons that are an answer by themselves: of the row that has the focus, else of the question on this page.
function answersHere() {
  const row = rowHere();
  return $$("button[value^=answer-]", row ?? $("[data-ask-page]") ?? document.createElement("p")).filter((button) => button.checkVisibility() && !button.closest("[inert]"));
}

const labelOf = (button) => ($("bdi", button) ?? button).textContent.trim();

// A row holds its answer while it can be undone; another answer takes it back. What a page has is sent at once, so there a
// key only leads to it.
function press(button) {
  const row = rowHere();
  if (!row) return lead(button);
  const another = button.matches(":disabled") && button.ariaPressed !== "true";
  (another ? $(`[data-held-of="${row.dataset.ask}"] [data-undo]`) : button)?.click();
}

// Who types and has not noticed that no field has the focus answers nothing by that: a key leads to a button only after a
// pause, any other key leaves it, and Enter counts once it has stood there for a while.
const PAUSE = 700;
let typed = -PAUSE;
let led = null;

function lead(button) {
  if (performance.now() - typed < PAUSE) return leave();
  led = button;
  led.focus();
  dispatchEvent(new Event("sayso:moved"));
}

function leave() {
  typed = performance.now();
  led?.blur();
  led = null;
}

function say(word) {
  const button = answersHere().find((one) => labelOf(one).toLowerCase() === word);
  if (button) press(button);
}

function choose(place) {
  const button = answersHere()[place];
  if (button) return press(button);
  const questions = rowHere() ? [] : $$("form[data-answer] .question");
  const option = questions.length === 1 && $$(".options > .option input", questions[0])[place];
  if (!option) return;
  option.focus();
  option.click();
}

// --- Help

function help() {
  const open = $("dialog.keys[open]");
  if (open) return open.close();
  const dialog = Object.assign(document.createElement("dialog"), { className: "keys" });
  dialog.setAttribute("aria-labelledby", "keys-title");
  dialog.innerHTML = '<h2 id="keys-title">Keys</h2><dl></dl><form method="dialog"><button class="button">Close</button></form>';
  for (const [key, what] of HELP) {
    const [name, told] = [document.createElement("dt"), document.createElement("dd")];
    name.append(Object.assign(document.createElement("kbd"), { textContent: key }));
    told.textContent = what;
    $("dl", dialog).append(name, told);
  }
  openDialog(dialog);
}

function search() {
  const field = $("input[type=search]");
  if (field) field.focus();
  else location.assign("history#q");
}

const undo = () => $$("[data-undo]").at(-1)?.click();

const KEYS = { u: undo, j: () => step(1), k: () => step(-1), y: () => say("yes"), n: () => say("no"), x: () => sayso.mark(rowHere()), z: () => sayso.snooze(rowHere()), "/": search, "?": help };

addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]")) return;
  if ($("dialog[open]") && key !== "?") return;
  if (!/^([yn1-9]|Enter|Tab|Shift)$/.test(key)) leave();
  const act = KEYS[key] ?? (/^[1-9]$/.test(key) ? () => choose(Number(key) - 1) : null);
  if (!act) return;
  event.preventDefault();
  act();
});

if (location.hash === "#q") $("#q")?.focus();
