// Several rows at once can be rejected or snoozed, and nothing else: in the inbox, among what a search has found, and on
// the page of an agent that has many open. Rows are marked by their key, by "Select", or by a long press; meanwhile
// nothing that a row offers can be pressed. Either can be undone.

const { $, $$, reach, newAttempt, fateOf, refusal, lay, lift, openDialog } = sayso;
const main = $("main");
const csrf = () => $("meta[name=sayso-csrf]").content;

// By their ids and versions: a list that is drawn again has other elements for the same asks, and an ask that has changed
// since is no longer marked. What is out of sight counts as not marked, too.
const chosen = new Map();
const isMarked = (row) => chosen.has(row.dataset.ask) && chosen.get(row.dataset.ask) === row.dataset.version;
const all = () => $$("[data-markable] > .row", main);
const rows = () => all().filter((row) => row.checkVisibility());
const marked = () => rows().filter(isMarked);
const canMark = (row) => row?.dataset.ask && !("crowd" in row.dataset) && row.closest("[data-markable]") && !sayso.held.has(row.dataset.ask);
const titleOf = (row) => $(".row-title", row).textContent.trim();

function mark(row, on = !row || !isMarked(row)) {
  if (on && !canMark(row)) return;
  choose(row, on);
  tellMarked();
}

function choose(row, on) {
  if (on) chosen.set(row.dataset.ask, row.dataset.version);
  else chosen.delete(row.dataset.ask);
  show(row);
}

function show(row) {
  const on = isMarked(row);
  row.classList.toggle("marked", on);
  const box = $(".row-mark input", row);
  if (box) box.checked = on;
}

function clear() {
  chosen.clear();
  for (const row of $$(".row.marked")) show(row);
  tellMarked();
}

// --- The bar of what is done with them

function tellMarked() {
  const count = marked().length;
  let bar = $("[data-marked]");
  if (!count && !selecting()) {
    bar?.remove();
    return sayso.offerInRows();
  }
  bar ??= makeBar();
  sayso.offerInRows();
  $("span", bar).textContent = `${count} marked`;
  $(".danger", bar).textContent = count === 1 ? "Reject it" : `Reject all ${count}`;
  for (const button of $$("[data-with-marked]", bar)) button.hidden = !count;
  const most = toMarkAtOnce().length;
  $("[data-mark-all]", bar).textContent = `Mark all ${most}`;
  $("[data-mark-all]", bar).hidden = count > 0 || most < 2;
}

// Not in the whole inbox, where they have nothing to do with each other.
const toMarkAtOnce = () => rows().filter((row) => row.closest("[data-markable=all]") && canMark(row));

function makeBar() {
  const bar = Object.assign(document.createElement("form"), { className: "marked-bar" });
  bar.dataset.marked = "";
  bar.dataset.guard = "";
  bar.innerHTML = '<span role="status"></span><button class="button danger" data-with-marked></button><button class="button" type="button" data-with-marked data-snooze-marked>Snooze</button><button class="button" type="button" data-mark-all></button><button class="button" type="button" data-clear>Done</button>';
  main.append(bar);
  bar.addEventListener("submit", rejectMarked);
  $("[data-snooze-marked]", bar).addEventListener("click", () => askHowLong(marked()));
  $("[data-mark-all]", bar).addEventListener("click", () => {
    for (const row of toMarkAtOnce()) choose(row, true);
    tellMarked();
  });
  $("[data-clear]", bar).addEventListener("click", stopSelecting);
  return bar;
}

// As one answer does, this waits until it cannot be undone any more. Then each is sent by itself.
function rejectMarked(event) {
  event.preventDefault();
  const [unwanted, choosing, label] = [marked(), selecting(), $(".danger", event.currentTarget).textContent];
  if (!unwanted.length) return;
  const wanted = unwanted.map((row) => ({ ask: row.dataset.ask, version: row.dataset.version, settle: "permission" in row.dataset ? "deny" : "reject", title: titleOf(row) }));
  stopSelecting();
  sayso.holdBack({
    asks: wanted.map(({ ask }) => ask),
    label,
    question: wanted.map(({ title }) => title).join(" · "),
    send: () => rejectAll(wanted),
    undo: () => {
      for (const { ask, version } of wanted) chosen.set(ask, version);
      selectRows(choosing);
    },
  });
}

