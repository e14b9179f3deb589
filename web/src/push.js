// Push, the page's half: a WebSocket over which the shop tells what becomes of an order, so that the page need not ask.
// It is loaded when an order is followed. A push that is missed is never an outcome that is missed: whoever follows the
// order asks after each opening and closing, and polls while there is no connection. What it needs comes in, so that the
// tests can break connections at will; it imports nothing that app.js has.

const PROTOCOL = 'seckill.v1';
const REPLACED = 1008; // close code: a later page of this shopper took this page's place, or this page read too slowly
const CLOSES = 2; // by the other side, after which the page polls: something on the way does not like connections
const BACK = [2_000, 8_000, 30_000]; // ms before each attempt to connect again, from half of it to one and a half times

/** How often an order is asked about all the same while its changes are heard, ms. */
export const SAFETY = 60_000;

/** How long an ask waits for a connection that is being opened, ms: a push is worth a moment, not more. */
export const SOON = 2_000;

/**
 * A purchase within RUSH ms of the opening may have to wait for its row, and thousands with it. So its page asks nothing
 * while it connects, for up to SOON ms, nor for PATIENCE ms when it is open: below a second, should it have missed the
 * push. At other times an answer is there at once.
 */
export const RUSH = 60_000;
export const PATIENCE = 700;

/** How long a page asks nothing whose connection catches up: it tells what happened before it was open, ms. */
export const CAUGHT_UP = 10_000;

/**
 * A connection for one order, opened by the first ready (with an offer) or wait; again after it broke, at most
 * BACK.length times; never again after it was refused at first, replaced, or closed CLOSES times.
 * @param {object} io
 * @param {string} io.orderId
 * @param {{url: string, pass: string, catches_up?: boolean}} [io.offer]  of buy's answer; a pass is good for one connection
 * @param {number} [io.since]  how long ago the sale opened, ms
 * @param {() => Promise<object>} io.newOffer  POST /order/{id}/push
 * @param {(ms: number, wake?: AbortSignal) => Promise<void>} io.wait
 * @param {AbortSignal} io.signal  the shopper left
 * @param {() => string} io.user  the shopper; another one, or none, ends the line
 * @param {(f: () => void) => () => void} io.onToken  calls f whenever there is another token, or none
 * @param {Window} [io.page]
 * @param {() => number} [io.random]
 */
