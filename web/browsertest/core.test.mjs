// Unit tests of the page's rules. Run: node --test
import assert from 'node:assert/strict';
import test from 'node:test';
import { pickVariant } from '../src/chooser.js';
import * as core from '../src/core.js';
import { calendar } from '../src/keep.js';

/** Runs a table: [name, arguments, want]. */
function table(name, f, rows) {
  for (const [what, args, want] of rows) test(`${name}: ${what}`, () => assert.deepEqual(f(...args), want));
}

table('lookAgain', core.lookAgain, [
  ['the first failure', [0, 0, 0], 1000],
  ['spread over half as much again', [0, 0, 1], 1500],
  ['the third', [2, 0, 0], 4000],
  ['as the server wishes', [0, 20_000, 0], 20_000],
  ['longer than it wishes', [3, 1000, 0], 8000],
  ['never more than the usual wait', [40, 0, 0], core.LOOK_FAR],
]);

test('a reminder is a calendar file whose lines are short, and whose texts stay texts', () => {
  const file = calendar({ id: '2002', start_time: '2026-11-11T02:00:00Z' }, `${'双十一耳机'.repeat(9)}; a,b\n\nBEGIN:VEVENT`, 'https://shop.example/item/2002', Date.UTC(2026, 10, 1));
  for (const line of file.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75 && !line.includes('\n'), line);
  const whole = file.replaceAll('\r\n ', '');
  for (const want of ['\r\nDTSTART:20261111T020000Z\r\n', '\r\nDTSTAMP:20261101T000000Z\r\n', '\r\nTRIGGER:-PT10M\r\n', '双十一耳机\\; a\\,b BEGIN:VEVENT\r\n', '\r\nURL:https://shop.example/item/2002\r\n']) assert.ok(whole.includes(want), want);
  assert.equal(whole.split('\r\nBEGIN:VEVENT\r\n').length, 2);
});

const CASHIER_ORDER = { state: 'pending_payment', payBy: 1000, payments: [] };
table('cashierText', core.cashierText, [
  ['a tab that knows nothing', [CASHIER_ORDER, undefined, 0], ''],
  ['went there', [CASHIER_ORDER, { what: 'went', ago: 0 }, 0], 'cashier_went'],
  ['another tab went', [CASHIER_ORDER, { what: 'elsewhere', ago: 0 }, 0], 'cashier_elsewhere'],
  ['just came back', [CASHIER_ORDER, { what: 'back', ago: 29_999 }, 0], 'confirming'],
  ['came back a while ago', [CASHIER_ORDER, { what: 'back', ago: 30_000 }, 0], 'confirming_long'],
  ['the hold is over', [CASHIER_ORDER, { what: 'back', ago: 0 }, 1000], 'cashier_over'],
  ['closing', [{ ...CASHIER_ORDER, state: 'closing' }, { what: 'went', ago: 0 }, 0], 'cashier_over'],
  ['closed', [{ ...CASHIER_ORDER, state: 'expired' }, { what: 'went', ago: 0 }, 0], 'cashier_closed'],
  ['cancelled', [{ ...CASHIER_ORDER, state: 'cancelled' }, { what: 'back', ago: 0 }, 0], 'cashier_closed'],
  ['closed, and money came late', [{ ...CASHIER_ORDER, state: 'expired', payments: [{}] }, { what: 'back', ago: 0 }, 0], ''],
  ['paid', [{ ...CASHIER_ORDER, state: 'paid' }, { what: 'back', ago: 0 }, 0], ''],
  ['queued', [{ ...CASHIER_ORDER, state: 'queued' }, { what: 'went', ago: 0 }, 0], ''],
]);

table('clockText', core.clockText, [
  ['nothing left', [0], '00:00'],
  ['past', [-5], '00:00'],
  ['a millisecond is not nothing', [1], '00:01'],
  ['full seconds are exact', [59_000], '00:59'],
  ['rounds up', [59_001], '01:00'],
  ['fifteen minutes', [900_000], '15:00'],
  ['hours', [3_661_000], '1:01:01'],
  ['a day of hours', [86_400_000], '24:00:00'],
]);

table('countdown', core.countdown, [
  ['over', [-1], { days: 0, parts: ['00', '00', '00'] }],
  ['one second before midnight', [86_399_000], { days: 0, parts: ['23', '59', '59'] }],
  ['days', [2 * 86_400_000 + 3_723_000], { days: 2, parts: ['01', '02', '03'] }],
]);

