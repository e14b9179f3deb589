// The page's rules that need neither a document nor a network: times, money, retries, what an order means to its
// shopper. Times are milliseconds; `now` is the server's clock.

/** Largest count of one order and longest address (characters), as the API checks them. */
export const MAX_COUNT = 50;
export const MAX_ADDRESS = 500;

/** ms between looks at lists and stock while a sale is near, and otherwise; the wait is spread by up to SPREAD more. */
export const LOOK_NEAR = 5_000;
export const LOOK_FAR = 30_000;
export const SPREAD = 3_000;

const NEAR = 60_000; // ms before its start from which a sale is near
const SECOND = 1000;
const FIRST_WAIT = 500; // ms before the first retry that the server set no time for
const LONGEST_WAIT = 8 * SECOND; // longer, and a shopper takes the page for dead

/** Splits a rest of time, rounded up to whole seconds: it shows zero only when nothing is left. */
export function splitTime(ms) {
  const all = Math.max(0, Math.ceil(ms / SECOND));
  return {
    days: Math.floor(all / 86400),
    hours: Math.floor(all / 3600) % 24,
    minutes: Math.floor(all / 60) % 60,
    seconds: all % 60,
  };
}

const two = (n) => String(n).padStart(2, '0');

/** "mm:ss", or "h:mm:ss" from an hour on: how long an order may still be paid. */
export function clockText(ms) {
  const { days, hours, minutes, seconds } = splitTime(ms);
  const h = days * 24 + hours;
  return (h ? `${h}:` : '') + `${two(minutes)}:${two(seconds)}`;
}

/** The parts of a sale's countdown: days (a number) and "hh", "mm", "ss". */
export function countdown(ms) {
  const { days, hours, minutes, seconds } = splitTime(ms);
  return { days, parts: [two(hours), two(minutes), two(seconds)] };
}

/**
 * The difference between the server's clock and the local one, by the sample with the shortest round trip; the answer
 * is taken to be from the middle of the trip, so the error is at most half of it. Undefined without a sample.
 * @param {{sent: number, received: number, server: number}[]} samples
 */
export function bestOffset(samples) {
  let best;
  for (const s of samples) {
    const trip = s.received - s.sent;
    if (trip >= 0 && (!best || trip < best.trip)) best = { trip, offset: s.server - (s.sent + trip / 2) };
  }
  return best?.offset;
}

/**
 * How long to wait before trying again. The server's wish is a floor, spread by up to a fifth; without one the wait
 * doubles from 0.5 s to 8 s, spread over its upper half. The spread keeps a crowd from coming back in step.
 */
export function retryWait(attempt, retryAfter, random = Math.random()) {
  if (retryAfter > 0) return Math.round(retryAfter * (1 + random / 5));
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(attempt, 10));
  return Math.round(wait * (0.5 + random / 2));
}

/**
 * Milliseconds until a page asks again for what it could not get: 1 s, doubled at each failure up to LOOK_FAR, but at
 * least the server's wish; plus up to half of that at random, so that a crowd does not come back in step.
 */
export function lookAgain(failures, retryAfter, random = Math.random()) {
  const wait = Math.min(LOOK_FAR, SECOND * 2 ** Math.min(failures, 10));
  return Math.round(Math.max(retryAfter || 0, wait) * (1 + random / 2));
}

/** Milliseconds of a Retry-After header: seconds or an HTTP date; 0 when it says nothing usable (RFC 9110, 10.2.3). */
export function retryAfterHeader(value, localNow = Date.now()) {
  if (!value) return 0;
  if (/^\d+$/.test(value)) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - localNow);
}

/**
 * How long until an order is asked about again; 0: nothing will change by itself. A queued order moves within moments,
 * a payment takes a person's time.
 */
