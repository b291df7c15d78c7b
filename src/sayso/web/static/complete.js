// Completes "@" to files of the project and "/" to commands of the agent in the field for messages. Without this file
// they are written out.

const { reach } = sayso;
const field = document.querySelector("[data-prompt]");
const list = document.querySelector("[data-completions]");
const PAUSE = 120;
const look = { timer: null, number: 0, from: 0, active: 0 };

function wanted() {
  const before = field.value.slice(0, field.selectionStart);
  if (field.selectionStart !== field.selectionEnd) return null;
  const found = before.match(/^\/([\w:.-]{0,60})$/) ?? before.match(/(?<=^|\s)@([^\s@]{0,200})$/);
  return found && { from: before.length - found[0].length, sign: found[0][0], letters: found[1] };
}

// Those of the conversation; before there is one, those of the project that is chosen.
const place = () => list.dataset.completions || `projects/${field.form.elements.project.value}`;

async function offer() {
  const [word, number] = [wanted(), ++look.number];
  if (!word) return close();
  const address = word.sign === "@" ? `${place()}/files?q=${encodeURIComponent(word.letters)}` : `${place()}/commands`;
  let options = [];
  try {
    const reply = await reach(address);
    if (reply.ok) options = (await reply.json()).options;
  } catch {
    // Without an answer there is nothing to offer.
  }
  if (number !== look.number) return;
  if (word.sign === "/") options = options.filter((one) => one.value.slice(1).toLowerCase().startsWith(word.letters.toLowerCase()));
  if (options.length && document.activeElement === field) open(word, options);
  else close();
}

function open(word, options) {
  look.from = word.from;
  list.replaceChildren(...options.map(drawn));
  list.hidden = false;
  list.setAttribute("aria-label", word.sign === "@" ? "Files" : "Commands");
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-expanded", "true");
  field.setAttribute("aria-controls", list.id);
  activate(0);
}

function drawn(option, place) {
  const item = document.createElement("li");
  item.id = `completion-${place}`;
  item.setAttribute("role", "option");
  item.dataset.value = option.value;
  for (const [tag, text] of [["span", option.value], ["small", option.about]]) {
    if (!text) continue;
    const part = document.createElement(tag);
    part.textContent = text;
    part.dir = tag === "span" ? "ltr" : "auto";
    item.append(part);
  }
  return item;
}

function activate(place) {
  const items = [...list.children];
  look.active = (place + items.length) % items.length;
  items.forEach((item, number) => item.setAttribute("aria-selected", String(number === look.active)));
  field.setAttribute("aria-activedescendant", items[look.active].id);
  items[look.active].scrollIntoView({ block: "nearest" });
}

function close() {
  look.number += 1;
  clearTimeout(look.timer);
  if (list.hidden) return;
  list.hidden = true;
  list.replaceChildren();
  for (const name of ["role", "aria-autocomplete", "aria-expanded", "aria-controls", "aria-activedescendant"]) field.removeAttribute(name);
}

function take(item) {
  const value = `${item.dataset.value} `;
  const after = field.value.slice(field.selectionStart).replace(/^ /, "");
  field.value = field.value.slice(0, look.from) + value + after;
  field.setSelectionRange(look.from + value.length, look.from + value.length);
  close();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

const keys = {
  ArrowDown: () => activate(look.active + 1),
  ArrowUp: () => activate(look.active - 1),
  Enter: () => take(list.children[look.active]),
  Tab: () => take(list.children[look.active]),
  Escape: close,
};

field.addEventListener("keydown", (event) => {
  if (list.hidden || event.isComposing || !Object.hasOwn(keys, event.key)) return;
  // Ctrl+Enter as well: what is chosen here is not sent yet.
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
});
field.addEventListener("input", () => {
  clearTimeout(look.timer);
  if (wanted()) look.timer = setTimeout(offer, PAUSE);
  else close();
});
field.addEventListener("blur", close);
document.addEventListener("selectionchange", () => {
  if (!list.hidden && wanted()?.from !== look.from) close();
});
list.addEventListener("pointerdown", (event) => event.preventDefault());
list.addEventListener("click", (event) => {
  const item = event.target.closest("[role=option]");
  if (item) take(item);
});
