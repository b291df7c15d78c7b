// The page of one command: what it prints, as it prints it. The page works without this file.

const { $, $$, reach } = sayso;
const MOST_PRINTED = 150_000;
const MOST_BEHIND = 500_000;
const NEAR_END = 60;
const STREAMS = ["stdout", "stderr"];
// The focus goes on to what has taken the place of something.
const STAY = { preventScroll: true };
const commandPage = () => $("[data-command]");
let latest = null;
let looking = null;

function takeIn(message) {
  const here = commandPage();
  if (here?.dataset.command !== message.id) return;
  latest = message;
  const changing = $("[data-changing]", here);
  if (changing.dataset.mark !== message.mark) looking ??= lookAtCommand(here);
  if (here.dataset.part !== message.part) return;
  for (const [name, size] of Object.entries(message.printed)) readOn($(`[data-stream=${name}][data-live]`, here), size);
  readBoth($("[data-both][data-live]", here), message.printed);
}

async function lookAtCommand(here) {
  const asked = latest;
  try {
    const newer = $("[data-command]", await sayso.pageAt(location.pathname));
    if (!newer) return;
    if (newer.dataset.part !== here.dataset.part) here.replaceWith(document.adoptNode(newer));
    else changeStanding(here, $("[data-changing]", newer));
    prepareCommand();
    dispatchEvent(new Event("sayso:shown"));
    sayso.seen();
  } catch {
    sayso.notSeen(() => takeIn(latest));
  } finally {
    looking = null;
    // It may have changed once more since.
    if (latest !== asked) takeIn(latest);
  }
}

function changeStanding(here, newer) {
  const older = $("[data-changing]", here);
  // Somebody is about to stop it: nothing moves under their hand, as long as it runs.
  const fold = $("details[open]", older);
  const place = fold && $("details", newer);
  if (place) place.replaceWith(fold);
  const focused = older.contains(document.activeElement) && document.activeElement;
  older.replaceWith(document.adoptNode(newer));
  if (focused) (newer.contains(focused) ? focused : $("main")).focus(STAY);
}

async function readOn(panel, size) {
  if (!panel || size <= panel.dataset.next) return;
  panel.dataset.size = size;
  if (panel.ariaBusy === "true") return;
  panel.ariaBusy = "true";
  try {
    let more = true;
    while (more && panel.isConnected) more = await readPart(panel);
    sayso.seen();
  } catch {
    sayso.notSeen(() => readOn(panel, panel.dataset.size));
  }
  panel.ariaBusy = null;
}

async function readPart(panel) {
  // A command that prints faster than anyone can read is not read whole.
  const passed = Math.max(panel.dataset.size - panel.dataset.next - MOST_BEHIND, 0);
  panel.dataset.next = Number(panel.dataset.next) + passed;
  const reply = await reach(`api/operations/${commandPage().dataset.part}/output?stream=${panel.dataset.stream}&offset=${panel.dataset.next}`);
  if (!reply.ok) return false;
  const part = await reply.json();
  const leftOut = part.skipped + passed;
  append(panel, part, leftOut);
  const grown = part.next_offset > panel.dataset.next;
  panel.dataset.next = part.next_offset;
  return grown && !part.unfinished && part.next_offset < panel.dataset.size;
}

function append(panel, part, leftOut) {
  const box = $("[data-printed]", panel);
  show(panel, [{ stream: "", text: part.text, runs: [], skipped: leftOut }], [{ stream: "", text: part.unfinished, runs: [], skipped: 0 }]);
  $("[data-size]", panel).textContent = `${part.total.toLocaleString("en")} bytes`;
  panel.hidden = false;
  follow(panel, box);
}

async function readBoth(panel, printed) {
  if (!panel || !STREAMS.some((name) => printed[name] > panel.dataset[name])) return;
  panel.printed = printed;
  if (panel.ariaBusy === "true") return;
  panel.ariaBusy = "true";
  try {
    let more = true;
    while (more && panel.isConnected) more = await readPartOfBoth(panel);
    sayso.seen();
  } catch {
    sayso.notSeen(() => readBoth(panel, panel.printed));
  }
  panel.ariaBusy = null;
}

async function readPartOfBoth(panel) {
  let passed = 0;
  for (const name of STREAMS) {
    const behind = Math.max(panel.printed[name] - panel.dataset[name] - MOST_BEHIND, 0);
    panel.dataset[name] = Number(panel.dataset[name]) + behind;
    passed += behind;
  }
  const places = STREAMS.map((name) => `${name}=${panel.dataset[name]}`).join("&");
  const reply = await reach(`api/operations/${commandPage().dataset.part}/both?${places}`);
  if (!reply.ok) return false;
  const part = await reply.json();
  appendBoth(panel, part, passed);
  const grown = STREAMS.some((name) => part.next[name] > panel.dataset[name]);
  for (const name of STREAMS) panel.dataset[name] = part.next[name];
  return grown && STREAMS.some((name) => part.next[name] < panel.printed[name]);
}

