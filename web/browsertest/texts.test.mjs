// Holds the texts and the code together: every text in both languages, every name that is used, and no other.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { orderOf, outcome, yuan } from '../src/core.js';
import { TEXTS as ADMISSION } from '../src/admission-texts.js';
import { TEXTS as AFTER } from '../src/after.js';
import { TEXTS as BY_TOKEN } from '../src/bytoken.js';
import { TEXTS as CHOOSER } from '../src/chooser.js';
import { TEXTS, t, tOr, when } from '../src/i18n.js';
import { TEXTS as IN_REPORT } from '../src/inreport.js';
import { TEXTS as KEEP } from '../src/keep.js';
import { TEXTS as ORDERS, paymentLines } from '../src/orders.js';
import { TEXTS as SESSIONS } from '../src/sessions.js';
import '../src/status-texts.js';

globalThis.window ??= { addEventListener() {} }; // which dialogs.js wants
await import('../src/admin/screens.js');

Object.assign(TEXTS, ADMISSION, AFTER, BY_TOKEN, CHOOSER, IN_REPORT, KEEP, ORDERS, SESSIONS);
const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true })
  .filter((f) => /\.(js|html)$/.test(f) && !/(^|-|\/)(i18n|texts)\.js$/.test(f))
  .map((f) => [f, readFileSync(new URL(f, folder), 'utf8')]);
const all = sources.map(([, text]) => text).join('\n');

const holes = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();

test('every text has both languages and the same places to fill', () => {
  for (const [name, texts] of Object.entries(TEXTS)) {
    assert.equal(texts.length, 2, name);
    assert.ok(texts.every((s) => s.trim()), name);
    assert.deepEqual(holes(texts[0]), holes(texts[1]), name);
  }
});

test('every name that the pages use has a text', () => {
  const used = [...all.matchAll(/\bt\('(\w+)'|data-(?:text|label)="(\w+)"/g)].map((m) => m[1] || m[2]);
  assert.ok(used.length > 80, `only ${used.length} found: the pattern is out of date`);
  for (const name of used) assert.ok(TEXTS[name], name);
});

// One order for every outcome; orders whose outcome is named after their state are listed by state.
const RESTS = ['queued', 'closing', 'paid', 'confirmed', 'shipped', 'received', 'completed', 'expired', 'cancelled', 'rejected', 'refund_due', 'refunded'];
const OUTCOMES = [
  ...RESTS.map((state) => ({ state })),
  ...['sold_out', 'limit_reached', 'stopped', 'blocked'].map((reason) => ({ state: 'rejected', reason })),
  ...['refund_due', 'refunded'].map((state) => ({ state, history: [{ state: 'expired' }] })),
  { state: 'pending_payment' },
  { state: 'pending_payment', alipay_order: 'x', pay_by: '2100-01-01T00:00:00Z' },
  { state: 'a state of the future' },
].map((answer) => outcome(orderOf(answer), Date.parse('2099-01-01')).text);

test('every outcome of an order has a title and a text', () => {
  assert.equal(new Set(OUTCOMES).size, OUTCOMES.length, 'each order above has an outcome of its own');
  for (const name of OUTCOMES) assert.ok(TEXTS[name] && TEXTS[`${name}_text`], name);
});

test('every reason why nobody is signed in has a title and a text', () => {
  for (const why of ['refused', 'cancelled', 'mismatch', 'away', 'insecure']) assert.ok(TEXTS[`signin_${why}`] && TEXTS[`signin_${why}_text`], why);
});

test('everything that a shopper reads who was at the cashier has a text', () => {
  const names = [...all.matchAll(/'((?:cashier|confirming)(?:_[a-z]+)?)'/g)].map((m) => m[1]);
  assert.ok(names.length >= 6, `only ${names.length} found`);
  for (const name of names) assert.ok(TEXTS[`${name}_text`], name);
});

test('a shopper reads what became of a payment, whoever gave it back', () => {
  const lines = (p) => paymentLines({ amount: 88.8, ...p }, { t, tOr, yuan, when: () => '11/11' });
  for (const [p, ...want] of [
    [{ state: 'captured' }, '¥88.80 已收款'],
    [{ state: 'captured', outside: 20 }, '¥88.80 已收款', '¥20.00 已另行退回'],
    [{ state: 'refund_due', refund_id: 'r1' }, '¥88.80 退款中，原路退回，退款编号 r1'],
    [{ state: 'refund_due', refund_id: 'r1', outside: 20 }, '¥68.80 退款中，原路退回，退款编号 r1', '¥20.00 已另行退回'],
    [{ state: 'refund_due', outside: 88.8 }, '¥88.80 已另行退回，正在向支付平台核实'],
    [{ state: 'refunded', refund_id: 'r1', refunded_at: 'x', outside: 20 }, '¥68.80 已于 11/11 退回，退款编号 r1', '¥20.00 已另行退回'],
    [{ state: 'refunded', refunded_at: 'x', outside: 88.8 }, '¥88.80 已于 11/11 退回'],
    [{ state: 'of the future' }, '¥88.80'],
  ]) assert.deepEqual(lines(p), want);
});

test('no text is left over', () => {
  const composed = /^(state|item|payment|refused|address|hint|fault|st|signin|proof|role|wrong|field|csv|money_state|difference|audit_result|acts|items_state|rule|activity|activities_state|members|edit_checks|live_part|live_act|money_second|live_check|live_queue|live_curve)_|_text$/; // names put together in code
  const literal = new Set([...all.matchAll(/['"`](\w+)['"`]|data-(?:text|label)="(\w+)"/g)].flatMap((m) => [m[1], m[2]]));
  for (const name of Object.keys(TEXTS)) assert.ok(composed.test(name) || literal.has(name) || OUTCOMES.includes(name), name);
});
