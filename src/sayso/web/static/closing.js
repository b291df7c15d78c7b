// How what was opened is closed again: what lies over the page by Back, as everywhere on a phone, and what is long once it
// is unfolded from its end, too. The pages work without this file.

const { $, $$ } = sayso;

// --- Back closes what lies over the page: as long as it is open, it has an entry of its own in the history

const over = []; // what closes each of them, the newest last
const entries = () => history.state?.over ?? 0;
let returning = false; // to where nothing was open, because it was closed otherwise
let scrolls = history.state?.scrolls ?? ""; // how the browser scrolls by itself while nothing is open

function lay(close) {
  if (over.includes(close)) return;
  over.push(close);
  settle();
}

function lift(close) {
  if (!over.includes(close)) return;
  over.splice(over.indexOf(close), 1);
  settle();
}

function settle() {
  const by = over.length - entries();
  if (returning || !by) return;
  if (by < 0) {
    returning = true;
    return history.go(by);
  }
  // What is behind it may have been scrolled meanwhile, and stays where it is.
  scrolls ||= history.scrollRestoration;
  history.scrollRestoration = "manual";
  history.pushState({ over: entries() + 1, scrolls }, "");
  settle();
}

addEventListener("popstate", () => {
  // Who goes forward again to where something was open finds it closed.
  if (!returning) while (over.length > entries()) over.pop()();
  else {
    returning = false;
    settle();
  }
  // The browser scrolls only after this.
  setTimeout(() => {
    if (over.length || !scrolls) return;
    history.scrollRestoration = scrolls;
    scrolls = "";
  });
});

function openDialog(dialog) {
  const close = () => dialog.close();
  dialog.addEventListener("close", () => {
    dialog.remove();
    lift(close);
  });
  document.body.append(dialog);
  dialog.showModal();
  lay(close);
}

const panels = new WeakMap();

function followPanel(panel) {
  if (!panels.has(panel)) panels.set(panel, () => (panel.open = false));
  (panel.open ? lay : lift)(panels.get(panel));
}

// --- What fills the window once it is unfolded can be folded where one has read to, not only from its head

const SHARE = 0.7;
const sizes = new ResizeObserver((all) => all.forEach(({ target }) => offerFold(target)));

function offerFold(fold) {
  if (!fold.open || fold.offsetHeight < SHARE * innerHeight) return;
  const button = $(":scope > [data-fold]", fold) ?? Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: "Fold" });
  button.dataset.fold = "";
  // More may have been added since.
  if (fold.lastElementChild !== button) fold.append(button);
}

addEventListener("click", ({ target }) => {
  const fold = target.closest?.("[data-fold]")?.parentElement;
  if (!fold) return;
  const { left, top, right, bottom } = target.getBoundingClientRect();
  fold.open = false;
  $("summary", fold).focus({ preventScroll: true });
  (fold.closest(".row") ?? fold).scrollIntoView({ block: "nearest" });
  // Something else is under the finger now, which may tap once more.
  dispatchEvent(new CustomEvent("sayso:folded", { detail: { left, top, right, bottom } }));
});

addEventListener("toggle", ({ target }) => {
  if (!target.matches?.("details")) return;
  if ("over" in target.dataset) followPanel(target);
  else if (target.open) sizes.observe(target);
}, true);

for (const fold of $$("details[open]:not([data-over])")) sizes.observe(fold);
// Loaded anew, with nothing open.
settle();
Object.assign(sayso, { lay, lift, openDialog });
