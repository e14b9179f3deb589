// Tests of signing in without a browser: when a sign-in is renewed, what is believed of an issuer's answer, and one
// renewal however many calls need it. Run: node --test
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SIGN_IN_PATIENCE, patiently, renewalDue } from '../src/core.js';
import { begin, finish, signOutAddress } from '../src/signin.js';

const MINUTE = 60_000;
const ten = Date.parse('2026-11-25T10:00:00Z');
const from = (since, expires) => ({ since: ten + since * MINUTE, expires: ten + expires * MINUTE });
const NO_SALE = [];

for (const [name, who, openings, random, want] of [
  ['five minutes before the end', from(-60, 0), NO_SALE, 0, -5],
  ['or a minute earlier', from(-60, 0), NO_SALE, 1, -6],
  ['it ends at the opening: ten minutes before', from(-60, 0), [ten], 0, -10],
  ['and never in the last two', from(-60, 0), [ten], 1, -6],
  ['it ends a minute after the opening', from(-59, 1), [ten], 0.5, -6],
  ['it ends in the last moment that counts', from(-56, 4.99), [ten], 0, -10],
  ['it outlives the opening by five minutes', from(-55, 5), [ten], 0, 0],
  ['it ends long before the opening: the next one counts', from(-90, -30), [ten], 0, -35],
  ['the nearest of several sales', from(-60, 0), [ten + 60 * MINUTE, ten + 2 * MINUTE, ten], 0, -10],
  ['a past sale is none', from(-30, 30), [ten - 60 * MINUTE], 0, 25],
  ['a short one keeps half of its life', from(0, 5), NO_SALE, 0, 2.5],
  ['also before a sale', from(-4, 1), [ten], 0, -1.5],
]) {
  test(`renewalDue: ${name}`, () => assert.equal((renewalDue(who, openings, random) - ten) / MINUTE, want));
}

const issuer = { issuer: 'https://id.example.com', client_id: 'shop', authorization_endpoint: 'https://id.example.com/authorize?realm=a', end_session_endpoint: 'https://id.example.com/out', scope: 'openid' };
const BASE = 'https://shop.example.com/live/';

test('begin: code, PKCE by S256, and everything random is new each time', async () => {
  const { kept, address } = await begin(issuer, BASE, 'zh-CN');
  const url = new URL(address);
  assert.equal(url.origin + url.pathname, 'https://id.example.com/authorize');
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(kept.verifier));
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    realm: 'a',
    response_type: 'code',
    client_id: 'shop',
    redirect_uri: BASE,
    scope: 'openid',
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: Buffer.from(hash).toString('base64url'),
    code_challenge_method: 'S256',
    ui_locales: 'zh-CN',
  });
  assert.equal(address.includes(kept.verifier), false);
  const other = (await begin(issuer, BASE, 'zh-CN')).kept;
  for (const name of ['verifier', 'state', 'nonce']) {
    assert.ok(kept[name].length >= 43, name);
    assert.notEqual(kept[name], other[name], name);
  }
});

const { kept } = await begin(issuer, BASE, 'en');
const state = kept.state;
for (const [name, answer, want, ours = kept] of [
  ['another state', { code: 'c', state: `${state}x` }, 'mismatch'],
  ['no state', { code: 'c' }, 'mismatch'],
  ['another issuer', { code: 'c', state, iss: 'https://evil.example.com' }, 'mismatch'],
  ['nothing kept in this tab', { code: 'c', state }, 'mismatch', null],
  ['no code', { state }, 'mismatch'],
  ['a token instead of a code', { code: 'c', state, id_token: 'x' }, 'mismatch'],
  ['two states', [['code', 'c'], ['state', state], ['state', state]], 'mismatch'],
  ['cancelled', { error: 'access_denied', state }, 'cancelled'],
  ['cancelled, they say, with another state', { error: 'access_denied', state: 'x' }, 'mismatch'],
  ['the issuer has no time', { error: 'temporarily_unavailable', state }, 'away'],
  ['refused', { error: 'invalid_scope', state }, 'refused'],
]) {
  test(`finish: ${name}`, () => assert.deepEqual(finish(ours, new URLSearchParams(answer), BASE), { refused: want }));
}

