// The service worker: shows what comes by push, leads from a notification to its question, and sends what was chosen
// in it. It keeps nothing and answers no requests.

self.addEventListener("push", (event) => {
  event.waitUntil(tell(event.data.json()));
});

self.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  event.waitUntil(action ? answer(notification, action) : open(notification.data.path));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(subscribeAgain(event.oldSubscription?.options));
});

async function tell(told) {
  if ("setAppBadge" in navigator) await navigator.setAppBadge(told.waiting).catch(() => {});
  // All options or none: what is left out cannot be chosen, and nobody would know.
  const few = (told.options ?? []).length <= (Notification.maxActions ?? 0);
  const options = few && !told.settled ? (told.options ?? []) : [];
  await self.registration.showNotification(told.title, {
    body: told.body,
    tag: told.tag,
    silent: Boolean(told.settled),
    data: { path: told.path, shown: told.shown, title: told.title, options },
    actions: options.map((title, place) => ({ action: String(place), title })),
  });
  // Shown for a moment, because browsers take the right to push from whoever shows nothing.
  if (told.settled) for (const shown of await self.registration.getNotifications({ tag: told.tag })) shown.close();
}

async function answer(notification, place) {
  const { path, shown, title, options } = notification.data;
  const failed = (why) => self.registration.showNotification(title, { body: `“${options[place]}” ${why}`, tag: notification.tag, data: { path } });
  let csrf;
  try {
    const about = await fetch("push");
    if (!about.ok) return failed("was not sent: you are signed out here.");
    ({ csrf } = await about.json());
  } catch {
    return failed("was not sent: the server is away.");
  }
  try {
    const body = new URLSearchParams({ csrf, shown, settle: "answer", q0: place, attempt: crypto.randomUUID() });
    // What is taken is answered by leading to another page.
    const reply = await fetch(path, { method: "POST", body, redirect: "manual" });
    if (reply.type !== "opaqueredirect") return failed("was not taken. Open the question to see why.");
  } catch {
    return failed("was sent, and it is not known whether it arrived. Open the question to see.");
  }
}

async function subscribeAgain(options) {
  if (!options) return;
  const { endpoint, keys } = (await self.registration.pushManager.subscribe(options)).toJSON();
  const { csrf } = await (await fetch("push")).json();
  await fetch("push", { method: "POST", body: new URLSearchParams({ csrf, endpoint, ...keys, zone: "" }) });
}

async function open(path) {
  const [tab] = await self.clients.matchAll({ type: "window" });
  if (!tab) return self.clients.openWindow(path);
  // Asked to go there by itself, so that it keeps a half-filled form first.
  tab.postMessage({ open: path });
  return tab.focus();
}
