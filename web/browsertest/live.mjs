// The live screen during a small sale: its figures grow with the sale and older without an answer, it asks only while it
// is seen and less often after refusals, and it loads its curves, which no other screen does.
//   SECKILL=BIN node live.mjs BASE OUT      it needs a fresh `seckill run --stock 40 --limit 20`
import { EXPECTED, advance, ask, base, cashierTab, check, close, finish, fits, has, mine, open, picture, same, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
const json = { 'Content-Type': 'application/json' };
const link = async () => (await ask('_local/staff-link', { method: 'POST', headers: json, body: '{}' })).link;
EXPECTED.push(/status of 503/, /status of 401/);

async function signedIn(size, lang, path) {
  const page = await open({ size, lang, at: 'admin' });
  await page.goto(await link());
  await page.goto(new URL(`admin?lang=${lang}${path}`, base).href);
  await page.reload();
  await page.locator('#content:not([aria-busy])').waitFor();
  return page;
}

async function buy(n, count) {
  const body = JSON.stringify({ seckill_id: item.id, count, address: '上海市浦东新区 1 号' });
  return (await ask('seckill/buy', { method: 'POST', headers: { ...mine(shoppers[n]).headers, ...json }, body })).order_id;
}

async function pay(n, order) {
  await until(`order ${order}`, async () => (await ask(`order/${order}`, mine(shoppers[n]))).state, 'pending_payment');
  const page = await open({ size: 'desktop', lang: 'en', shopper: shoppers[n] });
  await (await cashierTab(page, shoppers[n], order)).locator('#pay').click();
  await until(`order ${order}`, async () => (await ask(`order/${order}`, mine(shoppers[n]))).state, 'paid');
  await close(page);
}

const figure = (page, part, name) => page.locator(`#live-${part} .figures > div`).filter({ has: page.getByText(name, { exact: true }) }).locator('dd');
const shows = (page, part, name, want) => until(`${part}: ${name}`, () => figure(page, part, name).innerText(), want);
const paths = (page) => page.evaluate(() => performance.getEntriesByType('resource').map((r) => new URL(r.name).pathname));
const lastAge = (page) => page.locator('#live-stock .age').innerText().then((text) => Number(text.match(/[\d.]+/)?.[0]));

/** How many pixels of a curve are drawn. */
const drawn = (page, name) =>
  page.locator(`#curve-${name} canvas`).evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]) n++;
    return n;
  });

await check('other screens load no curves', async () => {
  const page = await signedIn('desktop', 'en', '#/items');
  const all = (await paths(page)).join(' ');
  if (/curves-/.test(all)) throw new Error(all);
  await page.locator('[data-screen="live"]').click();
  await page.getByRole('link', { name: item.id }).click();
  await page.locator('#curve-counts canvas').waitFor();
  has((await paths(page)).join(' '), ['curves-']);
  await close(page);
});

await check('desktop, English: the figures follow the sale', async () => {
  const page = await signedIn('desktop', 'en', `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '40');
  await shows(page, 'counts', 'Placed', '0');
  const first = await buy(0, 3);
  await shows(page, 'stock', 'Left', '37');
  await shows(page, 'stock', 'Held', '3');
  await shows(page, 'counts', 'Placed', '3');
  await pay(0, first);
  await shows(page, 'counts', 'Paid', '3');
  await buy(1, 2);
  await shows(page, 'counts', 'Placed', '5');
  const refused = await fetch(new URL('seckill/buy', base), { method: 'POST', headers: { ...mine(shoppers[0]).headers, ...json }, body: JSON.stringify({ seckill_id: item.id, count: 20, address: '上海市浦东新区 1 号' }) });
  same(refused.status, 409, 'above the limit');
  await shows(page, 'refusals', 'Limit reached', '1');
  await shows(page, 'metrics', 'Presses', '3');
  await until('age below two seconds', async () => (await lastAge(page)) < 2, true);
  await until('a curve', async () => (await drawn(page, 'counts')) > 500, true);
  await page.locator('#live-numbers summary').click();
  await page.locator('#live-numbers tbody tr').first().waitFor();
  has(await page.locator('#live-numbers').innerText(), ['The last hour', 'Placed', 'Presses']);
  await fits(page, 'live, desktop, en');
  await page.setViewportSize({ width: 1280, height: 1500 });
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = false)));
  await picture(page, 'live-desktop');
  await close(page);
});

await check('phone, Chinese: before a sale it says what is ready', async () => {
  const page = await signedIn('phone', 'zh', `#/live/${later.id}`);
  await page.locator('#live-ready[open] li').first().waitFor();
  has(await page.locator('#live-ready').innerText(), ['开始前的检查', '没有停售', '件数对得上', '没有死信：关单']);
  await fits(page, 'live, phone, zh');
  await picture(page, 'live-phone');
  await page.goto(new URL(`admin?lang=zh#/live/${item.id}`, base).href);
  await shows(page, 'stock', '剩余', '35');
  same(await page.locator('#live-ready').evaluate((d) => d.open), false, 'the checks are open during a sale');
  await close(page);
});

await check('units that come back, and the clock of the shop', async () => {
  const page = await signedIn('desktop', 'en', `#/live/${item.id}`);
  await shows(page, 'counts', 'Given back', '0');
  await advance(16 * 60 + 1);
  await shows(page, 'counts', 'Given back', '2');
  await shows(page, 'stock', 'Left', '37');
  await close(page);
});

await check('refused: it keeps its figures, which grow old, asks less and less often, and goes on', async () => {
  const page = await signedIn('desktop', 'en', `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '37');
  const asked = [];
  await page.route('**/admin/commands', (route) => {
    asked.push(performance.now());
    return route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"code":"unavailable","status":503}' });
  });
  await page.getByText('Next try in 8 s').waitFor();
  same(await figure(page, 'stock', 'Left').innerText(), '37', 'left');
  same(asked.length, 3, 'requests until the third refusal');
  const [first, second, third] = asked;
  if (second - first < 1_900 || third - second < 3_900) throw new Error(`asked after ${second - first} and ${third - second} ms`);
  await until('age', async () => (await lastAge(page)) > 5, true);
  await page.unroute('**/admin/commands');
  await page.locator('.notification[role=status]:not(.said)').waitFor({ state: 'hidden' });
  await until('age', async () => (await lastAge(page)) < 2, true);
  await close(page);
});

await check('it asks nothing while nobody sees it, and at once when somebody does', async () => {
  const page = await signedIn('desktop', 'en', `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '37');
  const see = (state) =>
    page.evaluate((now) => {
      Object.defineProperty(document, 'visibilityState', { value: now, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  let asked = 0;
  page.on('request', (r) => (asked += r.url().endsWith('/admin/commands')));
  await see('hidden');
  await page.getByText('Paused while nobody sees this page').waitFor();
  asked = 0;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  same(asked, 0, 'requests of a hidden page');
  await see('visible');
  await until('requests', async () => asked > 0, true);
  await page.goto(new URL('admin?lang=en#/items', base).href);
  await page.locator('h1').filter({ hasText: 'Items' }).waitFor();
  await page.locator('#content:not([aria-busy])').waitFor();
  asked = 0;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  same(asked, 0, 'requests after the screen was left');
  await close(page);
});

await finish();
