// How a page hears what happens: by a stream of events, which is begun again whenever it was lost.

const { $, reach } = sayso;
const AWAY_AFTER = 1500;
// The server gives a sign of life every ten seconds.
const SILENCE = 30_000;
const LATE = 15_000;
const LOOK_EVERY = 5000;

// `hear` gets each message and its type. `beat` is told of signs of life; `lost`, that the stream has been away for a moment;
// `back`, that it is there; `ended`, that nobody is signed in any more.
function newStream({ address, types = ["message"], hear, beat = () => {}, lost = () => {}, back = () => {}, ended = showSignedOut }) {
  let [source, heard, timer] = [null, 0, null];

  function open() {
    close();
    const mine = (source = new EventSource(address()));
    const alive = () => (heard = Date.now());
    alive();
    for (const type of types) {
      mine.addEventListener(type, (event) => {
        alive();
        hear(JSON.parse(event.data), type);
      });
    }
    mine.addEventListener("beat", () => {
      alive();
      beat();
    });
    mine.addEventListener("open", () => {
      alive();
      notLost();
      back();
    });
    mine.addEventListener("bye", end);
    mine.addEventListener("error", () => {
      lostSoon();
      // A refused stream is not tried again by the browser itself.
      if (mine.readyState === EventSource.CLOSED) comeBackSoon(mine);
    });
  }

  function close() {
    source?.close();
    source = null;
    notLost();
  }

  function end() {
    close();
    ended();
  }

  function comeBackSoon(refused) {
    setTimeout(() => source === refused && comeBack(refused), AWAY_AFTER);
  }

  // Why it was refused a stream does not say.
  async function comeBack(refused) {
    const reply = await reach(address(), { method: "HEAD" }).catch(() => null);
    if (source !== refused) return;
    if (reply?.status === 401) end();
    else if (reply?.ok) open();
    else comeBackSoon(refused);
  }

  function lostSoon() {
    timer ??= setTimeout(lost, AWAY_AFTER);
  }

  function notLost() {
    clearTimeout(timer);
    timer = null;
  }

  // A connection may die without a word, when a phone goes from one network to another.
  function noticeSilence() {
    const patience = source?.readyState === EventSource.OPEN ? SILENCE : LATE;
    if (!source || heardWithin(patience)) return;
    open();
    lostSoon();
  }

  const heardWithin = (patience) => Date.now() - heard <= patience;
  setInterval(noticeSilence, LOOK_EVERY);
  return { open, close, heardWithin, state: () => source?.readyState };
}

// Browsers allow few connections to one host: what nobody looks at needs none.
function openWhileVisible(stream) {
  const look = () => (document.hidden ? stream.close() : stream.open());
  document.addEventListener("visibilitychange", look);
  look();
}

function showAway(away) {
  $("[data-away]").hidden = !away;
}

function showSignedOut() {
  showAway(false);
  $("[data-signed-out]").hidden = false;
}

Object.assign(sayso, { SILENCE, LATE, newStream, openWhileVisible, showAway, showSignedOut });
