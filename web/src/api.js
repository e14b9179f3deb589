// The HTTP API. Addresses are relative, so that the page also works under a stage's path.
import { noToken, retryAfterHeader } from './core.js';
import { language } from './i18n.js';
import { shopper, token } from './session.js';

const TIMEOUT = 10_000; // ms; API Gateway itself gives up after 29 s, a shopper much earlier

/** Why a call did not succeed. `detail` is the server's text for the shopper, or "". status 0: no answer at all. */
export class Problem extends Error {
  constructor(status, body = {}, retryAfter = 0) {
    super(`${status} ${body.code || ''}`);
    this.status = status;
    this.code = body.code || (status ? '' : 'network');
    this.detail = typeof body.detail === 'string' ? body.detail : '';
    this.orderId = body.order_id || '';
    this.challenge = body.challenge;
    this.startTime = body.start_time ? Date.parse(body.start_time) : 0;
    this.retryAfter = body.retry_after_ms || retryAfter;
  }
}

let renew = async () => false;

/**
 * Sets what is asked for a new token when one is refused: it says whether there is one, or throws a Problem. `acts` says
 * that the shopper pressed a button which has no words for a sign-in that has ended.
 */
export const renewBy = (f) => (renew = f);

// A token may end between two looks at the clock. The call is made again with the new one, and with the same key.
async function call(method, path, options = {}) {
  const before = shopper();
  try {
    return await ask(method, path, options);
  } catch (problem) {
    if (!options.personal || !before || !noToken(problem)) throw problem;
    const fresh = shopper()?.token !== before.token || (await renew(options.acts));
    if (!fresh || shopper()?.user !== before.user) throw problem;
    return ask(method, path, options);
  }
}

async function ask(method, path, { body, key, ticket, personal, earlier, fresh } = {}) {
  const headers = { Accept: 'application/json', 'Accept-Language': language() };
  if (personal || (earlier && token())) headers.Authorization = `Bearer ${token()}`;
  if (key) headers['Idempotency-Key'] = key;
  if (ticket) headers.Ticket = ticket;
  if (body) headers['Content-Type'] = 'application/json';
  let response;
  let answer;
  try {
    [response, answer] = (await early(path)) || [];
    if (!response) {
      response = await fetch(path, {
        method,
        headers,
        body: body && JSON.stringify(body),
        credentials: 'omit',
        cache: fresh ? 'no-store' : 'default',
        signal: AbortSignal.timeout(TIMEOUT),
      });
      answer = await response.json();
    }
  } catch {
    // An answer that cannot be read tells as little as none, whatever its status.
    throw new Problem(response && !response.ok ? response.status : 0);
  }
  if (!response.ok) throw new Problem(response.status, answer || {}, retryAfterHeader(response.headers.get('Retry-After')));
  return answer;
}

// What early.js asked for, as [response, answer], to be taken once and while it is new; undefined when there is none.
function early(path) {
  const asked = performance.now() < TIMEOUT ? globalThis.early?.[path] : undefined;
  if (asked) delete globalThis.early[path];
  return asked;
}

const list = (path, page, size) => `${path}?page=${page}&size=${size}`;
const id = encodeURIComponent;

// What everybody sees may come stale from a browser's cache; a shared cache in front is at most a second old.
const shared = { fresh: true };
export const liveItems = async (page, size) => (await call('GET', list('seckill/ing', page, size), shared)).seckills || [];
export const upcomingItems = async (page, size) => (await call('GET', list('seckill/will', page, size), shared)).seckills || [];
export const itemDetail = (item) => call('GET', `seckill/detail/${id(item)}`, shared);
export const itemStatus = (item) => call('GET', `seckill/status/${id(item)}`, shared);
export const serverTime = async () => (await call('GET', 'seckill/time')).now_ms;

/** Sends a purchase; the same key is the same purchase. */
export const buy = (item, body, key, ticket) =>
  call('POST', 'seckill/buy', { body: { seckill_id: item, ...body }, key, ticket, personal: true });

/** Asks for an item's "challenge", or answers it for a "ticket". */
export const admit = (what, body) => call('POST', `seckill/${what}`, { body, personal: true });

/** The shopper's newest order of an item, in short. */
export const newestOrder = (item) => call('GET', `seckill/order/${id(item)}`, { personal: true });
export const orderDetail = (order) => call('GET', `order/${id(order)}`, { personal: true });
export const myOrders = async (page, size) => (await call('GET', list('order/list', page, size), { personal: true })).orders || [];

/** Does something to an order, or asks for something of it: "cancel", "received", … */
export const orderAct = (order, what, body) => call('POST', `order/${id(order)}/${what}`, { body, personal: true, acts: true });

/** Another pass to push for a shopper who has this order, {url, pass}. */
export const pushOffer = (order) => orderAct(order, 'push');

/** Where a shopper can sign in: [] when the shop has no issuer. */
export const issuers = async () => (await call('GET', 'signin')).issuers || [];

/** Exchanges what an issuer gave for a token of ours; the session ends that this tab had. */
export const exchange = (body) => call('POST', 'signin', { body, earlier: true });

/** Where the shopper is signed in. */
export const signIns = async () => (await call('GET', 'signin/sessions', { personal: true })).sessions || [];

/** Ends a session of the shopper; without one, all. */
export const endSession = (session) => call('POST', 'signin/end', { body: { session }, personal: true });

/** The way to the cashier for an order, {url}; `kind` is "page" on a computer and "wap" on a phone. */
export const payOrder = (order, kind) => orderAct(order, 'payment', { kind });

/** The demo shoppers; they exist only where the whole system runs on one machine, and the page says so. */
export async function demoShoppers() {
  if (document.documentElement.dataset.local === undefined) return [];
  try {
    return (await call('GET', '_local/shoppers')).shoppers || [];
  } catch {
    return []; // the sheet then offers a token only
  }
}

/** What the status page shows. */
export const localState = () => call('GET', '_local/state');
