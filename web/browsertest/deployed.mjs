// Shoppers' ways through a deployed stack's own page, with no other server: node deployed.mjs BASE OUT, where BASE ends
// with a slash. ITEM is the id of an item on sale of which each shopper may buy one. SHOPPERS has two: {"name",
// "password"}, who type that at the stack's issuer (a Cognito pool as MiniStack plays it), or {"name","user","token"}
// where the stack has no issuer. PUSH, if set, is where pages connect, and LISTENER a third one, with a token.
import { ask, base, card, cashierTab, check, close, fillAddress, finish, has, open, payAt, mine, picture, same, says, until } from './harness.mjs';

const shoppers = JSON.parse(process.env.SHOPPERS);
const item = { id: process.env.ITEM };
const PLACES = [
  { size: 'phone', lang: 'zh', kind: 'wap', wait: '请在', pay: '去付款', success: '支付成功', paid: '支付成功' },
  { size: 'desktop', lang: 'en', kind: 'page', wait: 'Pay within', pay: 'Pay now', success: 'Payment successful', paid: 'Paid' },
];

async function typePassword(page, { name, password }) {
  await page.locator('#username').fill(name);
  await page.locator('#password').fill(password);
  await page.locator('form button').click();
}

for (const [i, place] of PLACES.entries()) {
  const who = shoppers[i];
  const way = who.password ? 'list, a typed password, ' : 'list, ';
  await check(`the stack’s address is a shop: ${way}purchase, ${place.kind} pay at the cashier, paid (${place.size}, ${place.lang})`, async () => {
    const page = await open({ ...place, shopper: who.token && who });
    // The pool's pages have no icon.
    if (who.password) await page.context().route((url) => url.pathname === '/favicon.ico', (route) => route.fulfill({ status: 204 }));
    const asked = [];
    page.on('request', (r) => r.url().startsWith('data:') || asked.push(r));
    await page.reload();
    await card(page, item.id).waitFor();
    const cards = asked.map((r) => r.url()).filter((url) => !/pictures\//.test(url));
    if (cards.length > 8) throw new Error(`${cards.length} requests: ${cards.join(' ')}`);
    same(cards.some((url) => url.includes('_local')), false, 'asks for what only a local run has');
    await card(page, item.id).locator('.button').click();
    if (who.password) await typePassword(page, who);
    await fillAddress(page);
    same(/code|state/.test(page.url()), false, `${page.url()} keeps the answer`);
    const kept = await page.evaluate(() => JSON.parse(sessionStorage.getItem('seckill.shopper')));
    same(/^[1-9][0-9]*$/.test(JSON.parse(atob(kept.token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))).iss), true, 'a token of the shop');
    await page.locator('dialog button[type=submit]').click();
    await says(page, place.wait);
    if (place.size === 'phone') await picture(page, 'deployed');
    await payAt(page, place.pay, place.success);
    await says(page, place.paid);
    has(page.url(), ['#/order/']);
    const sent = asked.filter((r) => r.method() === 'POST' && r.url().endsWith('/payment'));
    same(sent.map((r) => JSON.parse(r.postData()).kind).join(' '), place.kind, 'kinds of payments');
    same(asked.some((r) => r.url().includes(kept.token)), false, 'a token in an address');
    await close(page);
  });
}

async function heard(place, who) {
  const buy = { method: 'POST', headers: { ...mine(who).headers, 'Content-Type': 'application/json' }, body: JSON.stringify({ seckill_id: item.id, count: 1, address: 'x' }) };
  const { order_id: id } = await ask('seckill/buy', buy);
  await until('order', async () => (await ask(`seckill/order/${item.id}`, mine(who))).state, 'pending_payment');
  const page = await open({ ...place, shopper: who });
  const frames = [];
  let lines = 0;
  let asks = 0;
  page.on('request', (r) => (asks += r.method() === 'GET' && r.url().endsWith(`/order/${id}`)));
  page.on('websocket', (line) => {
    same(line.url(), process.env.PUSH, 'where the page connects');
    line.on('framereceived', ({ payload }) => frames.push(JSON.parse(payload)));
    lines++;
  });
  await page.goto(new URL(`?lang=${place.lang}#/order/${id}`, base).href);
  await says(page, place.wait);
  await until('asks: one to show it, one when the connection was open', async () => asks, 2);
  await (await cashierTab(page, who, id, place.kind)).locator('#pay').click();
  await says(page, place.paid);
  await until('what the page heard', async () => frames.map((f) => `${f.order_id} ${f.state}`).join(', '), `${id} paid`);
  same(lines, 1, 'connections');
  await close(page);
}

if (process.env.PUSH) {
  await check('an open page hears over its connection that its order is paid', () => heard(PLACES[1], JSON.parse(process.env.LISTENER)));
}

await check('files of the page are kept for a year, and pages for no longer than a second', async () => {
  const page = await open({ size: 'desktop', lang: 'en', path: `#/item/${item.id}` });
  const kept = new Map();
  page.on('response', (r) => kept.set(r.url(), r.headers()['cache-control'] || ''));
  await page.reload();
  await card(page, item.id).waitFor();
  for (const [url, cache] of kept) if (url.includes('/assets/')) has(cache, ['immutable', 'max-age=31536000']);
  same([...kept.keys()].filter((url) => url.includes('/assets/')).length, 2, 'files');
  await close(page);
});

await finish();