table('bestOffset', core.bestOffset, [
  ['no sample', [[]], undefined],
  ['half the round trip', [[{ sent: 1000, received: 1100, server: 5000 }]], 3950],
  [
    'the shortest trip counts',
    [
      [
        { sent: 0, received: 900, server: 9999 },
        { sent: 1000, received: 1010, server: 2005 },
        { sent: 2000, received: 2400, server: 0 },
      ],
    ],
    1000,
  ],
  ['a trip that ends before it began is none', [[{ sent: 10, received: 5, server: 1 }]], undefined],
]);

test('bestOffset: the error is at most half of the shortest trip, whatever the way there and back', () => {
  const offset = 123_456;
  for (let there = 0; there <= 100; there += 10) {
    for (let back = 0; back <= 100; back += 10) {
      const got = core.bestOffset([{ sent: 500, received: 500 + there + back, server: 500 + there + offset }]);
      assert.ok(Math.abs(got - offset) <= (there + back) / 2, `there ${there}, back ${back}: got ${got}`);
    }
  }
});

table('retryWait', core.retryWait, [
  ['first, shortest', [0, 0, 0], 250],
  ['first, longest', [0, 0, 1], 500],
  ['doubles', [3, 0, 1], 4000],
  ['is bounded', [60, 0, 1], 8000],
  ['the server is obeyed', [0, 2000, 0], 2000],
  ['and spread', [9, 2000, 1], 2400],
]);

table('retryAfterHeader', core.retryAfterHeader, [
  ['missing', [null], 0],
  ['seconds', ['3'], 3000],
  ['date', ['Thu, 01 Jan 1970 00:00:10 GMT', 4000], 6000],
  ['past date', ['Thu, 01 Jan 1970 00:00:10 GMT', 40_000], 0],
  ['nonsense', ['soon'], 0],
]);

table('pollWait', core.pollWait, [
  ['queued, no wish', ['queued', 0, 0], 500],
  ['queued, the server is obeyed', ['queued', 0, 800], 800],
  ['queued, backs off', ['queued', 6, 500], 1125],
  ['queued, bounded', ['queued', 40, 500], 5000],
  ['nothing known yet', ['none', 0, 0], 500],
  ['to pay', ['pending_payment', 0, 0], 2000],
  ['to pay, for long', ['pending_payment', 100, 0], 5000],
  ['closing', ['closing', 0, 0], 3000],
  ['at rest', ['paid', 0, 0], 0],
]);

const item = { start_time: '2025-01-01T00:00:00Z', end_time: '2025-01-01T01:00:00Z' };
const start = Date.parse(item.start_time);
table('phase', core.phase, [
  ['before', [item, start - 1], 'upcoming'],
  ['at the instant', [item, start], 'live'],
  ['last millisecond', [item, start + 3_599_999], 'live'],
  ['end is out', [item, start + 3_600_000], 'ended'],
  ['stopped', [{ ...item, state: 'stopped' }, start], 'stopped'],
  ['time not known: the server said that it waits', [{ ...item, state: 'waiting' }, undefined], 'upcoming'],
  ['time not known: the server said that it is on', [{ ...item, state: 'online' }, undefined], 'live'],
  ['time not known: the server said that it ended', [{ ...item, state: 'ended' }, undefined], 'ended'],
]);

table('maxCount', core.maxCount, [
  ['limit', [{ sk_per_max_count: 3 }], 3],
  ['never over one order', [{ sk_per_max_count: 500 }], 50],
  ['missing', [{}], 1],
]);

table('yuan', core.yuan, [
  ['two decimals', [88.8], '88.80'],
  ['thousands', [1234567.5], '1,234,567.50'],
  ['zero', [0], '0.00'],
  ['missing', [undefined], '0.00'],
]);

table('percentOff', core.percentOff, [
  ['rounds down', [{ sk_price: 88.8, commodity: { price: 299 } }], 70],
  ['same price', [{ sk_price: 5, commodity: { price: 5 } }], 0],
  ['no ordinary price', [{ sk_price: 5, commodity: { price: 0 } }], 0],
]);

table('leftShare', core.leftShare, [
  ['half', [{ stock: 5, max_sk_count: 10 }], 0.5],
  ['none', [{ stock: 0, max_sk_count: 10 }], 0],
  ['no stock at all', [{ stock: 0, max_sk_count: 0 }], 0],
]);

