// Which presses count: none on a form that has only just appeared or moved, none by a key that is held down, and no yes
// while the words of a no are written, nor right where something was decided last.
// Without this file the stylesheet hides the buttons of a page that has only just appeared, and the server refuses a yes
// that comes with the words of a no.

const STILL = 700;
const STILL_WHERE_DECIDED = 3000;
const SECOND_TAP = 1000;
const HELD = 1000;
const PRESSABLE = "button, label, input[type=radio], input[type=checkbox]";
const GUARDED = "[data-guard], [data-allow]";

// Not that of page.js: what guards depends on no other file.
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- Since when is it where it is?

const seen = new WeakMap();

// Where a form within a row is, its row tells, which need not be drawn for that: a form that moves in it makes it higher.
function placeOf(guarded) {
  const { left, top, bottom } = (guarded.closest(".rows > .row") ?? guarded).getBoundingClientRect();
  const places = [left + scrollX, top + scrollY, guarded.matches(".row *") ? bottom - top : 0];
  return places.map(Math.round).join(" ");
}

function look(guarded, place = placeOf(guarded), late = 0) {
  if (seen.get(guarded)?.place !== place) restart(guarded, place);
  const still = performance.now() - late - seen.get(guarded).since;
  const wary = waryAt(guarded);
  if (wary === undefined) return still >= STILL;
  return Math.min(still, Date.now() - late - wary) >= STILL_WHERE_DECIDED;
}

const waryAt = (guarded) => (isWhereDecided(guarded) ? decided.at : slid.get(guarded));

function restart(guarded, place = seen.get(guarded)?.place) {
  if (!seen.has(guarded)) (guarded.matches("[data-allow]") ? inView : sizes).observe(guarded);
  const known = { place, since: Infinity };
  seen.set(guarded, known);
  guarded.setAttribute("aria-disabled", "true");
  freeLater(guarded, known);
}

// All are measured before any is changed: else the page would be laid out anew for each.
function lookAt(all) {
  const places = all.map(placeOf);
  return all.filter((guarded, number) => look(guarded, places[number]));
}

let together = null; // what has been restarted and is about to be drawn

function freeLater(guarded, known) {
  if (!together) {
    const these = (together = new Map());
    const unchanged = () => [...these.keys()].filter((one) => seen.get(one) === these.get(one));
    afterDrawing(() => {
      together = null;
      for (const one of unchanged()) if (!isOutOfSight(one)) these.get(one).since = performance.now();
      // A little later than needed, because timers may be early.
      for (const wait of [STILL, STILL_WHERE_DECIDED]) setTimeout(() => free(unchanged()), wait + 20);
    });
  }
  together.set(guarded, known);
}

// On a busy phone what has changed is drawn much later. Until then people press what was there before.
const afterDrawing = (act) => requestAnimationFrame(() => setTimeout(act));

function free(all) {
  for (const guarded of lookAt(all)) guarded.removeAttribute("aria-disabled");
}

// A permission may be longer than the screen: what counts is how long its own button could be seen. What is pinned to an
// edge of the screen covers what is behind it.
const EDGES = ["top", "bottom"];
const visible = new WeakMap();
let inView = null;
let covered = "";
const watched = new WeakSet();

const isOutOfSight = (allow) => visible.get(allow) === false;

function viewBetween(top, bottom) {
  return new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      // What could be seen before something else was pinned, and still can, has not moved.
      if (visible.get(target) === isIntersecting) continue;
      visible.set(target, isIntersecting);
      restart(target);
    }
  }, { rootMargin: `-${top}px 0px -${bottom}px` });
}

const isPinned = (element) => ["sticky", "fixed"].includes(getComputedStyle(element).position);
const covers = (edge) => Math.ceil($$(`[data-pinned=${edge}]`).filter(isPinned).reduce((sum, { offsetHeight }) => sum + offsetHeight, 0));

function lookAtEdges() {
  for (const edge of $$("[data-pinned]").filter((one) => !watched.has(one))) {
    watched.add(edge);
    edges.observe(edge);
  }
  const pinned = EDGES.map(covers);
  if (`${pinned}` === covered) return;
  covered = `${pinned}`;
  EDGES.forEach((edge, place) => document.documentElement.style.setProperty(`--pinned-${edge}`, `${pinned[place]}px`));
  inView?.disconnect();
  inView = viewBetween(...pinned);
  for (const allow of $$("[data-allow]")) if (seen.has(allow)) inView.observe(allow);
}

function lookAtAll() {
  lookAtEdges();
  lookAt($$(GUARDED));
  for (const form of $$("[data-guard]")) weigh(form);
}

function restartAll() {
  for (const guarded of $$(GUARDED)) restart(guarded);
}

function restartWhere({ detail: place }) {
  for (const guarded of $$(GUARDED).filter((one) => overlaps(one, place))) restart(guarded);
}

function overlaps(guarded, place) {
  const { left, top, right, bottom } = guarded.getBoundingClientRect();
  return left < place.right && right > place.left && top < place.bottom && bottom > place.top;
}

