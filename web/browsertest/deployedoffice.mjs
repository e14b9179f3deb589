// A day of the back office of a deployed stack, whose staff sign in with a password at the stack's issuer (a Cognito pool
// as MiniStack plays it): node deployedoffice.mjs BASE OUT, where BASE ends with a slash. ITEM is the id of an item of
// which ORDERS has three paid orders, separated by spaces, each above what one person may refund alone. STAFF has the
// names of an operator, two people of finance and an auditor, PASSWORD is everybody's. It leaves the first order
// confirmed and shipped, the second shipped by file, and the third with a refund that has begun.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPECTED, axe, base, check, close, finish, has, picture, same } from './harness.mjs';
import { confirm, go, main, office, press, said, still, type } from './office.mjs';

const { ITEM: item, PASSWORD: password } = process.env;
const [first, second, third] = process.env.ORDERS.split(' ');
const { operator, finance, auditor } = JSON.parse(process.env.STAFF);
const folder = mkdtempSync(join(tmpdir(), 'office-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
EXPECTED.push(/status of 401/, /status of 429/);

const zh = { size: 'phone', lang: 'zh', keyboard: true };
const en = { size: 'desktop', lang: 'en' };

/** Signs in at the issuer from a place of the back office, and is led back there. */
async function signedIn(place, name, path) {
  const page = await office(place, path);
  await page.context().route((url) => url.pathname === '/favicon.ico', (route) => route.fulfill({ status: 204 })); // the pool's pages have none
  const asked = [];
  page.on('request', (r) => asked.push(r.url()));
  await page.locator('#sign-in').click();
  await page.locator('#username').fill(name);
  await page.locator('#password').fill(password);
  await page.locator('form button').click();
  await page.locator('.screen').waitFor();
  await still(page);
  same(new URL(page.url()).hash, path, 'place');
  same(asked.some((url) => url.includes('code=') && !url.startsWith(`${base}admin/callback?`)), false, 'the code in another address');
  const [cookie] = (await page.context().cookies()).filter((c) => c.name.endsWith('staff'));
  same(`${cookie.httpOnly} ${cookie.sameSite}`, 'true Strict', 'cookie');
  return page;
}

await check('phone, zh: an operator signs in, finds three orders, confirms one and ships it', async () => {
  const page = await signedIn(zh, operator, `#/orders?item=${item}`);
  await page.locator('tbody tr').nth(2).waitFor();
  has(await main(page), [first, second, third]);
  await axe(page, 'orders of a stack');
  await picture(page, 'office-deployed');
  await press(zh, page, page.locator('td a', { hasText: first }));
  await press(zh, page, '#confirm-order-send');
  await said(page, '已接单');
  await type(zh, page, '#ship-carrier', 'SF');
  await type(zh, page, '#ship-number', 'SF1000001');
  await press(zh, page, '#ship-send');
  await confirm(zh, page);
  await said(page, '已发货');
  same(await page.locator('#refund').count(), 0, 'forms of a refund, which operators may not make');

  await go(page, zh, `#/orders?item=${item}&state=paid`);
  const [file] = await Promise.all([page.waitForEvent('download'), press(zh, page, '#orders-export')]);
  const [head, ...lines] = readFileSync(await file.path(), 'utf8').trim().split('\n');
  same(lines.map((line) => line.split(',')[0]).sort().join(), [second, third].sort().join(), 'orders of the export');
  const day = join(folder, 'day.csv');
  writeFileSync(day, `${head}\n${lines.find((line) => line.startsWith(second)).replace(',,,', ',SF,SF1000002,')}\n`);
  await go(page, zh, '#/ship');
  await page.locator('#ship-file-file').setInputFiles(day);
  await page.locator('#ship-file-confirm').check();
  await press(zh, page, '#ship-file-send');
  await press(zh, page, '#ship-all');
  await confirm(zh, page);
  await page.locator('#ship-done').filter({ hasText: '已发货 1 笔' }).waitFor();
  await close(page);
});

await check('desktop, en: one person of finance wants a refund, and only another one makes it', async () => {
  const page = await signedIn(en, finance[0], `#/order/${third}`);
  await page.locator('summary', { hasText: 'Refund' }).first().click();
  await page.locator('#refund-why').fill('broken');
  await page.locator('#refund-send').click();
  await confirm(en, page);
  await said(page, 'It waits for a second person');
  same(await page.locator('#approve').count(), 0, 'forms to approve one’s own proposal');
  await close(page);
  const other = await signedIn(en, finance[1], `#/order/${third}`);
  await other.locator('#approve-why').fill('seen');
  await other.locator('#approve-send').click();
  await confirm(en, other);
  await said(other, 'The refund has begun');
  await close(other);
});

await check('desktop, en: an auditor reads who did it, and signs out', async () => {
  const page = await signedIn(en, auditor, '#/audit');
  let log = await main(page);
  while (await page.locator('#page-next').count()) {
    const before = page.url();
    await page.locator('#page-next').click();
    await page.waitForURL((url) => url.href !== before);
    await still(page);
    log += await main(page);
  }
  has(log, [`order=${first}`, `order=${third}`, 'confirm', 'ship', 'refund', 'sign-in', 'broken', 'seen']);
  await page.locator('#who').click();
  await page.locator('#sign-out').click();
  await page.getByText('You are signed out').waitFor();
  same((await page.context().request.get(`${base}admin/session`)).status(), 401, 'session after signing out');
  await close(page);
});

await finish();
