import { ask, axe, base, check, close, finish, has, open, picture, same, until, browser } from './harness.mjs';
const json = { 'Content-Type': 'application/json' };
const all = ["export","health","counts","import","stop","resume","add-stock","block","unblock","handle","tell","replay","redeliver","recount","confirm","ship","note","hide","erase","orders","order","blocks","acts","act","delivery","audit","audit-head","refund","withdraw","again","ask","record-trade","reconcile","reconciled","open","case"];
const session = { who: 'ann', roles: ['operator', 'finance', 'auditor', 'editor'], may: all, ends_at: new Date(Date.now() + 3600_000).toISOString() };
export const door = { signedIn: true, session };
async function fake(page) {
  await page.route('**/admin/session', (r) => r.fulfill(door.signedIn ? { json: door.session } : { status: 401, json: { code: 'session_ended', sign_in: false } }));
  await page.route('**/admin/commands', async (r) => {
    if (!door.signedIn) return r.fulfill({ status: 401, json: { code: 'session_ended', sign_in: false } });
    const body = r.request().postDataJSON();
    body.operator.who = door.session.who;
    r.fulfill({ json: await ask('_local/operator', { method: 'POST', headers: json, body: JSON.stringify(body) }) });
  });
}
const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const ids = [];
for (const s of shoppers) {
  const body = JSON.stringify({ seckill_id: item.id, count: 1, address: 'x' });
  const { order_id } = await ask('seckill/buy', { method: 'POST', headers: { Authorization: `Bearer ${s.token}`, ...json }, body });
  ids.push(order_id);
}
const page = await open({ size: process.env.SIZE || 'desktop', lang: process.env.LANG2 || 'en', path: '' });
await fake(page);
page.on('console', (m) => console.log('console:', m.text()));
page.on('pageerror', (m) => console.log('error:', m));
await page.goto(new URL(`/admin?lang=${process.env.LANG2 || 'en'}#/orders`, base).href);
await page.locator('#orders-filter-item').fill(item.id);
await page.keyboard.press('Enter');
await page.locator('table').waitFor();
console.log(page.url(), await page.locator('main').innerText());
await picture(page, 'office-orders');
await axe(page, 'orders');
await page.locator('#sort-created').click();
await page.locator('#sort-created').waitFor();
console.log(page.url(), await page.evaluate(() => document.activeElement.id));
const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#orders-export').click()]);
console.log((await import('node:fs')).readFileSync(await download.path(), 'utf8'));
await finish();