const good = { name: '王小明', phone: '13800000000', region: '上海市浦东新区', street: '世纪大道 1 号' };
table('addressFaults', core.addressFaults, [
  ['good', [good], {}],
  ['nothing', [{}], { name: 'empty', phone: 'empty', region: 'empty', street: 'empty' }],
  ['blanks are nothing', [{ ...good, name: ' \n ' }], { name: 'empty' }],
  ['"x" is not an address', [{ name: 'x', phone: 'x', region: 'x', street: 'x' }], { phone: 'digits', region: 'short', street: 'short' }],
  ['a foreign number', [{ ...good, phone: '+86 138-0000-0000' }], {}],
  ['the whole has 500 characters of two code units', [{ ...good, street: '😀'.repeat(500 - 24) }], {}],
  ['one more', [{ ...good, street: '😀'.repeat(501 - 24) }], { street: 'long' }],
]);
table('addressText', core.addressText, [
  ['one text', [good], '王小明 13800000000 上海市浦东新区 世纪大道 1 号'],
  ['what pasting brings along', [{ ...good, phone: '\u202d13800000000\u202c', street: '世纪\u200b大道 1 号\ufeff\ud83d' }], '王小明 13800000000 上海市浦东新区 世纪大道 1 号'],
  ['blanks', [{ ...good, name: ' 王  小明\n' }], '王 小明 13800000000 上海市浦东新区 世纪大道 1 号'],
]);
const near = { start_time: '2026-01-01T00:01:00Z', end_time: '2026-01-02T00:00:00Z', stock: 1 };
const eve = Date.parse('2026-01-01T00:00:00Z');
table('lookWait', core.lookWait, [
  ['nothing is on', [[], eve, 0], core.LOOK_FAR],
  ['a minute and more before', [[near], eve, 0], core.LOOK_FAR],
  ['near', [[near], eve + 1, 0], core.LOOK_NEAR],
  ['spread', [[near], eve + 1, 1], core.LOOK_NEAR + core.SPREAD],
  ['on sale', [[near], eve + 3_600_000, 0], core.LOOK_NEAR],
  ['sold out', [[{ ...near, stock: 0 }], eve + 3_600_000, 0], core.LOOK_FAR],
  ['stopped', [[{ ...near, state: 'stopped' }], eve + 3_600_000, 0], core.LOOK_FAR],
  ['the time is not known', [[{ ...near, state: 'online' }], undefined, 0], core.LOOK_NEAR],
]);
const of = (state, count, id = '1', variant = undefined) => ({ state, count, seckill: { id, variant } });
const spanning = (family) => ({ family, limit_spans: true });
const FAMILY = [of('paid', 1, '1', spanning('7')), of('paid', 2, '2', spanning('7')), of('expired', 4, '2', spanning('7')), of('paid', 8, '3', spanning('8')), of('paid', 16, '4')];
table('unitsOf', core.unitsOf, [
  ['none', [[], { id: '1' }], 0],
  ['open and paid ones', [[of('pending_payment', 2), of('paid', 1), of('expired', 5), of('refund_due', 3), of('paid', 9, '2')], { id: '1' }], 3],
  ['of a family whose limit spans', [FAMILY, { id: '5', variant: spanning('7') }], 3],
  ['of a family whose limit does not', [FAMILY, { id: '1', variant: { family: '7' } }], 1],
  ['of an item alone', [FAMILY, { id: '4' }], 16],
]);
const variant = (id, stock, ...values) => ({ id, stock, variant: { options: values.map((value, i) => ({ name: String(i), value })) } });
const [S_RED, M_RED, S_BLUE, M_BLUE] = [variant('1', 1, 'red', 'S'), variant('2', 1, 'red', 'M'), variant('3', 1, 'blue', 'S'), variant('4', 0, 'blue', 'M')];
const L_BLUE = variant('5', 1, 'blue', 'L');
const picked = (...args) => pickVariant(...args).id;
table('pickVariant', picked, [
  ['the other option stays', [[S_RED, M_RED, S_BLUE, M_BLUE], M_RED, 0, 'blue'], '4'],
  ['the chosen one', [[S_RED, M_RED], M_RED, 1, 'M'], '2'],
  ['no such one: one that is left', [[M_RED, M_BLUE, L_BLUE], variant('9', 1, 'red', 'S'), 0, 'blue'], '5'],
  ['no such one, all sold out: the first', [[M_RED, M_BLUE], variant('9', 1, 'red', 'S'), 0, 'blue'], '4'],
]);

