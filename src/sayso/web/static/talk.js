// Makes a conversation live: what the agent does appears as it happens, and its questions are answered in place.
// Every page works without this file; then a button shows what is new.

const { $, $$, element, newStream, openWhileVisible, showAway, reach, fateOf, unknown, noteUnknown, takeUp, unlockForm, problem, deliver, refusal } = sayso;

const talk = $("[data-talk]");
const compose = $("[data-compose]", talk);
const [head, dock] = [$("[data-pinned=top]", talk), $("[data-pinned=bottom]", talk)];
const [stops, choices] = [$("[data-stops]", talk), $(".choices", talk)];
const NEAR = 160;
const MARGIN = 16;

// --- What the stream says

let heardTo = talk.dataset.place;
const stream = newStream({
  address: () => `${talk.dataset.talk}?after=${heardTo}`,
  hear,
  lost: () => showAway(true),
  back: () => showAway(false),
});

function hear(message) {
  const [stick, asked] = [nearEnd(), waiting()];
  if (message.place) heardTo = message.place;
  const act = { turn, footer, offers: showOffers, status: showStatus, queue: showQueue, beside: showBeside, delta, taken, tool_result: toolResult, card: changeCard, ask: newCard, ask_user_question: newCard };
  (act[message.type] ?? addPart)(message);
  // Somebody may be reading what waits for them: only another one is gone to.
  if (stick && (!asked || waiting() !== asked)) showNewest();
  showWay();
}

const waiting = (root = talk) => $("[data-card][data-state=open]", root);

function showNewest() {
  const end = document.documentElement.scrollHeight;
  // What is longer than the screen is read from its head.
  moveTo(waiting() ? Math.min(headOf(waiting()), end) : end);
}

// What waits and is not in view is told of, with a button that leads there.

const way = $("[data-way]");

function showWay() {
  const box = waiting()?.getBoundingClientRect();
  way.hidden = !box || (box.top < innerHeight - dock.offsetHeight && box.bottom > head.offsetHeight);
}

function goToWaiting(event) {
  if (!waiting()) return;
  event.preventDefault();
  moveTo(headOf(waiting()));
  waiting().focus({ preventScroll: true });
}

way.addEventListener("click", goToWaiting);
$("[data-skip-asked]").addEventListener("click", goToWaiting);
for (const type of ["scroll", "resize"]) addEventListener(type, showWay, { passive: true });

function headOf(card) {
  return card.getBoundingClientRect().top + scrollY - head.offsetHeight - MARGIN;
}

function moveTo(top) {
  const before = scrollY;
  scrollTo({ top });
  // Something else may be under the finger now.
  if (scrollY !== before) dispatchEvent(new Event("sayso:moved"));
}

function nearEnd() {
  // What somebody types in a card stays where it is; the field for messages does anyway.
  const typing = document.activeElement?.matches("[data-turns] :is(input, textarea)");
  return !typing && $("[data-turns]").getBoundingClientRect().bottom - dock.getBoundingClientRect().top < NEAR;
}

const turnOf = (message) => $(`#turn-${message.turn ?? message.place.split(".")[0]}`);
const partsOf = (message) => $("[data-parts]", turnOf(message));

function turn(message) {
  if (!turnOf(message)) $("[data-beside=left]").before(element(message.html));
}

function footer(message) {
  $("[data-footer]", turnOf(message)).replaceWith(element(message.html));
  if (!stops.hidden && !message.running) {
    status("The agent has ended its turn.");
    forgetRefusal();
  }
  stops.hidden = !message.running;
  for (const button of $$("[data-between-turns]", talk)) button.disabled = message.running;
  if (!message.running) for (const left of $$("[data-tool-state=running]", turnOf(message))) left.textContent = "no result";
  if (!message.running) for (const said of $$("[data-spoken]:not([data-taken])", turnOf(message))) saidState(said, message.untaken);
}

// Why something could not be done holds no longer.
function forgetRefusal() {
  $("[data-refused]", talk)?.remove();
}

function showStatus(message) {
  $("[data-status]").replaceWith(element(message.html));
  $("[data-prompt]", compose).placeholder = message.invitation;
  for (const shown of $$("[data-shown]")) showChoice(shown, message.choices[shown.dataset.shown]);
}

// The agent has told what can be chosen of it, and sent to it.
function showOffers({ modes, models, takes_pictures }) {
  $("[data-pictures]", compose).hidden = !takes_pictures;
  const mode = $("#mode", talk);
  for (const each of modes) if (![...mode.options].some((option) => option.value === each)) mode.add(new Option(each));
  $("#models", talk).replaceChildren(...models.map((each) => new Option("", each)));
}