async function rejectAll(wanted) {
  const told = await Promise.all(wanted.map(whyNotRejected));
  told.forEach((why, place) => why && sayso.tellNotSent(`${notRejected(wanted[place])}. ${why}`));
  const count = told.filter((why) => !why).length;
  return `${count === told.length ? "sent" : "not all were sent"}, ${count} rejected`;
}

const notRejected = ({ title }) => `“${sayso.isolated(title)}” was not rejected`;

async function whyNotRejected(wanted) {
  const attempt = newAttempt();
  const told = sayso.noteLeft(attempt, notRejected(wanted));
  const why = await rejected(wanted, attempt);
  told();
  return why;
}

async function rejected({ ask, settle }, attempt) {
  const body = new URLSearchParams({ csrf: csrf(), settle, row: 1, attempt });
  try {
    const reply = await reach(`asks/${ask}`, { method: "POST", body, redirect: "manual" });
    return reply.type === "opaqueredirect" ? "" : refusal(reply);
  } catch {
    const { fate } = await fateOf(attempt);
    return { taken: "", "signed out": "It is not known whether that arrived: you are signed out." }[fate] ?? "It did not arrive.";
  }
}

// --- Choosing rows by a finger

const selecting = () => main.classList.contains("selecting");

function selectRows(on) {
  main.classList.toggle("selecting", on);
  (on ? lay : lift)(stopSelecting);
  if (!on) for (const box of $$(".row-mark", main)) box.remove();
  renew();
}

function stopSelecting() {
  clear();
  selectRows(false);
}

// For rows that have just come, and those whose marks come back.
function renew() {
  const busy = chosen.size > 0 || selecting();
  for (const row of busy ? rows() : []) {
    if (selecting()) prepare(row);
    show(row);
  }
  for (const button of $$("[data-select]", main)) {
    button.hidden = !selecting() && !all().some((row) => canMark(row) && row.checkVisibility());
    button.ariaPressed = selecting();
  }
  if (busy || $("[data-marked]")) tellMarked();
}

// A box of its own in each row, so that a keyboard and a screen reader can mark as well.
function prepare(row) {
  if (!canMark(row) || $(".row-mark", row)) return;
  const label = Object.assign(document.createElement("label"), { className: "row-mark" });
  const box = Object.assign(document.createElement("input"), { type: "checkbox" });
  box.setAttribute("aria-label", `Mark: ${titleOf(row)}`);
  box.addEventListener("change", () => mark(row, box.checked));
  label.append(box);
  row.prepend(label);
}

const HOLD = 500;
const SLIP = 10;
let press = null; // a finger that rests on a row

function letGo() {
  clearTimeout(press?.timer);
  press = null;
}

main.addEventListener("pointerdown", (event) => {
  const link = event.target.closest(".row > a");
  letGo();
  if (event.pointerType !== "touch" || !link || !canMark(link.parentElement)) return;
  press = { x: event.clientX, y: event.clientY, held: false };
  press.timer = setTimeout(() => {
    press.held = true;
    choose(link.parentElement, true);
    selectRows(true);
  }, HOLD);
});
main.addEventListener("pointermove", ({ clientX: x, clientY: y }) => press && !press.held && Math.hypot(x - press.x, y - press.y) > SLIP && letGo());
addEventListener("pointercancel", letGo);
addEventListener("scroll", () => press && !press.held && letGo(), { passive: true });
// The phone's own menu for links would cover the row.
main.addEventListener("contextmenu", (event) => press && event.preventDefault());
main.addEventListener("click", (event) => {
  const held = press?.held;
  letGo();
  // The end of a long press is no tap, whatever has come under the finger since.
  if (held) return event.preventDefault();
  if (event.target.closest("[data-select]")) {
    if (selecting()) clear();
    return selectRows(!selecting());
  }
  const row = event.target.closest("[data-markable] > .row");
  if (!row || !selecting() || event.target.closest(".row-mark") || event.ctrlKey || event.metaKey) return;
  // What an agent with many open has is marked on its own page, which opens as long as that loses no marks.
  if ("crowd" in row.dataset && !marked().length) return;
  event.preventDefault();
  mark(row);
});
addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || $("dialog[open]") || !$("[data-marked]")) return;
  stopSelecting();
});
addEventListener("sayso:shown", renew);
if ($("[data-inbox][data-markable]")) new MutationObserver(renew).observe($("[data-inbox]"), { childList: true, attributeFilter: ["hidden"] });
renew();

