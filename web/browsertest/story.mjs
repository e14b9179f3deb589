// A sale from an empty shop to its report, through pages alone, by keyboard on a Chinese phone and by mouse on an English
// computer. Staff sign in with a password, each with one role: an editor makes an item and an activity, two shoppers buy
// and pay, an operator confirms and ships, two people of finance refund, a shopper confirms the receipt, an auditor reads
// who did it, and the sale's report has the order.
//   node story.mjs BASE OUT     SECKILL is the tool. It needs a fresh `seckill run --demo none --refund-alone-yuan 100
//     --staff-issuer 'http://localhost:ISSUER_PORT|office' --staff-claims 'seckill_groups|seckill-|sub|openid'`,
//     ISSUER_PORT and STAFF_CLIENT_SECRET; it moves the clock.
// On a deployed stack (BASE ends with a slash) STAFF has the names of staff, PASSWORD is everybody's, SHOPPERS has four
// people with tokens, and REPORT the flags that tell `seckill report make` where the tables are, as JSON.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXPECTED, ask, axe, base, browser, card, check, close, fillAddress, finish, has, mine, open, payAt, picture, same, says, tool, until } from './harness.mjs';
import { auditLog, confirm, go, main, office, press, said, still, type } from './office.mjs';
import { control, move, startIssuer } from './provider.mjs';

const STACK = process.env.STAFF !== undefined;
const staff = JSON.parse(process.env.STAFF || '{"editor":"ed","operator":"op","finance":["fay","finn"],"auditor":"ada"}');
const password = process.env.PASSWORD || 'correct horse';
const folder = mkdtempSync(join(tmpdir(), 'story-'));
const path = (name) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true }));
EXPECTED.push(/status of 401/, /status of 404/, /status of 429/, /status of 503/); // nobody yet; an item to be made; a stack's limits; its stock to be loaded

const TEXTS = {
  zh: { ready: '都好了', saved: '已保存', wait: '请在', pay: '去付款', success: '支付成功', paid: '支付成功', confirmed: '已接单', shipped: '已发货', shippedFile: '已发货 1 笔', refund: '退款', waits: '等待另一位同事同意', begun: '退款已开始', receive: '我已收到', received: '已收货', check: '核对秒杀报告', compare: '核对', inIt: '签名的报告里' },
  en: { ready: 'all right', saved: 'Saved', wait: 'Pay within', pay: 'Pay now', success: 'Payment successful', paid: 'Paid', confirmed: 'The order is confirmed', shipped: 'Shipped', shippedFile: 'Shipped: 1', refund: 'Refund', waits: 'It waits for a second person', begun: 'The refund has begun', receive: 'I received it', received: 'Received', check: 'Check that this order is in the sale’s report', compare: 'Check', inIt: 'is in the report that' },
};
// Ids of 19 digits, which no JavaScript number has.
const fresh = (n) => `${Date.now()}${String(n).padStart(6, '0')}`;
const PLACES = [
  { lang: 'zh', size: 'phone', keyboard: true, item: fresh(1), activity: fresh(3), kind: 'wap', n: 0 },
  { lang: 'en', size: 'desktop', item: fresh(2), activity: fresh(4), kind: 'page', n: 2 },
];
const HOUR = 3_600_000; // ms
// A run's sale opens in an hour, and the clock is moved. A stack's is open at once, and short: its end is waited for.
const [OPENS, LASTS] = STACK ? [-60_000, 150_000] : [HOUR, 2 * HOUR];
const now = async () => (await ask('seckill/time')).now_ms;
const field = (ms) => new Date(ms + 8 * HOUR).toISOString().slice(0, 19); // the page's zone is UTC+8
const shopper = async (n) => (STACK ? JSON.parse(process.env.SHOPPERS) : (await ask('_local/shoppers')).shoppers)[n];

/** A check that what follows needs. */
const step = async (name, f) => (await check(name, f)) || finish();

/** Signs somebody in at the issuer of staff from a place of the back office, and is led back there. */
async function signedIn(place, name, path) {
  const page = await office(place, path);
  await page.context().route((url) => url.pathname === '/favicon.ico', (route) => route.fulfill({ status: 204 })); // the issuer's pages have none
  const asked = [];
  page.on('request', (r) => asked.push(r.url()));
  await press(place, page, '#sign-in');
  await type(place, page, '#username, [name=name]', name);
  await type(place, page, '#password, [name=password]', password);
  await page.keyboard.press('Enter');
  await page.locator('.screen').waitFor();
  await still(page);
  same(new URL(page.url()).hash, path, 'place');
  same(asked.some((url) => url.includes('code=') && !url.startsWith(`${base.replace(/\/?$/, '/')}admin/callback?`)), false, 'the code in another address');
  const [cookie] = (await page.context().cookies()).filter((c) => c.name.endsWith('staff'));
  same(`${cookie.httpOnly} ${cookie.sameSite}`, 'true Strict', 'cookie');
  return page;
}