// What somebody is about to choose here stays; else the field shows what holds now.
function showChoice(shown, holds) {
  const field = shown.form.elements[shown.dataset.shown];
  const untouched = field.value === shown.value;
  shown.value = holds;
  if (!untouched) return;
  field.value = holds;
  if (field.selectedIndex === -1) field.add(new Option(holds.replace("as-project", "as the project says"), holds, true, true));
}

function showQueue(message) {
  const [queue, newer] = [$("[data-queue]"), element(message.html)];
  const there = new Map($$("[data-queued]", newer).map((one) => [one.dataset.queued, one]));
  for (const one of $$("[data-queued]:has(details[open])", queue)) {
    // Somebody may be changing it. What can no longer be changed is not lost.
    if (there.has(one.dataset.queued)) there.get(one.dataset.queued).replaceWith(one);
    else rescue($("textarea", one));
  }
  queue.replaceWith(newer);
}

// What is said in terminals: what somebody has folded stays so, and what they read stays where it is.
function showBeside(message) {
  for (const place of $$("[data-beside]", talk)) {
    const html = message[place.dataset.beside];
    const folded = new Map($$("details", place).map((one) => [one.className, one.open]));
    const [turns, isAbove] = [$("[data-turns]"), place.getBoundingClientRect().bottom < head.offsetHeight];
    const before = turns.getBoundingClientRect().top;
    place.innerHTML = html;
    for (const one of $$("details", place)) one.open = folded.get(one.className) ?? one.open;
    // Some browsers see to that themselves.
    if (isAbove) requestAnimationFrame(() => scrollBy(0, turns.getBoundingClientRect().top - before));
  }
  dispatchEvent(new Event("sayso:shown"));
}

function rescue(field) {
  tell("sayso:sent", field.form.dataset.keep);
  if (field.value === field.defaultValue) return;
  const prompt = $("[data-prompt]", compose);
  prompt.value = [prompt.value, field.value].filter(Boolean).join("\n\n");
  prompt.dispatchEvent(new Event("input", { bubbles: true }));
  problem(compose, "That message was taken before you had changed it. What you wrote stands here, and was not sent.");
}

function taken(message) {
  const said = $(`[data-spoken="${message.number}"]`, turnOf(message));
  if (!said) return;
  said.dataset.taken = "";
  saidState(said, message.text);
}

function saidState(said, text) {
  $(".said-state", said).textContent = text;
}

function addPart(message) {
  const part = element(message.html);
  if (!part || document.getElementById(part.id)) return;
  const partial = $("[data-partial]", partsOf(message));
  if (message.after) $("[data-after]", turnOf(message)).append(part);
  else if (message.earlier) $("[data-earlier]", turnOf(message)).append(part);
  else if (message.type === "text" && partial && !part.matches(".nested")) partial.replaceWith(part);
  else insert(message, part);
  tidy(part);
}

// --- What belongs together is folded: what an agent of the agent's did, looks at files that follow each other, and plans
// that have changed since.

function tidy(part) {
  if (part.dataset.parent) nest(part);
  else if ("look" in part.dataset) gather(part);
  if ("plan" in part.dataset) for (const plan of $$("[data-plan]", talk)) plan.open = plan === part;
}

function nest(part) {
  const parent = $$("[data-tool]", part.closest("[data-parts]")).find((one) => one.dataset.tool === part.dataset.parent);
  if (!parent || part.contains(parent)) return;
  if (!$(":scope > [data-inside]", parent)) {
    parent.append(element('<div class="theirs" data-inside></div>'));
    $("summary", parent).append(element('<span data-steps></span>'));
  }
  const inside = $(":scope > [data-inside]", parent);
  inside.append(part);
  part.classList.remove("nested");
  $("[data-steps]", parent).textContent = ` ${inside.children.length} ${inside.children.length === 1 ? "step" : "steps"}`;
}

function gather(part) {
  const before = part.previousElementSibling;
  if (!before?.matches("[data-look], [data-looks]")) return;
  const group = "looks" in before.dataset ? before : element('<details class="fold looks" data-looks><summary><span class="tool-name"></span> <span class="tool-subject" dir="auto"></span></summary></details>');
  if (group !== before) {
    before.replaceWith(group);
    group.append(before);
  }
  group.append(part);
  $("summary .tool-name", group).textContent = `${$$("[data-look]", group).length} looks at files`;
  $("summary .tool-subject", group).textContent = $("summary .tool-subject", part).textContent;
}

function insert(message, part) {
  place(message, part, $("[data-partial]", partsOf(message)));
}

function delta(message) {
  const partial = $("[data-partial]", partsOf(message));
  const newer = element(message.html);
  if (partial) partial.replaceWith(newer);
  else place(message, newer, null);
}

