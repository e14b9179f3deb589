// Looks at lists and items that fail, titles, addresses that lead nowhere, and what fits a small screen:
// node looks.mjs BASE OUT; it needs a fresh `seckill run --stock 1 --limit 1`.
import { readFileSync } from 'node:fs';
import { EXPECTED, ask, axe, base, card, check, close, finish, fits, has, mine, open, picture, same, says, startPurchase, stockOf, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [first, second] = shoppers;
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
const refusal = { status: 429, contentType: 'application/problem+json', headers: { 'Retry-After': '1' }, body: '{"code":"unavailable","detail":"系统繁忙，请稍后重试。","retry_after_ms":1000}' };

/** Requests to these paths get `answer`, or no network without one, until the function that this resolves with is called. */
async function failing(page, paths, answer) {
  let on = true;
  await page.route(paths, (route) => (!on ? route.continue() : answer ? route.fulfill(answer) : route.abort('internetdisconnected')));
  return () => (on = false);
}

const blank = () => open({ size: 'phone', lang: 'zh', at: 'healthz' });
const seconds = async (f) => {
  const began = performance.now();
  await f();
  return (performance.now() - began) / 1000;
};

EXPECTED.push(/status of 429/, /ERR_INTERNET_DISCONNECTED/); // looks that fail on purpose
for (const [name, path, shown] of [['a list', '#/', '.live .card:not(.ghost)'], ['an item', `#/item/${item.id}`, '.card.large:not(.ghost)']]) {
  await check(`${name} that was refused once comes in seconds, without a press`, async () => {
    const page = await blank();
    const end = await failing(page, /seckill\/(ing|will|detail)/, refusal);
    await page.goto(new URL(`?lang=zh${path}`, base).href);
    await page.getByText('系统繁忙').waitFor();
    await axe(page, `${name} that was refused`);
    end();
    const took = await seconds(() => page.locator(shown).first().waitFor());
    if (took > 6) throw new Error(`${took} s`);
    same(await page.locator('.notification:visible').count(), 0, 'notes of trouble');
    await close(page);
  });

  await check(`${name} comes at once when the network is back, or on a press`, async () => {
    const page = await blank();
    const end = await failing(page, /seckill\/(ing|will|detail)/);
    await page.goto(new URL(`?lang=zh${path}`, base).href);
    await page.getByText('暂时连不上服务器').waitFor();
    await page.waitForTimeout(6500); // the next try by itself is seconds away by now
    end();
    const press = name === 'a list';
    const took = await seconds(async () => {
      if (press) await page.getByRole('button', { name: '重试' }).click();
      else await page.evaluate(() => window.dispatchEvent(new Event('online')));
      await page.locator(shown).first().waitFor();
    });
    if (took > 2) throw new Error(`${took} s`);
    await close(page);
  });
}

await check('an item that a list has shown is there without another look, and a look that fails says so', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: first });
  await card(page, item.id).waitFor();
  const end = await failing(page, /seckill\/(detail|status)/);
  await card(page, item.id).getByRole('heading').getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: item.commodity.title }).waitFor();
  await page.getByText('Trying again').waitFor();
  same(await page.getByRole('button', { name: 'Buy now' }).isEnabled(), true, 'to be bought');
  end();
  await page.getByText('Trying again').waitFor({ state: 'hidden' });
  const again = await failing(page, /seckill\/(detail|status)/); // after the first success
  await page.getByText('Trying again').waitFor();
  again();
  await page.getByText('Trying again').waitFor({ state: 'hidden' });
  await close(page);
});

await check('my orders, refused once, come by themselves', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: second, at: 'healthz' });
  const end = await failing(page, /order\/list/, refusal);
  await page.goto(new URL('?lang=en#/orders', base).href);
  await page.getByText('系统繁忙').waitFor();
  end();
  await page.getByText('No orders yet').waitFor();
  await close(page);
});

await check('each page has a title of its own', async () => {
  const page = await open({ size: 'desktop', lang: 'en', shopper: first });
  await card(page, item.id).waitFor();
  same(await page.title(), 'Flash sale · Flash Sale', 'home');
  await card(page, item.id).getByRole('heading').getByRole('link').click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  same(await page.title(), `${item.commodity.title} · Flash Sale`, 'item');
  await page.goto(new URL('?lang=en#/nosuch', base).href);
  await page.getByText('There is no such page.').waitFor();
  same(await page.title(), 'There is no such page. · Flash Sale', 'no page');
  await axe(page, 'no page');
  await page.getByRole('link', { name: 'Sales' }).last().click();
  await card(page, item.id).waitFor();
  await close(page);
});

