// Tests of a purchase over time, on a clock that only moves when somebody waits. Run: node --test
import assert from 'node:assert/strict';
import test from 'node:test';
import { GIVE_UP, KEY_WAIT, follow, purchase } from '../src/purchase.js';

/** Answers from a script: an object is an answer, an Error-like with status is thrown; the last one repeats. */
function scripted(answers) {
  let i = 0;
  const f = async (...args) => {
    f.calls.push(args);
    const answer = answers[Math.min(i++, answers.length - 1)];
    if (answer.status !== undefined) throw answer;
    return answer;
  };
  f.calls = [];
  return f;
}

function world() {
  let time = 0;
  const waits = [];
  const left = new AbortController();
  const wait = async (ms) => {
    waits.push(ms);
    time += ms;
  };
  return { waits, left, io: { wait, now: () => time, signal: left.signal } };
}

for (const [name, answers, kind, sends] of [
  ['accepted at once', [{ order_id: 'o1' }], 'accepted', 1],
  ['lost answers, then accepted', [{ status: 0 }, { status: 0 }, { order_id: 'o1' }], 'accepted', 3],
  ['busy, then accepted', [{ status: 503, retryAfter: 1000 }, { order_id: 'o1' }], 'accepted', 2],
  ['too early, then accepted', [{ status: 425, startTime: 60_000 }, { order_id: 'o1' }], 'accepted', 2],
  ['busy, then sold out', [{ status: 503 }, { status: 409, code: 'sold_out' }], 'refused', 2],
  ['limit', [{ status: 409, code: 'limit_reached', orderId: 'o0' }], 'limit', 1],
  ['token', [{ status: 403 }], 'sign_in', 1],
]) {
  test(`purchase: ${name}`, async () => {
    const { io } = world();
    const send = scripted(answers);
    const got = await purchase({ ...io, send, onWait() {} });
    assert.equal(got.kind, kind);
    assert.equal(got.orderId, kind === 'accepted' ? 'o1' : undefined);
    assert.equal(send.calls.length, sends);
  });
}

const turned = { status: 429, retryAfter: 1000 };
for (const [name, answers, kind, sends, asks] of [
  ['turned away, then sold out', [turned, turned], 'refused', 1, 1],
  ['a lost answer may be an order', [turned, { status: 0 }, turned, { order_id: 'o1' }], 'accepted', 4, 0],
  ['so may a failure', [{ status: 503 }, { order_id: 'o1' }], 'accepted', 2, 0],
]) {
  test(`purchase: ${name}`, async () => {
    const { io } = world();
    const send = scripted(answers);
    let asked = 0;
    const soldOut = async () => ++asked > 0 && (asks > 0 || send.calls.length > 1);
    const got = await purchase({ ...io, send, soldOut, onWait() {} });
    assert.equal(got.kind, kind);
    assert.equal(send.calls.length, sends);
    if (kind === 'refused') assert.equal(got.problem.code, 'sold_out');
  });
}

test('purchase: one that was sent before may be an order, whatever the status says', async () => {
  const { io } = world();
  const send = scripted([turned, turned, { order_id: 'o1' }]);
  const got = await purchase({ ...io, send, sentBefore: true, soldOut: async () => true, onWait() {} });
  assert.equal(got.orderId, 'o1');
});

test('purchase: turned away while units are left goes on', async () => {
  const { io } = world();
  const send = scripted([turned, turned, { order_id: 'o1' }]);
  const got = await purchase({ ...io, send, soldOut: async () => false, onWait() {} });
  assert.equal(got.orderId, 'o1');
});

