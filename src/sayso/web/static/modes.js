// Offers the permission modes of the agent that is chosen, and no others.
// Without this file those of all agents are offered, and the server refuses what the chosen one lacks.

for (const chooser of document.querySelectorAll("[data-chooses-modes]")) {
  const field = chooser.form.querySelector("[data-modes-of-chosen]");
  const fit = () => {
    const modes = chooser.selectedOptions[0]?.dataset.modes.split(" ") ?? [];
    for (const option of field.options) {
      option.hidden = option.disabled = Boolean(option.value) && !modes.includes(option.value);
      if (option.disabled && option.selected) field.value = "";
    }
  };
  chooser.addEventListener("change", fit);
  fit();
}
