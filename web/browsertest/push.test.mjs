// Tests of push on the page: connections that the test opens and breaks, on a clock that the test moves.
// Run: node --test
import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import test from 'node:test';
import { CAUGHT_UP, PATIENCE, RUSH, SAFETY, SOON, openLine } from '../src/push.js';
import { follow } from '../src/purchase.js';

const MINUTE = 60_000;
const FIRST = { url: 'wss://push.example.com/live', pass: '1001.1.first.mac' };
const queued = { state: 'queued', order_id: 'oa' };
const toPay = { state: 'pending_payment', order_id: 'oa', pay_by: '2026-11-11T00:15:00Z', alipay_order: 'app_id=1' };
const detail = (answer, changes) => ({ ...answer, id: answer.order_id, history: Array(changes).fill({ state: answer.state }), payments: [] });
const placed = { order_id: 'oa', state: 'pending_payment', sequence: 1, pay_by: '2026-11-11T00:15:00Z' };
const paid = { order_id: 'oa', state: 'paid', sequence: 2 };

const idle = () => new Promise((resolve) => setImmediate(resolve));

/** A page with sockets, a clock and a shopper, all in the test's hands. */
function world() {
  const timers = new Set();
  const left = new AbortController();
  setMaxListeners(0, left.signal);
  const page = Object.assign(new EventTarget(), { document: Object.assign(new EventTarget(), { visibilityState: 'visible' }) });
  const w = { page, time: 0, sockets: [], passes: 0, asks: [], seen: [], heard: [], wholes: 0, troubles: 0, left, user: '1001', refusal: undefined };
  // As pause of dom.js: it also ends when the network returns.
  w.wait = (ms, wake = left.signal) =>
    new Promise((resolve) => {
      assert.ok(Number.isFinite(ms), `a wait of ${ms} ms`);
      const signals = [left.signal, wake];
      const done = () => {
        timers.delete(timer);
        for (const s of signals) s.removeEventListener('abort', done);
        page.removeEventListener('online', done);
        resolve();
      };
      const timer = { at: w.time + ms, done };
      timers.add(timer);
      for (const s of signals) s.addEventListener('abort', done);
      page.addEventListener('online', done);
      if (signals.some((s) => s.aborted)) done();
    });
  w.pass = async (ms) => {
    await idle();
    for (const end = w.time + ms; ; await idle()) {
      const next = [...timers].filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      w.time = next ? next.at : end;
      if (!next) return;
      next.done();
    }
  };
  w.page.WebSocket = class {
    constructor(url, protocols) {
      Object.assign(this, { url, protocols, closed: false });
      w.sockets.push(this);
    }
    opens = () => this.onopen?.();
    says = (message) => this.onmessage?.({ data: typeof message === 'string' ? message : JSON.stringify(message) });
    ends = (code = 1006) => this.onclose?.({ code });
    close = () => (this.closed = true);
  };
  w.sees = (state) => {
    w.page.document.visibilityState = state;
    w.page.document.dispatchEvent(new Event('visibilitychange'));
  };
  const tokens = new Set();
  w.token = (user) => {
    w.user = user;
    for (const f of tokens) f();
  };
  const onToken = (f) => {
    tokens.add(f);
    return () => tokens.delete(f);
  };
  const newOffer = async () => {
    w.passes++;
    if (w.refusal) throw w.refusal;
    return { url: FIRST.url, pass: `1001.1.again${w.passes}.mac` };
  };
  w.line = (offer, since) => openLine({ orderId: 'oa', offer, since, newOffer, wait: w.wait, signal: left.signal, user: () => w.user, onToken, page: w.page, random: () => 0.5 });
  /** Follows the order; `w.answer` is what the shop says when it is asked. */
  w.answer = queued;
  w.sent = async () => {}; // the time that an answer takes
  w.follows = async (line, newest = true) => {
    const ask = async (answer) => {
      w.asks.push(w.time);
      await w.sent();
      if (answer.status) throw answer;
      return answer;
    };
    w.done = follow({
      orderId: 'oa',
      newest: newest ? () => ask(w.answer) : undefined,
      byId: () => ask(w.missing || detail(w.answer, w.changes || 1)),
      wait: w.wait,
      line,
      signal: left.signal,
      onOrder: (o, whole) => {
        w.seen.push(o.state);
        w.wholes += Boolean(whole);
      },
      onHeard: (o) => w.heard.push(o.state),
      enough: w.enough,
      onTrouble: (problem) => {
        w.troubles++;
        w.trouble = problem;
      },
    });
    await idle();
  };
  w.last = () => w.sockets.at(-1);
  return w;
}

