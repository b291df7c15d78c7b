// Finds as one types, in place: the field keeps the focus, and who does not see the list hears how many were found.
// Without this file the field is a form that is sent.

const { $, reach, pause } = sayso;
const form = $("form[data-find]");
const field = $("input[type=search]", form);
const SOON = 150;
const FEW = 5; // rows among which nobody has to search
const inInbox = form.getAttribute("action") === "./";
let last = 0;
let shown = field.value.trim();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  find();
});
field.addEventListener("input", find);
// What is found changes as asks come and go.
addEventListener("sayso:inbox", ({ detail }) => {
  if (!inInbox) return;
  form.hidden = !shown && detail <= FEW && document.activeElement !== field;
  if (shown) find();
});

async function find() {
  const number = ++last;
  await pause(SOON);
  if (number !== last) return;
  const wanted = field.value.trim();
  const place = form.getAttribute("action");
  const address = wanted ? `${place}?q=${encodeURIComponent(wanted)}` : place;
  const unfiltered = $("[data-unfiltered]");
  if (!wanted && inInbox) return unfiltered ? showAll(unfiltered) : location.assign(place);
  let found = null;
  try {
    const reply = await reach(address);
    found = $("[data-results]", new DOMParser().parseFromString(await reply.text(), "text/html"));
  } catch {
    // The page says by itself that the server is away.
  }
  if (!found || number !== last) return;
  show(found, address, wanted);
  if (unfiltered) unfiltered.hidden = true;
}

function showAll(unfiltered) {
  unfiltered.hidden = false;
  show(Object.assign(document.createElement("div"), { hidden: true }), "./", "");
}

function show(found, address, wanted) {
  const before = $("[data-results]");
  found.dataset.results = "";
  const focused = before.contains(document.activeElement) && document.activeElement.getAttribute("href");
  before.replaceWith(document.adoptNode(found));
  if (focused) ($(`a[href="${CSS.escape(focused)}"]`, found) ?? field).focus();
  if (wanted !== shown) $("[data-found]").textContent = found.dataset.said ?? "";
  shown = wanted;
  history.replaceState(history.state, "", new URL(address, document.baseURI));
  dispatchEvent(new Event("sayso:shown"));
}
