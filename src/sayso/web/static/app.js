// Makes the pages live: new questions appear, half-filled forms are kept, the server's absence is shown.
// Every page works without this file.

const { $, $$, element, isolated, AGAIN, pause, reach, newAttempt, fateOf, lockForm, unlockForm, deliver } = sayso;
const { isEmpty, notKnownYet, didNotArrive } = sayso;
const { SILENCE, LATE, newStream, openWhileVisible, showAway, showSignedOut } = sayso;
const user = document.querySelector("meta[name=sayso-user]").content;
const NAME = `sayso:${user}`;
// The focus goes on to what has taken the place of something.
const STAY = { preventScroll: true };
const REPLY_WITHIN = 3000;
const title = document.title;

const article = () => $("[data-ask-page]");

// --- What is in the inbox, as far as this tab knows

const known = { asks: null, rows: new Map(), mark: "", more: false, snoozed: 0 };

const drawn = () => $("[data-inbox]") && $$("[data-inbox] > .row").map(({ dataset }) => [dataset.ask, dataset.version]);

// What there was when the page was made, if it has a list: what came after that is news.
function listed() {
  const others = $("[data-inbox]")?.dataset.others?.trim().split(" ") ?? [];
  return drawn()?.concat(others.flatMap((id, place) => (place % 2 ? [] : [[id, others[place + 1]]])));
}

function takeIn({ asks, rows, mark, more, snoozed }) {
  const earlier = known.asks ?? listed();
  const before = earlier && new Map(earlier);
  for (const [id, html] of Object.entries(rows)) known.rows.set(id, html);
  known.asks = asks;
  Object.assign(known, { mark, more, snoozed });
  for (const id of [...known.rows.keys()]) if (!asks.some(([there]) => there === id)) known.rows.delete(id);
  const changed = before ? asks.filter(([id, version]) => String(before.get(id)) !== String(version)) : [];
  const fresh = changed.map(([id]) => id).filter((id) => isNews(id, before));
  showInbox(fresh);
  showCount();
  dispatchEvent(new CustomEvent("sayso:inbox", { detail: asks.length }));
  followAsk();
  followRule();
  followCrowd();
  followHeld();
  if (fresh.length) announce(fresh);
  fetchSoon();
}

// A page comes with the first rows, which are not sent again; the others are fetched once it can be used.

let fetching = null;

function lacksRows() {
  const beside = $(".beside:has([data-inbox])");
  if (!known.asks || (beside && !beside.checkVisibility())) return false;
  const shown = new Map(drawn() ?? known.asks);
  return known.asks.some(([id, version]) => String(shown.get(id)) !== String(version));
}

function fetchSoon() {
  if (fetching || !lacksRows()) return;
  fetching = new Promise((resolve) => whenIdle(resolve)).then(fetchRows);
}

const whenIdle = (work) => (window.requestIdleCallback ? requestIdleCallback(work, { timeout: 1000 }) : setTimeout(work, 50));

async function fetchRows() {
  try {
    const page = await pageAt("./?all");
    for (const row of $$("[data-inbox] > .row", page)) known.rows.set(row.dataset.ask, row.outerHTML);
    $("[data-more]")?.replaceWith($("[data-more]", page) ?? "");
    showInbox([]);
    fetching = null;
  } catch {
    notSeen(() => (fetching = fetchRows()));
  }
}

// Agents that have many open are one row each. They ring once in a while, however much they ask.

const QUIET = 60_000;
const rung = new Map();
const sizeOf = (version) => parseInt(version, 10);

function isNews(id, before) {
  const { crowd, agent } = element(known.rows.get(id) ?? "<li>").dataset;
  if (crowd === undefined) return !before.has(id) && !before.has(agent);
  const grown = !before.has(id) || sizeOf(crowd) > sizeOf(before.get(id));
  if (!grown || Date.now() - (rung.get(id) ?? -QUIET) < QUIET) return false;
  rung.set(id, Date.now());
  return true;
}

function everything() {
  return { type: "inbox", asks: known.asks, rows: Object.fromEntries(known.rows), mark: known.mark, more: known.more, snoozed: known.snoozed };
}

function showInbox(fresh) {
  dispatchEvent(new Event("sayso:arranging"));
  for (const list of $$("[data-inbox]")) arrange(list, "ask", known.asks, known.rows, fresh);
  dispatchEvent(new Event("sayso:arranged"));
  for (const empty of $$("[data-empty]")) empty.hidden = known.asks.length > 0;
  for (const line of $$("[data-snoozed]")) {
    line.hidden = !known.snoozed;
    $("span", line).textContent = known.snoozed;
  }
  offerInRows();
  markCurrent();
  tellTimes();
}

function arrange(list, name, wanted, html, fresh) {
  const rows = new Map([...list.children].map((row) => [row.dataset[name], row]));
  let place = 0;
  for (const [id, version] of wanted) {
    const row = upToDate(rows.get(id), html.get(id), version);
    rows.delete(id);
    if (!row) continue;
    keepHeld(row);
    // Beside an ask, nothing else is answered.
    if (list.closest(".beside")) $("[data-row-answers]", row)?.remove();
    row.classList.toggle("new", fresh.includes(id));
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
    place += 1;
  }
  for (const gone of rows.values()) remove(gone);
  list.hidden = list.children.length === 0;
}

function upToDate(row, html, version) {
  if (row?.dataset.version === String(version) || !html) return row;
  const newer = element(html);
  if (row) {
    keepDecision(row, newer);
    const focused = row.contains(document.activeElement) && document.activeElement;
    row.replaceWith(newer);
    if (focused) (newer.contains(focused) ? focused : $("a", newer)).focus(STAY);
  }
  return newer;
}

function keepDecision(row, newer) {
  // Somebody may be deciding it: what is the same stays under their hand.
  const [form, place] = [$("[data-row-form]", row), $("[data-row-form]", newer)];
  const same = form && place && form.elements.digest.value === place.elements.digest.value;
  // With every yes of those who have to agree, there is something else to decide.
  if (same && form.dataset.agreed === place.dataset.agreed) place.replaceWith(form);
  const [answers, offered] = [$("[data-row-answers]", row), $("[data-row-answers]", newer)];
  if (answers && offered && answers.elements.shown.value === offered.elements.shown.value) offered.replaceWith(answers);
  const [fold, closed] = [$("[data-row-open][open]", row), $("[data-row-open]", newer)];
  if (fold && closed && fold.dataset.rowOpen === closed.dataset.rowOpen) closed.replaceWith(fold);
}

function remove(row) {
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  const focused = row.contains(document.activeElement);
  row.remove();
  if (!focused) return;
  (neighbour ? $("a", neighbour) : $("main")).focus(STAY);
  // Where the row before it has the focus now, that has not moved, and the next key was meant for the one that is gone.
  if (neighbour) uncovered(neighbour);
}