async function bought(place, n) {
  const words = TEXTS[place.lang];
  const who = await shopper(n);
  const page = await open({ ...place, shopper: who });
  await press(place, page, card(page, place.item).locator('.button'));
  await fillAddress(page);
  await press(place, page, 'dialog button[type=submit]');
  await says(page, words.wait);
  await payAt(page, words.pay, words.success);
  await says(page, words.paid);
  const id = new URL(page.url()).hash.split('/')[2];
  await close(page);
  return id;
}

if (!STACK) {
  await startIssuer();
  const may = (...roles) => roles.map((role) => `seckill-${role}`);
  const groups = { [staff.editor]: may('editor'), [staff.operator]: may('operator'), [staff.auditor]: may('auditor') };
  for (const name of staff.finance) groups[name] = may('finance', 'viewer');
  await control({ groups, people: Object.fromEntries(Object.keys(groups).map((name) => [name, password])) });
}

for (const place of PLACES) {
  const words = TEXTS[place.lang];
  const on = `${place.size}, ${place.lang}`;
  let first = ''; // is shipped
  let second = ''; // is refunded

  await step(`${on}: an editor makes an item and an activity`, async () => {
    const page = await signedIn(place, staff.editor, '#/items');
    if (!STACK && place.lang === 'zh') same(await page.locator('tbody tr').count(), 0, 'items of an empty shop');
    place.began = await now();
    place.ends = place.began + OPENS + LASTS;
    await press(place, page, '#item-new');
    const values = { id: place.item, title: `红茶 ${place.lang}`, sk_price: '199', price: '299', stock: '3', limit: '1' };
    for (const [name, value] of Object.entries(values)) await type(place, page, `#item-edit-${name}`, value);
    const window = async (form) => {
      await page.locator(`#${form}-start_time`).fill(field(place.began + OPENS));
      await page.locator(`#${form}-end_time`).fill(field(place.ends));
    };
    await window('item-edit');
    await press(place, page, '#item-edit-send');
    if (STACK) await confirm(place, page); // it has begun
    await said(page, words.saved);
    await go(page, place, '#/activity');
    for (const [name, value] of [['id', place.activity], ['title', `早场 ${place.lang}`]]) await type(place, page, `#activity-edit-${name}`, value);
    await window('activity-edit');
    await type(place, page, '#activity-edit-items', place.item);
    await press(place, page, '#activity-edit-items-add');
    await press(place, page, '#activity-edit-send');
    await said(page, words.saved);
    await axe(page, `activity, ${on}`);
    await close(page);
  });

  await step(`${on}: it opens, and two shoppers buy and pay`, async () => {
    if (!STACK) {
      const before = async (ms) => move(place.began + OPENS - ms - (await now()));
      await before(60_000); // its stock is loaded by then
      const page = await signedIn(place, staff.operator, `#/live/${place.item}`);
      await page.locator('#live-ready').filter({ hasText: words.ready }).waitFor();
      await close(page);
      await before(-1000);
    }
    await until('item', () => ask(`seckill/detail/${place.item}`).then((d) => d.state, () => ''), 'online');
    first = await bought(place, place.n);
    second = await bought(place, place.n + 1);
  });

  await step(`${on}: an operator finds the orders, confirms one and ships it`, async () => {
    const page = await signedIn(place, staff.operator, `#/orders?item=${place.item}`);
    await page.locator('tbody tr').nth(1).waitFor();
    has(await main(page), [first, second]);
    await picture(page, `story-orders-${place.lang}`);
    await axe(page, `orders, ${on}`);
    await press(place, page, page.locator('td a', { hasText: first }));
    await press(place, page, '#confirm-order-send');
    await said(page, words.confirmed);
    same(await page.locator('#refund').count(), 0, 'forms of a refund, which operators may not make');
    if (place.keyboard) {
      await type(place, page, '#ship-carrier', 'SF');
      await type(place, page, '#ship-number', 'SF1000001');
      await press(place, page, '#ship-send');
      await confirm(place, page);
      await said(page, words.shipped);
      return close(page);
    }
    // By file: what is exported, with carrier and number.
    await go(page, place, `#/orders?item=${place.item}`);
    const [file] = await Promise.all([page.waitForEvent('download'), press(place, page, '#orders-export')]);
    const [head, ...lines] = readFileSync(await file.path(), 'utf8').trim().split('\n');
    same(lines.map((line) => line.split(',')[0]).sort().join(), [first, second].sort().join(), 'orders of the export');
    const day = path('day.csv');
    writeFileSync(day, `${head}\n${lines.find((line) => line.startsWith(first)).replace(',,,', ',SF,SF1000002,')}\n`);
    await go(page, place, '#/ship');
    await page.locator('#ship-file-file').setInputFiles(day);
    await press(place, page, '#ship-file-send');
    await press(place, page, '#ship-all');
    await confirm(place, page);
    await page.locator('#ship-done').filter({ hasText: words.shippedFile }).waitFor();
    return close(page);
  });

  await step(`${on}: one person of finance wants a refund, and only another one makes it`, async () => {
    const page = await signedIn(place, staff.finance[0], `#/order/${second}`);
    await press(place, page, page.locator('summary', { hasText: words.refund }).first());
    await type(place, page, '#refund-why', 'broken');
    await press(place, page, '#refund-send');
    await confirm(place, page);
    await said(page, words.waits);
    same(await page.locator('#approve').count(), 0, 'forms to approve one’s own proposal');
    await close(page);
    const other = await signedIn(place, staff.finance[1], `#/order/${second}`);
    await type(place, other, '#approve-why', 'seen');
    await press(place, other, '#approve-send');
    await confirm(place, other);
    await said(other, words.begun);
    await close(other);
    if (!STACK) await move(60_000); // to the next sweep
    const who = await shopper(place.n + 1);
    await until('refund', async () => (await ask(`order/${second}`, mine(who))).state, 'refunded');
  });

  await step(`${on}: its shopper sees the parcel and confirms the receipt`, async () => {
    const page = await open({ ...place, shopper: await shopper(place.n), path: `#/order/${first}` });
    await says(page, words.shipped);
    await page.locator('#content').getByText(place.keyboard ? 'SF1000001' : 'SF1000002').waitFor();
    await press(place, page, page.getByRole('button', { name: words.receive }));
    await press(place, page, 'dialog .danger');
    await says(page, words.received);
    await close(page);
    place.order = first;
  });
}