test('finish: a good answer becomes the exchange', () => {
  assert.deepEqual(finish(kept, new URLSearchParams({ code: 'c', state, iss: issuer.issuer }), BASE), {
    body: { grant: 'code', issuer: issuer.issuer, client_id: 'shop', code: 'c', code_verifier: kept.verifier, nonce: kept.nonce, redirect_uri: BASE },
  });
});

test('signOutAddress: says who asks and where to go afterwards, and no token', () => {
  assert.equal(signOutAddress({ end: 'https://id.example.com/out?a=1', client: 'shop', token: 'secret' }, 'https://s/'), 'https://id.example.com/out?a=1&client_id=shop&post_logout_redirect_uri=https%3A%2F%2Fs%2F&logout_uri=https%3A%2F%2Fs%2F');
});

for (const [name, problems, sends, want] of [
  ['an answer', [], 1, 'ok'],
  ['busy, then an answer', [{ status: 429, retryAfter: 1000 }, { status: 503 }], 3, 'ok'],
  ['a refusal is an answer', [{ status: 401 }], 1, 401],
  ['longer than a shopper waits', [{ status: 503, retryAfter: SIGN_IN_PATIENCE + 1 }], 1, 503],
  ['the shop has to mend something', [{ status: 503, code: 'signin_broken', retryAfter: 60_000 }], 1, 503],
  ['busy for ever', Array(99).fill({ status: 503, retryAfter: 8_000 }), 4, 503],
]) {
  test(`patiently: ${name}`, async () => {
    let sent = 0;
    let waited = 0;
    const send = async () => {
      const problem = problems[sent++];
      if (problem) throw problem;
      return 'ok';
    };
    const got = await patiently(send, async (ms) => (waited += ms)).catch((problem) => problem.status);
    assert.equal(got, want);
    assert.equal(sent, sends);
    assert.ok(waited <= SIGN_IN_PATIENCE, `waited ${waited} ms`);
  });
}

// The rest runs against a shop that takes the token "new" only, and renews as `answers` says.
const timeout = setTimeout;
globalThis.setTimeout = (...args) => timeout(...args).unref(); // the page's clock never stops
const seen = []; // what listens for the tab's coming back
globalThis.document = { addEventListener: (_, f) => seen.push(f), visibilityState: 'visible' };
globalThis.window = { addEventListener() {} };
const { buy, myOrders } = await import('../src/api.js');
const { sync } = await import('../src/clock.js');
const { renew, startRenewal } = await import('../src/renewal.js');
const { become, forget, intent, intents, keepAddress, keepTicket, lastAddress, shopper, tickets } = await import('../src/session.js');
startRenewal();
const asked = [];
let answers = [];
globalThis.fetch = async (path, { headers, body }) => {
  asked.push({ path, key: headers['Idempotency-Key'], ticket: headers.Ticket, token: headers.Authorization?.slice(7), body: body && JSON.parse(body) });
  await sleep(5);
  if (path === 'seckill/time') return Response.json({ now_ms: Date.now() });
  if (headers.Ticket === 'bad') return Response.json({ code: 'ticket_required' }, { status: 403 });
  if (path !== 'signin') return headers.Authorization === 'Bearer new' ? Response.json({ order_id: 'o1', orders: [] }) : Response.json({ code: 'invalid_token' }, { status: 403 });
  const [status, answer] = answers.shift();
  return Response.json(answer, { status });
};
const hour = () => new Date(Date.now() + 3_600_000).toISOString();
const given = (more = {}) => [200, { token: 'new', user: '1001', expires_at: hour(), refresh_token: 'r2', ...more }];
const old = () => ({ name: 'Ada', user: '1001', token: 'old', refresh: 'r1', since: 0, expires: Date.now() + 3_600_000, issuer: 'https://id.example.com', client: 'shop', end: '' });
const renewals = () => asked.filter((a) => a.path === 'signin').map((a) => a.body);
const start = (who, ...next) => {
  become(who);
  asked.length = 0;
  answers = next;
};

const BODY = { count: 1, address: 'x' };

