// Tests of the way to a ticket: a shop, a solver and a clock, all in the test's hands. Run: node --test
import assert from 'node:assert/strict';
import test from 'node:test';
import { TEXTS } from '../src/admission-texts.js';
import { LEAD, SPREAD, admission, startJob } from '../src/admission.js';
import { decide, retryWait } from '../src/core.js';

const START = Date.parse('2026-11-11T00:00:00Z');
const END = START + 3_600_000;
const MINUTE = 60_000;
const item = { id: '1001', checks: 'strict', start_time: new Date(START).toISOString() };
const idle = () => new Promise((resolve) => setImmediate(resolve));
const problem = (status, code = '', more = {}) => ({ status, code, detail: code, ...more });

/** A page at a time. `answers` are what the shop gives, by path: each once, and the last one again and again. */
function world(time, answers = {}) {
  const timers = new Set();
  const listeners = [];
  const w = { time, known: true, user: '42', asked: [], kept: {}, works: [], states: [], page: Object.assign(new EventTarget(), { visibilityState: 'visible' }) };
  const later = (at, f) => {
    const timer = { at, f };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const challenge = (n) => ({ seckill_id: item.id, proof: { n }, question: w.question, expires_at: new Date(w.time + 30 * MINUTE).toISOString() });
  w.challenge = challenge;
  w.next = (what, answer) => (answers[what] ||= []).push(answer);
  const io = {
    async admit(what, body) {
      w.asked.push([what, body]);
      const list = answers[what] || [];
      const answer = list.length > 1 ? list.shift() : list[0];
      await idle();
      if (answer?.status !== undefined) throw answer;
      return answer || (what === 'ticket' ? { ticket: 'T', expires_at: new Date(END).toISOString() } : challenge(w.asked.length));
    },
    async proof() {
      const solve = (proof, { pace }) => {
        const work = { proof, paces: [pace], stopped: false };
        work.result = new Promise((resolve) => (work.solve = () => resolve(`solved ${proof.n}`)));
        if (w.quick !== false) work.solve();
        w.works.push(work);
        return { result: work.result, pace: (p) => work.paces.push(p), stop: () => (work.stopped = true) };
      };
      return { solve, able: () => w.able !== false, PAUSED: 0, PEACE: 1, HURRY: 2 };
    },
    now: () => w.time,
    knownNow: () => (w.known ? w.time : undefined),
    at: later,
    pause: (ms, signal, wake = signal) =>
      new Promise((resolve) => {
        assert.ok(ms > 0 && Number.isFinite(ms), `a pause of ${ms} ms`);
        const stop = later(w.time + ms, resolve);
        for (const s of [signal, wake]) s.addEventListener('abort', () => (stop(), resolve()));
      }),
    retryWait: (attempt, after) => retryWait(attempt, after, 0),
    random: () => 0.5,
    decide,
    TEXTS: {},
    t: (name) => name,
    shopper: () => w.user && { user: w.user },
    onShopper: (f) => listeners.push(f),
    tickets: () => w.kept[w.user] || {},
    keepTicket: (id, ticket) => (w.kept[w.user] = { ...w.kept[w.user], [id]: ticket }),
    page: w.page,
  };
  w.io = io;
  w.door = admission(io);
  w.pass = async (ms) => {
    for (const end = w.time + ms; ; ) {
      for (let n = 0; n < 20; n++) await idle();
      const next = [...timers].filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      w.time = next ? next.at : end;
      if (!next) return;
      timers.delete(next);
      next.f();
    }
  };
  w.becomes = (user) => {
    w.user = user;
    for (const f of listeners) f();
  };
  w.paths = () => w.asked.map(([what]) => what).join(' ');
  w.text = () => w.kept[w.user]?.[item.id]?.text;
  /** What the purchase gets, once it gets it; `waits` are what it is told meanwhile. */
  w.wants = (renewed = 0, signal = new AbortController().signal) => {
    const got = { waits: [] };
    w.door.ticket(item, signal, renewed, (name, until) => got.waits.push([name, until])).then((answer) => (got.answer = answer));
    return got;
  };
  return w;
}

test('the texts come with the part', () => assert.deepEqual(world(START).io.TEXTS, TEXTS));

test('it asks nobody until tickets are given, and then not with the whole crowd', async () => {
  const w = world(START - 2 * LEAD);
  w.door.prepare(item);
  await w.pass(LEAD + SPREAD / 2 - 1);
  assert.equal(w.paths(), '');
  await w.pass(1);
  assert.equal(w.paths(), 'challenge ticket');
  assert.deepEqual(w.asked[1][1], { seckill_id: '1001', proof: 'solved 1', answer: undefined });
  assert.deepEqual(w.kept, { 42: { 1001: { text: 'T', expires: END } } });
});

test('who comes later asks at once, and once; not before the time is known; nobody asks for nobody', async () => {
  const w = world(START - LEAD + 1);
  w.known = false;
  w.door.prepare(item);
  await w.pass(10_000);
  assert.equal(w.paths(), '');
  w.known = true;
  await w.pass(1000);
  w.door.prepare(item);
  await w.pass(MINUTE);
  assert.equal(w.paths(), 'challenge ticket');
  const nobody = world(START);
  nobody.user = '';
  nobody.door.prepare(item);
  await nobody.pass(MINUTE);
  assert.equal(nobody.paths(), '');
});

test('a ticket that is kept is used; one that is over, or was refused, is not', async () => {
  const w = world(START);
  w.kept = { 42: { 1001: { text: 'kept', expires: END } } };
  const first = w.wants();
  await w.pass(0);
  assert.deepEqual(first.answer, { ok: true, ticket: 'kept' });
  assert.equal(w.paths(), '');
  const renewed = w.wants(1);
  await w.pass(0);
  assert.deepEqual(renewed.answer, { ok: true, ticket: 'T' });
  assert.equal(w.paths(), 'challenge ticket');
  const late = world(END);
  late.kept = { 42: { 1001: { text: 'kept', expires: END } } };
  late.wants();
  await late.pass(0);
  assert.equal(late.paths(), 'challenge ticket');
});

test('whoever pressed too early waits for the ticket, and the work is hurried', async () => {
  const w = world(START);
  w.quick = false;
  w.door.prepare(item);
  await w.pass(0);
  const got = w.wants();
  await w.pass(MINUTE);
  assert.deepEqual(w.works[0].paces, [1, 2]);
  assert.deepEqual(got, { waits: [['ticket_getting', undefined]] });
  w.works[0].solve();
  await w.pass(0);
  assert.deepEqual(got.answer, { ok: true, ticket: 'T' });
});

test('out of sight it is paused, unless somebody waits', async () => {
  const w = world(START);
  w.quick = false;
  w.door.prepare(item);
  await w.pass(0);
  const sees = (state) => {
    w.page.visibilityState = state;
    w.page.dispatchEvent(new Event('visibilitychange'));
  };
  sees('hidden');
  sees('visible');
  sees('hidden');
  w.wants();
  sees('hidden');
  assert.deepEqual(w.works[0].paces, [1, 0, 1, 0, 2, 2]);
});

test('a proof that is refused: the next challenge is solved after a while', async () => {
  const w = world(START);
  w.next('ticket', problem(403, 'check_failed', { challenge: w.challenge(9) }));
  w.next('ticket', { ticket: 'T2', expires_at: new Date(END).toISOString() });
  w.door.prepare(item);
  await w.pass(249);
  assert.equal(w.paths(), 'challenge ticket');
  await w.pass(1);
  assert.equal(w.paths(), 'challenge ticket ticket');
  assert.deepEqual(w.asked[2][1].proof, 'solved 9');
  assert.equal(w.works[0].stopped, true);
  assert.equal(w.text(), 'T2');
});

/** The way of a shopper who is asked a question; `seen` are its states as they change. */
async function questioned(answers) {
  const w = world(START, answers);
  w.question = '2 + 2?';
  w.job = startJob(w.io, item, () => undefined);
  w.seen = [];
  w.job.watch((state) => w.seen.push(state));
  w.answers = () => w.asked.filter(([what]) => what === 'ticket').map(([, body]) => body.answer).join();
  await w.pass(0);
  return w;
}

test('a question is asked, a wrong answer said, and the next challenge solved for the next answer', async () => {
  const w = await questioned();
  assert.deepEqual(w.seen.at(-1), { name: 'question', question: '2 + 2?', picture: undefined, fault: undefined });
  w.next('ticket', problem(403, 'check_failed', { challenge: w.challenge(9) }));
  w.next('ticket', undefined);
  w.job.answer('5');
  await w.pass(0);
  assert.deepEqual(w.seen.at(-1), { name: 'question', question: '2 + 2?', picture: undefined, fault: 'question_wrong' });
  w.job.answer('4');
  await w.pass(0);
  assert.equal(w.seen.at(-1).name, 'ready');
  assert.deepEqual(w.asked.map(([, body]) => body.proof).filter(Boolean), ['solved 1', 'solved 9']);
  assert.equal(w.answers(), '5,4');
  assert.deepEqual(w.works.map((work) => work.paces), [[1, 2], [2, 2]]);
});

test('a sum in a picture is a question in words; after a wrong answer the next one', async () => {
  const sum = { proof: { n: 7 }, picture: 'data:image/png;base64,AA', alternative: 'two plus two?', expires_at: new Date(END).toISOString() };
  const w = await questioned({ challenge: [sum], ticket: [problem(403, 'check_failed', { challenge: { ...sum, alternative: 'three plus two?' } }), undefined] });
  assert.deepEqual(w.seen.at(-1), { name: 'question', question: 'two plus two?', picture: sum.picture, fault: undefined });
  w.job.answer('5');
  await w.pass(0);
  assert.deepEqual(w.seen.at(-1), { name: 'question', question: 'three plus two?', picture: sum.picture, fault: 'question_wrong' });
  w.job.answer('5');
  await w.pass(0);
  assert.equal(w.seen.at(-1).name, 'ready');
});

test('too many answers: when again, and then the same proof', async () => {
  const w = await questioned({ ticket: [problem(429, 'too_many_requests', { retryAfter: 30_000 }), undefined] });
  w.job.answer('5');
  await w.pass(29_999);
  assert.deepEqual(w.seen.at(-1), { name: 'busy', question: '2 + 2?', picture: undefined, sent: true, until: START + 30_000, many: true });
  await w.pass(1);
  assert.deepEqual(w.seen.at(-1), { name: 'question', question: '2 + 2?', picture: undefined, fault: undefined });
  w.job.answer('4');
  await w.pass(0);
  assert.equal(w.answers(), '5,4');
  assert.equal(w.works.length, 1);
  assert.equal(w.seen.at(-1).name, 'ready');
});

test('an answer that was lost is sent again by itself', async () => {
  const w = await questioned({ ticket: [problem(0), undefined] });
  w.job.answer('4');
  await w.pass(MINUTE);
  assert.equal(w.answers(), '4,4');
  assert.equal(w.seen.at(-1).name, 'ready');
});

test('a challenge that ends while nobody answers is replaced, and its question too', async () => {
  const w = await questioned();
  w.question = '3 + 3?';
  await w.pass(30 * MINUTE);
  assert.equal(w.paths(), 'challenge challenge');
  assert.equal(w.works[0].stopped, true);
  assert.equal(w.seen.at(-1).question, '3 + 3?');
});

test('a job that is ended says nothing more', async () => {
  const w = await questioned();
  const before = w.seen.length;
  w.job.end();
  w.job.answer('4');
  await w.pass(MINUTE);
  assert.equal(w.seen.length, before);
  assert.equal(w.paths(), 'challenge');
});

test('a question comes first: whoever pressed reads so', async () => {
  const w = world(START);
  w.question = '2 + 2?';
  const got = w.wants();
  await w.pass(MINUTE);
  assert.deepEqual(got.answer, { status: 422, detail: 'question_first' });
  assert.equal(w.paths(), 'challenge');
});

test('an item that needs no ticket is bought without one', async () => {
  const w = world(START, { challenge: [problem(409, 'no_checks')] });
  const got = w.wants();
  await w.pass(0);
  assert.deepEqual(got.answer, { ok: true, ticket: undefined });
});

for (const code of ['blocked', 'account_new', 'invalid_token']) {
  test(`${code} is said, and tried again only by who looks`, async () => {
    const w = world(START, { challenge: [problem(403, code)] });
    w.door.prepare(item);
    await w.pass(MINUTE);
    w.door.prepare(item);
    await w.pass(MINUTE);
    assert.equal(w.paths(), 'challenge');
    const got = w.wants();
    await w.pass(0);
    assert.equal(got.answer.code, code);
    assert.equal(w.paths(), 'challenge challenge');
  });
}

test('an address that is not secure is said', async () => {
  const w = world(START);
  w.able = false;
  const got = w.wants();
  await w.pass(0);
  assert.equal(got.answer.code, 'insecure');
});

test('too early, by the server’s clock: it waits until then', async () => {
  const w = world(START - LEAD, { challenge: [problem(425, 'not_started', { startTime: START - LEAD + 5000 }), undefined] });
  w.door.prepare(item);
  await w.pass(4999);
  assert.equal(w.paths(), 'challenge');
  await w.pass(1);
  assert.equal(w.paths(), 'challenge challenge ticket');
});

test('lost answers, and a busy shop: it goes on, with the same proof, and says when', async () => {
  const w = world(START, { ticket: [problem(0), problem(503), problem(429, 'too_many_requests', { retryAfter: 7000 }), undefined] });
  const got = w.wants();
  await w.pass(MINUTE);
  assert.equal(w.paths(), 'challenge ticket ticket ticket ticket');
  assert.equal(w.works.length, 1);
  assert.equal(got.waits.filter(([name]) => name === 'retrying').length, 3);
  assert.deepEqual(got.answer, { ok: true, ticket: 'T' });
});

test('another shopper ends it, and gets a ticket of their own', async () => {
  const w = world(START);
  w.quick = false;
  w.door.prepare(item);
  await w.pass(0);
  w.becomes('43');
  assert.equal(w.works[0].stopped, true);
  w.works[0].solve();
  await w.pass(MINUTE);
  assert.deepEqual(w.kept, {});
  w.door.prepare(item);
  await w.pass(0);
  w.works[1].solve();
  await w.pass(0);
  assert.deepEqual(Object.keys(w.kept), ['43']);
});

const moved = (changes) => ({ ...item, end_time: new Date(END).toISOString(), ...changes });
const at = (time) => new Date(time).toISOString();

for (const [name, answers] of [
  ['before it asked', {}],
  ['after it was told to wait', { challenge: [problem(425, 'not_started', { startTime: START - LEAD }), undefined] }],
]) {
  test(`a sale that opens earlier than it did, ${name}: its ticket comes at once`, async () => {
    const w = world(START - 4 * LEAD, answers);
    w.door.prepare(answers.challenge ? moved({ start_time: at(START - 3 * LEAD) }) : item);
    await w.pass(MINUTE);
    const before = w.asked.length;
    assert.equal(before, answers.challenge ? 1 : 0);
    const early = moved({ start_time: at(w.time - 1) });
    const got = { waits: [] };
    w.door.ticket(early, new AbortController().signal, 0, () => {}).then((answer) => (got.answer = answer));
    await w.pass(1);
    assert.deepEqual(got.answer, { ok: true, ticket: 'T' });
    assert.equal(w.asked.length, before + 2);
  });
}

test('a sale that opens later than it did: nobody asks before', async () => {
  const w = world(START - 2 * LEAD);
  w.door.prepare(item);
  await w.pass(0);
  w.door.prepare(moved({ start_time: at(START + LEAD) }));
  await w.pass(2 * LEAD + SPREAD / 2 - 1);
  assert.equal(w.paths(), '');
  await w.pass(1);
  assert.equal(w.paths(), 'challenge ticket');
});

test('a sale that goes on longer than its ticket: another one before that ends, once; the old one serves meanwhile', async () => {
  const w = world(START);
  const longer = moved({ end_time: at(END + LEAD) });
  w.door.prepare(moved());
  await w.pass(0);
  w.next('ticket', { ticket: 'T2', expires_at: at(END + LEAD) });
  w.door.prepare(longer);
  await w.pass(END - 5 * MINUTE + SPREAD / 2 - 1 - START);
  w.door.prepare(longer);
  assert.equal(w.paths(), 'challenge ticket');
  w.quick = false;
  await w.pass(1);
  assert.equal(w.works.length, 2, 'proofs');
  const meanwhile = w.wants();
  await w.pass(0);
  assert.deepEqual(meanwhile.answer, { ok: true, ticket: 'T' });
  w.works[1].solve();
  await w.pass(0);
  w.door.prepare(longer);
  await w.pass(MINUTE);
  assert.equal(w.paths(), 'challenge ticket challenge ticket');
  assert.equal(w.text(), 'T2');
});

test('who gives tickets may not know yet that the sale goes on: it is not asked again and again', async () => {
  const w = world(END - MINUTE);
  w.kept = { 42: { 1001: { text: 'kept', expires: END } } };
  for (let n = 0; n < 5; n++) {
    w.door.prepare(moved({ end_time: at(END + LEAD) }));
    await w.pass(1000);
  }
  assert.equal(w.paths(), 'challenge ticket');
});
