// Keeps the page of changes up to date: whenever the agent has used a tool or ended its turn, it is drawn anew.
// The page works without this file; then a button shows what is new.

const { AGAIN, newStream, openWhileVisible } = sayso;
const place = document.querySelector("[data-changes]");
const shown = place.querySelector("[data-changed]");
const commit = document.getElementById("commit");
const TELLS = new Set(["tool_result", "footer"]);
const GATHER = 200;
// git may take its time for it.
const WITHIN = 60_000;
let timer = null; // of a look that will be made, or is being made
let changed = false; // since that look began

function lookSoon() {
  changed = true;
  timer ??= setTimeout(look, GATHER);
}

// One after the other, so that what is shown last is the newest. One that fails is made again.
async function look() {
  changed = false;
  let wait = GATHER;
  try {
    const reply = await fetch(place.dataset.changes, { headers: { "X-Sayso-Script": "1" }, signal: AbortSignal.timeout(WITHIN) });
    if (reply.status >= 500) throw new Error(`${reply.status}`);
    if (reply.ok) show(await reply.text());
  } catch {
    [changed, wait] = [true, AGAIN];
  }
  timer = changed ? setTimeout(look, wait) : null;
}

function show(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  // What somebody has folded or unfolded stays so.
  for (const file of template.content.querySelectorAll("details[id]")) {
    const before = document.getElementById(file.id);
    if (before) file.open = before.open;
  }
  // So does what is chosen, unless the file is another now.
  for (const box of template.content.querySelectorAll("[name=chosen]")) {
    const before = shown.querySelector(`[name=chosen][value="${box.value}"]`);
    if (before) box.checked = before.checked;
  }
  if (shown.innerHTML !== template.innerHTML) replace(template.content);
  // There may be something to commit now, or nothing any more.
  if (commit) commit.hidden = !shown.querySelector(".changed-file");
  dispatchEvent(new Event("sayso:moved"));
}

function replace(newer) {
  const focused = shown.contains(document.activeElement) && document.activeElement;
  shown.replaceChildren(newer);
  if (focused) sameAs(focused)?.focus({ preventScroll: true });
}

// In the same file, as far as that is still there.
function sameAs(focused) {
  const file = document.getElementById(focused.closest("details[id]")?.id);
  return file?.querySelector(focused.name ? `[name="${focused.name}"]` : focused.localName) ?? file?.querySelector("summary");
}

openWhileVisible(newStream({ address: () => place.dataset.stream, hear: ({ type }) => TELLS.has(type) && lookSoon() }));
