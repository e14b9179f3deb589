// Unit tests of the back office's rules: addresses, CSV files, files of items, the audit log. Run: node --test
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { Unreadable, decoded, id, line, read, text, time, yuan } from '../src/admin/csv.js';
import { atLines, changesOf, exportText, readItems } from '../src/admin/itemlist.js';
import { changed, placeOf, readPlace } from '../src/admin/place.js';

globalThis.window ??= { addEventListener() {} }; // which dialogs.js wants
const { TEXTS } = await import('../src/i18n.js');
const { STATES } = await import('../src/state-texts.js');
const { whole } = await import('../src/admin/audit.js');
const { compared, dayOf } = await import('../src/admin/bills.js');
const { byMinute, dataOf } = await import('../src/admin/live.js');
const { causeText, refusalText } = await import('../src/admin/shopsays.js');
const { asHTML } = await import('../src/admin/itemedit.js');
const { csvLine, wanted, windowOf } = await import('../src/admin/orders.js');
const { parcelFault, parcelsOf, shipBatch, shippedBy } = await import('../src/admin/ship.js');
const { command, now, patiently, signInBy, words, Problem } = await import('../src/admin/call.js');

Object.assign(TEXTS, STATES); // as admin.js does

const bytes = (text) => new TextEncoder().encode(text);

test('an address is read as it was written', () => {
  for (const [hash, name, id, query] of [
    ['#/orders?item=2002&state=paid', 'orders', '', 'item=2002&state=paid'],
    ['#/order/oabc', 'order', 'oabc', ''],
    ['#/act/1794362400123-00000001', 'act', '1794362400123-00000001', ''],
  ]) {
    const got = readPlace(hash);
    assert.deepEqual([got.name, got.id, got.query.toString()], [name, id, query], hash);
    assert.equal(placeOf(name, id, got.query), hash);
  }
  assert.deepEqual([readPlace('').name, readPlace('#/order/%zz').id], ['', '']);
  assert.equal(placeOf('orders', '', { item: '', user: '1' }), '#/orders?user=1');
  assert.equal(changed(new URLSearchParams('a=1&b=2'), { a: '', b: true, c: false, d: 'x y' }).toString(), 'b=1&d=x+y');
});

test('a cell that a spreadsheet would change is marked as text, and read without the mark', () => {
  const back = (cell) => read(`a,b\n${line(['x', cell])}`, { required: ['a', 'b'] }).lines[0].cell('b');
  for (const cell of ['=1+1', '+1', '-1', '@x', '\tx', '＝1', '＠x', '12345678901234', '00123', '1e5', '1.50', '3-4', '12:30', '3月4日', 'DEC12', '１２', 'TRUE', 'NA', 'null', "'a", "'=1", '`5']) {
    assert.equal(text(cell), `'${cell}`);
    if (cell !== '\tx') assert.equal(back(text(cell)), cell);
  }
  for (const cell of ['', 'x=1', 'SF1000', '128 GB', 'MIT', '3 人帐篷', '顺丰', 'Nan Li', '…']) assert.deepEqual([text(cell), back(cell)], [cell, cell]);
  assert.deepEqual([id('12345678901'), id('123456789012'), text(undefined)], ['12345678901', "'123456789012", '']);
  for (const [cell, want] of [['="75312"', '75312'], ['"=""75312"""', '75312'], ['`75312', '75312'], ["'75312", '75312'], ['75312\t', '75312']]) assert.equal(read(`a,b\nx,${cell}\n`, { required: ['a', 'b'] }).lines[0].cell('b'), want);
  assert.equal(line(['a,b', 'say "x"', "'=1", 7, undefined, ' x']), '"a,b","say ""x""",\'=1,7,," x"\n');
});

