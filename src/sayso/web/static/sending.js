// How all scripts of a page reach the server: nothing is waited for without end, and of what was sent it is found out
// whether it arrived.

const WITHIN = 15_000;
// Files take their time on a slow line.
const FILES_WITHIN = 120_000;
const AGAIN = 2000;
// Characters. Of what browsers send on for pages that were left, they take 64 kB at a time.
const SHORT = 16_000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function reach(address, options = {}) {
  const { body } = options;
  const limit = new AbortController();
  // Its reply too must have come by then.
  setTimeout(() => limit.abort(), hasFiles(body) ? FILES_WITHIN : WITHIN);
  // The browser is to send it on when the page is left at once.
  const keepalive = Boolean(body) && !(body instanceof FormData) && `${body}`.length < SHORT;
  return fetch(address, { keepalive, ...options, signal: limit.signal });
}

const hasFiles = (body) => body instanceof FormData && [...body.values()].some(({ size }) => size > 0);

const newAttempt = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

// What became of something that was sent, when no reply came: "taken", with the name of what it made, "called off" (it
// never will be), "signed out".
async function fateOf(attempt) {
  const csrf = document.querySelector("meta[name=sayso-csrf]").content;
  // As long as the page is open: whoever sent it has to know.
  for (;;) {
    try {
      const reply = await reach("attempts", { method: "POST", body: new URLSearchParams({ csrf, attempt }) });
      const { taken, made } = reply.ok ? await reply.json() : {};
      if (reply.ok) return { fate: taken ? "taken" : "called off", made };
      if (reply.status === 401 || reply.status === 403) return { fate: "signed out" };
    } catch {
      // Still away.
    }
    await pause(AGAIN);
  }
}

// A form that is being sent takes nothing more, and says so.

const labels = new WeakMap(); // what stood on the buttons that say "Sending…"

function lockForm(form, button) {
  if (button) {
    labels.set(button, [...button.childNodes]);
    button.dataset.label = "";
    button.textContent = "Sending…";
  }
  form.querySelector("[data-lock]").disabled = true;
}

function unlockForm(form) {
  for (const button of [...form.elements].filter((one) => labels.has(one))) {
    button.replaceChildren(...labels.get(button));
    labels.delete(button);
    delete button.dataset.label;
  }
  form.querySelector("[data-lock]").disabled = false;
}

function problem(form, text) {
  const told = form.querySelector("[data-problem-text]");
  told.textContent = text;
  told.hidden = !text;
  if (!text || canBeSeen(told)) return;
  told.scrollIntoView({ block: "center" });
  // Something else may be under the finger now.
  dispatchEvent(new Event("sayso:moved"));
}

function canBeSeen(element) {
  const { left, width, top, height } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}

// Sends what `post` sends. The form stays locked if that was taken; else it says why not and can be sent again.
async function deliver(form, button, post) {
  const attempt = newAttempt();
  lockForm(form, button);
  problem(form, "");
  noteUnknown(form.dataset.keep, attempt);
  try {
    const reply = await post(attempt);
    noteUnknown(form.dataset.keep, "");
    if (reply.ok) return { taken: true, reply };
    problem(form, await refusal(reply));
  } catch {
    const { fate, made } = await found(form, attempt);
    if (fate === "taken") return { taken: true, made };
  }
  unlockForm(form);
  return { taken: false };
}

// What this tab has sent and knows nothing of yet is remembered, so that a page which is loaded again finds out too.

const UNKNOWN = "sayso:unknown:";
const unknown = (key) => sessionStorage.getItem(UNKNOWN + key);

function noteUnknown(key, attempt) {
  if (!key) return;
  if (attempt) sessionStorage.setItem(UNKNOWN + key, attempt);
  else sessionStorage.removeItem(UNKNOWN + key);
}

// What became of what a form had sent when its page was left; nothing if it had sent nothing.
async function takeUp(form) {
  const attempt = unknown(form.dataset.keep);
  if (!attempt) return {};
  lockForm(form);
  const what = await found(form, attempt);
  if (what.fate !== "taken") unlockForm(form);
  return what;
}

const NOT_KNOWN = "It is not known whether this arrived.";

// Nothing but a press, where no field has anything in it.
function isEmpty(form) {
  const marked = form.querySelector("input:is([type=radio], [type=checkbox]):checked, [data-attached] > li");
  return !marked && ![...form.querySelectorAll("textarea")].some(({ value }) => value.trim());
}

// How what was sent with a form is told of, with a word on what was entered in it.
const notKnownYet = (form) => `The server cannot be reached. This page finds out as soon as it can${isEmpty(form) ? "." : "; what you entered is kept here."}`;
const sendAgain = (form) => (isEmpty(form) ? "Press again to send it." : "What you entered is still here; send it again.");
const didNotArrive = (form) => `It did not arrive.${form.isConnected ? ` ${sendAgain(form)}` : ""}`;

async function found(form, attempt) {
  problem(form, `${NOT_KNOWN} ${notKnownYet(form)}`);
  const { fate, made } = await fateOf(attempt);
  if (fate !== "signed out") noteUnknown(form.dataset.keep, "");
  const signIn = `${NOT_KNOWN} You are signed out. Sign in again in another tab, then reload this one.`;
  problem(form, { taken: "", "signed out": signIn }[fate] ?? `Not sent. ${didNotArrive(form)}`);
  return { fate, made };
}

async function refusal(reply) {
  const text = await reply.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    const page = new DOMParser().parseFromString(text, "text/html");
    const wrong = [...page.querySelectorAll("[data-problems] li")].map((one) => one.textContent.trim()).join(" ");
    const told = page.querySelector("[data-problem]")?.dataset.problem ?? page.querySelector("[data-focus]")?.textContent.trim();
    return wrong || told || "It was not taken. Reload the page and try again.";
  }
}

Object.assign(sayso, { AGAIN, pause, reach, newAttempt, fateOf, unknown, noteUnknown, takeUp, lockForm, unlockForm, problem, deliver, refusal, isEmpty, notKnownYet, didNotArrive });