function appendBoth(panel, part, passed) {
  const [first, ...others] = part.parts;
  show(panel, first ? [{ ...first, skipped: first.skipped + passed }, ...others] : [], part.unfinished);
  $("[data-legend]", panel).hidden = !part.total.stderr;
  $("[data-size]", panel).textContent = `${STREAMS.map((name) => `${name} ${part.total[name].toLocaleString("en")}`).join(" · ")} bytes`;
  follow(panel, $("[data-printed]", panel));
}

// Lines are added, and the oldest go where there are too many.
function show(panel, parts, unfinished) {
  const text = $("[data-text]", panel);
  addLines(text, parts);
  dropOldest(text);
  const begun = $("[data-unfinished]", panel);
  begun.replaceChildren();
  addLines(begun, unfinished);
  if (parts.length || begun.childElementCount) $("[data-nothing]", panel)?.remove();
}

function dropOldest(list) {
  let length = list.textContent.length;
  let kept = list.firstElementChild;
  let gone = 0;
  for (; length > MOST_PRINTED && kept !== list.lastElementChild; kept = kept.nextElementSibling) {
    length -= kept.textContent.length;
    gone += 1;
  }
  if (!gone) return;
  // All at once: each by itself would have all others counted anew.
  const range = new Range();
  range.setStart(list, 0);
  range.setEndBefore(kept);
  range.deleteContents();
  list.start += gone;
}

function addLines(list, parts) {
  const made = document.createDocumentFragment();
  // One that was too long to come at once goes on.
  let line = list.lastElementChild?.textContent.endsWith("\n") ? null : list.lastElementChild;
  for (const { stream: from, text, runs, skipped } of parts) {
    if (skipped) {
      made.append(newLine("gap", `… ${skipped.toLocaleString("en")} bytes are not shown here …\n`));
      // Which lines these are is not known any more.
      list.dataset.unnumbered = "";
      line = null;
    }
    for (const run of runs.length ? runs : [{ text, look: "" }]) {
      for (const piece of run.text.match(/[^\n]*\n|[^\n]+/g) ?? []) {
        if (!line) made.append((line = newLine("", "")));
        if (from === "stderr") line.className = "stderr";
        line.append(run.look ? Object.assign(document.createElement("span"), { className: run.look.replace(/\S+/g, "look-$&"), textContent: piece }) : piece);
        if (piece.endsWith("\n")) line = null;
      }
    }
  }
  list.append(made);
}

function newLine(className, textContent) {
  return Object.assign(document.createElement("li"), { className, textContent });
}

// Whoever scrolls away from the end reads something there; whoever comes back to it follows again.
function follow(panel, box) {
  if (!$("[data-follow]", panel)?.checked) return;
  box.scrollTop = box.scrollHeight;
  box.scrollIntoView({ block: "nearest" });
}

const ROOM_BELOW = 16;

// The box is as high as the window has room for below what is above it.
function giveRoom(box) {
  const pinned = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--pinned-bottom")) || 0;
  box.style.setProperty("--room", `${innerHeight - box.getBoundingClientRect().top - scrollY - pinned - ROOM_BELOW}px`);
}

function roomForAll() {
  for (const box of $$("[data-live] [data-printed]")) {
    giveRoom(box);
    follow(box.closest("[data-live]"), box);
  }
}

function isAtEnd(box) {
  const { bottom } = box.getBoundingClientRect();
  return box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END && bottom > NEAR_END && bottom < innerHeight + NEAR_END;
}

function prepareFollowing(panel) {
  const box = $("[data-printed]", panel);
  const mark = $("[data-follow]", panel);
  if (!mark) return;
  $("[data-follow-switch]", panel).hidden = false;
  const look = () => panel.isConnected && (mark.checked = isAtEnd(box));
  box.addEventListener("scroll", look, { passive: true });
  addEventListener("scroll", look, { passive: true });
  mark.addEventListener("change", () => follow(panel, box));
}

function prepareCommand() {
  const here = commandPage();
  if (!here) return;
  for (const panel of $$("[data-live]", here)) {
    const box = $("[data-printed]", panel);
    giveRoom(box);
    if (!("prepared" in panel.dataset)) prepareFollowing(panel);
    panel.dataset.prepared = "";
    if ($("[data-follow]", panel)) follow(panel, box);
    else box.scrollTop = box.scrollHeight;
  }
  // Looked again by itself.
  for (const link of $$("[data-look-again]", here)) link.hidden = true;
}

addEventListener("sayso:command", ({ detail: message }) => takeIn(message));
addEventListener("resize", roomForAll);
prepareCommand();
