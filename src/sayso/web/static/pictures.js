// Pictures for the next message: chosen, taken with the camera, pasted or dropped; large ones are made smaller first.
// Without this file they can be chosen, and are sent as they are.

const field = document.querySelector("[data-pictures] input[type=file]");
const CHOSEN = `sayso:${document.querySelector("meta[name=sayso-user]").content}:draft:pictures:${field?.form.dataset.keep}`;
const { smaller } = globalThis.sayso;

function show() {
  const list = document.querySelector("[data-chosen-pictures]");
  list.replaceChildren(...[...field.files].map(entry));
  list.hidden = !field.files.length;
  document.querySelector("[data-lost-pictures]").hidden = true;
  if (field.files.length) sessionStorage.setItem(CHOSEN, "1");
  else sessionStorage.removeItem(CHOSEN);
}

function entry(file) {
  const item = document.createElement("li");
  const name = document.createElement("bdi");
  name.textContent = file.name;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "button";
  remove.textContent = "Remove";
  remove.setAttribute("aria-label", `Remove ${file.name}`);
  remove.addEventListener("click", () => put([...field.files].filter((other) => other !== file)));
  item.append(name, remove);
  return item;
}

function put(files) {
  const chosen = new DataTransfer();
  for (const file of files) chosen.items.add(file);
  field.files = chosen.files;
  show();
}

// One after the other, so that what comes while others are made smaller takes the place of none.
let before = Promise.resolve();

function inTurn(work) {
  before = before.then(work);
}

const allSmaller = (files) => Promise.all(files.map(smaller));

function add(files) {
  // The agent may take none.
  if (field.closest("[data-pictures]").hidden) return;
  const pictures = [...files].filter((file) => file.type.startsWith("image/"));
  if (!pictures.length) return;
  inTurn(async () => {
    const made = await allSmaller(pictures);
    put([...field.files, ...made]);
  });
}

if (field) {
  // A browser keeps words over a reload, and no files.
  document.querySelector("[data-lost-pictures]").hidden = !sessionStorage.getItem(CHOSEN) || field.files.length > 0;
  addEventListener("sayso:sent", (event) => event.detail === field.form.dataset.keep && sessionStorage.removeItem(CHOSEN));
  field.addEventListener("change", () => inTurn(async () => put(await allSmaller([...field.files]))));
  // What was sent is not chosen any more.
  field.form.addEventListener("sayso:cleared", () => put([]));
  field.form.addEventListener("paste", (event) => {
    if ([...event.clipboardData.files].some((file) => file.type.startsWith("image/"))) event.preventDefault();
    add(event.clipboardData.files);
  });
  const page = document.querySelector("main");
  page.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
  page.addEventListener("drop", (event) => {
    // On a question it goes with the answer.
    if (!event.dataTransfer.files.length || event.target.closest("form:has([data-attach])")) return;
    event.preventDefault();
    add(event.dataTransfer.files);
  });
}
