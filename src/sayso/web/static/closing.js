// How what was opened is closed again: what is long once it is unfolded from its end, too. The pages work without this file.

const { $, $$ } = sayso;

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
  fold.open = false;
  $("summary", fold).focus({ preventScroll: true });
  (fold.closest(".row") ?? fold).scrollIntoView({ block: "nearest" });
  // Something else is under the finger now.
  dispatchEvent(new Event("sayso:moved"));
});

addEventListener("toggle", ({ target }) => {
  if (target.matches?.("details") && target.open) sizes.observe(target);
}, true);

for (const fold of $$("details[open]")) sizes.observe(fold);
