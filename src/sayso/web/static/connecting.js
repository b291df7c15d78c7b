// The page that a program has opened, where nobody is signed in: shows what was decided in the inbox as soon as it is.

const waiting = document.querySelector("[data-waiting]");
const AGAIN = 5_000;
// The server answers after 25 seconds if nothing was decided. A connection may die without a word.
const WITHIN = 35_000;

async function said() {
  const limit = new AbortController();
  setTimeout(() => limit.abort(), WITHIN);
  const reply = await fetch(waiting.dataset.waiting, { signal: limit.signal });
  return reply.ok ? (await reply.json()).said : Promise.reject(new Error(`${reply.status}`));
}

async function follow() {
  for (;;) {
    const heard = await said().catch(() => null);
    if (heard === "nothing") break;
    if (heard) return location.reload();
    // The server is away; what waits there goes on waiting.
    if (heard === null) await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
  waiting.hidden = true;
  document.querySelector("[data-waited]").hidden = false;
}

follow();
