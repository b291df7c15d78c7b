// How all scripts of a page reach the server: nothing is waited for without end, and of what was sent it is found out
// whether it arrived. (Shared by name and not by import, because the addresses of scripts change with their content.)

const WITHIN = 15_000;
const AGAIN = 2000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function reach(address, options = {}) {
  const limit = new AbortController();
  // Its reply too must have come by then.
  setTimeout(() => limit.abort(), WITHIN);
  return fetch(address, { ...options, signal: limit.signal });
}

const newAttempt = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

// What became of something that was sent, when no reply came: "taken", "called off" (it never will be), "signed out".
async function fateOf(attempt) {
  const csrf = document.querySelector("meta[name=sayso-csrf]").content;
  // As long as the page is open: whoever sent it has to know.
  for (;;) {
    try {
      const reply = await reach("attempts", { method: "POST", body: new URLSearchParams({ csrf, attempt }) });
      if (reply.ok) return (await reply.json()).taken ? "taken" : "called off";
      if (reply.status === 401 || reply.status === 403) return "signed out";
    } catch {
      // Still away.
    }
    await pause(AGAIN);
  }
}

globalThis.sayso = { AGAIN, pause, reach, newAttempt, fateOf };
