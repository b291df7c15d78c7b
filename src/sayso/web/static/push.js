// Turns on, on the page of settings, that this browser is told while no page of Sayso is open.

const button = document.querySelector("[data-push-button]");
const refused = document.querySelector("[data-push-refused]");
const form = document.querySelector("[data-push-end]");

if (button && !isSecureContext) {
  refuse("Browsers allow this only on the machine where Sayso runs, or over HTTPS.");
} else if (button && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window) {
  button.hidden = false;
  button.addEventListener("click", () => turnOn().catch((error) => refuse(`This browser cannot be told: ${error.message}`)));
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
    return refuse("This browser does not let Sayso show notifications. Allow them for this site in the browser's settings.");
  }
  await navigator.serviceWorker.register("worker.js");
  const registration = await navigator.serviceWorker.ready;
  const { csrf, key } = await (await fetch("push")).json();
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  const body = new URLSearchParams({ csrf, endpoint, ...keys, zone: zone() });
  const reply = await fetch("push", { method: "POST", body });
  if (!reply.ok) throw new Error("the server does not take the address of its push service.");
  location.reload();
}

function zone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

function refuse(text) {
  refused.textContent = text;
  refused.hidden = false;
  button.hidden = true;
}