export function pollWait(state, attempt, retryAfter) {
  switch (state) {
    case 'queued':
    case 'none':
      return Math.min(5 * SECOND, Math.max(retryAfter || FIRST_WAIT, FIRST_WAIT) * 1.5 ** Math.max(0, attempt - 4));
    case 'pending_payment':
      return attempt < 60 ? 2 * SECOND : 5 * SECOND;
    case 'closing':
      return Math.max(retryAfter || 0, 3 * SECOND);
    default:
      return 0;
  }
}

/**
 * Where an item's sale is: "upcoming", "live", "stopped" or "ended". The sale is open in [start, end). While the server's
 * time is not known (undefined), it is where the server said: a device's clock may be hours off.
 */
export function phase(item, now) {
  if (item.state === 'stopped') return 'stopped';
  if (now === undefined) return { waiting: 'upcoming', online: 'live' }[item.state] || 'ended';
  if (now < Date.parse(item.start_time)) return 'upcoming';
  return now < Date.parse(item.end_time) ? 'live' : 'ended';
}

/** How long until the items' stock is asked for again, ms: soon while one of them is on sale or about to be. */
export function lookWait(items, now, random = Math.random()) {
  return (items.some((item) => isNear(item, now)) ? LOOK_NEAR : LOOK_FAR) + random * SPREAD;
}

/** Whether an item is on sale, or about to be. */
export function isNear(item, now) {
  const where = phase(item, now);
  return (where === 'live' && item.stock > 0) || (where === 'upcoming' && Date.parse(item.start_time) - now < NEAR);
}

const HOLDING = ['queued', 'pending_payment', 'closing'];

/** Whether an order still holds units without being paid. */
export const holding = (order) => HOLDING.includes(order.state);

const GAVE_BACK = ['expired', 'cancelled', 'rejected', 'refund_due', 'refunded'];

/** Whether an order gave its units back. */
export const gaveBack = (order) => GAVE_BACK.includes(order.state);

const spans = (item) => (item?.variant?.limit_spans ? item.variant.family : '');

/** The orders, as /order/list has them, whose units an item's limit counts: its own, or its whole family's. */
export const counted = (orders, item) =>
  orders.filter((o) => !gaveBack(o) && (o.seckill?.id === item.id || (spans(item) && spans(o.seckill) === spans(item))));

/** How many units that the item's limit counts a shopper has. */
export const unitsOf = (orders, item) => counted(orders, item).reduce((sum, o) => sum + o.count, 0);

/** The largest count that one order may ask for. */
export const maxCount = (item) => Math.max(1, Math.min(item.sk_per_max_count || 1, MAX_COUNT));

/** What is left of the stock, 0..1. */
export function leftShare(item) {
  return item.max_sk_count > 0 ? Math.min(1, Math.max(0, item.stock / item.max_sk_count)) : 0;
}