function markCurrent() {
  for (const link of $$("[data-inbox] a, [data-conversations] ol a")) {
    if (link.pathname !== location.pathname) continue;
    link.setAttribute("aria-current", "page");
    // What was last said in a conversation stands beside it.
    if (link.closest("[data-conversation]")) $(":scope > .row-newest", link)?.remove();
  }
}

function showCount() {
  const count = known.asks.length;
  const shown = known.more ? `${count}+` : String(count);
  const badge = $("[data-count]");
  badge.textContent = shown;
  badge.hidden = count === 0;
  document.title = count ? `(${shown}) ${title}` : title;
  if (shared.leading && "setAppBadge" in navigator) navigator.setAppBadge(count).catch(() => {});
}

function announce(ids) {
  const told = ids.map((id) => describe(id)).filter(Boolean);
  const [first] = told;
  if (!first) return;
  const one = first.crowd ? `${first.who} has ${first.what} open` : `New ${first.permission ? "permission" : "question"} from ${first.who}: ${first.what}`;
  $("[data-announce]").textContent = told.length > 1 ? `${told.length} new questions` : one;
  if (shared.leading) notify(ids[0], told);
}

function describe(id) {
  const row = known.rows.has(id) && element(known.rows.get(id));
  const text = (name) => $(name, row).textContent.trim();
  return row && { who: text(".row-who"), what: text(".row-title"), crowd: "crowd" in row.dataset, permission: "permission" in row.dataset };
}

// --- Who opens a note is about to write it

addEventListener("toggle", ({ target }) => {
  if (target.matches?.("details.note[open]") && target.contains(document.activeElement)) $("textarea", target).focus();
}, true);

// --- A permission is decided in its row: a short one as it stands there, a longer one once it was opened there

addEventListener("toggle", ({ target }) => {
  if (target.matches?.("[data-row-open]") && target.open) openInRow(target);
}, true);

async function openInRow(fold) {
  const place = $("[data-row-place]:not(:has(form))", fold);
  if (!place || place.ariaBusy === "true") return;
  place.ariaBusy = "true";
  try {
    const reply = await reach(`asks/${fold.closest("[data-ask]").dataset.ask}/row`);
    if (reply.ok) place.replaceChildren(element(await reply.text()));
  } catch {
    // What stands there leads to its page.
  }
  place.ariaBusy = null;
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-row-form]")) return;
  event.preventDefault();
  if (event.submitter && !event.target.closest("[inert]") && !$("[data-lock]", event.target).disabled) decideInRow(event.target, event.submitter);
});

async function decideInRow(form, button) {
  const row = form.closest(".row");
  const question = $(".row-title", row).textContent.trim();
  const { top, bottom } = button.getBoundingClientRect();
  if (!(await sendFromRow({ form, button, label: button.textContent.trim(), question }))) return;
  const told = element('<p class="row-decided"></p>');
  const said = { deny: "Denied", "take-back": "Your yes is taken back" };
  told.textContent = said[button.value] ?? ("agreed" in form.dataset ? "You have agreed" : "Allowed");
  form.replaceWith(told);
  tellDecided({ said: told.textContent, about: form.dataset.about, ask: row.dataset.ask, wasBelow: (top + bottom) / 2 > innerHeight / 2 });
}

// Its row is gone at once. What was decided is told in the other half of the window: what is pressed next has come to
// where this was pressed.
function tellDecided({ said, about, ask, wasBelow }) {
  const bar = element('<div class="held-answer over" data-decided><p><strong></strong>: <a></a></p></div>');
  $("strong", bar).textContent = said;
  Object.assign($("a", bar), { href: `asks/${ask}`, textContent: about });
  $("a", bar).dir = "auto";
  $("[data-announce]").textContent = `${said}: ${about}`;
  // Above what is there already, whose Undo stays where it is.
  $(wasBelow ? "[data-told-above]" : "[data-held]").prepend(bar);
  leaveSoon(bar, UNDO_WITHIN);
}

// --- A short question is answered in its row. For some seconds that can be undone; whoever leaves has not undone it.
// What is held has a place of its own: rows move, are folded and go, and an answer never loses its Undo with them.

const UNDO_WITHIN = 5000;
const DOUBLE_TAP = 700;
const FINGER = 40; // how far from each other, at most, the two taps of one hand that slips are
const TOLD_FOR = 2000;
const held = new Map(); // by ask: the form of its answer, if that is one, and what it takes to send it now
let tapped = null; // where the latest press was, if it was none by a key

addEventListener("click", ({ detail, clientX: x, clientY: y }) => (tapped = detail ? { x, y } : null), true);

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-row-answers]")) return;
  event.preventDefault();
  const row = form.closest(".row");
  if (event.submitter && !form.inert && !held.has(row.dataset.ask) && !$("[data-lock]", form).disabled) holdAnswer(row, form, event.submitter);
});

function holdAnswer(row, form, button) {
  const { ask } = row.dataset;
  const answer = { form, button, label: $("bdi", button).textContent.trim(), question: $(".row-title", row).textContent.trim() };
  const undo = () => {
    $("[data-lock]", form).disabled = false;
    button.ariaPressed = null;
    uncovered(form);
  };
  const send = async () => ((await answerInRow(answer)) ? "Sent" : "Not sent");
  const tooLate = (why) => tellInRow(form, why);
  holdBack({ asks: [ask], form, label: answer.label, question: answer.question, send, undo, tooLate });
  $("[data-lock]", form).disabled = true;
  button.ariaPressed = "true";
}

// What is said of these asks is sent in five seconds, unless it is undone: `send` says how that went. Where none of them is
// open any more before that, nothing is sent.
function holdBack({ asks, form, label, question, send, undo, tooLate = () => {} }) {
  const bar = heldBar(asks[0], label, question);
  const [since, answered] = [performance.now(), tapped];
  const ended = new Set();
  let over = false;
  const end = () => {
    over = true;
    clearTimeout(timer);
    clearInterval(counting);
    if (bar.contains(document.activeElement)) rowLink(asks[0])?.focus({ preventScroll: true });
    $("button", bar).remove();
  };
  const letGo = (told, after) => {
    for (const ask of asks) held.delete(ask);
    offerInRows();
    tellHeld(bar, told);
    leaveSoon(bar, after);
  };
  const hasEnded = (ask, why) => {
    ended.add(ask);
    if (over || ended.size < asks.length) return;
    end();
    letGo(`Not sent. ${asks.length > 1 ? "None of these is open any more." : why}`, UNDO_WITHIN);
    tooLate(why);
  };
  const sendNow = async () => {
    if (over) return;
    end();
    tellHeld(bar, "Sending…");
    letGo(await send());
  };
  const timer = setTimeout(sendNow, UNDO_WITHIN);
  const counting = setInterval(() => tellLeft(bar, UNDO_WITHIN - (performance.now() - since)), 1000);
  $("button", bar).addEventListener("click", (event) => {
    // The second tap of the one that answered is no Undo. Anywhere else it is meant, however quick.
    if (event.detail && performance.now() - since < DOUBLE_TAP && isNear(event, answered)) return;
    end();
    letGo(`Undone. Nothing was sent.${ended.size ? ` Not open any more: ${ended.size} of ${asks.length}.` : ""}`);
    undo();
  });
  for (const ask of asks) held.set(ask, { form, send: sendNow, hasEnded });
  offerInRows();
  $("[data-held]").append(bar);
  bar.focus({ preventScroll: true });
}

