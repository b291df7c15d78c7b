// The service worker: leads from a notification to its question. It keeps nothing and answers no requests.

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.path));
});

async function open(path) {
  const [tab] = await self.clients.matchAll({ type: "window" });
  if (!tab) return self.clients.openWindow(path);
  // Asked to go there by itself, so that it keeps a half-filled form first.
  tab.postMessage({ open: path });
  return tab.focus();
}
