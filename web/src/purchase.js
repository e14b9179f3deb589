// What a purchase does over time: send until there is an answer, then follow the order until it rests. No document, no
// network of its own: both come in as functions, and so the tests can lose answers at will.
import { decide, orderOf, pollWait, retryWait } from './core.js';

/** How long a purchase is sent again by itself before the shopper is asked, ms. */
export const GIVE_UP = 120_000;

/** How long until a refused ticket is sent once more, ms: where it came to, its key may be too new to be known. */
export const KEY_WAIT = 1_000;

/**
 * Sends one purchase until it is answered. `send` must use the same idempotency key each time.
 * @param {object} io
 * @param {() => Promise<object>} io.send  one attempt; throws a Problem
 * @param {(ms: number) => Promise<void>} io.wait
 * @param {() => number} io.now  the server's clock
 * @param {AbortSignal} io.signal  the shopper left
 * @param {boolean} io.sentBefore  an earlier call sent it with the same key (a reload, "try again"): it may be an order
 * @param {boolean} [io.ticket]  it is sent with one
 * @param {() => Promise<boolean>} io.soldOut  whether the item's status says so. Asked before each repeat while every
 *   attempt got 429, which the gateway answers before anything is done
 * @param {(state: {kind: string, ms: number, problem: object}) => void} io.onWait  "retrying" or "waiting_start"
 * @returns {Promise<{kind: string, orderId?: string, push?: object, problem?: object}>} accepted, limit, sign_in,
 *   refused, unanswered (nobody knows; the same key may be sent again) or left
 */
export async function purchase({ send, wait, now, signal, onWait, sentBefore, ticket, soldOut }) {
  const began = now();
  let untouched = !sentBefore; // no attempt can have become an order
  for (let attempt = 0; ; attempt++) {
    let problem;
    try {
      const { order_id: orderId = '', push } = await send();
      return { kind: 'accepted', orderId, push };
    } catch (caught) {
      problem = caught;
    }
    const what = decide(problem);
    untouched = untouched && problem.status === 429;
    let ms;
    if (what === 'retry') {
      if (now() - began > GIVE_UP) return { kind: 'unanswered', problem };
      ms = retryWait(attempt, problem.retryAfter);
      onWait({ kind: 'retrying', ms, problem });
    } else if (what === 'wait_start') {
      // A server whose clock is behind ours answers so again at the start: never come back in less than a moment.
      ms = Math.max((problem.startTime || 0) - now(), retryWait(attempt, 0));
      onWait({ kind: 'waiting_start', ms, problem });
    } else if (ticket && problem.code === 'ticket_required') {
      ticket = false;
      ms = retryWait(attempt, KEY_WAIT);
      onWait({ kind: 'retrying', ms, problem });
    } else {
      return { kind: what, problem };
    }
    await wait(ms);
    if (signal.aborted) return { kind: 'left' };
    if (untouched && (await soldOut())) return { kind: 'refused', problem: { status: 409, code: 'sold_out', detail: '' } };
  }
}

/**
 * Follows an order until nothing changes by itself, telling each answer. Where the shop pushes, it asks once when that
 * begins, unless a change is heard first, and again after each change that is not enough.
 * @param {object} io
 * @param {string} io.orderId  "" follows the newest order of the item
 * @param {() => Promise<object>} [io.newest]  GET /seckill/order/{item}; without it only byId is asked
 * @param {(id: string) => Promise<object>} io.byId  GET /order/{id}
 * @param {(ms: number) => Promise<void>} io.wait
 * @param {{ready: () => Promise<object>, wait: (ms: number, order?: object) => Promise<object>}} [io.line]  as openLine's
 * @param {(order: object, whole?: object) => void} io.onOrder  `whole` is the answer of byId, where that was asked
 * @param {(order: object, message: object) => void} [io.onHeard]  what a push says about it
 * @param {(order: object) => boolean} [io.enough]  whether that is all; else the whole follows
 * @param {(problem: object) => void} io.onTrouble  no answer just now; it goes on
 */
export async function follow({ orderId, newest, byId, wait, line = { ready() {}, wait: (ms) => wait(ms) }, signal, onOrder, onHeard, enough = () => false, onTrouble }) {
  let last = '';
  let attempt = 0;
  let failures = 0;
  let heard;
  let fresh = false; // a change was heard since the page asked
  const hear = (message) => {
    if (!message || signal.aborted) return;
    heard = orderOf(message);
    fresh = true;
    onHeard?.(heard, message);
  };
  while (!signal.aborted) {
    let ms;
    let known;
    try {
      if (!fresh) hear(await line.ready());
      const needless = fresh && enough(heard);
      if (fresh && !needless) await line.ready();
      fresh = false;
      if (signal.aborted) return;
      const { order, whole } = needless ? { order: heard } : await look(orderId, heard ? undefined : newest, byId, heard);
      if (signal.aborted) return;
      failures = 0;
      attempt = order.state === last ? attempt + 1 : 0;
      last = order.state;
      if (!needless) onOrder(order, whole);
      ms = pollWait(order.state, attempt, order.retryAfter);
      if (!ms) return;
      known = order;
    } catch (problem) {
      if (signal.aborted) return;
      onTrouble(problem);
      if (decide(problem) !== 'retry') return;
      ms = retryWait(failures++, problem.retryAfter);
    }
    hear(await line.wait(ms, known));
  }
}

// The newest order may be a later order than this purchase's (from another tab). An order without a row is still
// queued.
async function look(orderId, newest, byId, heard) {
  const order = newest ? orderOf(await newest()) : heard;
  if (newest && (!orderId || order.id === orderId)) return { order };
  try {
    const whole = await byId(orderId);
    return { order: orderOf(whole), whole };
  } catch (problem) {
    if (problem.status !== 404 || !order) throw problem;
    return { order: heard || orderOf({ id: orderId, state: 'queued', retry_after_ms: order.retryAfter }) };
  }
}