// One that is not in the list is over, or snoozed, or one of many: its page knows.
function followHeld() {
  for (const [ask, { hasEnded }] of held) if (!known.asks.some(([id]) => id === ask)) lookWhetherEnded(ask, hasEnded);
}

async function lookWhetherEnded(ask, hasEnded) {
  // Where it cannot be seen, the server says so once the answer is sent.
  const page = await pageAt(`asks/${ask}`).catch(() => document);
  const over = $("[data-ended]", page);
  if (over) hasEnded(ask, over.dataset.ended);
}

const isNear = ({ clientX, clientY }, place) => place !== null && Math.hypot(clientX - place.x, clientY - place.y) < FINGER;

// What a row offers cannot be pressed while rows are marked, nor while a no to it can still be undone.
function offerInRows() {
  const marking = $("[data-marked]") !== null;
  for (const row of $$("[data-markable] > .row")) {
    const saidNo = held.has(row.dataset.ask) && !held.get(row.dataset.ask).form;
    row.classList.toggle("going", saidNo);
    for (const offered of $$(":scope > :is(form, details)", row)) if (offered.inert !== (marking || saidNo)) offered.inert = marking || saidNo;
  }
}

function heldBar(ask, label, question) {
  const bar = element('<div class="held-answer" role="status" tabindex="-1"><p><span class="held-question" dir="auto"></span><span class="held-said"><bdi></bdi>: <span data-how><span class="unseen">sent in 5 seconds</span><span aria-hidden="true">sent in 5 seconds</span></span></span></p><button type="button" class="button" data-undo>Undo</button></div>');
  bar.dataset.heldOf = ask;
  $(".held-question", bar).textContent = question;
  $("bdi", bar).textContent = label;
  return bar;
}

function tellHeld(bar, text) {
  $("[data-how]", bar).textContent = text;
}

// Counted for who sees it: to hear each second would leave no time to hear anything else.
function tellLeft(bar, left) {
  const seconds = Math.max(Math.ceil(left / 1000), 1);
  $("[data-how] > [aria-hidden]", bar).firstChild.data = `sent in ${seconds} second${seconds === 1 ? "" : "s"}`;
}

// It stays for a moment, so that a hasty tap does not meet what was behind it.
function leaveSoon(bar, after = TOLD_FOR) {
  bar.classList.add("over");
  setTimeout(() => {
    uncovered(bar);
    bar.remove();
  }, after);
}

function uncovered(place) {
  dispatchEvent(new CustomEvent("sayso:uncovered", { detail: place.getBoundingClientRect() }));
}

const rowLink = (ask) => $(`.rows > .row[data-ask="${ask}"] > a`);

// A row that has come back has the same form: what is held there is not answered a second time.
function keepHeld(row) {
  const [form, offered] = [held.get(row.dataset.ask)?.form, $("[data-row-answers]", row)];
  if (form && offered && form !== offered && form.elements.shown.value === offered.elements.shown.value) offered.replaceWith(form);
}

async function answerInRow(answer) {
  const { form, button, label } = answer;
  // What is disabled is not in the data of its form.
  $("[data-lock]", form).disabled = false;
  const taken = await sendFromRow(answer);
  button.ariaPressed = null;
  if (taken) tellInRow(form, `Sent: ${label}`);
  return taken;
}

function tellInRow(form, text) {
  const told = element('<p class="row-decided" role="status"></p>');
  told.textContent = text;
  form.replaceWith(told);
}

// Whether it was taken. Where it was not, that is said also when its row or the page is gone by then.
async function sendFromRow({ form, button, label, question }) {
  const body = new URLSearchParams(new FormData(form));
  body.set("csrf", $("meta[name=sayso-csrf]").content);
  body.set(button.name, button.value);
  const notSent = `“${isolated(label)}” was not sent to “${isolated(question)}”`;
  let told = () => {};
  const { taken } = await deliver(form, button, (attempt) => {
    body.set("attempt", attempt);
    told = noteLeft(attempt, notSent);
    return reach(form.action, { method: "POST", body });
  });
  told();
  if (!taken && !form.isConnected) {
    // It was settled elsewhere, or there are too many rows.
    const why = $("[data-problem-text]", form).textContent.replace(/^Not sent\.\s*/, "");
    tellNotSent(`${notSent} ${why}`);
  }
  return taken;
}

// It stays in view, however far down somebody has scrolled, until they have read it.
function tellNotSent(text) {
  const told = element('<div class="banner refused" role="alert"><p></p><button type="button" class="button">OK</button></div>');
  $("p", told).textContent = text;
  $("button", told).addEventListener("click", () => {
    uncovered(told);
    told.remove();
  });
  if (!$(".not-sent")) $("main").prepend(element('<div class="not-sent"></div>'));
  $(".not-sent").append(told);
}

function sendHeld() {
  for (const { send } of [...held.values()]) send();
}

// Who leaves the page hears nothing of what was sent then. So it is remembered, and the next page finds out what was not
// taken, once whatever was under way has come in: it is called off by asking.

const LEFT = `${NAME}:left:`;
const UNDER_WAY = 5000;

// What is said if this attempt is not taken; to be called once it has been, or need not be.
function noteLeft(attempt, text) {
  localStorage.setItem(LEFT + attempt, JSON.stringify({ at: Date.now(), text }));
  return () => localStorage.removeItem(LEFT + attempt);
}

for (const key of Object.keys(localStorage).filter((one) => one.startsWith(LEFT))) {
  const { at, text } = JSON.parse(localStorage.getItem(key));
  setTimeout(() => tellWhatWasLeft(key, text), Math.min(Math.max(at + UNDER_WAY - Date.now(), 0), UNDER_WAY));
}