function place(message, part, before) {
  // What waits for an answer stands below all that came before the answer.
  partsOf(message).insertBefore(part, before ?? waiting(partsOf(message)));
}

function toolResult(message) {
  const tool = $$("[data-tool]", partsOf(message)).find((one) => one.dataset.tool === message.tool);
  if (!tool) return addPart({ ...message, html: message.alone });
  const result = $("[data-result]", tool);
  result.replaceChildren();
  const template = document.createElement("template");
  template.innerHTML = message.html;
  result.append(template.content);
  if ($("img", result)) tool.open = true;
  $("[data-tool-state]", tool)?.replaceWith(element(message.state));
}

function status(text) {
  $("[data-talk-status]").textContent = text;
}

// --- Cards

const cardOf = (id) => document.getElementById(`ask-${id}`);

function newCard(message) {
  if (cardOf(message.ask)) return changeCard(message);
  const card = element(message.html);
  if (card.dataset.state === "open") partsOf(message).append(card);
  else insert(message, card);
  status("The agent has a question for you.");
}

function changeCard(message) {
  const card = cardOf(message.ask);
  const newer = element(message.html);
  if (!card || Number(newer.dataset.version) <= Number(card.dataset.version)) return;
  const bothOpen = card.dataset.state === "open" && newer.dataset.state === "open";
  // With every yes of those who have to agree, there is something else to decide.
  if (bothOpen && card.dataset.agreed === newer.dataset.agreed) return refresh(card, newer);
  const [words, kept] = [$("textarea", card), $("textarea", newer)];
  if (bothOpen && words && kept) kept.value = words.value;
  const typing = words && kept && document.activeElement === words;
  // What this page has just sent it knows better than a store that may have forgotten it since.
  const known = card.dataset.said;
  const told = $("[data-summary]", newer);
  if (known && newer.dataset.state === "answered" && told.textContent === "You answered") told.textContent = `You answered: ${known}`;
  if (known) newer.dataset.said = known;
  newer.prepend(...$$(":scope > [data-lost]", card));
  const focused = card.contains(document.activeElement);
  card.replaceWith(newer);
  if (focused) (typing ? kept : newer).focus({ preventScroll: true });
  status(newer.dataset.state === "open" ? "" : (told?.textContent ?? ""));
}

function refresh(card, newer) {
  // Half an answer may be in it: only what surrounds it changes.
  card.dataset.version = newer.dataset.version;
  $("[data-note]", card).replaceWith($("[data-note]", newer));
  const [form, now] = [$("form", card), $("form", newer)];
  for (const name of ["relay", "token"]) {
    if (name in now.dataset) form.dataset[name] = now.dataset[name];
    else delete form.dataset[name];
  }
}

talk.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("[data-card-form]")) {
    event.preventDefault();
    if (event.submitter && event.submitter.value !== "keep") submit(form, event.submitter);
  }
});

talk.addEventListener("input", (event) => {
  const own = event.target.closest("[data-own]");
  const mark = own?.value.trim() && $("input[value=own]", own.closest(".own"));
  if (mark) mark.checked = true;
});

function answerOf(form) {
  const values = new FormData(form);
  const own = (values.get("q0-own") ?? "").trim();
  const boxes = $$(".options input[type=checkbox]", form).length > 0;
  const chosen = values.getAll("q0").filter((value) => value !== "own").map(Number);
  const usesOwn = own && (boxes || !chosen.length);
  const labels = chosen.map((place) => $$(".option-label", form)[place].firstChild.textContent.trim());
  const answer = [...labels, ...(usesOwn ? [own] : [])].join(", ");
  // Own words beside a chosen option go along as a note.
  return { answer, text: usesOwn ? own : null, selectedOptions: chosen, note: usesOwn ? "" : own };
}

async function submit(form, button) {
  const card = form.closest("[data-card]");
  const given = answerOf(form);
  if (button.value === "answer" && !anythingIn(form)) return problem(form, "Choose an option, or write something.");
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  const key = form.dataset.keep;
  status("Sending…");
  const { taken } = await deliver(form, button, (attempt) => {
    body.set("attempt", attempt);
    // The relay's own way knows of answers, and of nothing that goes with them.
    const plain = button.value === "answer" && !$("[data-attached] input:checked", form) && !$("details.note textarea", form)?.value.trim();
    return form.dataset.relay && plain ? relay(form, { ask: card.dataset.card, ...given, attempt }) : reach(form.action, { method: "POST", body });
  });
  tell(taken ? "sayso:sent" : "sayso:not-sent", key);
  if (taken) return sent(card, button.value === "answer" ? given.answer : "");
  status("");
  // The card has ended meanwhile, and its form is gone with what it says. Of an answer, what was entered stays there.
  if (!form.isConnected && button.value !== "answer") sayWhatWasLost(card, button, $("[data-problem-text]", form).textContent);
}

