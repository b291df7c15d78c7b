// Pictures and files for an answer: chosen, taken with the camera, pasted or dropped. Each is sent at once and kept with
// the draft; an answer that is sent meanwhile waits for it. Without this file they go with the answer.

const { smaller } = globalThis.sayso;
const UPLOAD_WITHIN = 120_000;
const under = new Set();
let waiting = null;

const placeOf = (target) => (target.closest?.(".question") ?? target.closest?.("form[data-answer]") ?? document).querySelector("[data-attach]");

function tell(place, text) {
  const told = place.querySelector("[data-attach-problem]");
  told.textContent = text;
  told.hidden = !text;
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
    const reply = await fetch(`${form.getAttribute("action")}/files`, { method: "POST", body, signal: AbortSignal.timeout(UPLOAD_WITHIN) });
    const said = await reply.json().catch(() => ({}));
    if (!reply.ok) throw new Error(said.error || "the server did not take it. Reload the page and try again.");
    for (const each of said.attachments) {
      if ([...list.querySelectorAll("input")].some(({ value }) => value === each.id)) continue;
      list.append(kept(place, each));
    }
    list.querySelector("li:last-child input")?.dispatchEvent(new Event("input", { bubbles: true }));
  } catch (error) {
    const why = error instanceof TypeError || error.name === "TimeoutError" ? "the server cannot be reached. Choose it again." : error.message;
    tell(place, `${file.name} was not added: ${why}`);
  }
  item.remove();
}

function add(place, files) {
  if (!place || !files.length) return;
  tell(place, "");
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
  const place = event.target.closest?.("form[data-answer]") && placeOf(event.target);
  if (!place || !event.clipboardData.files.length) return;
  event.preventDefault();
  add(place, [...event.clipboardData.files]);
});

document.addEventListener("dragover", (event) => {
  if (document.querySelector("[data-attach]") && event.dataTransfer.types.includes("Files")) event.preventDefault();
});

document.addEventListener("drop", (event) => {
  const place = event.dataTransfer.files.length && placeOf(event.target);
  if (!place) return;
  event.preventDefault();
  add(place, [...event.dataTransfer.files]);
});

addEventListener(
  "submit",
  (event) => {
    if (!under.size || !event.target.matches("form[data-answer]") || !event.submitter || event.submitter.value === "keep") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting = { form: event.target, button: event.submitter };
  },
  { capture: true },
);

new MutationObserver(prepare).observe(document.body, { subtree: true, childList: true });
prepare();