async function tellWhatWasLeft(key, text) {
  if (!localStorage.getItem(key)) return;
  const { fate } = await fateOf(key.slice(LEFT.length));
  if (fate === "signed out") return;
  localStorage.removeItem(key);
  if (fate !== "taken") tellNotSent(`${text} when you left the page. You may have begun to answer it there, or somebody was first.`);
}

Object.assign(sayso, { held, holdBack, offerInRows, tellNotSent, noteLeft, pageAt, notSeen, seen });
addEventListener("pagehide", sendHeld);
// A phone may end a page that is not looked at without a word.
document.addEventListener("visibilitychange", () => document.hidden && sendHeld());

// --- One event stream for all tabs of this browser

const channel = new BroadcastChannel(NAME);
const NEWS = ["inbox", "commands", "command", "conversations", "agents", "presence", "connecting"];
const shared = { leading: false, lease: null, queued: null, heard: 0 };
const stream = newStream({
  address: () => `events${streamQuery()}`,
  types: NEWS,
  hear: (message, type) => publish({ type, ...message }),
  beat: () => publish({ type: "beat" }),
  lost: () => publish({ type: "away" }),
  back: () => publish({ type: "here" }),
  ended: () => publish({ type: "bye" }),
});

function publish(message) {
  receive(message);
  channel.postMessage(message);
}

function receive(message) {
  if (message.type === "hello") return shared.leading && answerHello();
  if (message.type === "looking?") return document.hasFocus() && channel.postMessage({ type: "looking" });
  if (message.type === "looking") return looking?.();
  if (message.type === "watch?") return announceCommand();
  if (message.type === "watch") return shared.leading && watch(message.id);
  shared.heard = Date.now();
  if (message.type === "away") showAway(true);
  if (message.type === "here") {
    showAway(false);
    // A server that was restarted knows nothing of its tabs.
    if (!document.hidden) tellSight("used");
    keepWhatWasNotKept();
  }
  if (message.type === "bye") showSignedOut();
  if (message.type === "inbox") {
    showAway(false);
    takeIn(message);
  }
  if (message.type === "commands") takeInCommands(message);
  if (message.type === "command") takeInCommand(message);
  if (message.type === "conversations") takeInConversations(message);
  if (message.type === "agents") takeInAgents(message);
  if (message.type === "presence") showAbsence(message);
  if (message.type === "connecting") showConnecting(message);
}

function answerHello() {
  channel.postMessage(known.asks ? everything() : { type: "beat" });
  if (commands.operations) channel.postMessage(allCommands());
  if (talks.conversations) channel.postMessage(allConversations());
  if (atWork.agents) channel.postMessage(allAgents());
  if (atWork.presence) channel.postMessage(atWork.presence);
  if (atWork.connecting) channel.postMessage(atWork.connecting);
  if (!$("[data-away]").hidden) channel.postMessage({ type: "away" });
}

function standInLine() {
  shared.queued = new AbortController();
  hold({ signal: shared.queued.signal });
}

function takeOver() {
  shared.queued.abort();
  hold({ steal: true });
}

function hold(options) {
  const lease = Symbol("lease");
  const lead = () => {
    shared.lease = lease;
    shared.leading = true;
    stream.open();
    channel.postMessage({ type: "watch?" });
    // Held until this tab is closed, or another one takes it.
    return new Promise(() => {});
  };
  navigator.locks.request(NAME, options, lead).catch(() => {
    if (shared.lease !== lease) return;
    shared.leading = false;
    stream.close();
    standInLine();
  });
}

function shareStream() {
  channel.addEventListener("message", (event) => receive(event.data));
  standInLine();
  checkLeader();
  announceCommand();
  setInterval(() => {
    if (!shared.leading && !document.hidden && Date.now() - shared.heard > SILENCE) takeOver();
  }, SILENCE / 3);
  document.addEventListener("visibilitychange", () => !document.hidden && checkLeader());
}

function checkLeader() {
  // A leading tab may sleep in the background; whoever is looked at must not wait for it.
  if (shared.leading) {
    return (!stream.heardWithin(LATE) || stream.state() !== EventSource.OPEN) && stream.open();
  }
  const asked = Date.now();
  channel.postMessage({ type: "hello" });
  setTimeout(() => !shared.leading && !document.hidden && shared.heard < asked && takeOver(), REPLY_WITHIN);
}

function streamWhileVisible() {
  // Without locks (plain HTTP from another machine) each tab has a stream while it is looked at.
  shared.leading = true;
  openWhileVisible(stream);
}

// --- Whether somebody can be looking at this tab

const TELL_USE_EVERY = 5000;
const sight = { tab: Math.random().toString(36).slice(2), number: 0, used: Date.now(), told: 0, leaving: false };

function tellSight(what) {
  sight.told = what === "used" ? Date.now() : 0;
  const csrf = $("meta[name=sayso-csrf]").content;
  const ago = Math.max(Date.now() - sight.used, 0);
  const body = new URLSearchParams({ csrf, tab: sight.tab, number: (sight.number += 1), sight: what, ago });
  // The next use, or the next event stream, tells it again.
  reach("sight", { method: "POST", body }).catch(() => (sight.told = 0));
}

function noteUse() {
  if (document.hidden) return;
  sight.used = Date.now();
  if (sight.used - sight.told > TELL_USE_EVERY) tellSight("used");
}

function tellWhetherSeen() {
  for (const type of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focus"]) {
    addEventListener(type, noteUse, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) noteUse();
    else if (!sight.leaving) tellSight("hidden");
  });
  addEventListener("pagehide", () => {
    sight.leaving = true;
    tellSight("left");
  });
  addEventListener("pageshow", () => {
    sight.leaving = false;
    noteUse();
  });
  noteUse();
}

// --- The ask on this page

const UNKNOWN = "It is not known whether this arrived.";
const SIGN_IN_AGAIN = "You are signed out. Sign in again in another tab, then reload this one.";
const MORE_ELSEWHERE = "You had entered more elsewhere: it stands here now as well";
const draft = { timer: null, saving: Promise.resolve(), leaving: false };
let following = null;
let changedSince = false; // something has changed since that look began

const answerForm = () => $("form[data-answer]");
const draftKey = () => `${NAME}:draft:${article().dataset.ask}`;

function entered(form) {
  return new URLSearchParams(new FormData(form)).toString();
}