test('intentFor: the same body keeps its key, another one gets another', () => {
  const body = { count: 1, address: 'a' };
  const first = core.intentFor(null, body, () => 'k1');
  assert.deepEqual(first, { key: 'k1', count: 1, address: 'a' });
  assert.equal(core.intentFor(first, body, () => 'k2').key, 'k1');
  assert.equal(core.intentFor(first, { count: 2, address: 'a' }, () => 'k2').key, 'k2');
  assert.equal(core.intentFor(first, { count: 1, address: 'b' }, () => 'k2').key, 'k2');
  assert.deepEqual(core.bodyOf({ ...first, title: 't' }), body);
});

table('decide', core.decide, [
  ['no answer', [{ status: 0 }], 'retry'],
  ['busy', [{ status: 503 }], 'retry'],
  ['throttled', [{ status: 429 }], 'retry'],
  ['our fault', [{ status: 500 }], 'retry'],
  ['too early', [{ status: 425 }], 'wait_start'],
  ['token', [{ status: 403 }], 'sign_in'],
  ['token, with its code', [{ status: 403, code: 'invalid_token' }], 'sign_in'],
  ['no ticket', [{ status: 403, code: 'ticket_required' }], 'refused'],
  ['blocked', [{ status: 403, code: 'blocked' }], 'refused'],
  ['limit', [{ status: 409, code: 'limit_reached', orderId: 'o1' }], 'limit'],
  ['limit without an order', [{ status: 409, code: 'limit_reached', orderId: '' }], 'refused'],
  ['sold out', [{ status: 409, code: 'sold_out' }], 'refused'],
  ['bad input', [{ status: 422 }], 'refused'],
]);

const order = (state, more = {}) => ({ ...core.orderOf({ id: 'o1', state }), ...more });
const history = (...states) => ({ history: states.map((state) => ({ state })) });
const meaning = (o, now = 100) => Object.values(core.outcome(o, now));
table('outcome', meaning, [
  ['queued', [order('queued')], ['queued', 'wait', false]],
  ['not yet known', [order('none')], ['queued', 'wait', false]],
  ['payable', [order('pending_payment', { payBy: 101, canPay: true })], ['pay', 'wait', true]],
  ['time to pay is over', [order('pending_payment', { payBy: 100, canPay: true })], ['pay_over', 'wait', false]],
  ['without a pay string', [order('pending_payment', { payBy: 101 })], ['pay', 'wait', false]],
  ['closing is not payable', [order('closing', { payBy: 101, canPay: true })], ['closing', 'wait', false]],
  ['paid', [order('paid')], ['paid', 'good', false]],
  ['expired', [order('expired')], ['expired', 'plain', false]],
  ['expired, and money came', [order('expired', { payments: [{ state: 'refund_due' }] })], ['late', 'plain', false]],
  ['late money', [order('refund_due', history('queued', 'expired', 'refund_due'))], ['late', 'plain', false]],
  ['late money went back', [order('refunded', history('cancelled', 'refund_due', 'refunded'))], ['late_refunded', 'plain', false]],
  ['refund by the shop', [order('refund_due', history('paid', 'refund_due'))], ['refund_due', 'plain', false]],
  ['rejected, sold out', [order('rejected', { reason: 'sold_out' })], ['rejected_sold_out', 'bad', false]],
  ['rejected, reason of no interest', [order('rejected', { reason: 'unavailable' })], ['rejected', 'bad', false]],
  ['a state of the future', [order('teleported')], ['unknown', 'plain', false]],
]);

table('moneyText', core.moneyText, [
  ['queued', [order('queued')], 'money_none'],
  ['to be paid: a notify may be on its way', [order('pending_payment')], 'money_unpaid'],
  ['closing: whether it is paid is not known', [order('closing')], 'money_asking'],
  ['expired', [order('expired')], 'money_none'],
  ['paid', [order('paid')], 'money_captured'],
  ['refund due', [order('refund_due')], 'money_refund_due'],
]);

table('tokenUser', core.tokenUser, [
  ['19 digits, no digit lost', [`h.${btoa('{"iss":9007199254740993123,"sub":"1"}')}.s`], '9007199254740993123'],
  ['a string', [`h.${btoa('{"sub":"1","iss":"42"}')}.s`], '42'],
  ['no token', ['hello'], ''],
  ['not base64', ['a.%%%.c'], ''],
  ['nobody', [`h.${btoa('{"sub":"1"}')}.s`], ''],
]);
