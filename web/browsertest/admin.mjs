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

const { cashierTab } = await import('./harness.mjs');
async function pay(n) {
  await until('state', async () => (await ask(`order/${ids[n]}`, { headers: { Authorization: `Bearer ${shoppers[n].token}` } })).state, 'pending_payment');
  const p = await open({ size: 'desktop', lang: 'en', shopper: shoppers[n] });
  const c = await cashierTab(p, shoppers[n], ids[n]);
  await c.locator('#pay').click();
  await until('state', async () => (await ask(`order/${ids[n]}`, { headers: { Authorization: `Bearer ${shoppers[n].token}` } })).state, 'paid');
  await close(p);
}
const LANG = process.env.LANG2 || 'en';
const page = await open({ size: process.env.SIZE || 'desktop', lang: LANG, path: '' });
await fake(page);
page.on('console', (m) => console.log('console:', m.text()));
page.on('pageerror', (m) => console.log('error:', m));
const shot = (name) => page.screenshot({ path: `/tmp/wp-out/${name}.png`, fullPage: true });
await pay(0);
await page.goto(new URL(`/admin?lang=${LANG}#/order/${ids[0]}`, base).href);
await page.locator('#confirm-order-send').waitFor();
await axe(page, 'order');
await shot('order-paid');
await page.locator('#show-address').click();
await page.locator('.address-shown').waitFor();
await page.locator('#confirm-order-send').click();
await page.locator('.said').waitFor();
console.log(await page.locator('.said').innerText(), await page.evaluate(() => document.activeElement.outerHTML.slice(0, 80)));
await page.locator('#ship-carrier').fill('SF');
await page.locator('#ship-number').fill('x'.repeat(65));
await page.locator('#ship-send').click();
console.log(await page.locator('#ship-number-fault').innerText());
await page.locator('#ship-number').fill('SF1');
await page.reload();
console.log('kept', await page.locator('#ship-number').inputValue());
await page.locator('#ship-send').click();
await page.locator('#confirm-send').waitFor();
await axe(page, 'dialog');
await shot('order-dialog');
await page.locator('#confirm-send').click();
await page.locator('.said').waitFor();
await page.locator('summary', { hasText: /^Refund|^退款/ }).click();
await page.locator('#refund-why').fill('broken');
await page.locator('#refund-send').click();
await page.locator('#confirm-send').click();
await page.locator('.said').waitFor();
console.log(await page.locator('main').innerText());
await axe(page, 'refund');
await shot('order-refund');
await finish();