function prepareAsk() {
  const form = answerForm();
  $("[data-focus]")?.focus();
  seeDelivery();
  const unsaved = article() && localStorage.getItem(draftKey());
  if (!form) return unsaved && handIn(unsaved);
  const values = new URLSearchParams(unsaved ?? "");
  if (unsaved) fill(form, values);
  // What it went on from: what was entered elsewhere since then is not lost by it.
  if (values.has("begun")) form.elements.begun.value = values.get("begun");
  // Sent by a page that was left before it knew what became of it.
  if (values.has("attempt")) findOut(form, values.get("attempt"));
  else if (unsaved) keepSoon(form);
  showProgress(form);
  form.addEventListener("input", (event) => {
    showProgress(form);
    for (const told of $$("[data-missing]", form)) told.hidden = true;
    markOwn(event.target);
    forgetProblem(event.target.closest(".question"));
    form.dataset.touched = "";
    localStorage.setItem(draftKey(), entered(form));
    // Who types in two places at once would not see a word that the next letter takes away.
    noteDraft(form, "grew" in form.dataset ? MORE_ELSEWHERE : "");
    keepSoon(form);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!event.submitter || event.submitter.value === "keep") keepNow(form);
    else if (event.submitter.matches("[data-shows]")) showOtherwise(form, event.submitter);
    else send(form, event.submitter);
  });
}

function showProgress(form) {
  const told = $("[data-progress]", form);
  if (!told) return;
  const questions = $$(".question", form);
  const answered = questions.filter(isAnswered);
  told.textContent = `${answered.length} of ${questions.length}`;
  told.ariaLabel = `${answered.length} of ${questions.length} answered`;
  told.hidden = false;
}

function isAnswered(question) {
  return $("input:checked:not([value=own])", question) || $$("textarea.answer, [data-own]", question).some(({ value }) => value.trim());
}

// Keys that send nothing here say why not.
addEventListener("sayso:not-sent-by-keys", ({ detail: form }) => {
  const told = $("[data-missing]", form);
  if (!told) return;
  const names = $$(".question[data-required]", form).filter((one) => !isAnswered(one)).map((one) => one.dataset.required);
  const more = names.length > 3 ? ` So do ${names.length - 3} more.` : "";
  const missing = names.slice(0, 3).map((name) => `${name} needs an answer.`).join(" ") + more;
  told.textContent = `Not sent. ${$$(".question", form).length === 1 && missing ? "Choose an answer first." : missing || `Press “${$("button[value=answer]", form).textContent}”.`}`;
  told.hidden = false;
});

function fill(form, values) {
  for (const field of form.elements) {
    if (!field.name || field.type === "hidden" || field.type === "submit") continue;
    if (field.type === "radio" || field.type === "checkbox") field.checked = values.getAll(field.name).includes(field.value);
    else if (values.has(field.name)) field.value = values.get(field.name);
    const fold = field.closest("details");
    if (fold && field.value) fold.open = true;
  }
}

function markOwn(field) {
  if (!field.matches("[data-own]") || !field.value.trim()) return;
  const mark = $("input[value=own]", field.closest(".own"));
  if (mark) mark.checked = true;
}

function forgetProblem(question) {
  // It was about what was entered before.
  if (!question?.matches(".wrong")) return;
  question.classList.remove("wrong");
  for (const field of $$("[aria-invalid]", question)) field.removeAttribute("aria-invalid");
  for (const told of $$(`[data-problem-of=${question.id}]`)) told.remove();
  if (!$("[data-problems] li")) $("[data-problems]")?.remove();
}

function keepSoon(form) {
  clearTimeout(draft.timer);
  draft.timer = setTimeout(() => keepNow(form), 500);
}

function keepNow(form, options = {}) {
  clearTimeout(draft.timer);
  draft.timer = null;
  const body = entered(form);
  const key = draftKey();
  draft.saving = draft.saving
    .then(() => reach(`${form.action}/draft`, { method: "POST", body: new URLSearchParams(body), ...options }))
    .then(async (reply) => {
      seen();
      if (!reply.ok) return;
      const { begun, grew } = reply.status === 204 ? {} : await reply.json();
      if (grew && !draft.leaving) return growWith(form, body);
      if (begun !== undefined) form.elements.begun.value = begun;
      // What the server has, this browser need not remember; unless the next page was made before the server had it.
      if (localStorage.getItem(key) === body && !draft.leaving) localStorage.removeItem(key);
      if (!draft.timer) noteDraft(form, isEmpty(form) ? "" : "Kept as a draft" + ("grew" in form.dataset ? `. ${MORE_ELSEWHERE}` : ""));
    })
    .catch(() => {
      noteDraft(form, "Kept in this browser only, because the server cannot be reached");
      if (!draft.leaving) setTimeout(keepWhatWasNotKept, AGAIN);
    });
  return draft.saving;
}

// More was entered elsewhere since this page was made. What was typed here meanwhile stays, too.
async function growWith(form, sent) {
  const grown = $("form[data-answer]", await pageAt(location.pathname));
  if (!grown || !form.isConnected) return;
  const [before, now] = [new URLSearchParams(sent), new FormData(form)];
  const untouched = (name) => `${before.getAll(name)}` === `${now.getAll(name)}`;
  for (const other of grown.elements) {
    const marks = ["radio", "checkbox"].includes(other.type);
    const field = other.name && $$(`[name="${other.name}"]`, form).find(({ value }) => !marks || value === other.value);
    if (!field || ["hidden", "submit", "file"].includes(other.type)) continue;
    if (marks) field.checked = untouched(other.name) ? other.checked : field.checked;
    else field.value = withMore(before.get(other.name) ?? "", field.value, other.value);
    if (field.value && field.closest("details") && !marks) field.closest("details").open = true;
  }
  for (const place of $$("[data-attach]", form)) showMoreFiles(place, $(`[data-attach="${place.dataset.attach}"]`, grown));
  form.elements.begun.value = grown.elements.begun.value;
  showProgress(form);
  localStorage.setItem(draftKey(), entered(form));
  form.dataset.grew = "";
  noteDraft(form, MORE_ELSEWHERE);
  dispatchEvent(new Event("sayso:moved"));
  keepSoon(form);
}

function withMore(sent, now, grown) {
  if (now === sent) return grown;
  return now.startsWith(sent) ? grown + now.slice(sent.length) : `${grown}\n${now}`;
}

function showMoreFiles(place, grown) {
  const known = $$("[data-attached] input", place).map(({ value }) => value);
  for (const item of $$("[data-attached] > li", grown)) if (!known.includes($("input", item).value)) $("[data-attached]", place).append(item);
}

function keepWhatWasNotKept() {
  const form = answerForm();
  if (form && form.ariaBusy !== "true" && localStorage.getItem(draftKey())) keepSoon(form);
}

function noteDraft(form, text) {
  const note = $("[data-draft-note]", form);
  if (note) note.textContent = text;
}

async function handIn(unsaved) {
  // Written while the server was away, for an ask that has ended since: the page shows it as not sent.
  const key = draftKey();
  const reply = await reach(`${location.pathname}/draft`, { method: "POST", body: new URLSearchParams(unsaved) });
  if (!reply.ok) return;
  localStorage.removeItem(key);
  replaceAsk(await pageAt(location.pathname));
}