/** When a page without push asks, within `ms`. */
async function polls(ms, answer = queued) {
  const w = world();
  w.answer = answer;
  await w.follows();
  await w.pass(ms);
  w.left.abort();
  return w.asks;
}

/** A page that is connected and has asked once. */
async function connected() {
  const w = world();
  await w.follows(w.line(FIRST));
  w.last().opens();
  await idle();
  assert.deepEqual([w.sockets.length, w.asks.length], [1, 1], 'sockets and asks of a page that is connected');
  return w;
}

test('push: the outcome with two asks, and no other in the first minute', async () => {
  const w = await connected();
  assert.deepEqual([w.last().url, w.last().protocols], [FIRST.url, ['seckill.v1', FIRST.pass]]);
  await w.pass(20_000);
  w.answer = toPay;
  w.last().says(placed);
  await idle();
  assert.deepEqual(w.heard, ['pending_payment']);
  await w.pass(39_000);
  assert.deepEqual([w.asks, w.seen, w.wholes], [[0, 20_000], ['queued', 'pending_payment'], 1]);
  w.answer = { ...toPay, state: 'paid' };
  w.last().says(paid);
  await w.done; // it rests
  assert.deepEqual([w.seen.at(-1), w.asks.length], ['paid', 3]);
  assert.equal(w.passes, 0, 'passes beside that of the purchase');
});

/** The page of a purchase in a rush, which needs no more than that its order can be paid. */
async function patient() {
  const w = world();
  w.enough = (order) => order.state === 'pending_payment';
  await w.follows(w.line(FIRST, RUSH - 1));
  return w;
}

test('push: in a rush the outcome comes without an ask; then one a minute, and one for what is not enough', async () => {
  const w = await patient();
  await w.pass(300);
  w.last().opens();
  await w.pass(PATIENCE - 1);
  w.last().says(placed);
  await w.pass(SAFETY - 1);
  assert.deepEqual([w.heard, w.asks, w.seen], [['pending_payment'], [], []]);
  w.answer = toPay;
  await w.pass(1);
  assert.deepEqual([w.asks.length, w.seen, w.wholes], [1, ['pending_payment'], 1]);
  w.answer = { ...toPay, state: 'paid' };
  w.last().says(paid);
  await w.done;
  assert.deepEqual([w.heard.at(-1), w.seen.at(-1), w.asks.length], ['paid', 'paid', 2]);
});

test('push: a connection that catches up: at any time the outcome comes without an ask, or one a while later', async () => {
  const follows = async () => {
    const w = world();
    w.enough = (order) => order.state === 'pending_payment';
    await w.follows(w.line({ ...FIRST, catches_up: true }, 10 * RUSH));
    w.last().opens();
    return w;
  };
  let w = await follows();
  await w.pass(CAUGHT_UP - 1);
  w.last().says(placed);
  await w.pass(SAFETY - 1);
  assert.deepEqual([w.heard, w.asks], [['pending_payment'], []]);
  w = await follows();
  await w.pass(CAUGHT_UP);
  assert.deepEqual(w.asks, [CAUGHT_UP]);
  w.left.abort();
});

test('push: in a rush, heard late: one ask, after a while, and none for what is heard then', async () => {
  const w = await patient();
  await w.pass(300);
  w.last().opens();
  await w.pass(20_000);
  w.last().says(placed);
  await w.pass(20_000);
  assert.deepEqual([w.asks, w.seen, w.heard], [[300 + PATIENCE], ['queued'], ['pending_payment']]);
});

for (const [name, breaks, when] of [
  ['is refused', (w) => w.last().ends(), 0],
  ['does not open', () => {}, SOON],
  ['breaks', (w) => (w.last().opens(), w.last().ends()), 0],
]) {
  test(`push: in a rush, a connection that ${name}: it asks as without push`, async () => {
    const w = await patient();
    breaks(w);
    await w.pass(when + 6_000);
    assert.equal(w.asks[0], when);
    assert.ok(w.asks.length >= 3, `${w.asks}`);
  });
}

test('push: heard, and then it breaks: what is missed is asked for at once', async () => {
  const w = await patient();
  w.last().opens();
  await idle();
  w.last().says(placed);
  await w.pass(10_000);
  w.answer = { ...toPay, state: 'closing' };
  w.last().ends();
  await idle();
  assert.deepEqual([w.asks, w.seen], [[10_000], ['closing']]);
});