function guardsOf(control) {
  return [control.closest("[data-guard]"), control.closest("[data-allow]")].filter(Boolean);
}

function ready(control) {
  const waiting = guardsOf(control).filter((guarded) => !look(guarded, placeOf(guarded), late));
  // Whoever goes on tapping has not read anything either.
  waiting.forEach((guarded) => restart(guarded));
  return waiting.length === 0;
}

// --- Where was something decided last? A hand that is still there may tap once more, also on the page that follows.

const DECIDED = "sayso:decided";
let decided = JSON.parse(sessionStorage.getItem(DECIDED));

function rememberPlace({ left, top, right, bottom }, folded = false) {
  decided = { left, top, right, bottom, folded, at: Date.now() };
  sessionStorage.setItem(DECIDED, JSON.stringify(decided));
}

// Phones give a tap that hits nothing to a button close by.
const CLOSE_BY = 32;

addEventListener("sayso:folded", ({ detail: { left, top, right, bottom } }) => {
  rememberPlace({ left: left - CLOSE_BY, top: top - CLOSE_BY, right: right + CLOSE_BY, bottom: bottom + CLOSE_BY }, true);
  restartAll();
});

function isWhereDecided(guarded) {
  return decided !== null && guarded.matches("[data-allow]") && overlaps(guarded, decided);
}

// Where "Send answer" was come "Next question" or, on a phone, the bar of pages; where "Fold" was, anything.
function isSecondTap({ target, clientX: x, clientY: y, detail }) {
  if (!decided || !detail || !(decided.folded || target.closest?.("a[href]")?.closest("[data-pinned]"))) return false;
  return Date.now() - late - decided.at < SECOND_TAP && isIn(decided, x, y);
}

const isIn = ({ left, top, right, bottom }, x, y) => x >= left && x <= right && y >= top && y <= bottom;

function forgetPlaceElsewhere({ clientX: x, clientY: y }) {
  const left = [...slid.keys()].filter((allow) => !isIn(allow.getBoundingClientRect(), x, y));
  for (const allow of left) slid.delete(allow);
  if (decided && !isIn(decided, x, y)) {
    decided = null;
    sessionStorage.removeItem(DECIDED);
  } else if (!left.length) return;
  free($$("[data-allow]"));
}

// Whose thumb is where a row was has read that one, and not what slides there.
const slid = new Map();
let were = [];

addEventListener("sayso:arranging", () => {
  were = $$("[data-allow]").filter((allow) => visible.get(allow)).map((allow) => [allow, allow.getBoundingClientRect()]);
});

addEventListener("sayso:arranged", () => {
  for (const allow of $$("[data-allow]")) {
    if (!were.some(([one, place]) => one !== allow && overlaps(allow, place))) continue;
    slid.set(allow, Date.now());
    restart(allow, placeOf(allow));
  }
});

addEventListener("pointermove", forgetPlaceElsewhere, { capture: true, passive: true });

// --- The words of a no, and what nobody has opened yet: neither goes with a yes

function weigh(form) {
  const no = $$("[data-no]", form).some((field) => field.value.trim());
  const unread = $$("[data-unread]", form).length > 0;
  for (const button of $$("[data-yes]", form)) button.disabled = no || unread;
  for (const hint of $$("[data-no-hint]", form)) show(hint, no);
  for (const hint of $$("[data-unread-hint]", form)) show(hint, unread);
}

// To say once more what is so would be a change of the page, after which all is looked at again.
function show(hint, shown) {
  if (hint.hidden === shown) hint.hidden = !shown;
}

addEventListener("toggle", ({ target }) => {
  if (!target.matches?.("[data-unread]") || !target.open) return;
  target.removeAttribute("data-unread");
  for (const mark of $$("input[name=seen]", target)) mark.disabled = false;
  weigh(target.closest("[data-guard]"));
}, true);

// --- Presses

let late = 0; // milliseconds from what a hand did last until the page came to it: it was meant for what was there before
let pressed = null;
let spaceHeld = false; // a button is pressed when Space is let go: not by one that was held, nor after Escape

function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// Whoever presses too early is told so beside what they pressed, below it if there is room: what is to be read stands
// above. It lies over the page, so that nothing moves for it.
const TOO_EARLY = "That press came too soon and did not count. ";
const WHEN = "Press again in a moment.";
const WHEN_WARY = "Wait three seconds, then press again.";
const TOLD_FOR = 4000;
const ROOM = 8;
let told = null;

function tellTooEarly(control) {
  const announced = document.querySelector("[data-announce]");
  if (announced.textContent.startsWith(TOO_EARLY)) announced.textContent = "";
  clearTimeout(told?.timer);
  told?.remove();
  told = null;
  if (!control) return;
  const textContent = TOO_EARLY + (guardsOf(control).some((one) => waryAt(one) !== undefined) ? WHEN_WARY : WHEN);
  told = Object.assign(document.createElement("p"), { className: "too-early", ariaHidden: true, textContent });
  announced.textContent = textContent;
  document.body.append(told);
  const { left, top, bottom } = control.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = told;
  const below = bottom + height + 2 * ROOM < innerHeight;
  told.style.left = `${Math.max(ROOM, Math.min(left, innerWidth - width - ROOM))}px`;
  told.style.top = `${below ? bottom + ROOM : Math.max(ROOM, top - height - ROOM)}px`;
  told.timer = setTimeout(tellTooEarly, TOLD_FOR);
}