async function pageAt(path) {
  const reply = await reach(path);
  if (reply.status >= 500) throw new Error(`${reply.status}`);
  return parsed(reply);
}

async function parsed(reply) {
  return new DOMParser().parseFromString(await reply.text(), "text/html");
}

async function send(form, button) {
  if (form.ariaBusy === "true") return;
  const attempt = newAttempt();
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  body.set("attempt", attempt);
  const key = draftKey();
  const plain = entered(form);
  localStorage.setItem(key, body);
  lock(form, button);
  clearTimeout(draft.timer);
  draft.timer = null;
  // A draft that hangs must not hold up the answer.
  await Promise.race([draft.saving, pause(AGAIN)]);
  try {
    const reply = await reach(form.action, { method: "POST", body });
    if (reply.redirected) {
      localStorage.removeItem(key);
      button.textContent = "Sent";
      location.assign(reply.url);
      return;
    }
    const page = await parsed(reply);
    // Of an ask that has ended, the server keeps what was entered.
    if ($("[data-ask-page]:not([data-open])", page)) localStorage.removeItem(key);
    else localStorage.setItem(key, plain);
    unlock(form);
    if ($("[data-ask-page]", page)) replaceAsk(page);
    else tell(form, "Not sent.", $("[data-problem]", page)?.dataset.problem ?? SIGN_IN_AGAIN);
  } catch {
    await findOut(form, attempt);
  }
}

// What changes only what the page shows of an ask, an edit for example: nothing is settled by it.
async function showOtherwise(form, button) {
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  clearTimeout(draft.timer);
  draft.timer = null;
  lockForm(form);
  await Promise.race([draft.saving, pause(AGAIN)]);
  try {
    const reply = await reach(form.action, { method: "POST", body });
    const page = await parsed(reply);
    localStorage.removeItem(draftKey());
    if (reply.redirected) location.assign(reply.url);
    else if ($("[data-ask-page]", page)) replaceAsk(page);
    else throw new Error(`${reply.status}`);
  } catch {
    unlockForm(form);
    tell(form, "Not done.", "The server did not answer as it should. What you entered is still here.");
  }
}

function lock(form, button) {
  form.ariaBusy = "true";
  form.dataset.touched = "";
  $("[data-told]")?.remove();
  if (button) $("[data-announce]").textContent = "Sending…";
  lockForm(form, button);
}

function unlock(form) {
  form.ariaBusy = null;
  unlockForm(form);
}

async function findOut(form, attempt) {
  lock(form);
  tell(form, UNKNOWN, notKnownYet(form));
  const key = draftKey();
  const { fate } = await fateOf(attempt);
  if (fate === "signed out") return tell(form, UNKNOWN, SIGN_IN_AGAIN);
  if (fate === "taken") {
    localStorage.removeItem(key);
    return location.reload();
  }
  await lookUntilSeen(form);
  if (!form.isConnected) return;
  unlock(form);
  localStorage.setItem(key, entered(form));
  keepSoon(form);
  tell(form, "Not sent.", didNotArrive(form));
}

async function lookUntilSeen(form) {
  // As long as the page is open: what is asked may have ended, by this very answer if the server was restarted.
  for (;;) {
    try {
      const page = await pageAt(location.pathname);
      if ($("[data-ask-page]:not([data-open])", page)) replaceAsk(page);
      if ($("[data-ask-page]", page) || !form.isConnected) return;
    } catch {
      // Away again.
    }
    await pause(AGAIN);
  }
}

function tell(form, head, text) {
  $("[data-told]")?.remove();
  const told = element('<div class="banner refused" role="alert" tabindex="-1" data-told><p><strong></strong> <span></span></p></div>');
  $("strong", told).textContent = head;
  $("span", told).textContent = text;
  $(".actions, [data-draft-note]", form).before(told);
  told.focus();
  dispatchEvent(new Event("sayso:moved"));
}

function replaceAsk(page) {
  const newer = $("[data-ask-page]", page);
  if (newer) article().replaceWith(document.adoptNode(newer));
  following = null;
  prepareAsk();
  dispatchEvent(new Event("sayso:shown"));
  tellTimes();
}

// The page of a rule: where the ask is over, no rule is made of it any more.
function followRule() {
  const form = $("[data-like]");
  if (!form || known.more || $("[data-lock]", form).disabled) return;
  if (!known.asks.some(([id]) => id === form.dataset.like)) location.replace(`asks/${form.dataset.like}?no-rule`);
}

function followAsk() {
  const here = article();
  if (!here || !("open" in here.dataset)) return;
  if (following) {
    changedSince = true;
    return;
  }
  const now = known.asks.find(([id]) => id === here.dataset.ask);
  const [, crowd] = known.asks.find(([id]) => id === here.dataset.agent) ?? [];
  if (now && now[1] <= here.dataset.version) return;
  // One of many is not in the inbox by itself: look when anything of its agent has changed.
  if (!now && (crowd ? crowd === here.dataset.crowd : known.more)) return;
  if (!now && crowd) here.dataset.crowd = crowd;
  following = lookAgain(here);
}

// The page of an agent that has many open

const crowdPage = () => $("[data-crowd-page]");
let crowdTimer = null;
let crowdChanged = false; // since it was last asked for

function followCrowd() {
  const here = crowdPage();
  const now = here && known.asks.find(([id]) => id === here.dataset.crowdPage);
  if (!here || (now && now[1] === here.dataset.version)) return;
  crowdChanged = true;
  crowdTimer ??= setTimeout(renewCrowd, 300);
}

async function renewCrowd() {
  crowdChanged = false;
  try {
    const page = await pageAt(location.href);
    const newer = $("[data-crowd-page]", page);
    const focused = document.activeElement?.closest("[data-crowd-page] .row")?.dataset.ask;
    if (!newer) return;
    crowdPage().replaceWith(document.adoptNode(newer));
    if (focused) ($(`[data-ask="${focused}"] a`, newer) ?? $("main")).focus(STAY);
    dispatchEvent(new Event("sayso:shown"));
    offerInRows();
    seen();
  } catch {
    crowdTimer = notSeen(renewCrowd);
    return;
  }
  crowdTimer = null;
  // It may have changed once more since, also to so few that the inbox knows nothing more of it.
  if (crowdChanged || known.asks.some(([id]) => id === crowdPage()?.dataset.crowdPage)) followCrowd();
}

function seeDelivery() {
  // Settled, and its agent has not taken it yet: that moment is in no inbox.
  if ($("[data-unsettled]")) setTimeout(() => (following ??= lookAgain(article())), 3000);
}

