// The back office in a browser, by keyboard on a Chinese phone and by mouse on an English computer: from a one-time link
// through the import of an item, its sale, confirming, shipping and refunds by two people, to the audit log.
// SECKILL=BIN node admin.mjs BASE OUT; it needs a fresh `seckill run --refund-alone-yuan 100`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPECTED, advance, ask, axe, base, cashierTab, check, close, finish, fits, has, mine, open, picture, same, seckill, tabTo, until } from './harness.mjs';
import { auditLog, confirm, go, json, link, main, office, press, said, signedIn, still, twoDays, type } from './office.mjs';

const { shoppers } = await ask('_local/shoppers');
const folder = mkdtempSync(join(tmpdir(), 'office-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
EXPECTED.push(/status of 401/, /status of 403/, /status of 422/, /ERR_INTERNET_DISCONNECTED/);

const TEXTS = {
  zh: { signIn: '登录后台', made: '新建', imported: '已导入', confirmed: '已接单', shipped: '已发货', waits: '等待另一位同事同意', started: '退款已开始', refunded: '已退款', withdrawn: '提议已撤回', refund: '退款', withdraw: '撤回提议', note: '备注', noted: '备注已添加', ended: '登录已结束', network: '没有得到答复', forbidden: '您的角色', stopped: '已停止销售', resumed: '已恢复销售', units: '现在共 60 件', blocked: '已禁止购买', removed: '已解除禁购', did: ['local 接单', 'local 备注：gift paper', 'local 发货'], both: 'ann 和 local 退款：wrong colour; agreed', noOrder: '没有这笔订单', noAct: '没有这条记录', later: '在后面的页', handled: '已记为已处理', undecided: '要有人决定款项', gone: '确认已全部退回', ofItem: (id) => `商品 ${id} 的订单`, alone: '您自己', left: '您已退出登录', compared: '没有这一天的账单', long: '最多 64 个字', empty: '请填写', shipLine: '第 3 行', broken: '已导出 1 笔后中断', ready: '2 行都对', done: '已发货 2 笔', wrongLine: '第 2 行：sk_price "x"' },
  en: { signIn: 'Sign in to the back office', made: 'It is new', imported: 'Imported', confirmed: 'The order is confirmed', shipped: 'The order is shipped', waits: 'It waits for a second person', started: 'The refund has begun', refunded: 'Refunded', withdrawn: 'The proposal is withdrawn', refund: 'Refund', withdraw: 'Withdraw the proposal', note: 'Note', noted: 'The note is added', ended: 'Your session has ended', network: 'There was no answer', forbidden: 'Your roles', stopped: 'The sale is stopped', resumed: 'The sale is resumed', units: 'It has 60 units now', blocked: 'The block holds', removed: 'The block is removed', did: ['confirmed by local', 'note by local: gift paper', 'shipped by local'], both: 'refund by ann and local: wrong colour; agreed', noOrder: 'There is no such order', noAct: 'There is no such act', later: 'on a later page', handled: 'It is recorded as handled', undecided: 'somebody has to decide', gone: 'Say that all of it went back', ofItem: (id) => `Orders of item ${id}`, alone: 'your own proposal', left: 'You are signed out', compared: 'The provider has no bill', long: 'At most 64 characters', empty: 'Please fill this in', shipLine: 'Line 3', broken: 'It broke off after 1 orders', ready: 'No line is wrong, of 2', done: 'Shipped: 2', wrongLine: 'Line 2: sk_price "x"' },
};
const PLACES = [
  { lang: 'zh', size: 'phone', keyboard: true, id: '7001', n: 0 },
  { lang: 'en', size: 'desktop', keyboard: false, id: '7002', n: 1 },
];

async function buy(item, n, count = 1) {
  const body = JSON.stringify({ seckill_id: item, count, address: '上海市浦东新区 1 号' });
  return (await ask('seckill/buy', { method: 'POST', headers: { ...mine(shoppers[n]).headers, ...json }, body })).order_id;
}
const stateOf = (id, n) => ask(`order/${id}`, mine(shoppers[n])).then((o) => o.state, () => '');

/** Buys and pays one unit. */
async function paid(place) {
  const id = await buy(place.id, place.n);
  await until(`order ${id}`, () => stateOf(id, place.n), 'pending_payment');
  const page = await open({ size: 'desktop', lang: 'en', shopper: shoppers[place.n] });
  await (await cashierTab(page, shoppers[place.n], id)).locator('#pay').click();
  await until(`order ${id}`, () => stateOf(id, place.n), 'paid');
  await close(page);
  return id;
}

/** The file of an item that is on sale. */
function itemFile(place, price) {
  const name = join(folder, `${place.id}.csv`);
  const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
  writeFileSync(name, `\ufeffid,title,price,sk_price,start_time,end_time,stock,limit,detail\r\n${place.id},"云听, ""Mini""",899,${price},${at(-1)},${at(24)},50,20,"<p>two\r\nlines</p>"\r\n`);
  return name;
}

async function download(page, press) {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

/** How many exports lie in the browser's private files; more are written there before. */
const exportsIn = (page, more = 0) => page.evaluate(async (n) => {
  const folder = await navigator.storage.getDirectory();
  for (; n > 0; n--) await (await (await folder.getFileHandle(`export-${Date.now() + n}`, { create: true })).createWritable()).close();
  const names = [];
  for await (const name of folder.keys()) names.push(name);
  return names.length;
}, more);

await check('nobody is signed in without a link; a forged session is none; a link signs in once', async () => {
  const place = PLACES[1];
  const page = await office(place, '#/money');
  await page.getByRole('heading', { name: TEXTS.en.signIn }).waitFor();
  await fits(page, 'sign-in');
  await page.context().addCookies([{ name: 'staff', value: 'A'.repeat(43), url: base, httpOnly: true, sameSite: 'Strict' }]);
  await page.reload();
  await page.getByRole('heading', { name: TEXTS.en.signIn }).waitFor();
  await page.locator('#signed-in').click();
  await page.getByText('not signed in yet').waitFor();
  const one = await link();
  const other = await page.context().newPage();
  await other.goto(one);
  await other.locator('#menu a').first().waitFor();
  await page.bringToFront();
  await page.locator('h1').filter({ hasText: 'Money' }).waitFor(); // it goes on where it was, by itself
  same((await page.context().request.get(one, { maxRedirects: 0 })).status(), 403, 'the link, used again');
  const cookie = (await page.context().cookies()).find((c) => c.name === 'staff');
  same(`${cookie.httpOnly} ${cookie.sameSite}`, 'true Strict', 'cookie');
  same(await page.evaluate(() => document.cookie), '', 'what scripts see of it');
  await close(page);
});

for (const place of PLACES) {
  const words = TEXTS[place.lang];
  const on = `${place.size}, ${place.lang}`;
  const ids = {};

  await check(`${on}: an item is imported: what is wrong with the file, what would change, and all of it`, async () => {
    const page = await signedIn(place, '#/items');
    await fits(page, `items, ${on}`);
    await press(place, page, '#to-import');
    await page.locator('#import-file-file').setInputFiles(itemFile(place, 'x'));
    await press(place, page, '#import-file-send');
    await page.locator('#import-wrong li').filter({ hasText: words.wrongLine }).waitFor();
    same(await page.locator('#import-go-send').count(), 0, 'ways to import what is wrong');
    await fits(page, `import of a wrong file, ${on}`);
    await page.locator('#import-file-file').setInputFiles(itemFile(place, '199'));
    await press(place, page, '#import-file-send');
    await page.locator('td').filter({ hasText: words.made }).waitFor();
    has(await main(page), [`${place.id} · 云听, "Mini"`]);
    await fits(page, `import, ${on}`);
    await press(place, page, '#import-go-send');
    await confirm(place, page);
    await page.locator('#import-done').filter({ hasText: words.imported }).waitFor();
    await until('item', () => ask(`seckill/detail/${place.id}`).then((d) => d.state, () => ''), 'online');
    await go(page, place, '#/items');
    const file = await download(page, () => press(place, page, '#items-download'));
    same(file.text.trim(), await seckill('items', 'export'), 'what is exported');
    await close(page);
  });

  // .ci/run plays the rest in one of the two, which the commit draws; make nightly in both
  if (process.env.QUICK && process.env.QUICK !== place.size) continue;

  await check(`${on}: a paid order is found, confirmed, annotated and shipped`, async () => {
    ids.first = await paid(place);
    const page = await signedIn(place, '#/orders');
    same(await page.locator('td a', { hasText: ids.first }).count(), 1, 'lines of the order on the first screen');
    await page.locator('#todo dd a').first().waitFor(); // an order to confirm
    await fits(page, `first screen, ${on}`);
    await type(place, page, '#orders-filter-item', '07');
    await press(place, page, '#orders-filter-send');
    await page.locator('#orders-filter-item-fault').filter({ hasText: /\S/ }).waitFor();
    await page.locator(`#orders-items option[value^="${place.id} · 云听"]`).waitFor({ state: 'attached' });
    await type(place, page, '#orders-filter-item', `${place.id} · 云听`);
    await press(place, page, '#orders-filter-send');
    await page.locator('caption').filter({ hasText: words.ofItem(place.id) }).waitFor();
    same(new URL(page.url()).hash, `#/orders?item=${place.id}`, 'address');
    await press(place, page, '#sort-created');
    await page.waitForURL(/sort=created/);
    await page.locator('th[aria-sort=ascending]').waitFor(); // the list is asked for anew
    await still(page);
    same(await page.evaluate(() => document.activeElement.id), 'sort-created', 'focus after sorting');
    same(await page.locator('th[aria-sort=ascending]').count(), 1, 'sorted columns');
    await fits(page, `orders, ${on}`);
    await page.locator('#orders-filter-from').fill('2026-01-01T08:30');
    await press(place, page, '#orders-filter-send');
    await page.waitForURL(/from=2026-01-01T00%3A30%3A00/); // the page's zone is UTC+8
    await still(page);
    same(await page.locator('#orders-filter-from').inputValue(), '2026-01-01T08:30', 'time');
    same(await page.locator('td a', { hasText: ids.first }).count(), 1, 'lines of the order');
    await type(place, page, '#order-open-order', ids.first);
    await press(place, page, '#order-open-send');
    await page.locator('#confirm-order-send').waitFor();
    await fits(page, `order, ${on}`);
    await press(place, page, '#confirm-order-send');
    await said(page, words.confirmed);
    await press(place, page, page.locator('summary', { hasText: words.note }));
    await type(place, page, '#note-why', 'gift paper');
    await press(place, page, '#note-send');
    await said(page, words.noted);
    await type(place, page, '#ship-carrier', 'SF');
    await press(place, page, '#ship-send');
    await page.locator('#ship-number-fault').filter({ hasText: words.empty }).waitFor();
    await type(place, page, '#ship-number', '1'.repeat(65));
    await press(place, page, '#ship-send');
    await page.locator('#ship-number-fault').filter({ hasText: words.long }).waitFor();
    same(await page.evaluate(() => document.activeElement.id), 'ship-number', 'focus');
    await type(place, page, '#ship-number', 'SF1000001');
    await page.reload();
    await page.locator('#ship-number').waitFor();
    same(await page.locator('#ship-number').inputValue(), 'SF1000001', 'what was typed, after a reload');
    await press(place, page, '#ship-send');
    await page.locator('dialog').waitFor();
    await axe(page, `question, ${on}`);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    same(await stateOf(ids.first, place.n), 'confirmed', 'state after the question was left');
    await press(place, page, '#ship-send');
    await confirm(place, page);
    await said(page, words.shipped);
    has(await page.locator('.history').innerText(), words.did);
    await press(place, page, '#show-address');
    await page.locator('.address-shown').filter({ hasText: '浦东新区 1 号' }).waitFor();
    await close(page);
  });

  await check(`${on}: a refund is proposed here and approved elsewhere, the other way round, and withdrawn`, async () => {
    const page = await signedIn(place, `#/order/${ids.first}`);
    const refund = page.locator('summary').filter({ hasText: words.refund });
    await press(place, page, refund.first());
    await type(place, page, '#refund-why', 'broken');
    await press(place, page, '#refund-send');
    await confirm(place, page);
    await said(page, words.waits);
    has(await main(page), [words.alone, 'broken']);
    same(await page.locator('#approve').count(), 0, 'forms to approve one’s own proposal');
    await fits(page, `refund that waits, ${on}`);
    await go(page, place, '#/money');
    has(await main(page), [ids.first, 'local', 'broken', '199.00']);
    await fits(page, `money, ${on}`);
    await seckill('refund', ids.first, '--why', 'seen', '--who', 'bob');
    await advance(60); // to the next sweep
    await until('refund', () => stateOf(ids.first, place.n), 'refunded');

    ids.second = await paid(place);
    await seckill('refund', ids.second, '--why', 'wrong colour', '--restock', '--who', 'ann');
    await go(page, place, `#/order/${ids.second}`);
    has(await main(page), ['ann', 'wrong colour']);
    await page.locator('.waits').scrollIntoViewIfNeeded();
    if (place.lang === 'zh') await picture(page, 'office-refund');
    await type(place, page, '#approve-why', 'agreed');
    await press(place, page, '#approve-send');
    await confirm(place, page);
    await said(page, words.started);
    await advance(60);
    await until('refund', () => stateOf(ids.second, place.n), 'refunded');
    await go(page, place, `#/order/${ids.second}`);
    has(await main(page), [words.refunded, words.both]);

    ids.third = await paid(place);
    await seckill('refund', ids.third, '--why', 'a mistake', '--who', 'ann');
    await go(page, place, `#/order/${ids.third}`);
    await page.locator('.waits').waitFor();
    same(await page.locator('#ship, #confirm-order').count(), 0, 'ways to confirm and ship while a refund waits');
    await press(place, page, page.locator('summary').filter({ hasText: words.withdraw }));
    await type(place, page, '#withdraw-why', 'so it is');
    await press(place, page, '#withdraw-send');
    await said(page, words.withdrawn);
    same(await stateOf(ids.third, place.n), 'paid', 'state');

    let as = { undecided: true, outside: 20 };
    const held = async (route) => { // as if a part of its money had gone back outside the shop
      const response = await route.fetch();
      const body = await response.json();
      if (body.result?.order_id) Object.assign(body.result, as);
      for (const p of body.result?.payments || []) p.outside = as.outside;
      await route.fulfill({ response, json: body });
    };
    await page.locator('#ship').waitFor();
    same(await page.locator('#accept').count(), 0, 'ways to let it ship');
    await page.route('**/admin/commands', held);
    await page.reload();
    await page.locator('.facts').filter({ hasText: words.undecided }).waitFor();
    same(await page.locator('#ship, #confirm-order').count(), 0, 'ways to confirm and ship while its money waits');
    same(await page.locator('#accept').count(), 1, 'ways to let it ship');
    await fits(page, `order whose money waits, ${on}`);
    as = { undecided: true, outside: 1e6 }; // all of it, and more
    await page.reload();
    await page.locator('summary').filter({ hasText: words.gone }).waitFor();
    same(await page.locator('#accept-back').count(), 1, 'places for what really went back');
    as = { state: 'rejected', reason: 'sold_out', amount: 0, payments: [] };
    await page.reload();
    await page.locator('.facts .pill').waitFor();
    same((await main(page)).includes('0.00'), false, 'an amount of an order that was rejected');
    await close(page);
  });

  await check(`${on}: an export is the command line tool’s; its lines are checked, and shipped together`, async () => {
    const other = await paid(place);
    const page = await office(place);
    let limit = 2;
    let fails = []; // what becomes of the next pages of an export
    await page.route('**/admin/commands', (route) => {
      if (limit === 1 && fails.length) {
        const fail = fails.shift();
        if (fail) return fail(route);
      }
      return route.continue({ postData: route.request().postData().replace(/"limit":\d+/, `"limit":${limit}`) });
    });
    await page.goto(await link());
    await go(page, place, `#/orders?item=${place.id}`);
    const numbers = () => page.locator('tbody a.code').allInnerTexts();
    const pages = [await numbers()];
    await press(place, page, '#page-next');
    await page.locator('#page-first').waitFor();
    await still(page);
    pages.push(await numbers());
    same(new Set(pages.flat()).size, 4, 'orders on two pages of two');
    await page.goBack();
    await page.locator('#page-first').waitFor({ state: 'detached' });
    same((await numbers()).join(), pages[0].join(), 'the first page, after Back');
    await go(page, place, `#/orders?item=${place.id}&state=paid`);
    // A lost page is asked for again; one that is refused breaks the export off, which goes on where it was.
    limit = 1;
    fails = [null, (route) => route.abort('internetdisconnected'), (route) => route.fulfill({ status: 403, json: { code: 'role_forbidden' } })];
    await press(place, page, '#orders-export');
    await page.locator('.fault').filter({ hasText: words.broken }).waitFor();
    same(fails.length, 0, 'pages that did not fail');
    const file = await download(page, () => press(place, page, '#orders-export'));
    const theirs = await seckill('orders', 'export', '--item', place.id, '--state', 'paid', '--csv', '-');
    same(file.name, `orders-${place.id}.csv`, 'name');
    same(await exportsIn(page), 1, 'private files, of what was exported');
    same(file.text.replace(/^\ufeff/, '').trim(), theirs, 'export');
    const [head, ...lines] = theirs.trim().split('\n');
    same(lines.length, 2, 'paid orders');
    const write = (name, ...below) => {
      writeFileSync(join(folder, name), `\ufeff${[head, ...below].join('\r\n')}\r\n`);
      return join(folder, name);
    };
    const filled = lines.map((line, i) => line.replace(',,,', `,"顺丰, ""SF""",'+SF${i},`));
    await go(page, place, '#/ship');
    await fits(page, `ship, ${on}`);
    await page.locator('#ship-file-file').setInputFiles(write('bad.csv', filled[0], filled[1].replace(/^o\w{6}/, 'obbbbbb')));
    if (place.keyboard) {
      await tabTo(page, page.locator('#ship-file-confirm'));
      await page.keyboard.press('Space');
    } else await page.locator('#ship-file-confirm').check();
    await press(place, page, '#ship-file-send');
    await page.locator('[role=alert]').filter({ hasText: words.shipLine }).waitFor();
    await axe(page, `bad lines, ${on}`);
    same(await stateOf(other, place.n), 'paid', 'state after a bad file');
    await page.locator('#ship-file-file').setInputFiles(write('good.csv', ...filled));
    await press(place, page, '#ship-file-send');
    await page.locator('#content').getByText(words.ready).waitFor();
    let lost = 0; // answers of what was shipped
    await page.route('**/admin/commands', async (route) => {
      const body = route.request().postData();
      if (lost > 0 || !body.includes('"ship"') || body.includes('"dry"')) return route.fallback();
      lost = (await route.fetch()).status();
      await route.fulfill({ status: 422, json: { status: 422, code: 'invalid_request' } });
    });
    await press(place, page, '#ship-all');
    await confirm(place, page);
    await page.locator('#ship-on').waitFor();
    same(lost, 200, 'the lost answer');
    await axe(page, `a broken shipment, ${on}`);
    await press(place, page, '#ship-on');
    await page.locator('#ship-done').filter({ hasText: words.done }).waitFor();
    const { carrier, number } = await ask(`order/${other}`, mine(shoppers[place.n]));
    same(carrier, '顺丰, "SF"', 'carrier');
    same(number.startsWith('+'), true, `number without what kept it harmless: ${number}`);
    await close(page);
  });

  await check(`${on}: a sale is stopped, resumed and given stock, each with its id typed`, async () => {
    const page = await signedIn(place, `#/item/${place.id}`);
    await fits(page, `item, ${on}`);
    await press(place, page, '#item-switch-send');
    await type(place, page, '#confirm-word', '1');
    await press(place, page, '#confirm-send');
    await page.locator('#confirm-word-fault').filter({ hasText: place.id }).waitFor();
    await axe(page, `question with a word, ${on}`);
    await confirm(place, page, place.id);
    await said(page, words.stopped);
    await press(place, page, '#item-switch-send');
    await confirm(place, page, place.id);
    await said(page, words.resumed);
    await type(place, page, '#add-stock-stock', '40');
    await press(place, page, '#add-stock-send');
    await page.locator('#add-stock-stock-fault').filter({ hasText: '51' }).waitFor();
    await type(place, page, '#add-stock-stock', '60');
    await press(place, page, '#add-stock-send');
    await confirm(place, page, place.id);
    await said(page, words.units);
    await close(page);
  });

  await check(`${on}: a user is blocked and unblocked; a suspicious act is handled`, async () => {
    const page = await signedIn(place, '#/blocks');
    await press(place, page, page.locator('summary').first());
    await type(place, page, '#block-subject', '999.0.113.7');
    await type(place, page, '#block-reason', 'script');
    await press(place, page, '#block-send');
    await page.locator('#block-subject-fault').filter({ hasText: /\S/ }).waitFor(); // the shop said so
    await type(place, page, '#block-subject', '203.0.113.7');
    await type(place, page, '#block-item', '999');
    await fits(page, `blocks, ${on}`);
    await press(place, page, '#block-send');
    await page.locator('#block .form-end .fault').filter({ hasText: '999' }).waitFor();
    await type(place, page, '#block-item', place.id);
    await press(place, page, '#block-send');
    await said(page, words.blocked);
    same(await page.locator('#block-subject').inputValue(), '', 'the form after it was sent');
    has(await page.locator('tbody').innerText(), ['203.0.113.7/32', place.id, 'script', 'local'].slice(0, place.size === 'phone' ? 3 : 4));
    await press(place, page, page.locator('td button').first());
    await page.locator('dialog').waitFor();
    same(new Set(await page.locator('dialog .form-end button').allInnerTexts()).size, 2, 'names of two buttons');
    await confirm(place, page);
    await said(page, words.removed);
    const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
    for (let i = 0; i < 7; i++) await buy(later.id, place.n + 2).catch(() => {}); // presses before its start
    await go(page, place, '#/acts');
    await until('acts', async () => {
      await page.reload();
      await page.locator('.screen').waitFor();
      await still(page);
      return page.locator('tbody tr').count().then((n) => n > 0);
    }, true);
    await fits(page, `acts, ${on}`);
    const user = await page.locator('tbody tr').first().locator('td').nth(1).innerText();
    await press(place, page, page.locator('td a').first());
    await page.locator('#handle-why').waitFor();
    await fits(page, `act, ${on}`);
    await type(place, page, '#handle-why', 'our own test');
    await press(place, page, '#handle-send');
    await said(page, words.handled);
    await press(place, page, '#act-block');
    await page.locator('#block-reason').waitFor();
    same(await page.locator('#block-subject').inputValue(), user, 'the user to block');
    await close(page);
  });

  await check(`${on}: the bill of a day, and the audit log of all this`, async () => {
    const page = await signedIn(place, '#/bills');
    await fits(page, `bills, ${on}`);
    await press(place, page, '#bills-compare-send');
    await said(page, words.compared);
    const log = await auditLog(page, place);
    has(log, ['import', 'stop', `item=${place.id}`, 'stopped=false', '→', 'refund', 'local']);
    has(log, ['no_bill=true']);
    await fits(page, `audit log, ${on}`);
    await page.route('**/admin/commands', (route) => route.continue({ postData: route.request().postData().replace(/"limit":\d+/, '"limit":1') }));
    await go(page, place, `#/audit?day=${(await twoDays())[1]}`);
    for (let n = 0; n < 20 && !(await main(page)).includes(words.later); n++) {
      const before = page.url();
      await page.locator('#page-next').click();
      await page.waitForURL((url) => url.href !== before);
      await still(page);
    }
    has(await main(page), [words.later]); // of an act whose end is the next entry
    await page.unroute('**/admin/commands');
    for (const [at, text] of [['order/oaaaa', words.noOrder], ['act/zzz', words.noAct]]) {
      await go(page, place, `#/${at}`);
      has(await main(page), [text]);
    }
    await close(page);
  });

  await check(`${on}: a session that ends asks to sign in again, and goes on; a lost network loses nothing`, async () => {
    const page = await signedIn(place, `#/order/${ids.third}`);
    await press(place, page, page.locator('summary', { hasText: words.note }));
    await type(place, page, '#note-why', 'typed before');
    same(await exportsIn(page, 2), 2, 'private files');
    await seckill('staff', 'end', 'local');
    await press(place, page, '#note-send');
    await page.locator('dialog').filter({ hasText: words.ended }).waitFor();
    await until('private files after the session', () => exportsIn(page), 0);
    await axe(page, `ended, ${on}`);
    const other = await page.context().newPage();
    await other.goto(await link());
    await other.locator('#menu a').first().waitFor();
    await page.bringToFront();
    await said(page, words.noted);
    await other.close();

    // Who leaves the question finds what they typed, also when the page is loaded anew.
    await press(place, page, page.locator('summary', { hasText: words.note }));
    await type(place, page, '#note-why', 'typed and kept');
    await seckill('staff', 'end', 'local');
    await press(place, page, '#note-send');
    await page.locator('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#note .form-end .fault').filter({ hasText: words.ended }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: words.signIn }).waitFor();
    // A sign-in that leads away, as at an issuer, comes back to the same place.
    let leads = true;
    await page.route('**/admin/session', async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      await route.fulfill({ response: answer, json: { ...body, sign_in: leads } });
    });
    await page.route('**/admin/signin', async (route) => route.fulfill({ status: 302, headers: { Location: await link() } }));
    await page.reload();
    await press(place, page, '#sign-in');
    await page.locator('#note-why').waitFor({ state: 'attached' });
    same(new URL(page.url()).hash, `#/order/${ids.third}`, 'place after a sign-in that led away');
    leads = false;
    await page.locator('summary', { hasText: words.note }).click();
    same(await page.locator('#note-why').inputValue(), 'typed and kept', 'what was typed');

    await page.context().setOffline(true);
    await press(place, page, '#note-send');
    await page.locator('#note .form-end .fault').filter({ hasText: words.network }).waitFor();
    same(await page.locator('#note-why').inputValue(), 'typed and kept', 'what was typed, offline');
    await page.context().setOffline(false);
    await press(place, page, '#note-send');
    await said(page, words.noted);
    await exportsIn(page, 1);
    await press(place, page, '#who');
    await press(place, page, '#sign-out');
    await page.getByText(words.left).waitFor();
    await until('private files after signing out', () => exportsIn(page), 0);
    same((await page.context().request.get(new URL('admin/session', base).href)).status(), 401, 'session after signing out');
    await close(page);
  });

  await check(`${on}: roles that may do less see less`, async () => {
    const page = await office(place);
    await page.route('**/admin/session', async (route) => route.fulfill({ json: { who: 'eve', roles: ['viewer'], may: ['items', 'health', 'counts'], ends_at: new Date(Date.now() + 1e6).toISOString(), sign_in: true } }));
    await page.route('**/admin/commands', (route) => route.fulfill({ status: 403, json: { code: 'role_forbidden', detail: 'Role viewer may not list items; role editor may.' } }));
    await page.reload();
    await page.locator('.trouble').filter({ hasText: words.forbidden }).waitFor();
    same(await page.locator('#menu a').count(), 1, 'screens in the menu');
    await page.goto(new URL(`admin?lang=${place.lang}#/orders`, base).href);
    await page.locator('.empty').filter({ hasText: words.forbidden }).waitFor();
    await page.unroute('**/admin/commands');
    await page.unroute('**/admin/session');
    // Finance sees an order by its money, auditors without anything to do.
    await page.goto(await link());
    for (const [may, sees, not] of [
      [['open', 'case', 'refund', 'withdraw', 'again', 'ask', 'record-trade'], '#refund, .moneys', '#note, #ship, #hide, #show-address'],
      [['orders', 'order', 'open', 'case', 'delivery', 'audit'], '.history, .moneys, #show-address', '#note, #ship, #refund, #hide, #record-trade'],
    ]) {
      await page.unroute('**/admin/session');
      await page.route('**/admin/session', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), may } });
      });
      await go(page, place, `#/order/${ids.third}`);
      for (const part of sees.split(', ')) same((await page.locator(part).count()) > 0, true, `${may[0]}: ${part}`);
      same(await page.locator(not).count(), 0, `${may[0]}: ${not}`);
      await fits(page, `order for ${may}, ${on}`);
    }
    await close(page);
  });
}

