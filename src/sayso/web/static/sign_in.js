// Signs in once, however often it is pressed: a link works once, and a second press would only hear that it has been used.
// Without this file that is what the second press hears.

const WITHIN = 15_000;
let sent = false;

addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  else setTimeout(() => (sent = false), WITHIN);
  sent = true;
});
// Back from the next page, also to this one as it was left.
addEventListener("pageshow", () => (sent = false));