await check('an upcoming item reminds by the calendar, and its link says what it is', async () => {
  const page = await open({ size: 'phone', lang: 'en', path: `#/item/${later.id}` });
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Remind me by calendar' }).click()]);
  same(file.suggestedFilename(), `${later.id}.ics`, 'file');
  has(readFileSync(await file.path(), 'utf8'), ['BEGIN:VEVENT', `URL:${new URL(`item/${later.id}`, base).href}`]);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => (navigator.share = undefined));
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByText('The link is copied').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  same(link, new URL(`item/${later.id}`, base).href, 'link');
  const html = await (await fetch(link, { headers: { 'Accept-Language': 'en' } })).text();
  has(html, [`<meta property="og:title" content="${later.commodity.title}">`, 'Sale price ¥']);
  await page.goto(link);
  await page.getByRole('heading', { level: 1, name: later.commodity.title }).waitFor();
  await page.waitForURL((url) => url.hash === `#/item/${later.id}`);
  await close(page);
});

await check('an address that leads nowhere shows the way home, to a browser', async () => {
  EXPECTED.push(/status of 404/);
  for (const [path, lang] of [['orders', 'en'], ['docs/', 'en'], ['a/b/c', 'en'], ['item/9', 'en']]) {
    const page = await open({ size: 'phone', lang, at: path });
    await page.getByRole('heading', { name: 'There is no such page.' }).waitFor();
    await axe(page, `no page, ${path}`);
    await page.getByRole('link', { name: 'Sales' }).click();
    await card(page, item.id).waitFor();
    await close(page);
  }
  const answer = await fetch(new URL('nosuch', base));
  same(`${answer.status} ${answer.headers.get('content-type')}`, '404 application/problem+json', 'for others');
});

await check('at 320 pixels everything can be pressed whole, in both languages', async () => {
  for (const lang of ['zh', 'en']) {
    for (const path of ['#/', `#/item/${item.id}`, `#/item/${later.id}`]) {
      const page = await open({ size: 'phone', lang, path });
      await page.locator('.card .button').first().waitFor();
      await fits(page, `${lang} ${path}`);
      await page.setViewportSize({ width: 320, height: 720 });
      const cut = await page.evaluate(() => [...document.querySelectorAll('.card :is(.button, .timing, .digits, .tag, .bar-text, h1, h3)')].filter((n) => n.checkVisibility()).filter((n) => {
        const [a, b] = [n.getBoundingClientRect(), n.closest('.card').getBoundingClientRect()];
        return a.left < b.left || a.right > b.right || n.scrollWidth > n.clientWidth + 1;
      }).map((n) => `${n.className} ${n.textContent}`));
      same(cut.join('; '), '', `cut off, ${lang} ${path}`);
      await picture(page, `small-${lang}-${path.replace(/\W/g, '')}`);
      await close(page);
    }
  }
});

await check('what is shown before any script is readable', async () => {
  const page = await blank();
  await page.route('**/*.js', () => {}); // never
  await page.goto(new URL('?lang=zh', base).href, { waitUntil: 'commit' });
  await page.getByText('加载中').waitFor();
  await axe(page, 'before any script');
  same(await page.locator('#who').isVisible(), false, 'an empty button');
  await picture(page, 'first-paint');
  await close(page);
});

await check('a sheet that says sold out turns into a way to buy when units are back, with the address kept', async () => {
  const body = JSON.stringify({ seckill_id: item.id, count: 1, address: 'x' });
  const page = await open({ size: 'phone', lang: 'zh', shopper: first });
  const old = await (await fetch(new URL('seckill/ing?page=1&size=50', base))).text();
  await card(page, item.id).waitFor();
  await startPurchase(page, item);
  has(await page.locator('dialog').innerText(), ['15 分钟']);
  const { order_id: other } = await ask('seckill/buy', { method: 'POST', headers: { ...mine(second).headers, 'Content-Type': 'application/json' }, body });
  await until('stock', () => stockOf(item), 0);
  const end = await failing(page, /seckill\/ing/, { contentType: 'application/json', body: old });
  await page.locator('dialog button[type=submit]').click();
  await says(page, '已抢光');
  const took = await seconds(() => page.waitForResponse(/seckill\/ing/)); // which is older than the refusal
  await page.waitForTimeout(300);
  if (took < 6) same(await page.getByText('又有货了').count(), 0, 'sheets that believe an old list');
  end();
  await until('order', async () => (await ask(`order/${other}`, mine(second)).catch(() => ({}))).state, 'pending_payment');
  await ask(`order/${other}/cancel`, { method: 'POST', ...mine(second) });
  await until('stock', () => stockOf(item), 1);
  await says(page, '又有货了');
  await axe(page, 'units are back');
  await picture(page, 'back-again');
  await page.locator('dialog').getByRole('button', { name: '立即抢购' }).click();
  await says(page, '请在');
  await close(page);
});

await finish();