test('push: a rejection says why at once', async () => {
  const w = await connected();
  w.answer = { state: 'rejected', order_id: 'oa', reason: 'sold_out' };
  w.last().says({ order_id: 'oa', state: 'rejected', sequence: 1, reason: 'sold_out' });
  await w.done;
  assert.deepEqual([w.heard, w.seen, w.asks.length], [['rejected'], ['queued', 'rejected'], 2]);
});

test('push: a message that comes while the answer is on its way is not lost', async () => {
  const w = world();
  const line = w.line(FIRST);
  await w.follows(line);
  w.last().opens();
  w.last().says(placed); // before the answer "queued"
  await idle();
  assert.deepEqual([w.seen[0], w.heard], ['queued', ['pending_payment']]);
});

test('push: nobody asks before it is open, and once when it is', async () => {
  const w = world();
  await w.follows(w.line(FIRST));
  await w.pass(SOON - 1);
  assert.deepEqual(w.asks, []);
  w.last().opens();
  await w.pass(30_000);
  assert.deepEqual(w.asks, [SOON - 1]);
});

test('push: one that is slow to open holds up nothing, and is asked for once when it is open', async () => {
  const w = world();
  await w.follows(w.line(FIRST));
  await w.pass(SOON);
  assert.deepEqual(w.asks, [SOON]);
  await w.pass(5_000);
  const before = w.asks.length;
  assert.ok(before > 2, `it polls meanwhile: ${w.asks}`);
  w.last().opens();
  await w.pass(30_000);
  assert.equal(w.asks.length, before + 1);
});

test('push: one that opens while an answer is on its way is asked for once more', async () => {
  const w = world();
  let arrives;
  w.sent = () => new Promise((resolve) => (arrives = resolve));
  await w.follows(w.line(FIRST));
  await w.pass(SOON);
  w.last().opens();
  w.sent = async () => {};
  arrives();
  await w.pass(30_000);
  assert.deepEqual(w.asks, [SOON, SOON]);
});

for (const [name, break_] of [
  ['a handshake that is refused', async (w) => w.last().ends(1006)],
  ['a shop that pushes nothing after all', async (w) => (w.refusal = { status: 409 })],
  ['a browser that allows no connection', async (w) => (w.page.WebSocket = class { constructor() { throw new DOMException('no', 'SecurityError'); } })],
]) {
  test(`push: ${name}: it polls as without push`, async () => {
    const w = world();
    const offered = name.includes('handshake');
    if (!offered) await break_(w);
    await w.follows(w.line(offered ? FIRST : undefined));
    if (offered) await break_(w);
    await w.pass(MINUTE);
    assert.deepEqual(w.asks, await polls(MINUTE));
    assert.deepEqual([w.sockets.length, w.passes], offered ? [1, 0] : [0, 1], 'attempts');
    assert.equal(w.troubles, 0);
  });
}

test('push: after a break it polls, and connects again with a new pass; after the second it polls for good', async () => {
  const w = await connected();
  await w.pass(10_000);
  w.last().ends();
  await w.pass(1_900);
  assert.ok(w.asks.length >= 4 && w.asks[1] === 10_000, `it polls at once: ${w.asks}`);
  await w.pass(100);
  assert.deepEqual([w.sockets.length, w.last().protocols], [2, ['seckill.v1', '1001.1.again1.mac']]);
  w.last().opens();
  await idle();
  const open = w.asks.length;
  await w.pass(50_000);
  assert.equal(w.asks.length, open, 'asks while it is open again');
  w.last().ends();
  await w.pass(10 * MINUTE);
  assert.equal(w.sockets.length, 2);
  assert.ok(w.asks.length > open + 100, `${w.asks.length} asks`);
});

test('push: three attempts to connect again, each after a longer wait', async () => {
  const w = await connected();
  w.last().ends();
  const times = [];
  for (let i = 0; i < 600; i++) {
    const before = w.sockets.length;
    await w.pass(1000);
    if (w.sockets.length === before) continue;
    times.push(w.time);
    w.last().ends();
  }
  assert.deepEqual(times, [2_000, 10_000, 40_000]);
  assert.equal(w.passes, 3);
});

test('push: the shop says when it has time for another pass', async () => {
  const w = await connected();
  w.refusal = { status: 429, retryAfter: 20_000 };
  w.last().ends();
  await w.pass(2_000 + 19_900);
  assert.equal(w.passes, 1);
  w.refusal = undefined;
  await w.pass(100);
  assert.deepEqual([w.passes, w.sockets.length], [2, 2]);
});