function sayWhatWasLost(card, button, why) {
  const told = element('<p class="problem" role="alert" data-lost></p>');
  told.textContent = `“${button.textContent.trim()}” was not sent. ${why.replace(/^Not sent\. /, "")}`;
  cardOf(card.dataset.card)?.prepend(told);
}

function relay(form, given) {
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": $("[name=csrf]", form).value };
  return reach(form.dataset.relay, { method: "POST", headers, body: JSON.stringify({ streamToken: form.dataset.token, ...given }) });
}

function tell(what, key) {
  dispatchEvent(new CustomEvent(what, { detail: key }));
}

function anythingIn(form) {
  return $$("textarea, input[type=text]", form).some((field) => field.value.trim()) || $$("input:checked:not([value=own])", form).length > 0;
}

function sent(card, answer) {
  if (card.dataset.state !== "open" || !card.isConnected) return;
  const told = element('<p role="status" tabindex="-1"><span class="spinner" aria-hidden="true"></span> <span data-summary></span></p>');
  $("[data-summary]", told).textContent = `Answer sent, waiting for ${talk.dataset.agent}...`;
  card.dataset.state = "sent";
  card.dataset.said = answer;
  $("form", card).replaceWith(told);
  told.focus();
}

// --- The next turn, and a stop

async function post(form, body) {
  return reach(form.action, { method: "POST", body, headers: { "X-Sayso-Script": "1" } });
}

compose.addEventListener("submit", async (event) => {
  event.preventDefault();
  const prompt = $("[data-prompt]", compose);
  if (!prompt.value.trim() || $("[data-lock]", compose).disabled) return;
  const body = new FormData(compose, event.submitter);
  const focused = document.activeElement === prompt;
  status("Sending…");
  const { taken } = await deliver(compose, event.submitter ?? $("button.primary", compose), (attempt) => {
    body.set("attempt", attempt);
    return post(compose, body);
  });
  if (!taken) {
    status("");
    return;
  }
  clearCompose();
  if (focused) prompt.focus({ preventScroll: true });
});

function clearCompose() {
  forgetRefusal();
  unlockForm(compose);
  $("[data-prompt]", compose).value = "";
  compose.dispatchEvent(new Event("sayso:cleared"));
  tell("sayso:sent", compose.dataset.keep);
}

// What was sent when this page was loaded again, before it knew what became of it.

async function goOnWithMessage() {
  if ((await takeUp(compose)).fate === "taken") clearCompose();
}

async function goOnWithCard(card) {
  const [key, form] = [`card:${card.dataset.card}`, $("form[data-card-form]", card)];
  if (!unknown(key)) return;
  // One that has ended has no form any more.
  const { fate } = form ? await takeUp(form) : await fateOf(unknown(key));
  if (fate !== "signed out") noteUnknown(key, "");
  tell(fate === "taken" ? "sayso:sent" : "sayso:not-sent", key);
}

talk.addEventListener("submit", async (event) => {
  const [form, button] = [event.target, event.submitter ?? $("button", event.target)];
  if (!form.matches("form[data-post]")) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  button.disabled = true;
  const teller = $("[data-problem-text]", form) ? form : compose;
  try {
    const reply = await post(form, body);
    if ("unheard" in form.dataset) problem(teller, "");
    delete form.dataset.unheard;
    if (reply.ok && form.dataset.keep) leave(form);
    else if (reply.ok && form.closest(".choices")) chosen(form);
    else if (reply.ok && form.matches(".stop")) choices.open = false;
    else if (!reply.ok && teller === form) problem(form, await refusal(reply));
  } catch {
    form.dataset.unheard = "";
    problem(teller, `It is not known whether “${button.textContent.trim()}” arrived: the server cannot be reached. Press it again.`);
  } finally {
    button.disabled = false;
  }
});

function chosen(form) {
  // What holds now is what the next choice is compared with.
  for (const shown of $$("[data-shown]", form)) shown.value = form.elements[shown.dataset.shown].value;
  problem(form, "");
  form.closest("details").open = false;
}

function leave(form) {
  // What comes by the stream takes its place.
  tell("sayso:sent", form.dataset.keep);
  form.closest("details").open = false;
}

function openAtWhatIsNew() {
  if (location.hash) return;
  history.scrollRestoration = "manual";
  showNewest();
}

for (const part of $$("[data-parts] > :is([data-parent], [data-look], [data-plan])")) tidy(part);
$("[data-focus]")?.focus();
openAtWhatIsNew();
showWay();
goOnWithMessage();
for (const card of $$("[data-card]")) goOnWithCard(card);
openWhileVisible(stream);