const unknown = { status: 403, code: 'ticket_required' };
for (const [name, ticket, answers, kind, sends] of [
  ['known the second time', true, [unknown, { order_id: 'o1' }], 'accepted', 2],
  ['refused twice', true, [unknown, unknown], 'refused', 2],
  ['also after a lost answer', true, [unknown, { status: 0 }, unknown], 'refused', 3],
  ['none was sent', false, [unknown], 'refused', 1],
]) {
  test(`purchase: a ticket whose key is too new is sent once more, after a moment: ${name}`, async () => {
    const { io, waits } = world();
    const send = scripted(answers);
    const got = await purchase({ ...io, ticket, send, onWait() {} });
    assert.deepEqual([got.kind, send.calls.length], [kind, sends]);
    if (ticket) assert.ok(waits[0] >= KEY_WAIT && waits[0] <= 1.2 * KEY_WAIT, `waited ${waits[0]}`);
  });
}

test('purchase: waits what the server asks for, and tells why', async () => {
  const { io, waits } = world();
  const told = [];
  await purchase({ ...io, send: scripted([{ status: 503, retryAfter: 3000 }, { order_id: 'o1' }]), onWait: (s) => told.push(s.kind) });
  assert.ok(waits[0] >= 3000 && waits[0] <= 3600, `waited ${waits[0]}`);
  assert.deepEqual(told, ['retrying']);
});

test('purchase: waits for the start and not longer', async () => {
  const { io, waits } = world();
  await purchase({ ...io, send: scripted([{ status: 425, startTime: 60_000 }, { order_id: 'o1' }]), onWait() {} });
  assert.deepEqual(waits, [60_000]);
});

test('purchase: a server that is behind at the start is not hammered', async () => {
  const { io, waits } = world();
  await purchase({ ...io, send: scripted([{ status: 425, startTime: 0 }, { status: 425, startTime: 0 }, { order_id: 'o1' }]), onWait() {} });
  assert.equal(waits.length, 2);
  assert.ok(waits.every((ms) => ms >= 250), `waited ${waits}`);
});

test('purchase: without any answer the shopper is asked at last', async () => {
  const { io, waits } = world();
  const send = scripted([{ status: 0 }]);
  const got = await purchase({ ...io, send, onWait() {} });
  assert.equal(got.kind, 'unanswered');
  assert.ok(waits.reduce((a, b) => a + b, 0) > GIVE_UP);
  assert.ok(send.calls.length < 60, `${send.calls.length} attempts`);
});

test('purchase: ends when the shopper leaves', async () => {
  const { io, left } = world();
  const send = scripted([{ status: 0 }]);
  const got = await purchase({ ...io, send, onWait: () => left.abort() });
  assert.deepEqual([got.kind, send.calls.length], ['left', 1]);
});

const newest = (state, id = 'o1') => ({ state, order_id: id });

for (const [name, orderId, answers, byId, states] of [
  ['to its payment', 'o1', [newest('queued'), newest('pending_payment'), newest('paid')], [], ['queued', 'pending_payment', 'paid']],
  ['through trouble', 'o1', [newest('queued'), { status: 503 }, { status: 0 }, newest('rejected')], [], ['queued', 'rejected']],
  ['nothing known yet', 'o1', [{ state: 'none' }, newest('paid')], [{ status: 404 }], ['queued', 'paid']],
  ['a newer one exists', 'o1', [newest('queued', 'o2')], [{ id: 'o1', state: 'expired' }], ['expired']],
  ['until the token ends', 'o1', [newest('queued'), { status: 403 }], [], ['queued']],
]) {
  test(`follow: ${name}`, async () => {
    const { io } = world();
    const seen = [];
    await follow({ ...io, orderId, newest: scripted(answers), byId: scripted(byId), onOrder: (o) => seen.push(o.state), onTrouble() {} });
    assert.deepEqual(seen, states);
  });
}

test('follow: ends when the shopper leaves', async () => {
  const { io, left } = world();
  const ask = scripted([newest('queued')]);
  await follow({ ...io, orderId: 'o1', newest: ask, byId: ask, onOrder: () => left.abort(), onTrouble() {} });
  assert.equal(ask.calls.length, 1);
});
