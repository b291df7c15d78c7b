// Makes the page of a session in a terminal live: what is said there appears here, and a copy ends with what is shown.
// Without this file the page is as it was when it was opened.

const place = document.querySelector("[data-session]");
const AWAY_AFTER = 1500;
let source = null;

function follow() {
  source?.close();
  source = null;
  // Browsers allow few connections to one host: what nobody looks at needs none.
  if (document.hidden) return;
  const mine = (source = new EventSource(place.dataset.session));
  mine.addEventListener("message", (event) => show(JSON.parse(event.data)));
  mine.addEventListener("bye", () => mine.close());
  // A refused stream is not tried again by the browser itself.
  mine.addEventListener("error", () => mine.readyState === EventSource.CLOSED && setTimeout(() => source === mine && follow(), AWAY_AFTER));
}

function show({ html, step }) {
  const before = place.offsetHeight;
  place.innerHTML = html;
  const field = document.querySelector("[data-shown-step]");
  if (field) field.value = step;
  // What is under the finger, or half written, stays where it is on the screen.
  if (place.getBoundingClientRect().top < 0 || document.activeElement?.matches(".take-over textarea")) scrollBy(0, place.offsetHeight - before);
}

document.addEventListener("visibilitychange", follow);
follow();
