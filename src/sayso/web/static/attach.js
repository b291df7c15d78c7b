// Pictures and files for an answer: chosen, taken with the camera, pasted or dropped. Each is sent at once and kept with
// the draft; an answer that is sent meanwhile waits for it. Without this file they go with the answer.

const { smaller, reach } = globalThis.sayso;
const under = new Set();
let waiting = null;

// The page of an ask, or a card in a conversation, where what is dropped elsewhere belongs to the next message.
const ANSWERS = "form[data-answer], form[data-card-form]";

const placeOf = (target) => (target.closest?.(".question") ?? target.closest?.(ANSWERS) ?? document.querySelector("form[data-answer]"))?.querySelector("[data-attach]");

function tell(place, text) {
  const told = place.querySelector("[data-attach-problem]");
  told.textContent = text && [told.textContent, text].filter(Boolean).join(" ");
  told.hidden = !text;
}

const MIB = 1024 * 1024;

function tooLarge({ name, size }, most) {
  const shown = (Math.ceil((size * 10) / MIB) / 10).toLocaleString("en");
  return `“${name}” has ${shown} MiB, and at most ${most / MIB} MiB can be sent at once. Make it smaller, or say in your answer where the agent finds it.`;
}

// What the server says of a file begins with its name.
function notAdded(name, why) {
  return /^["“]/.test(why) ? `Not added: ${why}` : `“${name}” was not added: ${why}`;
}

function entry(name, text) {
  const item = document.createElement("li");
  const shown = document.createElement("bdi");
  shown.textContent = name;
  item.append(shown, text);
  return item;
}

function kept(place, { id, name, media_type: media }) {
  const item = document.createElement("li");
  const label = document.createElement("label");
  const mark = Object.assign(document.createElement("input"), { type: "checkbox", name: `${place.dataset.attach}-kept`, value: id, checked: true });
  const shown = document.createElement("bdi");
  shown.textContent = name;
  label.append(mark, " ");
  if (media.startsWith("image/")) {
    label.append(Object.assign(document.createElement("img"), { src: `${place.closest("form").getAttribute("action")}/files/${id}`, alt: "" }));
  }
  label.append(shown);
  item.append(label);
  return item;
}

async function upload(place, file) {
  const form = place.closest("form");
  const list = place.querySelector("[data-attached]");
  const item = entry(file.name, " is being sent…");
  list.append(item);
  const body = new FormData();
  body.set("csrf", form.elements.csrf.value);
  const ready = await smaller(file);
  body.set("file", ready, ready.name || "picture");
  try {
    const most = Number(place.dataset.most);
    if (ready.size > most) throw new Error(tooLarge(ready, most));
    const reply = await reach(`${form.getAttribute("action")}/files`, { method: "POST", body });
    const said = await reply.json().catch(() => ({}));
    if (!reply.ok) throw new Error(said.error || "the server did not take it. Reload the page and try again.");
    for (const each of said.attachments) {
      const there = [...list.querySelectorAll("input")].find(({ value }) => value === each.id);
      if (there) there.checked = true;
      if (there && each.name !== ready.name) list.append(entry(ready.name, ` is the same file as ${each.name}, so it goes once.`));
      if (!there) list.append(kept(place, each));
    }
    list.querySelector("input")?.dispatchEvent(new Event("input", { bubbles: true }));
  } catch (error) {
    const why = error instanceof TypeError || error.name === "AbortError" ? "the server cannot be reached. Choose it again." : error.message;
    tell(place, notAdded(file.name, why));
  }
  item.remove();
}

function add(place, files) {
  if (!place || !files.length) return;
  tell(place, "");
  const fold = place.closest("details");
  if (fold) fold.open = true;
  const sending = Promise.all([...files].map((file) => upload(place, file))).finally(() => {
    under.delete(sending);
    if (under.size || !waiting) return;
    const { form, button } = waiting;
    waiting = null;
    // What was not added is said beside it: then the person decides again.
    if (form.isConnected && !form.querySelector("[data-attach-problem]:not([hidden])")) form.requestSubmit(button);
  });
  under.add(sending);
}

function prepare() {
  // The answer itself carries their names alone.
  for (const field of document.querySelectorAll("[data-attach] input[type=file][name]")) field.removeAttribute("name");
}

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-attach] input[type=file]")) return;
  add(placeOf(event.target), [...event.target.files]);
  event.target.value = "";
});

document.addEventListener("paste", (event) => {
  const place = event.target.closest?.(ANSWERS) && placeOf(event.target);
  if (!place || !event.clipboardData.files.length) return;
  event.preventDefault();
  add(place, [...event.clipboardData.files]);
});

document.addEventListener("dragover", (event) => {
  if (placeOf(event.target) && event.dataTransfer.types.includes("Files")) event.preventDefault();
});

document.addEventListener("drop", (event) => {
  const place = event.dataTransfer.files.length && placeOf(event.target);
  if (!place) return;
  event.preventDefault();
  add(place, [...event.dataTransfer.files]);
});

// A browser keeps the words of a card; which files go with it, the server does, for all browsers.
document.addEventListener("input", ({ target }) => {
  const form = target.matches("[data-attached] input") && target.closest("form[data-card-form]");
  if (form) reach(`${form.getAttribute("action")}/draft`, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => {});
});

addEventListener(
  "submit",
  (event) => {
    if (!under.size || !event.target.matches(ANSWERS) || !event.submitter || event.submitter.value === "keep") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting = { form: event.target, button: event.submitter };
  },
  { capture: true },
);

new MutationObserver(prepare).observe(document.body, { subtree: true, childList: true });
prepare();