test('times and money are written as the command line tool does', () => {
  assert.equal(time('2026-11-11T10:00:00.999+08:00'), '2026-11-11T02:00:00Z');
  assert.equal(time(undefined), '');
  assert.equal(yuan(199), '199.00');
  const order = { order_id: 'o1', item: '1', title: '=t', user: '2', count: 1, held: 1, amount: 8.8, state: 'refund_due', create_time: '2026-11-11T02:00:00Z', changed: '2026-11-11T02:00:01.5Z', options: '颜色=黑' };
  assert.equal(csvLine(order), "o1,,,refund_due,5,,1,'=t,2,1,1,8.80,2026-11-11T02:00:00Z,,2026-11-11T02:00:01Z,,,,颜色=黑\n");
  assert.equal(csvLine({ ...order, state: 'completed', hidden: true }).split(',')[5], '6');
});

test('a file’s lines are read by their columns, and numbered as an editor does', () => {
  const format = { required: ['order', 'number'] };
  const got = read('number,order,x\r\n1,"a, ""b""",\r\n\r\n2,c\r\n"3,d,\r\n 4 , e ,\r\n5,"f\r\ng",\r\n6,h,i,j\r\n', format);
  assert.deepEqual(got.lines.map((l) => [l.n, l.cell('order'), l.cell('number'), l.cell('none')]), [[2, 'a, "b"', '1', ''], [4, 'c', '2', ''], [6, 'e', '4', ''], [7, 'f\ng', '5', '']]);
  assert.deepEqual(got.faults.map((f) => [f.n, f.text]), [[5, 'csv_quotes'], [9, 'csv_width']]);
  for (const [body, why] of [['', 'csv_empty'], ['order\n1\n', 'csv_missing'], ['order,order,number\n', 'csv_twice'], ['order,number\n', 'csv_none'], ['"order,number\n', 'csv_head']]) {
    assert.throws(() => read(body, format), (e) => e instanceof Unreadable && e.text === why, why);
  }
  assert.throws(() => decoded(new Uint8Array([65, 0xff])), { text: 'csv_utf8' });
});

test('a cell from outside is a formula for no separator, and is read as it was', () => {
  const cells = JSON.parse(readFileSync(new URL('../../shared/api/csvfile/testdata/cells.json', import.meta.url), 'utf8'));
  for (const [cell, written] of Object.entries(cells)) {
    assert.equal(text(cell), written);
    assert.equal(read(`a,b\nx,${line([text(cell)])}`, { required: ['a', 'b'] }).lines[0].cell('b'), cell);
  }
});

test('files that spreadsheets save are read', () => {
  const utf16 = (body, big) => new Uint8Array([...body].flatMap((c) => (big ? [c.charCodeAt(0) >> 8, c.charCodeAt(0) & 255] : [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8])));
  for (const [what, file] of Object.entries({
    semicolons: bytes('a;b\n1;顺丰\n'),
    tabs: utf16('\ufeffa\tb\r\n1\t顺丰\r\n', false),
    'the other UTF-16': utf16('\ufeffa\tb\n1\t顺丰\n', true),
    'no mark': utf16('a,b\n1,顺丰\n', false),
    'a mark': bytes('\ufeffa,b\n1,顺丰\n'),
    'full-width commas': bytes('a，b\n1，顺丰\n'),
    'a line that says so': bytes('sep=;\r\na;b\r\n1;顺丰\r\n'),
    returns: bytes('a,b\r1,顺丰\r'),
    'rows and columns of commas': bytes('a,b,,\n1,顺丰,,\n,,,\n , ,\n'),
  })) {
    const got = read(decoded(file), { required: ['a', 'b'] });
    assert.deepEqual([got.lines.map((l) => [l.cell('a'), l.cell('b')]), got.faults], [[['1', '顺丰']], []], what);
  }
  const faults = (body) => read(body, { required: ['a', 'b'], numbers: ['b'] }).faults.map((f) => f.text);
  assert.deepEqual(faults('a,b\nx,7.5e+13\nx,"7,5E13"\nx,75.0\nx,#REF!\nnan,1\nx,1234567890123450\n'), ['csv_short', 'csv_short', 'csv_decimal', 'csv_error', 'csv_blank', 'csv_cut']);
  assert.deepEqual(faults("a,b\nx,'1234567890123450\nx,1234567890123456\n75.0,100\n"), []);
  for (const cell of ['nan', 'NaN', 'NaT', '<NA>', '#REF!', '#N/A', '###', 'Err:502']) {
    const got = read(`a,b\n${text(cell)},1\n`, { required: ['a', 'b'] });
    assert.deepEqual([got.lines.map((l) => l.cell('a')), got.faults], [[cell], []], cell);
  }
  assert.deepEqual(faults('a,b,\nx,1,more\n'), ['csv_width']);
  assert.deepEqual(faults('a,,b\nx,more,1\n'), ['csv_nameless']);
});

