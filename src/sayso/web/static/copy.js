// What is to be typed elsewhere, and an agent's code, can be copied where the browser lets a page do that.

function button(text) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "button copy", textContent: "Copy" });
  made.dataset.copy = text;
  return made;
}

function offer() {
  for (const code of document.querySelectorAll("[data-ask-page] .prose pre > code:only-child")) {
    code.after(button(code.textContent));
  }
  for (const hidden of document.querySelectorAll("[data-copy][hidden]")) hidden.hidden = false;
}

document.addEventListener("click", async ({ target }) => {
  const pressed = target.closest?.("[data-copy]");
  if (!pressed) return;
  // A browser may not let it, for example while another window has the focus.
  const copied = await navigator.clipboard.writeText(pressed.dataset.copy).then(() => true, () => false);
  pressed.textContent = copied ? "Copied" : "Not copied";
});

if (navigator.clipboard) {
  offer();
  addEventListener("sayso:shown", offer);
}