test('push: a page that another one replaced polls, and replaces nobody', async () => {
  const w = await connected();
  w.last().ends(1008);
  await w.pass(10 * MINUTE);
  assert.deepEqual([w.sockets.length, w.passes], [1, 0]);
  assert.ok(w.asks.length > 100, `${w.asks.length} asks`);
});

test('push: nor does one that was replaced after a break', async () => {
  const w = await connected();
  w.last().ends();
  await w.pass(2_000);
  w.last().opens();
  w.last().ends(1008);
  await w.pass(10 * MINUTE);
  assert.deepEqual([w.sockets.length, w.passes], [2, 1]);
});

for (const [name, message] of [
  ['another order', { ...placed, order_id: 'ob' }],
  ['no sequence', { ...placed, sequence: undefined }],
  ['sequence 0', { ...placed, sequence: 0 }],
  ['a state that is not text', { ...placed, state: 7 }],
  ['null', 'null'],
  ['no JSON', '{"order_id":"oa"'],
  ['API Gateway’s own words', { message: 'Internal server error', connectionId: 'a=', requestId: 'b=' }],
]) {
  test(`push: ignored: ${name}`, async () => {
    const w = await connected();
    w.last().says(message);
    await w.pass(30_000);
    assert.deepEqual([w.asks.length, w.heard, w.last().closed], [1, [], false]);
    w.answer = toPay;
    w.last().says(placed);
    await idle();
    assert.deepEqual(w.heard, ['pending_payment'], 'what comes afterwards');
  });
}

test('push: a change that is not newer than what is known is ignored', async () => {
  const w = await connected();
  w.answer = { ...toPay, state: 'closing' };
  w.changes = 2; // as its history says
  w.last().says({ ...placed, state: 'closing', sequence: 2 });
  await idle();
  assert.deepEqual([w.heard, w.asks.length], [['closing'], 2]);
  w.last().says(placed); // late
  w.last().says({ ...placed, state: 'closing', sequence: 2 }); // again
  await w.pass(30_000);
  assert.deepEqual([w.heard, w.asks.length], [['closing'], 2]);
});

test('push: a change that was asked for before it was pushed costs no ask', async () => {
  const w = world();
  w.answer = toPay;
  await w.follows(w.line(FIRST));
  w.last().opens();
  await idle();
  w.last().says(placed);
  await w.pass(30_000);
  assert.deepEqual([w.asks.length, w.heard, w.seen], [1, [], ['pending_payment']]);
});

test('push: nor one that came while the answer was on its way', async () => {
  const w = world();
  w.answer = toPay;
  await w.follows(w.line(FIRST));
  w.last().opens();
  w.last().says(placed);
  await w.pass(30_000);
  assert.deepEqual([w.asks.length, w.heard, w.seen], [1, [], ['pending_payment']]);
});

test('push: an order’s page, which asks for the whole, knows by its history what is news', async () => {
  const w = world();
  w.answer = { ...toPay, state: 'closing' };
  w.changes = 2;
  await w.follows(w.line(FIRST), false);
  w.last().opens();
  await idle();
  w.last().says(placed);
  await w.pass(30_000);
  assert.deepEqual([w.asks.length, w.heard, w.seen, w.wholes], [1, [], ['closing'], 1]);
});

test('push: an order’s page says that there is no such order', async () => {
  const w = world();
  w.missing = { status: 404 };
  await w.follows(w.line(), false);
  await w.done;
  assert.deepEqual([w.trouble, w.seen], [w.missing, []]);
});

test('push: what was heard of an order stays, should its row not be found', async () => {
  const w = await connected();
  w.missing = { status: 404 };
  w.last().says({ ...placed, state: 'closing' });
  await idle();
  assert.deepEqual([w.heard, w.seen, w.troubles], [['closing'], ['queued', 'closing'], 0]);
});

test('push: all the same it asks once a minute', async () => {
  const w = await connected();
  await w.pass(3 * SAFETY + 1);
  assert.deepEqual(w.asks, [0, SAFETY, 2 * SAFETY, 3 * SAFETY]);
});

test('push: a pay string that could not be signed yet is asked for as without push', async () => {
  const w = await connected();
  w.answer = { ...toPay, alipay_order: '' };
  w.last().says(placed);
  await w.pass(10_000);
  assert.ok(w.asks.length >= 5, `${w.asks}`);
});

test('push: an ask that fails is repeated soon', async () => {
  const w = await connected();
  w.answer = { status: 503 };
  await w.pass(SAFETY + 10_000);
  assert.ok(w.asks.length > 3, `${w.asks}`);
  assert.ok(w.troubles > 1);
});