test('a token that is refused is renewed once for all calls, and a purchase keeps its key', async () => {
  start(old(), given());
  const got = await Promise.all([buy('2002', BODY, 'k1'), myOrders(1, 10), buy('2003', BODY, 'k2')]);
  assert.equal(got[0].order_id, 'o1');
  assert.deepEqual(renewals(), [{ grant: 'refresh', issuer: 'https://id.example.com', client_id: 'shop', refresh_token: 'r1' }]);
  assert.deepEqual(asked.filter((a) => a.path === 'seckill/buy' && a.token === 'new').map((a) => a.key), ['k1', 'k2']);
  assert.equal(shopper().refresh, 'r2');
  assert.equal(shopper().name, 'Ada');
});

test('a renewal that is refused is not tried again, and the purchase says why', async () => {
  start(old(), [401, { code: 'signin_refused' }]);
  await assert.rejects(buy('2002', BODY, 'k1'), { status: 403 });
  assert.equal(shopper().refresh, '');
  await assert.rejects(buy('2002', BODY, 'k1'), { status: 403 });
  assert.equal(renewals().length, 1);
});

test('a ticket goes with its purchase; one that is refused is no reason to renew the sign-in', async () => {
  start({ ...old(), token: 'new' });
  await buy('2002', BODY, 'k1', 'good');
  await buy('2002', BODY, 'k2');
  assert.deepEqual(asked.map((a) => a.ticket), ['good', undefined]);
  await assert.rejects(buy('2002', BODY, 'k1', 'bad'), { status: 403, code: 'ticket_required' });
  assert.deepEqual(renewals(), []);
});

test('tickets are one shopper’s, and gone when they sign out', () => {
  become(old());
  keepTicket('2002', { text: 'T', expires: 1 });
  become({ ...old(), user: '1002' });
  assert.deepEqual(tickets(), {});
  become(old());
  assert.deepEqual(tickets(), { 2002: { text: 'T', expires: 1 } });
  keepTicket('2002', null);
  assert.deepEqual(tickets(), {});
  keepTicket('2002', { text: 'T', expires: 1 });
  forget();
  become(old());
  assert.deepEqual(tickets(), {});
});

test('while nobody can renew, the purchase is one to send again', async () => {
  start(old(), [503, { code: 'unavailable', retry_after_ms: 900 }], given({ refresh_token: undefined }));
  await assert.rejects(buy('2002', BODY, 'k1'), { status: 503, retryAfter: 900 });
  assert.equal((await buy('2002', BODY, 'k1')).order_id, 'o1');
  assert.equal(shopper().refresh, 'r1', 'an issuer that gives no new refresh token means the old one');
});

test('nobody’s purchase is sent with another shopper’s token', async () => {
  start(old(), given());
  const sent = buy('2002', BODY, 'k1');
  become({ name: 'Bob', user: '1002', token: 'new' });
  await assert.rejects(sent, { status: 403 });
  assert.equal(asked.length, 1);
});

test('who signs out while a renewal is under way stays signed out', async () => {
  start(old(), given());
  const renewing = renew();
  forget();
  assert.equal(await renewing, false);
  assert.equal(shopper(), null);
});

test('a tab out of sight renews when it comes back, once', async () => {
  await sync();
  document.visibilityState = 'hidden';
  start({ ...old(), since: Date.now() - 3_000_000, expires: Date.now() + 60_000 }, given());
  await sleep(50);
  assert.equal(renewals().length, 0);
  document.visibilityState = 'visible';
  for (const f of seen) f();
  for (let i = 0; i < 100 && shopper().token !== 'new'; i++) await sleep(10);
  assert.equal(shopper().token, 'new');
  await sleep(50);
  assert.equal(renewals().length, 1);
});

test('signing out forgets what the tab knew of its shopper, and nobody else’s', () => {
  start({ name: 'Bob', user: '1002', token: 'b' });
  keepAddress({ name: 'Bob' }, false);
  start(old());
  keepAddress({ name: 'Ada' }, false);
  intent('2002', 'Phone', { count: 1, address: 'x' });
  forget();
  assert.equal(shopper(), null);
  become(old());
  assert.deepEqual([lastAddress(), intents()], [{}, {}]);
  become({ name: 'Bob', user: '1002', token: 'b' });
  assert.deepEqual(lastAddress(), { name: 'Bob' });
});

test('no problem repeats a token', async () => {
  start(old(), [401, { code: 'signin_refused' }]);
  const problem = await myOrders(1, 10).catch((p) => p);
  assert.doesNotMatch(`${problem} ${problem.stack} ${JSON.stringify(problem)}`, /\bold\b|\br1\b/);
});