test('an activity that is chosen brings its own times, unless somebody typed some', () => {
  const activity = (day) => ({ start_time: `2026-11-${day}T02:00:00Z`, end_time: `2026-11-${day}T03:00:30Z` });
  const windows = new Map([['1', activity(11)], ['2', activity(21)]]);
  const query = (text) => new URLSearchParams(text);
  const times = (day) => ({ from: `2026-11-${day}T02:00:00Z`, to: `2026-11-${day}T04:00:30.000Z` });
  const local = (text) => new Date(Date.parse(text) - new Date(text).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  const first = query({ activity: '1', ...times(11) });
  const shown = { from: local(times(11).from), to: local(times(11).to) };
  assert.deepEqual(windowOf({ activity: '1', from: '', to: '' }, query(''), windows), times(11));
  assert.deepEqual(windowOf({ activity: '2', ...shown }, first, windows), times(21), 'another activity');
  assert.deepEqual(windowOf({ activity: '', ...shown }, first, windows), { from: '', to: '' }, 'any');
  assert.deepEqual(windowOf({ activity: '3', ...shown }, first, windows), { from: '', to: '' }, 'one that is not known');
  assert.deepEqual(windowOf({ activity: '2', day: '2026-11-21', ...shown }, first, windows), { from: '', to: '' }, 'a day');
  assert.deepEqual(windowOf({ activity: '2', ...shown, from: '2026-11-21T08:30' }, first, windows), {}, 'typed with it');
  assert.deepEqual(windowOf({ activity: '2', ...shown }, query(times(11)), windows), {}, 'typed before');
  assert.deepEqual(windowOf({ activity: '1', ...shown }, first, windows), {}, 'the same activity');
  assert.deepEqual(windowOf(shown, first, windows), {}, 'who may see no activities');
  assert.equal(wanted(query('undecided=')).undecided, true);
});

test('parcels: what is wrong is told by line, and spreadsheets’ marks are taken off', () => {
  const id = (c) => `o${c.repeat(31)}`;
  const text = ['order,carrier,number', `${id('a')},SF,'=1`, `${id('a')},SF,1`, 'x,SF,1', `${id('b')},,1`, `${id('c')},SF,="7"`, `${id('d')},SF,${'1'.repeat(65)}`].join('\n');
  const got = parcelsOf(bytes(text));
  assert.deepEqual(got.parcels, [{ n: 2, order: id('a'), carrier: 'SF', number: '=1' }, { n: 6, order: id('c'), carrier: 'SF', number: '7' }]);
  assert.deepEqual(got.faults.map((f) => f.n), [3, 4, 5, 7]);
  assert.match(parcelFault('number: want the carrier\'s: 7.5E+13 was shortened by a spreadsheet; enter it'), /改过：7\.5E\+13。/);
  assert.match(parcelFault('order: want confirmed; it is refund_due'), /退款中/);
  assert.equal(parcelFault('order: want one about whose money somebody has decided: 20.00 of 88.80 yuan went back outside the shop'), '88.80 元中已在本店之外退回 20.00 元，要先有人决定款项。');
  assert.equal(parcelFault('something new'), 'something new');
});

test('a shipment that breaks off goes on where it was, and counts each parcel once', async () => {
  const parcels = Array.from({ length: 6 }, (_, i) => ({ n: i + 2 }));
  const run = { parcels, same: 1, at: 0, changed: [] };
  const left = 'order: want confirmed; it is refunded';
  const answers = (...list) => async () => {
    const next = list.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  await shipBatch(run, parcels.slice(0, 2), answers({ shipped: 2, same: 0 }));
  const second = parcels.slice(2, 4);
  await assert.rejects(shipBatch(run, second, answers({ shipped: 0, same: 0, faults: [{ at: 1, what: left }] }, new Error('lost'))));
  assert.deepEqual([run.at, run.changed.length, shippedBy(run)], [2, 0, { shipped: 1, same: 1 }]);
  await shipBatch(run, second, answers({ shipped: 0, same: 0, faults: [{ at: 1, what: left }] }, { shipped: 0, same: 1 }));
  await shipBatch(run, parcels.slice(4), answers({ shipped: 1, same: 1 }));
  assert.deepEqual(run.changed.map((c) => c.n), [5]);
  assert.deepEqual([run.at, shippedBy(run)], [6, { shipped: 4, same: 1 }]);
});

const ITEM = { id: '1', title: 't', price: 9, sk_price: 1.5, start_time: '2026-11-11T02:00:00Z', end_time: '2026-11-12T02:00:00Z', stock: 5, limit: 1, covers: [], detail: '', commodity_id: '1' };

const ITEMS = 'id,title,price,sk_price,start_time,end_time,stock,limit';

test('a file of items becomes what the shop takes', () => {
  const none = { price: '', sk_price: '', start_time: '', end_time: '', stock: '', limit: '' };
  const json = '[{"id": 9007199254740993, "price": 88.80}]';
  assert.equal(readItems('a.JSON', json).text, json, 'as it is: long numbers stay exact');
  const csv = readItems('a.csv', `${ITEMS},covers,questions\n1,t,,,,,,,/a /b,"1+1=? = 2 | two\nx = y"\n2,u,,,,,,,,\n`);
  assert.deepEqual(JSON.parse(csv.text), [
    { id: '1', title: 't', ...none, covers: ['/a', '/b'], questions: [{ text: '1+1=?', answers: ['2', 'two'] }, { text: 'x', answers: ['y'] }] },
    { id: '2', title: 'u', ...none, covers: [], questions: [] },
  ]);
  assert.deepEqual(csv.lines, [2, 4]);
  assert.equal(atLines('x items.json: element 2 (line 1): no; element 1 (line 1): no', csv.lines), 'x line 4: no; line 2: no');
  for (const [name, text, why] of [['a.txt', '', 'import_kind'], ['a.json', '{', 'import_json'], ['a.json', '{}', 'import_array'], ['a.csv', `${ITEMS}\n`, 'csv_none'], ['a.csv', `${ITEMS}\n1,2\n`, 'csv_width'], ['a.csv', '"', 'csv_head'], ['a.csv', `${ITEMS}\n"1,2\n`, 'csv_quotes'], ['a.csv', `${ITEMS.replace('price', 'preis')}\n`, 'csv_unknown']]) {
    assert.throws(() => readItems(name, text), { message: why }, why);
  }
});

test('an export is the file that the command line tool writes', () => {
  const item = { id: '1', title: '"price": 7', price: 398, sk_price: 88.8, covers: [], detail: '<p>"sk_price": 1</p>' };
  assert.equal(exportText([item]), '[\n  {\n    "id": "1",\n    "title": "\\"price\\": 7",\n    "price": 398.00,\n    "sk_price": 88.80,\n    "covers": [],\n    "detail": "<p>\\"sk_price\\": 1</p>"\n  }\n]\n');
});

test('what an import would change is told by column; another spelling is not a change', () => {
  const same = { ...ITEM, id: 1, price: '9.00', sk_price: '1.50', start_time: '2026-11-11T10:00:00+08:00', stock: '5', limit: '1', checks: 'off', commodity_id: '' };
  for (const column of ['covers', 'detail', 'commodity_id', 'checks']) delete same[column];
  const stored = { ...ITEM, covers: ['/a'], detail: '<p>x</p>', commodity_id: '7', checks: 'strict' };
  for (const known of [ITEM, stored]) assert.deepEqual(changesOf([same], [known]), [{ id: '1', title: 't', made: false, changes: [] }]);
  const emptied = { ...same, covers: [], detail: '', commodity_id: '', checks: 'off' };
  assert.deepEqual(changesOf([emptied], [ITEM])[0].changes, []);
  assert.deepEqual(changesOf([emptied], [stored])[0].changes.map((c) => c.column), ['checks', 'commodity_id', 'covers', 'detail']);
  assert.deepEqual(changesOf([{ ...ITEM, stock: 6, questions: [] }, { ...ITEM, id: '2' }], [{ ...ITEM, questions: [{ text: 'q', answers: ['a'] }] }]), [
    { id: '1', title: 't', made: false, changes: [{ column: 'stock', before: 5, after: 6 }, { column: 'questions', before: [{ text: 'q', answers: ['a'] }], after: [] }] },
    { id: '2', title: 't', made: true, changes: [] },
  ]);
  const variant = { ...ITEM, family: '7', options: 'a=b', limit_spans: true };
  assert.deepEqual(changesOf([ITEM, { ...variant, limit_spans: 'TRUE' }], [variant]).map((c) => c.changes), [[], []]);
  assert.deepEqual(changesOf([{ ...variant, limit_spans: '' }], [variant])[0].changes.map((c) => c.column), ['limit_spans']);
});

test('an act of the audit log is shown once, unless its end is missing', () => {
  const entries = [{ id: 'a', kind: 'begun' }, { id: 'a', kind: 'ended' }, { id: 'b', kind: 'begun' }, { id: 'c', kind: 'whole' }];
  assert.deepEqual(whole(entries).map((e) => e.id + e.kind), ['aended', 'bbegun', 'cwhole']);
});

test('days are those of UTC+8', () => {
  assert.equal(dayOf(Date.parse('2026-11-10T15:59:59Z')), '2026-11-10');
  assert.equal(dayOf(Date.parse('2026-11-10T16:00:00Z')), '2026-11-11');
});

test('what went wrong is told in words, with what the system says of it', () => {
  assert.match(words(new Problem(0)), /没有得到答复/);
  assert.match(words(new Problem(502)), /系统暂时没有答复/);
  assert.match(words(new Problem(429)), /太频繁/);
  assert.match(words(new Problem(400, { code: 'invalid_request', field: 'why', detail: 'The value of why must be …' })), /“原因”。 The value/);
  assert.match(words(new Problem(403, { code: 'role_forbidden' })), /角色/);
  assert.match(words(new Problem(403, { code: 'sign_in_again', detail: 'This moves money …' })), /重新登录.*还在。$/);
});

test('a command that is refused because there are too many is given again, one that failed is not', async (t) => {
  const given = [];
  const answers = (...list) => t.mock.method(globalThis, 'fetch', async (path, options) => {
    given.push([path, options.method, options.headers['X-Seckill-Staff'], options.body]);
    return list.shift();
  });
  const json = (status, body, headers) => new Response(JSON.stringify(body), { status, headers });
  answers(json(429, { message: 'Too Many Requests' }, { 'Retry-After': '0' }), json(429, { retry_after_ms: 1 }), json(200, { result: 7 }));
  assert.equal(await command('import', { dry: true }, '[{"id": 9007199254740993}]'), 7);
  const body = '{"operator":{"command":"import","dry":true,"items":[{"id": 9007199254740993}]}}';
  assert.deepEqual(given, Array(3).fill(['admin/commands', 'POST', '1', body]));
  given.length = 0;
  answers(new Response('<html>', { status: 502 }), json(200, { result: 7 }));
  await assert.rejects(command('open'), (p) => p.status === 502 && p.code === 'unavailable');
  answers(json(200, { problem: { code: 'order_unknown', status: 404 } }));
  await assert.rejects(command('order', { order: 'o' }), (p) => p.status === 404 && p.code === 'order_unknown');
  assert.equal(given.length, 2);
});

test('only for an ended session, or one too old for money, a person is asked to sign in', async (t) => {
  const asked = [];
  signInBy(async (problem) => asked.push(problem.code) && false);
  t.after(() => signInBy(async () => false));
  for (const [status, code] of [[401, 'session_ended'], [403, 'sign_in_again'], [403, 'role_forbidden']]) {
    t.mock.method(globalThis, 'fetch', async () => new Response(JSON.stringify({ code }), { status }));
    await assert.rejects(command('refund'), (p) => p.code === code);
  }
  assert.deepEqual(asked, ['session_ended', 'sign_in_again']);
});

test('the pages go by the clock of the door’s answers, which may be another than the computer’s', async (t) => {
  const shop = Date.now() + 3 * 86_400_000;
  const answer = (date) => t.mock.method(globalThis, 'fetch', async () => new Response('{}', { headers: date ? { Date: date } : {} }));
  answer(new Date(shop).toUTCString());
  await command('open');
  assert.ok(Math.abs(now() - shop) < 2_000, `${now() - shop} ms`);
  answer('');
  await command('open');
  assert.ok(Math.abs(now() - shop) < 2_000, 'after an answer without it');
  answer(new Date().toUTCString());
  await command('open');
  assert.ok(Math.abs(now() - Date.now()) < 2_000, 'set back');
});

test('what the shop says in English is read in the page’s language where it is known, else as it is', () => {
  assert.equal(causeText('1.00 yuan by trade t1: notify'), '1.00 元，交易号 t1：支付平台通知');
  assert.equal(causeText('note by id/ann: a: b'), 'id/ann 备注：a: b');
  assert.equal(causeText('sold_out'), '已抢光');
  assert.equal(causeText('notify'), '支付平台通知');
  assert.equal(causeText('blocked'), '买家被禁购');
  for (const [text, want] of [
    ['outside', '已在本店之外退回'],
    ['88.80 yuan of trade t1 went back outside the shop', '88.80 元已在本店之外退回，交易号 t1'],
    ['20.00 of 88.80 yuan of trade t1 went back: notification n1', '88.80 元中已退回 20.00 元，交易号 t1：支付平台通知 n1'],
    ['20.00 of 88.80 yuan of trade t1 went back: query of refund r1', '88.80 元中已退回 20.00 元，交易号 t1：查询退款 r1 得知'],
    ['20.00 of 88.80 yuan of trade t1 went back: bill of 2026-11-11', '88.80 元中已退回 20.00 元，交易号 t1：2026-11-11 的账单'],
    ['ships all the same, 20.00 yuan went back, says id/ann: agreed: yes', 'id/ann 决定照常发货，20.00 元已退回：agreed: yes'],
    ['88.80 yuan of trade t1 went back, refund r1', '88.80 元已退回，交易号 t1，退款编号 r1'],
  ]) assert.equal(causeText(text), want);
  assert.match(refusalText('fixed since 2026-11-11T10:00:00Z, when it was loaded for sale'), /^不能改：.*11.* 已装载待售。$/);
  for (const tell of [causeText, refusalText]) assert.equal(tell('something new'), 'something new');
});

test('curves by minute: quiet minutes are 0, what is not known is a gap, and an hour is shown at most', () => {
  const minute = (n) => new Date(Date.UTC(2026, 10, 11, 2, n)).toISOString();
  const seen = (counts, metrics = []) => ({ now: minute(90), counts: { value: { minutes: counts } }, metrics: { value: { minutes: metrics } } });
  const curve = { name: 'counts', of: 'counts', lines: ['placed', 'paid'] };
  const [at, placed, paid] = dataOf(curve, seen([{ minute: minute(87), placed: 3, paid: 1, given_back: 0 }, { minute: minute(89), placed: 2, paid: 0, given_back: 0 }]), []);
  assert.equal(at.length, 11);
  assert.deepEqual(placed.slice(6), [null, 3, 0, 2, 0]);
  assert.deepEqual(paid.slice(6), [null, 1, 0, 0, 0]);
  assert.equal(dataOf(curve, seen([{ minute: minute(0), placed: 3 }]), [])[0].length, 60);
  assert.deepEqual(dataOf({ name: 'presses', of: 'metrics', lines: ['presses'] }, seen([]), []), [[], []]);
  assert.deepEqual(dataOf({ name: 'stock', lines: ['left', 'held'] }, seen([]), [[1, 5, 2, 0], [2, 4, 3, 9]]), [[1, 2], [5, 4], [2, 3]]);
  const rows = byMinute(seen([{ minute: minute(3), placed: 1 }], [{ minute: minute(2), presses: 4 }, { minute: minute(3), presses: 5 }]));
  assert.deepEqual(rows.map((r) => [r.presses, r.placed]), [[4, undefined], [5, 1]]);
});

test('of a long row of calls, one that fails for a moment is repeated, and one that is refused is not', async () => {
  const stays = new AbortController().signal;
  const calls = async (signal, ...fails) => {
    const left = [...fails];
    const result = await patiently(signal, async () => {
      if (left.length) throw left.shift();
      return 'done';
    }, 1).catch((problem) => problem.status ?? problem.name);
    return `${result} ${fails.length - left.length}`;
  };
  const down = [0, 502, 429, 503, 0].map((status) => new Problem(status));
  assert.equal(await calls(stays, ...down.slice(0, 4)), 'done 4');
  assert.equal(await calls(stays, ...down), '0 5');
  assert.equal(await calls(stays, new Problem(403)), '403 1');
  assert.equal(await calls(AbortSignal.abort(), down[0]), 'AbortError 1');
  assert.equal(new Problem(413).code, 'body_too_large');
});

test('a comparison that outlasts its call is waited for; one that fails sooner is told at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const passes = setInterval(() => t.mock.timers.tick(5_000), 1);
  t.after(() => clearInterval(passes));
  let took = 24_000;
  let looks = 0;
  t.mock.method(globalThis, 'fetch', async (_, { body }) => {
    if (JSON.parse(body).operator.command === 'reconcile') {
      t.mock.timers.setTime(Date.now() + took);
      return new Response('{"code":"unavailable"}', { status: 503 });
    }
    looks++;
    return Response.json({ result: { reconciliations: [{ at: 'before' }, { at: 'now', count: 2 }].slice(0, looks < 3 ? 1 : 2) } });
  });
  let told = 0;
  const page = { signal: new AbortController().signal };
  const compare = () => compared(page, '2026-11-11', Promise.resolve('before'), () => told++);
  assert.deepEqual([await compare(), looks, told], [{ at: 'now', count: 2 }, 3, 1]);
  took = 3_000;
  await assert.rejects(compare(), { status: 503 });
  took = 24_000;
  looks = -1000;
  await assert.rejects(compare(), { status: 503 }); // after five minutes
  assert.deepEqual([looks > -1000, told], [true, 2]);
  await assert.rejects(compared(page, '2026-11-11', Promise.reject(new Error('no list'))), /no list/); // nothing is compared
});

test('a description without tags is plain text, by lines', () => {
  assert.equal(asHTML('A & B < C\n\n红茶'), '<p>A &amp; B &lt; C</p>\n<p>红茶</p>');
  assert.equal(asHTML('It&#39;s 5&#34; &amp; red & white'), '<p>It&#39;s 5&#34; &amp; red &amp; white</p>');
  for (const same of ['', '<p>红</p>\nx', 'x<br>y', '<script>1</script>']) assert.equal(asHTML(same), same);
});