// --- Snoozing

const SHOWN_FOR = 8000;

function snooze(row) {
  const chosen = marked();
  if (chosen.length) return askHowLong(chosen);
  if (row && !row.closest(".beside")) return askHowLong([row]);
  const fold = $("details.snooze");
  if (!fold) return;
  fold.open = true;
  $("button", fold).focus();
}

function askHowLong(rows) {
  const choices = $("template[data-snoozes]");
  if (!choices || !rows.length || $("dialog[open]")) return;
  const dialog = Object.assign(document.createElement("dialog"), { className: "keys" });
  dialog.setAttribute("aria-labelledby", "snooze-title");
  dialog.innerHTML = '<h2 id="snooze-title"></h2><p class="quiet-text">Not in your inbox for a while. Agents are told nothing.</p><form class="choices-row" method="dialog"></form><form method="dialog"><button class="button quiet-button">Cancel</button></form>';
  $("h2", dialog).textContent = rows.length === 1 ? "Snooze" : `Snooze all ${rows.length}`;
  $("form", dialog).append(choices.content.cloneNode(true));
  $("form", dialog).addEventListener("submit", ({ submitter }) => putOff(rows, submitter.value));
  dialog.addEventListener("keydown", ({ key, repeat }) => !repeat && /^[1-9]$/.test(key) && $$(".choices-row button", dialog)[key - 1]?.click());
  openDialog(dialog);
}

const placeOf = (row) => `${"crowd" in row.dataset ? "crowds" : "asks"}/${row.dataset.ask}/snooze`;

// Tomorrow is where the browser is.
function morning() {
  const at = new Date();
  at.setDate(at.getDate() + 1);
  return at.setHours(8, 0, 0, 0);
}

async function send(place, wanted) {
  const body = new URLSearchParams({ csrf: csrf(), for: wanted, morning: morning() });
  try {
    const reply = await reach(place, { method: "POST", body });
    if (reply.ok) return "";
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    return $("[data-problem]", page)?.dataset.problem ?? "You are signed out. Sign in again in another tab.";
  } catch {
    return "The server cannot be reached. Try again.";
  }
}

async function putOff(rows, wanted) {
  const places = rows.map(placeOf);
  const next = rows.at(-1).nextElementSibling ?? rows[0].previousElementSibling;
  const problems = (await Promise.all(places.map((place) => send(place, wanted)))).filter(Boolean);
  clear();
  const done = places.length - problems.length;
  tell(problems[0] ?? (done === 1 ? "Snoozed" : `${done} snoozed`), done ? places : []);
  if (done) $("a", next ?? document)?.focus({ preventScroll: true });
}

function tell(text, places) {
  const bar = Object.assign(document.createElement("div"), { className: "held-answer over" });
  bar.setAttribute("role", "status");
  bar.append(Object.assign(document.createElement("p"), { textContent: text }));
  if (places.length) {
    const undo = Object.assign(document.createElement("button"), { className: "button", type: "button", textContent: "Undo" });
    undo.dataset.undo = "";
    undo.addEventListener("click", async () => {
      undo.remove();
      const problems = (await Promise.all(places.map((place) => send(place, "end")))).filter(Boolean);
      bar.firstChild.textContent = problems[0] ?? "Back in the inbox";
    });
    bar.append(undo);
  }
  $("[data-held]").append(bar);
  setTimeout(() => {
    dispatchEvent(new CustomEvent("sayso:uncovered", { detail: bar.getBoundingClientRect() }));
    bar.remove();
  }, SHOWN_FOR);
}

// A page without the rows: the form goes its own way, with tomorrow as it is here.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("[data-snooze]") || target.elements.morning) return;
  target.append(Object.assign(document.createElement("input"), { type: "hidden", name: "morning", value: morning() }));
});

Object.assign(sayso, { mark, snooze });