test('push: who reloads asks at once, gets a pass, and asks once more when it is open', async () => {
  const w = world();
  w.answer = toPay;
  await w.follows(w.line());
  assert.deepEqual([w.asks, w.passes, w.sockets.length], [[0], 1, 1]);
  await w.pass(500);
  w.last().opens();
  await w.pass(50_000);
  assert.deepEqual(w.asks, [0, 500]);
});

test('push: out of sight it is closed and asks nobody; back in sight it connects anew and asks once', async () => {
  const w = await connected();
  w.sees('hidden');
  assert.equal(w.last().closed, true);
  await w.pass(50_000);
  assert.deepEqual([w.asks.length, w.sockets.length], [1, 1]);
  w.sees('visible');
  await idle();
  assert.deepEqual([w.sockets.length, w.passes], [2, 1]);
  w.last().opens();
  await w.pass(50_000);
  assert.deepEqual(w.asks, [0, 50_000]);
});

test('push: out of sight for long it asks once a minute', async () => {
  const w = await connected();
  w.sees('hidden');
  await w.pass(10 * MINUTE);
  assert.ok(w.asks.length <= 11, `${w.asks}`);
});

test('push: back in sight, and refused: it asks at once, and polls', async () => {
  const w = await connected();
  w.sees('hidden');
  await w.pass(10_000);
  w.refusal = { status: 503 };
  w.sees('visible');
  await w.pass(1_900);
  assert.ok(w.asks.length >= 4 && w.asks[1] === 10_000, `${w.asks}`);
});

test('push: accepted out of sight, it connects when it is seen, with a pass of that time', async () => {
  const w = world();
  w.page.document.visibilityState = 'hidden';
  await w.follows(w.line(FIRST));
  await w.pass(30_000);
  assert.equal(w.sockets.length, 0);
  w.sees('visible');
  await idle();
  assert.deepEqual([w.sockets.length, w.passes], [1, 1]);
});

test('push: left while its pass is on the way, it does not connect', async () => {
  const w = world();
  w.answer = toPay;
  const line = w.line();
  const following = w.follows(line);
  while (w.passes === 0) await Promise.resolve();
  w.sees('hidden');
  await following;
  await w.pass(10_000);
  assert.deepEqual([w.passes, w.sockets.length], [1, 0]);
});

test('push: who signs out out of sight comes back to no connection', async () => {
  const w = await connected();
  w.sees('hidden');
  await idle();
  w.token(undefined);
  w.sees('visible');
  await w.pass(MINUTE);
  assert.deepEqual([w.sockets.length, w.passes], [1, 0]);
});

test('push: another network leaves alone what is being opened', async () => {
  const w = world();
  await w.follows(w.line(FIRST));
  w.page.dispatchEvent(new Event('online'));
  await idle();
  assert.deepEqual([w.sockets.length, w.last().closed, w.passes], [1, false, 0]);
});

test('push: the page is left, and comes back out of the browser’s cache', async () => {
  const w = await connected();
  w.page.dispatchEvent(new Event('pagehide'));
  assert.equal(w.last().closed, true);
  w.page.dispatchEvent(new Event('pageshow'));
  await idle();
  w.last().opens();
  await idle();
  assert.deepEqual([w.sockets.length, w.passes, w.asks.length], [2, 1, 2]);
});

test('push: another network, or a new token of the same shopper: a new pass and a new connection', async () => {
  const w = await connected();
  for (const change of [() => w.page.dispatchEvent(new Event('online')), () => w.token('1001')]) {
    const [old, before] = [w.last(), w.passes];
    change();
    await idle();
    assert.equal(old.closed, true);
    assert.equal(w.passes, before + 1);
    old.says(placed); // void
    w.last().opens();
    await idle();
  }
  assert.deepEqual([w.sockets.length, w.asks.length, w.heard], [3, 3, []]);
});

for (const [name, leave] of [
  ['signing out', (w) => w.token(undefined)],
  ['another shopper', (w) => w.token('1002')],
  ['leaving the order', (w) => w.left.abort()],
]) {
  test(`push: ${name} closes it for good`, async () => {
    const w = await connected();
    leave(w);
    assert.equal(w.last().closed, true);
    await w.pass(5 * MINUTE);
    assert.deepEqual([w.sockets.length, w.passes], [1, 0]);
  });
}

test('push: signing out while it waits to connect again ends that', async () => {
  const w = await connected();
  w.last().ends();
  await w.pass(500);
  w.token(undefined);
  await w.pass(5 * MINUTE);
  assert.deepEqual([w.sockets.length, w.passes], [1, 0]);
});