async function lookAgain(here) {
  try {
    const form = answerForm();
    if (form && draft.timer) await keepNow(form);
    const page = await pageAt(location.pathname + location.search);
    const newer = $("[data-ask-page]", page);
    seen();
    // Being sent right now: what comes back will tell.
    if (!newer || form?.ariaBusy === "true") return;
    if ("open" in here.dataset && !("open" in newer.dataset)) {
      // Ended elsewhere, perhaps by another tab of the same person: what was entered in this one is shown as not sent.
      if (!form || !("touched" in form.dataset)) return replaceAsk(page);
      await keepNow(form);
      return replaceAsk(await pageAt(location.pathname + location.search));
    }
    $("#standing").replaceWith($("#standing", newer));
    here.dataset.version = newer.dataset.version;
    tellTimes();
    seeDelivery();
  } catch {
    notSeen(() => here.isConnected && (following ??= lookAgain(here)));
  } finally {
    following = null;
    if (changedSince) setTimeout(followAsk);
    changedSince = false;
  }
}

// A look that failed is made again: no event may come that would lead to it.

function notSeen(look) {
  showAway(true);
  return setTimeout(look, AGAIN);
}

function seen() {
  if (stream.state() !== EventSource.CONNECTING) showAway(false);
}

// --- Conversations: how each of them stands

const talks = { conversations: null, rows: new Map(), older: "", waiting: [] };

function takeInConversations({ conversations, rows, older, waiting }) {
  for (const [id, html] of Object.entries(rows)) talks.rows.set(id, html);
  const before = talks.conversations && new Set(talks.conversations.map(([id]) => id));
  Object.assign(talks, { conversations, older, waiting });
  for (const id of [...talks.rows.keys()]) if (!conversations.some(([there]) => there === id)) talks.rows.delete(id);
  const list = $("[data-conversations]");
  if (!list) return;
  const fresh = before ? conversations.map(([id]) => id).filter((id) => !before.has(id)) : [];
  arrange($("ol", list), "conversation", conversations, talks.rows, fresh);
  list.hidden = conversations.length === 0;
  $(".more", list).hidden = !older;
  $(".more a", list).href = older;
  tellWaiting($("[data-waiting]", list), waiting);
  markCurrent();
  tellTimes();
}

function tellWaiting(line, waiting) {
  line.hidden = !waiting.length;
  line.replaceChildren(...waiting.map((text) => Object.assign(document.createElement("span"), { className: "pill late", textContent: text })));
}

function allConversations() {
  return { type: "conversations", conversations: talks.conversations, rows: Object.fromEntries(talks.rows), older: talks.older, waiting: talks.waiting };
}

// --- Agents at work, and whether this person is away from them

const atWork = { agents: null, rows: new Map(), presence: null, connecting: null };

function takeInAgents({ agents, rows }) {
  for (const [id, html] of Object.entries(rows)) atWork.rows.set(id, html);
  const before = atWork.agents && new Set(atWork.agents.map(([id]) => id));
  atWork.agents = agents;
  for (const id of [...atWork.rows.keys()]) if (!agents.some(([there]) => there === id)) atWork.rows.delete(id);
  const list = $("[data-agents]");
  if (!list) return;
  const fresh = before ? agents.map(([id]) => id).filter((id) => !before.has(id)) : [];
  arrange(list, "agentAtWork", agents, atWork.rows, fresh);
  for (const none of $$("[data-no-agents]")) none.hidden = agents.length > 0;
  tellTimes();
}

function allAgents() {
  return { type: "agents", agents: atWork.agents, rows: Object.fromEntries(atWork.rows) };
}

function showAbsence(message) {
  atWork.presence = message;
  const { away, since, until } = message;
  $("[data-absent]").hidden = !away;
  if (away) $("[data-absent-when]").textContent = `since ${clock(since)}${until ? `, until ${clock(until)}` : ""}.`;
  // While they are away, the banner has the way back.
  for (const form of $$("main [data-presence]")) {
    form.hidden = away;
    const button = $("button", form);
    [button.value, button.textContent] = ["away", "I’m away"];
  }
}

// A program that wants to connect waits here, because only here somebody is signed in.
function showConnecting(message) {
  atWork.connecting = message;
  const others = message.waiting.filter(({ id }) => !location.pathname.endsWith(`waiting/${id}`));
  $("[data-connecting]").hidden = !others.length;
  if (!others.length) return;
  const [first, ...more] = others;
  const said = more.length ? [`${others.length} programs want to connect: `, ...others.flatMap((one, at) => [at ? ", " : "", ...whoConnects(one)]), "."] : [...whoConnects(first), " wants to connect."];
  $("[data-connecting-said]").replaceChildren(...said);
  const link = $("[data-connecting-link]");
  link.href = more.length ? "settings#connections" : `oauth/waiting/${first.id}`;
  link.textContent = more.length ? "Look at them" : "Look at it";
}

function whoConnects({ name, mark }) {
  const shown = Object.assign(document.createElement("strong"), { dir: "auto", textContent: name });
  const whole = Object.assign(document.createElement("span"), { className: "on-one-line", textContent: `(${mark})` });
  return [shown, " ", whole];
}

document.addEventListener("submit", async (event) => {
  if (!event.target.matches("[data-presence]")) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(event.target));
  body.set("said", event.submitter.value);
  event.submitter.disabled = true;
  // The event stream tells what holds now.
  await reach("presence", { method: "POST", body, redirect: "manual" }).catch(() => showAway(true));
  event.submitter.disabled = false;
});

// --- Commands: which run. What the one on a page prints is read by command.js.

const commands = { operations: null, rows: new Map(), running: 0, told: new Map() };
const MOST_WATCHED = 8;

function takeInCommands({ operations, rows, running }) {
  for (const [id, html] of Object.entries(rows)) commands.rows.set(id, html);
  const before = commands.operations && new Set(commands.operations.map(([id]) => id));
  Object.assign(commands, { operations, running });
  for (const id of [...commands.rows.keys()]) if (!operations.some(([there]) => there === id)) commands.rows.delete(id);
  const fresh = before ? operations.map(([id]) => id).filter((id) => !before.has(id)) : [];
  const list = $("[data-commands]");
  if (list) {
    arrange(list, "operation", operations, commands.rows, fresh);
    $("[data-no-commands]").hidden = operations.length > 0;
    tellTimes();
  }
  const badge = $("[data-running]");
  badge.textContent = String(running);
  badge.hidden = running === 0;
}

function allCommands() {
  return { type: "commands", operations: commands.operations, rows: Object.fromEntries(commands.rows), running: commands.running };
}

function openCommand() {
  return $("[data-command]:has([data-open])")?.dataset.command;
}