await check('money that needs a person: refunds refused and due, unknown payments, and what is asked for', async () => {
  const place = PLACES[1];
  const page = await signedIn(place, '#/orders');
  const id = await paid(place);
  const real = JSON.parse(await seckill('payments', id, '--json'));
  const at = new Date().toISOString();
  const payment = { ...real.payments[0], state: 'refund_due', refund_id: 'r1', tries: 3, refused: 'ACQ.SELLER_BALANCE_NOT_ENOUGH' };
  const asked = [];
  await page.route('**/admin/commands', async (route) => {
    const { operator } = route.request().postDataJSON();
    const none = { count: 0, amount: 0, payments: [] };
    const answers = {
      open: { now: at, due: { ...none, count: 1, amount: 1, payments: [{ ...payment, refused: '', next: at }] }, refused: { count: 1500, amount: 199, payments: [payment] }, unknown: { count: 1, amount: 5, orders: [{ order_id: id, item: '7002', amount: 5, since: at, cause: 'hold over', closes_to: 'expired' }] }, outside: none, waiting: { count: 0, refunds: [] }, unreadable: ['a row'] },
      case: { ...real, state: 'closing', payments: [payment] },
      again: { order_id: id, state: 'refund_due', due: 199, asked: 1, changed: true },
      ask: { order_id: id, state: 'closing', due: 0, changed: true },
    };
    if (operator.why) asked.push(`${operator.command} ${operator.order === id} ${operator.why}`);
    return answers[operator.command] ? route.fulfill({ json: { result: answers[operator.command] } }) : route.continue();
  });
  await go(page, place, '#/money');
  has(await main(page), ['A person has to act', 'ACQ.SELLER_BALANCE_NOT_ENOUGH', 'There are more', 'Expired', 'a row']);
  await fits(page, 'money of all kinds');
  await page.locator('td a').first().click();
  await page.locator('summary', { hasText: 'Ask for the refund again' }).click();
  await fits(page, 'order with a refund that was refused');
  await page.locator('#again-why').fill('paid in');
  await page.locator('#again-send').click();
  await said(page, 'Refunds asked for again: 1');
  await page.locator('summary', { hasText: 'Ask the payment provider now' }).click();
  await page.locator('#ask-why').fill('they called');
  await page.locator('#ask-send').click();
  await said(page, 'The provider is asked');
  same(asked.join(), 'again true paid in,ask true they called', 'commands');
  await close(page);
});

await check('pages open on the day of the shop’s clock; /admin/ leads to /admin', async () => {
  const place = PLACES[1];
  await advance(86_400);
  const page = await signedIn(place, '#/bills');
  same(await page.locator('#bills-day-day').inputValue(), (await twoDays())[0], 'yesterday');
  await page.goto(new URL('admin/', base).href);
  await page.locator('.screen').waitFor();
  same(new URL(page.url()).pathname, '/admin', 'address');
  await close(page);
});

await check('the list of orders, for the record', async () => {
  const place = PLACES[1];
  const page = await signedIn(place, `#/orders?item=${place.id}&sort=-created`);
  await picture(page, 'office-orders');
  await close(page);
});

await finish();
