// Makes the page of a session in a terminal live: what is said there appears here, and a copy ends with what is shown.
// Without this file the page is as it was when it was opened.

const { newStream, openWhileVisible } = sayso;
const place = document.querySelector("[data-session]");

function show({ html, step }) {
  const before = place.offsetHeight;
  place.innerHTML = html;
  const field = document.querySelector("[data-shown-step]");
  if (field) field.value = step;
  // What is under the finger, or half written, stays where it is on the screen.
  if (place.getBoundingClientRect().top < 0 || document.activeElement?.matches(".take-over textarea")) scrollBy(0, place.offsetHeight - before);
}

openWhileVisible(newStream({ address: () => place.dataset.session, hear: show }));
