// Turns on, on the page of settings, that this browser is told while no page of Sayso is open.

const button = document.querySelector("[data-push-button]");
const refused = document.querySelector("[data-push-refused]");
const form = document.querySelector("[data-push-end]");

const NOT_ALLOWED = "This browser does not let Sayso show notifications. Allow them for this site in the browser's settings, then load this page again.";
const UNTOLD = "This browser's push service did not take it. Try again; if it stays so, the browser has none, or cannot reach it from here.";
const WHY = { NotAllowedError: NOT_ALLOWED, TypeError: "Sayso cannot be reached just now. Try again." };

if (button && !isSecureContext) {
  refuse("Browsers allow this only on the machine where Sayso runs, or over HTTPS.");
} else if (button && window.Notification?.permission === "denied") {
  refuse(NOT_ALLOWED);
} else if (button && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window) {
  button.hidden = false;
  button.addEventListener("click", () => turnOn().catch((error) => say(WHY[error.name] ?? UNTOLD)));
} else if (button) {
  refuse("This browser cannot be told while no page is open. On an iPhone or iPad, add Sayso to the home screen first, and open it there.");
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe().catch(() => {});
  form.submit();
});

for (const field of document.querySelectorAll("[data-zone]")) field.value = zone();

async function turnOn() {
  if ((await Notification.requestPermission()) !== "granted") {
    return refuse(NOT_ALLOWED);
  }
  await navigator.serviceWorker.register("worker.js");
  const registration = await navigator.serviceWorker.ready;
  const { csrf, key } = await (await fetch("push")).json();
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  const body = new URLSearchParams({ csrf, endpoint, ...keys, zone: zone() });
  const reply = await fetch("push", { method: "POST", body });
  if (!reply.ok) return say("Sayso does not take the address that this browser's push service gave it.");
  location.reload();
}

function zone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

function say(text) {
  refused.textContent = text;
  refused.hidden = false;
}

// For good: pressing again would not help.
function refuse(text) {
  say(text);
  button.hidden = true;
}
