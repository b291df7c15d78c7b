// The page of a rule: shows what the rule in the field would match while one types, and takes no yes for a rule that is
// not the one that is shown. Without this file, a button shows it.

const { reach, deliver } = globalThis.sayso;
const QUIET = 350;

const form = document.querySelector("[data-like]");
const field = form.elements.rule;
const place = () => form.querySelector("[data-like-shown]");
const KEPT = `sayso:like:${form.dataset.like}`;
let timer = null;
let newest = 0;

function changed() {
  // The guard takes no yes while this mark is there; what comes in its place has none.
  place()?.setAttribute("data-unread", "");
  clearTimeout(timer);
  timer = setTimeout(look, QUIET);
}

async function look() {
  const number = ++newest;
  const body = new URLSearchParams(new FormData(form));
  body.set("settle", "look");
  try {
    const reply = await reach(form.action, { method: "POST", body });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const newer = page.querySelector("[data-like-shown]");
    if (number !== newest || !newer) return;
    place().replaceWith(newer);
    field.toggleAttribute("aria-invalid", newer.querySelector(".problem") !== null);
  } catch {
    if (number === newest) timer = setTimeout(look, sayso.AGAIN);
  }
}

// What was typed is there again after a reload.
const kept = field && JSON.parse(sessionStorage.getItem(KEPT));
if (kept) {
  field.value = kept.rule;
  for (const one of form.querySelectorAll("[name=reach]")) one.checked = one.value === kept.reach;
  changed();
}

form.addEventListener("input", () => {
  sessionStorage.setItem(KEPT, JSON.stringify({ rule: field.value, reach: form.elements.reach.value }));
  changed();
});

form.addEventListener("submit", async (event) => {
  const button = event.submitter;
  event.preventDefault();
  if (button?.dataset.proposed !== undefined) {
    field.value = button.dataset.proposed;
    return changed();
  }
  if (button?.value !== "allow-like") return changed();
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  const { taken, reply } = await deliver(form, button, (attempt) => {
    body.set("attempt", attempt);
    return reach(form.action, { method: "POST", body });
  });
  if (taken) sessionStorage.removeItem(KEPT);
  if (taken) location.assign(reply?.redirected ? reply.url : form.action.replace(/\/like.*/, ""));
});