/** Yuan with two decimals and grouped thousands: "1,288.00". */
export function yuan(amount) {
  const [whole, cents] = Number(amount || 0).toFixed(2).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`;
}

/** How many percent below the ordinary price the sale is; 0 when it is not. */
export function percentOff(item) {
  const was = item.commodity?.price || 0;
  return was > item.sk_price ? Math.floor((1 - item.sk_price / was) * 100) : 0;
}

/** The parts of an address, in the order in which they are written on a parcel. */
export const ADDRESS_FIELDS = ['name', 'phone', 'region', 'street'];

/** A text as the API takes it: one line, without the invisible characters that pasting brings along. */
export const clean = (text) =>
  (text || '').replace(/(?![\u200c\u200d\u{e0020}-\u{e007f}])\p{Cf}|[\u034f\u115f\u1160\u3164\uffa0]|\p{Cs}/gu, '').replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** The one text that the API takes: the parts, separated by blanks. */
export const addressText = (parts) =>
  ADDRESS_FIELDS.map((name) => clean(parts[name])).join(' ').trim();

/**
 * What is wrong with an address, by part: {} when nothing is, else {name: 'empty' | 'short' | 'digits', …}; `street` is
 * "long" when the whole is. Characters are counted as the API does.
 */
export function addressFaults(parts) {
  const faults = {};
  const text = (name) => clean(parts[name]);
  for (const name of ADDRESS_FIELDS) if (!text(name)) faults[name] = 'empty';
  if (text('phone') && !/^\+?[\d\s-]{6,20}$/.test(text('phone'))) faults.phone = 'digits';
  if (text('region') && [...text('region')].length < 2) faults.region = 'short';
  if (text('street') && [...text('street')].length < 4) faults.street = 'short';
  if ([...addressText(parts)].length > MAX_ADDRESS) faults.street = 'long';
  return faults;
}

/**
 * The purchase that a shopper means. The key of an unanswered one is used again as long as the body is the same: then
 * two answers can only be about one order. Another body is another purchase.
 */
export function intentFor(stored, body, mint) {
  const same = stored?.key && Object.keys(body).every((name) => stored[name] === body[name]);
  return same ? stored : { key: mint(), ...body };
}

/** The body of the request for a purchase that intentFor returned. */
export const bodyOf = ({ key: _key, title: _title, ...body }) => body;

/**
 * What to do about an unsuccessful buy: "retry" with the same key (the effect is unknown, or the server asks for it),
 * "wait_start", "limit" (look at the order it names), "sign_in", or "refused" for good.
 */
export function decide(problem) {
  if (problem.status === 425) return 'wait_start';
  if (problem.status === 0 || problem.status === 429 || problem.status >= 500) return 'retry';
  if (noToken(problem)) return 'sign_in';
  return problem.code === 'limit_reached' && problem.orderId ? 'limit' : 'refused';
}

/** Whether a problem says that the shopper's token is not valid; a shopper who may not do something has a good one. */
export const noToken = ({ status, code }) => (status === 401 || status === 403) && (!code || code === 'invalid_token');

/** One shape for the answers of /seckill/order/{item} and /order/{id}. */
export function orderOf(answer) {
  return {
    id: answer.order_id || answer.id || '',
    state: answer.state || (answer.alipay_order ? 'pending_payment' : 'none'),
    payBy: answer.pay_by ? Date.parse(answer.pay_by) : 0,
    canPay: Boolean(answer.alipay_order || answer.sequence), // a push does not say it: the cashier's button finds out
    reason: answer.reason || '',
    help: answer.help || '',
    retryAfter: answer.retry_after_ms || 0,
    history: answer.history || [],
    payments: answer.payments || [],
  };
}

/** Whether a payment came after the order had closed. */
export function lateMoney(order) {
  if (order.state !== 'refund_due' && order.state !== 'refunded') {
    return ['expired', 'cancelled'].includes(order.state) && order.payments.some((p) => p.state !== 'captured');
  }
  return order.history.some((h) => h.state === 'expired' || h.state === 'cancelled');
}

/**
 * What an order means to its shopper: the name of the text that says it, how it looks ("wait", "good", "bad", "plain"),
 * and whether it can be paid now.
 */
export function outcome(order, now) {
  const payable = order.state === 'pending_payment' && order.canPay && now < order.payBy;
  if (lateMoney(order)) return { text: order.state === 'refunded' ? 'late_refunded' : 'late', look: 'plain', payable: false };
  switch (order.state) {
    case 'queued':
    case 'none':
      return { text: 'queued', look: 'wait', payable };
    case 'pending_payment':
      return { text: payable || now < order.payBy ? 'pay' : 'pay_over', look: 'wait', payable };
    case 'closing':
      return { text: 'closing', look: 'wait', payable };
    case 'paid':
    case 'confirmed':
    case 'shipped':
    case 'received':
    case 'completed':
      return { text: order.state, look: 'good', payable };
    case 'rejected':
      return { text: ['sold_out', 'limit_reached', 'stopped', 'blocked'].includes(order.reason) ? `rejected_${order.reason}` : 'rejected', look: 'bad', payable };
    case 'expired':
    case 'cancelled':
    case 'refund_due':
    case 'refunded':
      return { text: order.state, look: 'plain', payable };
    default:
      return { text: 'unknown', look: 'plain', payable: false };
  }
}

const CONFIRMED_SOON = 30_000; // ms from the way back within which a payment is normally confirmed

/**
 * The name of the text that a shopper who was at the cashier reads beside the order's outcome; "" for none.
 * `note` is what this tab knows of the cashier: {what: "went", "back" or "elsewhere", ago (ms)}, or undefined.
 */
export function cashierText(order, note, now) {
  if (!note || order.payments.length > 0) return '';
  switch (order.state) {
    case 'pending_payment':
      if (now >= order.payBy) return 'cashier_over';
      if (note.what === 'back') return note.ago < CONFIRMED_SOON ? 'confirming' : 'confirming_long';
      return note.what === 'went' ? 'cashier_went' : 'cashier_elsewhere';
    case 'closing':
      return 'cashier_over';
    case 'expired':
    case 'cancelled':
      return 'cashier_closed';
    default:
      return '';
  }
}

/** Where an order's money is, as the name of a text, when no payment row says it. */
export function moneyText(order) {
  if (['queued', 'none'].includes(order.state)) return 'money_none';
  if (order.state === 'pending_payment') return 'money_unpaid';
  if (order.state === 'closing') return 'money_asking';
  if (['expired', 'cancelled', 'rejected'].includes(order.state)) return 'money_none';
  if (order.state === 'refund_due') return 'money_refund_due';
  return order.state === 'refunded' ? 'money_refunded' : 'money_captured';
}

/** The user id in a token, as text because it may have 19 digits; "" when it is not a token. Nothing is verified here. */
export function tokenUser(token) {
  const part = token.split('.')[1];
  if (!part || token.split('.').length !== 3) return '';
  try {
    const json = atob(part.replace(/-/g, '+').replace(/_/g, '/'));
    return /"iss"\s*:\s*"?(\d{1,20})"?\s*[,}]/.exec(json)?.[1] || '';
  } catch {
    return '';
  }
}

/** A sign-in is renewed this long before its end, ms; a crowd that signed in together is spread by up to RENEW_SPREAD. */
export const RENEW_BEFORE = 5 * 60_000;
export const RENEW_SPREAD = 60_000;

/** A token that ends from BEFORE_OPENING to AFTER_OPENING is renewed before the opening, by LAST_RENEWAL at the latest. */
export const BEFORE_OPENING = 10 * 60_000;
export const AFTER_OPENING = 5 * 60_000;
const LAST_RENEWAL = 2 * 60_000; // ms before the opening: from then on an issuer has other things to do

/**
 * When a sign-in that holds from `since` to `expires` is renewed, or its shopper warned: some minutes before its end, and
 * before the opening of a sale that it would not outlive for long. Never in the first half of its life: an issuer may
 * give short ones. `random`, 0..1, is one number for each tab.
 */
export function renewalDue({ since, expires }, openings, random) {
  let due = expires - RENEW_BEFORE - random * RENEW_SPREAD;
  for (const opening of openings) {
    if (expires < opening - BEFORE_OPENING || expires >= opening + AFTER_OPENING) continue;
    due = Math.min(due, opening - BEFORE_OPENING + random * (BEFORE_OPENING - LAST_RENEWAL));
  }
  return Math.max(due, since + (expires - since) / 2);
}

/** Longest wait for a sign-in service that is busy or away, ms; then the shopper is asked. */
export const SIGN_IN_PATIENCE = 30_000;

/** Sends until there is an answer that waiting would not change, waiting SIGN_IN_PATIENCE in all; throws the last Problem. */
export async function patiently(send, wait, onWait = () => {}) {
  let waited = 0;
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (problem) {
      const ms = retryWait(attempt, problem.retryAfter);
      if (decide(problem) !== 'retry' || waited + ms > SIGN_IN_PATIENCE) throw problem;
      onWait(ms);
      await wait(ms);
      waited += ms;
    }
  }
}