addEventListener("scroll", () => told && tellTooEarly(), { passive: true });

const guardedControl = (event) => {
  const control = event.target.closest?.(PRESSABLE);
  return control && guardsOf(control).length ? control : null;
};

// Some browsers tell a wrong time after a computer has slept; no page is that busy.
const BUSY_AT_MOST = 30_000;

function noteHowLate({ timeStamp }) {
  const waited = new Event("now").timeStamp - timeStamp;
  late = waited > 0 && waited < BUSY_AT_MOST ? waited : 0;
}

addEventListener("pointerdown", (event) => {
  noteHowLate(event);
  forgetPlaceElsewhere(event);
  const control = guardedControl(event);
  pressed = { control, counts: control !== null && ready(control), at: performance.now() };
  spaceHeld = false;
}, true);

// By which a field gets the focus, and a phone its keyboard.
addEventListener("mousedown", (event) => isSecondTap(event) && refuse(event), true);

addEventListener("click", (event) => {
  if (isSecondTap(event)) return refuse(event);
  const control = guardedControl(event);
  if (!control) return;
  // A pointer must have gone down on the same thing, or on its label.
  const same = pressed && (pressed.control === control || [...(control.labels ?? [])].includes(pressed.control));
  const meant = same || (event.detail === 0 && !spaceHeld);
  const counts = meant && (same ? pressed.counts : ready(control));
  // A finger that rests on a permission marks its row elsewhere.
  const rests = same && event.pointerType === "touch" && performance.now() - pressed.at >= HELD;
  if (!counts || (rests && control.closest("[data-allow]"))) refuse(event);
  tellTooEarly(meant && !counts ? control : null);
}, true);

addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-guard]") || event.submitter?.value === "keep") return;
  weigh(form);
  const [control, disabled] = [event.submitter ?? form, event.submitter?.disabled];
  const early = !ready(control);
  if (early && !disabled) tellTooEarly(control);
  if (early || disabled) return refuse(event);
  if (pressed && event.submitter) rememberPlace(event.submitter.getBoundingClientRect());
}, true);

addEventListener("keydown", (event) => {
  const field = event.target;
  noteHowLate(event);
  pressed = null;
  spaceHeld = event.key === "Escape" || (event.key === " " && event.repeat);
  if (event.isComposing || !(field instanceof Element)) return;
  // Enter is pressed by habit; Space on a button is meant.
  if (event.key === "Enter" && field.closest("[data-allow]")) return refuse(event);
  const presses = event.key === "Enter" || event.key === " ";
  if (presses && event.repeat && field.closest("button, a, summary, input[type=radio], input[type=checkbox]")) return refuse(event);
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !field.form) return;
  // In an open list Enter chooses, and never sends.
  if (field.getAttribute("aria-expanded") === "true") return;
  refuse(event);
  if (!event.repeat) sendBy(field);
}, true);

addEventListener("keyup", (event) => {
  if (event.key === " " && spaceHeld && event.target.closest?.("button, a, summary")) refuse(event);
}, true);

function sendBy(field) {
  // A field sends what it is for: own words, if they are what is chosen; the words of a no, the no.
  const mark = field.closest(".own")?.querySelector("input[value=own]");
  const button = field.dataset.sends && field.form.querySelector(`button[value="${field.dataset.sends}"]`);
  if (button && field.value.trim() && (!mark || mark.checked)) field.form.requestSubmit(button);
  else dispatchEvent(new CustomEvent("sayso:not-sent-by-keys", { detail: field.form }));
}

addEventListener("input", (event) => {
  const form = event.target.closest?.("[data-guard]");
  if (form) weigh(form);
});

// --- Begin

let looking = false;

function lookSoon() {
  if (looking) return;
  looking = true;
  requestAnimationFrame(() => {
    looking = false;
    lookAtAll();
  });
}

new MutationObserver(lookSoon).observe(document.body, { subtree: true, childList: true, attributeFilter: ["hidden", "open"] });
// A field that grows moves what is below it in its form, and on a short page nothing else.
const sizes = new ResizeObserver(lookSoon);
sizes.observe(document.body);
const edges = new ResizeObserver(lookAtEdges);
// On a short screen it depends on where one writes whether the field at its foot is pinned.
for (const type of ["resize", "focusin", "focusout"]) addEventListener(type, lookAtEdges);
addEventListener("sayso:moved", restartAll);
addEventListener("sayso:uncovered", restartWhere);
addEventListener("pageshow", restartAll);
document.addEventListener("visibilitychange", () => !document.hidden && restartAll());
lookAtAll();