export function openLine({ orderId, offer, since, newOffer, wait, signal, user, onToken, page = globalThis, random = Math.random }) {
  let patience = offer?.catches_up ? CAUGHT_UP : offer && since < RUSH ? PATIENCE : 0; // until the first ask
  let alive = true; // it is open, or may be yet
  let begun = false;
  let open = false;
  let hidden = false; // out of sight: closed, and nobody reads the page
  let sequence = 0; // the sequence of the latest known change
  let state; // the order's state when the page last asked
  let news; // the latest change that was heard and not yet returned
  let rung = false; // somebody has to ask
  let wake = () => {}; // ends the wait at hand
  let end = () => {}; // ends the connection at hand
  let shown = () => {};
  let decide; // of `decided`: it is open, or not
  let decided;

  const waking = () => {
    const waiting = new AbortController();
    wake = () => waiting.abort();
    return waiting.signal;
  };
  const take = () => {
    const heard = news;
    news = undefined;
    return heard;
  };
  const ring = () => {
    rung = true;
    wake();
  };
  const undecided = () => (decided = new Promise((resolve) => (decide = resolve)));
  undecided();

  function hear(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return; // not a message of this protocol
    }
    if (message?.order_id !== orderId || typeof message.state !== 'string' || !(message.sequence > sequence)) return;
    sequence = message.sequence;
    if (message.state === state) return; // the page has asked, which was quicker
    news = message;
    wake();
  }

  // A connection from the handshake to the end. Says how it ended: "refused", "broken" after it was open, "replaced",
  // or "left" by this page.
  function connection({ url, pass }) {
    return new Promise((resolve) => {
      const socket = new page.WebSocket(url, [PROTOCOL, pass]);
      let how = 'refused';
      const over = (why) => {
        end = () => {};
        socket.onopen = socket.onmessage = socket.onclose = null;
        if (open && why !== 'left') ring(); // what is pushed now is missed
        open = false;
        resolve(why);
      };
      end = () => {
        over('left');
        socket.close();
      };
      socket.onopen = () => {
        how = 'broken';
        open = true;
        decide();
        ring(); // what was pushed before is missed
      };
      socket.onmessage = ({ data }) => hear(data);
      socket.onclose = ({ code }) => over(code === REPLACED ? 'replaced' : how);
    });
  }

  async function attempt() {
    try {
      const way = offer || (await newOffer());
      offer = undefined;
      return { how: hidden || !alive ? 'left' : await connection(way) };
    } catch (problem) {
      return { how: 'refused', after: problem.retryAfter };
    }
  }

  async function live() {
    let opened = false;
    let closes = 0;
    for (let again = 0; alive; ) {
      if (hidden) {
        await new Promise((resolve) => (shown = resolve));
        offer = undefined; // the pass may have ended meanwhile
        continue;
      }
      const { how, after = 0 } = await attempt();
      if (how === 'left') continue;
      opened ||= how === 'broken';
      closes += how === 'broken';
      if (how === 'replaced' || !opened || closes === CLOSES || again === BACK.length) break;
      decide();
      await wait(Math.max(after, BACK[again++] * (0.5 + random())));
    }
    alive = false;
    decide();
  }

  function begin() {
    if (begun) return;
    begun = true;
    live();
  }

  const close = () => {
    alive = false;
    end();
    ring();
  };
  signal.addEventListener('abort', close);

  // A page out of sight needs no push; and a page that is left with a connection is not kept in the browser's page
  // cache.
  function hide() {
    hidden = true;
    end();
  }

  function show() {
    if (!hidden || page.document.visibilityState === 'hidden') return;
    hidden = false;
    if (alive) undecided();
    shown();
    ring();
  }

  // A new pass and a new connection: the network is another, or the token, and no connection outlives its sign-in.
  function renew() {
    if (!open) return;
    undecided();
    end();
  }

  const look = () => (page.document.visibilityState === 'hidden' ? hide() : show());
  page.document.addEventListener('visibilitychange', look, { signal });
  page.addEventListener('pagehide', hide, { signal });
  page.addEventListener('pageshow', show, { signal });
  page.addEventListener('online', renew, { signal });
  look();
  const who = user();
  signal.addEventListener('abort', onToken(() => (user() === who ? renew() : close())));

  return {
    /** Resolves when there is nothing to wait for before an ask; with the change that made it needless, if there was one. */
    async ready() {
      if (offer) begin();
      const ms = patience;
      patience = 0;
      if (begun && alive && !open) await Promise.race([decided, wait(SOON)]);
      rung = false;
      if (!ms || !open) return undefined;
      if (!news) await wait(ms, waking());
      if (!news) rung = false; // what follows is an ask
      return take();
    },
    /**
     * Waits until it is time to ask again about an order: for `ms`, or until a change is heard. Resolves with that change,
     * {order_id, state, …}, or undefined.
     */
    async wait(ms, order) {
      begin();
      state = order?.state;
      sequence = Math.max(sequence, order?.history.length || 0);
      if (news && (news.state === state || news.sequence < sequence)) news = undefined;
      // Nobody pushes that an order can be paid now because its pay string could be signed.
      const awaited = order?.state === 'pending_payment' && !order.canPay;
      const woken = waking();
      if (!rung && !news) await wait(order && !awaited && (open || hidden) ? Math.max(ms, SAFETY) : ms, woken);
      if (!news) rung = false;
      return take();
    },
  };
}
