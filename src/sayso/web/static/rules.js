// The text of the rules is kept in this browser until it is saved, with the mark of the file that it was written for.
// And a text that is not the one that was looked at takes no save; the server would refuse it too.

const KEY = `sayso:${document.querySelector("meta[name=sayso-user]").content}:rules`;
const form = document.querySelector("[data-rules]");

if (document.querySelector("[data-saved]")) localStorage.removeItem(KEY);

if (form) {
  const { text, file } = form.elements;
  const keep = () => localStorage.setItem(KEY, JSON.stringify({ text: text.value, file: file.value }));

  if ("fresh" in form.dataset) {
    const kept = JSON.parse(localStorage.getItem(KEY));
    if (kept && kept.text !== text.value) {
      [text.value, file.value] = [kept.text, kept.file];
      form.querySelector("[data-draft]").hidden = false;
    }
  } else if (text.value !== text.defaultValue || document.querySelector("[data-preview] *")) keep();

  form.addEventListener("input", () => {
    form.querySelector("[data-preview]").setAttribute("data-unread", "");
    keep();
  });

  form.querySelector("[data-discard]").addEventListener("click", () => {
    localStorage.removeItem(KEY);
    location.assign("rules/edit");
  });
}