let verifier = '';

await step('the sale is over: its report is made, and its page has what became of the orders', async () => {
  const left = Math.max(...PLACES.map((place) => place.ends)) - (await now()) + 1000;
  if (STACK) await new Promise((resolve) => setTimeout(resolve, Math.max(left, 0)));
  else await move(left);
  const where = STACK ? [...JSON.parse(process.env.REPORT), '--key', path('key')] : ['--url', new URL(base).origin];
  if (STACK) await tool('report', 'key', 'story.example', '--out', path('key'));
  const [, key] = /(\S+\+[0-9a-f]{8}\+\S+)/.exec(await tool('report', 'make', '--item', PLACES.map((p) => p.item).join(), '--out', path('sale.jsonl'), '--html', path('sale.html'), ...where));
  verifier = key;
  has(await tool('report', 'verify', path('sale.jsonl'), '--key', verifier), ['As it was signed', ': 4 orders']);
  const page = await (await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en' })).newPage();
  await page.goto(pathToFileURL(path('sale.html')).href);
  const text = await page.locator('body').innerText();
  has(text, ['红茶 zh', '红茶 en', 'received', 'shipped']);
  same(text.match(/实收\t398.00 yuan\t2 payments 笔付款\nkept 留存\t199.00 yuan\t\nrefunded 已退款\t199.00 yuan/g).length, 2, 'items with this money');
  await axe(page, 'report');
  await close(page);
});

for (const place of PLACES) {
  await step(`${place.size}, ${place.lang}: the order's own page finds it in the report`, async () => {
    writeFileSync(path(`${place.lang}.json`), await tool('report', 'proof', path('sale.jsonl'), '--order', place.order, '--key', verifier));
    const words = TEXTS[place.lang];
    const page = await open({ ...place, shopper: await shopper(place.n), path: `#/order/${place.order}` });
    await press(place, page, page.locator('summary').filter({ hasText: words.check }));
    await page.locator('#proof-file').setInputFiles(path(`${place.lang}.json`));
    if (STACK) {
      // It has not stored the secret of salts, so the shopper was told both.
      await type(place, page, '#proof-key', verifier);
      await type(place, page, '#proof-salt', await tool('report', 'salt', place.order, '--key', path('key')));
    }
    await press(place, page, page.getByRole('button', { name: words.compare, exact: true }));
    await page.locator('details [role=status]').getByText(words.inIt).waitFor();
    await picture(page, `story-report-${place.lang}`);
    await close(page);
  });
}

await step('desktop, en: an auditor reads who did what, and signs out', async () => {
  const place = PLACES[1];
  const page = await signedIn(place, staff.auditor, '#/audit');
  const log = await auditLog(page, place);
  has(log, [`order=${place.order}`, 'import', 'confirm', 'ship', 'refund', 'sign-in', 'broken', 'seen']);
  await page.locator('#who').click();
  await page.locator('#sign-out').click();
  await page.getByText('You are signed out').waitFor();
  same((await page.context().request.get(new URL('admin/session', base).href)).status(), 401, 'session after signing out');
  await close(page);
});

await finish();
