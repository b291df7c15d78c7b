// Searches conversations as one types. Without this file the field is a form that is sent.

const { reach, pause } = sayso;
const list = document.querySelector("[data-talk-list]");
const field = list.querySelector("[data-search]");
const SOON = 150;
let last = 0;

field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
field.addEventListener("input", search);

async function search() {
  const number = ++last;
  await pause(SOON);
  const query = field.value.trim();
  if (number !== last) return;
  // What is found does not change by itself; the list of all does.
  list.toggleAttribute("data-conversations", !query);
  let found;
  try {
    const reply = await reach(`talk${query ? `?q=${encodeURIComponent(query)}` : ""}`);
    if (reply.ok) found = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-talk-list]");
  } catch {
    // The page says by itself that the server is away.
  }
  if (!found || number !== last) return;
  for (const part of ["ol", "[data-none]", ".more"]) list.querySelector(part).replaceWith(document.adoptNode(found.querySelector(part)));
}
