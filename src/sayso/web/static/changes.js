// Keeps the page of changes up to date: whenever the agent has used a tool or ended its turn, it is drawn anew.
// The page works without this file; then a button shows what is new.

const { newStream, openWhileVisible } = sayso;
const place = document.querySelector("[data-changes]");
const shown = place.querySelector("[data-changed]");
const commit = document.getElementById("commit");
const TELLS = new Set(["tool_result", "footer"]);
const GATHER = 200;
let timer = null;

function lookSoon() {
  timer ??= setTimeout(look, GATHER);
}

async function look() {
  timer = null;
  const reply = await fetch(place.dataset.changes, { headers: { "X-Sayso-Script": "1" } }).catch(() => null);
  if (!reply?.ok) return;
  const template = document.createElement("template");
  template.innerHTML = await reply.text();
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
  if (shown.innerHTML !== template.innerHTML) shown.replaceChildren(template.content);
  // There may be something to commit now, or nothing any more.
  if (commit) commit.hidden = !shown.querySelector(".changed-file");
  dispatchEvent(new Event("sayso:moved"));
}

openWhileVisible(newStream({ address: () => place.dataset.stream, hear: ({ type }) => TELLS.has(type) && lookSoon() }));