function announceCommand() {
  if (openCommand()) channel.postMessage({ type: "watch", id: openCommand() });
}

function streamQuery() {
  const here = openCommand();
  if (here) commands.told.set(here, commands.told.get(here));
  const query = new URLSearchParams([...commands.told.keys()].map((id) => ["watch", id]));
  // Of the rows, this tab has those that it shows; without a list it needs none.
  query.set("has", known.mark || ($("[data-inbox]")?.dataset.mark ?? "all"));
  return `?${query}`;
}

function watch(id) {
  const known = commands.told.get(id);
  if (known) return channel.postMessage(known);
  if (commands.told.has(id)) return;
  commands.told.set(id, undefined);
  stream.open();
}

function takeInCommand(message) {
  if (shared.leading) keepTold(message);
  dispatchEvent(new CustomEvent("sayso:command", { detail: message }));
}

function keepTold(message) {
  commands.told.delete(message.id);
  // There is nothing more to come of what has ended.
  if (message.open) commands.told.set(message.id, message);
  while (commands.told.size > MOST_WATCHED) commands.told.delete(commands.told.keys().next().value);
}

// --- Times

// The browser's own words for times take longer to load than all else here.
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function tellTimes() {
  for (const time of $$("time[data-relative]")) say(time, span(Date.parse(time.dateTime) - Date.now()));
  for (const time of $$("time[data-lasting]")) say(time, lasting(Date.now() - Date.parse(time.dateTime)));
  for (const time of $$("time[data-moment]")) say(time, clock(time.dateTime));
}

// The exact one is told to who asks for it, on the clock of this browser.
addEventListener("pointerover", ({ target }) => {
  const time = target.closest?.("time[data-relative]");
  if (time) time.title = clock(time.dateTime);
}, { passive: true });

// What reads the same is left alone: a change has the page looked over once more.
function say(time, text) {
  if (time.textContent !== text) time.textContent = text;
}

// A moment as people name it: `8:00`, `tomorrow, 8:00`, `Nov 16, 8:00`.
function clock(moment) {
  const at = new Date(moment);
  const time = `${at.getHours()}:${String(at.getMinutes()).padStart(2, "0")}`;
  const days = Math.round((new Date(at).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / 86_400_000);
  const near = { "-1": "yesterday, ", 0: "", 1: "tomorrow, " }[days];
  const year = at.getFullYear() === new Date().getFullYear() ? "" : `, ${at.getFullYear()}`;
  return (near ?? `${MONTHS[at.getMonth()]} ${at.getDate()}${year}, `) + time;
}

function lasting(milliseconds) {
  const seconds = Math.max(Math.trunc(milliseconds / 1000), 0);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.trunc(seconds / 60)} m ${seconds % 60} s`;
  return `${Math.trunc(seconds / 3600)} h ${Math.trunc((seconds % 3600) / 60)} m`;
}

function span(milliseconds) {
  const seconds = Math.trunc(milliseconds / 1000);
  if (Math.abs(seconds) < 5) return "just now";
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  const count = Math.trunc(Math.abs(seconds) / size);
  const told = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `${told} ago` : `in ${told}`;
}

// --- Notifications, while a tab is open and another window has the focus

let looking = null;

async function somebodyLooks() {
  if (document.hasFocus()) return true;
  channel.postMessage({ type: "looking?" });
  return new Promise((resolve) => {
    looking = () => resolve(true);
    setTimeout(() => resolve(false), 200);
  });
}

function notifies() {
  return "Notification" in window && "serviceWorker" in navigator && Notification.permission === "granted" && localStorage.getItem(`${NAME}:notify`) === "on";
}

async function notify(id, told) {
  if (!notifies() || (await somebodyLooks())) return;
  const registration = await navigator.serviceWorker.register("worker.js").then(() => navigator.serviceWorker.ready);
  const [one] = told;
  const many = told.length > 1;
  const alone = one.crowd ? `${one.who} has ${one.what} open` : `${one.who} ${one.permission ? "wants a permission" : "asks"}`;
  await registration.showNotification(many ? `${told.length} new questions` : alone, {
    body: many || one.crowd ? "" : one.what,
    tag: many ? "many" : id,
    icon: $("link[rel=apple-touch-icon]").href,
    data: { path: many ? "./" : `${one.crowd ? "crowds" : "asks"}/${id}` },
  });
}

function prepareNotifications() {
  navigator.serviceWorker?.addEventListener("message", (event) => {
    location.assign(event.data.open);
  });
  const section = $("[data-notify]");
  if (!section) return;
  if (!isSecureContext) return tellWhyNoNotifications(section);
  if (!("Notification" in window) || !("serviceWorker" in navigator)) return;
  section.hidden = false;
  const button = $("[data-notify-button]", section);
  const show = () => {
    button.textContent = notifies() ? "Turn off" : "Turn on";
    if (Notification.permission === "denied") {
      $("[data-notify-state]", section).textContent = "This browser does not let Sayso show notifications. Allow them for this site in the browser's settings.";
      button.hidden = true;
    }
  };
  button.addEventListener("click", async () => {
    const on = !notifies() && (await Notification.requestPermission()) === "granted";
    localStorage.setItem(`${NAME}:notify`, on ? "on" : "off");
    show();
  });
  show();
}

function tellWhyNoNotifications(section) {
  section.hidden = false;
  for (const part of $$("[data-notify-state], button", section)) part.hidden = true;
  $("[data-notify-insecure]", section).hidden = false;
}

// --- Begin

// The first Tab leads to what a page is for, and Shift and Tab to what is above it.
function startThere() {
  const place = $("#rows:not([hidden])") ?? $("[data-open] #q0");
  if (!place || location.hash || document.activeElement !== document.body) return;
  place.focus({ preventScroll: true });
  place.blur();
}

function forgetOnSignOut() {
  $("[data-sign-out]")?.addEventListener("submit", () => {
    for (const store of [localStorage, sessionStorage]) {
      for (const key of Object.keys(store)) if ([`${NAME}:draft:`, LEFT].some((one) => key.startsWith(one))) store.removeItem(key);
    }
  });
}

addEventListener("beforeunload", () => {
  draft.leaving = true;
});

addEventListener("pagehide", () => {
  const form = answerForm();
  if (form && draft.timer) keepNow(form, { keepalive: true });
});

prepareAsk();
prepareNotifications();
forgetOnSignOut();
startThere();
addEventListener("resize", fetchSoon);
markCurrent();
tellTimes();
addEventListener("sayso:shown", tellTimes);
setInterval(tellTimes, 15_000);
setInterval(() => !document.hidden && $("time[data-lasting]") && tellTimes(), 1000);
tellWhetherSeen();
if (navigator.locks) shareStream();
else streamWhileVisible();
