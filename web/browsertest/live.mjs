// The live screen during a small sale: its figures grow with the sale and older without an answer, it asks only while it
// is seen and less often after refusals, it loads its curves, which no other screen does, and staff stop, resume and
// enlarge the sale there, by mouse and by keyboard.
//   SECKILL=BIN node live.mjs BASE OUT      it needs a fresh `seckill run --stock 40 --limit 20`
import { EXPECTED, advance, ask, axe, base, cashierTab, check, close, finish, fits, has, mine, open, picture, same, tabTo, until } from './harness.mjs';
import { json, signedIn, twoDays } from './office.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
EXPECTED.push(/status of 503/, /status of 401/, /status of 429/);

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
  const page = await signedIn({ size: 'desktop', lang: 'en' }, '#/items');
  const all = (await paths(page)).join(' ');
  if (/curves-/.test(all)) throw new Error(all);
  await page.locator('[data-screen="live"]').click();
  await page.getByRole('link', { name: item.id }).click();
  await page.locator('#curve-counts canvas').waitFor();
  has((await paths(page)).join(' '), ['curves-']);
  await close(page);
});

await check('desktop, English: the figures follow the sale', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '40');
  await shows(page, 'counts', 'Placed', '0');
  const first = await buy(0, 3);
  await shows(page, 'stock', 'Left', '37');
  await shows(page, 'stock', 'Held by orders', '3');
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
  const page = await signedIn({ size: 'phone', lang: 'zh' }, `#/live/${later.id}`);
  await page.locator('#live-ready[open] li').first().waitFor();
  has(await page.locator('#live-ready').innerText(), ['开始前的检查', '没有停售', '件数对得上', '没有死信：关单']);
  await fits(page, 'live, phone, zh');
  await picture(page, 'live-phone');
  await page.goto(new URL(`admin?lang=zh#/live/${item.id}`, base).href);
  await shows(page, 'stock', '剩余', '35');
  same(await page.locator('#live-ready').isVisible(), false, 'what is to be right before the start is shown during a sale');
  await close(page);
});

/** Answers the commands of a name: with a document, or as `change` makes it of the shop's own answer. */
const answer = (page, name, status, body, change) =>
  page.route('**/admin/commands', async (route) => {
    if (JSON.parse(route.request().postData()).operator.command !== name) return route.fallback();
    if (!change) return route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify(body) });
    const response = await route.fetch();
    const real = await response.json();
    if (response.ok()) change(real.result);
    return route.fulfill({ response, json: real });
  });

// Presses a button, and answers the question that follows: by mouse, or by keyboard.
async function act(page, keyboard, button, word, look = async () => {}) {
  const press = async (locator) => {
    if (!keyboard) return locator.click();
    await tabTo(page, locator);
    await page.keyboard.press('Enter');
  };
  await press(page.locator(button));
  await page.locator('#confirm-word').waitFor();
  await look(page.locator('dialog'));
  await page.locator('#confirm-word').fill('no');
  await press(page.locator('#confirm-send'));
  await page.locator('#confirm-word-fault').filter({ hasText: word }).waitFor();
  await page.locator('#confirm-word').fill('');
  if (keyboard) await tabTo(page, page.locator('#confirm-word'));
  await page.locator('#confirm-word').pressSequentially(word);
  await press(page.locator('#confirm-send'));
}

const did = (page) => page.locator('#live-act .notification');
const acts = (page) => page.locator('#live-acts .figures').innerText();
const recorded = async (act) => {
  const log = [];
  for (const day of await twoDays()) {
    const body = JSON.stringify({ operator: { command: 'audit', who: 'test', day, limit: 500 } });
    log.push(...(await ask('_local/operator', { method: 'POST', headers: json, body })).result.entries);
  }
  return log.filter((e) => e.act === act && e.kind === 'ended').map((e) => `${e.who} ${e.subject} ${e.result}`);
};

for (const [lang, size, keyboard, words] of [
  ['en', 'desktop', false, { stopped: 'The sale is stopped.', resumed: 'The sale is resumed.', by: 'By local', stop: 'Stop', resume: 'Resume', state: 'Stopped', figures: ['35 units left are not sold any more', 'The 5 units that orders hold stay with them, paid and unpaid; at least 2 are unpaid', 'Existing orders can still be paid'] }],
  ['zh', 'phone', true, { stopped: '已停止销售。', resumed: '已恢复销售。', by: 'local', stop: '停止销售', resume: '恢复销售', state: '已停止', figures: ['剩余 35 件不再卖', '订单占用的 5 件不变，其中至少 2 件待付款', '已有订单仍可付款'] }],
]) {
  await check(`stop and resume, ${keyboard ? 'by keyboard' : 'by mouse'}, ${lang}: told before, typed, and who did it`, async () => {
    const page = await signedIn({ size, lang }, `#/live/${item.id}`);
    await page.locator('#live-stop').waitFor();
    const before = (await recorded('stop')).length;
    await act(page, keyboard, '#live-stop', item.id, async (dialog) => {
      has(await dialog.innerText(), words.figures);
      await axe(page, `question before a stop, ${lang}`);
      await picture(page, `live-stop-${size}`);
    });
    await did(page).filter({ hasText: words.stopped }).waitFor();
    has(await did(page).innerText(), [words.by]);
    await page.locator('h2 .pill').filter({ hasText: words.state }).waitFor();
    await until('who did what', async () => (await acts(page)).includes(words.stop), true);
    has(await acts(page), ['local · ']);
    const log = await recorded('stop');
    same(log.length, before + 1, 'stops in the audit log');
    same(log.at(-1), `local item=${item.id} changed`, 'the audit log');
    const refused = await fetch(new URL('seckill/buy', base), { method: 'POST', headers: { ...mine(shoppers[3]).headers, ...json }, body: JSON.stringify({ seckill_id: item.id, count: 1, address: '上海市浦东新区 1 号' }) });
    same((await refused.json()).code, 'stopped', 'a purchase of a stopped item');
    await act(page, keyboard, '#live-resume', item.id);
    await did(page).filter({ hasText: words.resumed }).waitFor();
    await page.locator('#live-stop').waitFor();
    await until('who did what', async () => (await acts(page)).includes(words.resume), true);
    await axe(page, `after a stop, ${lang}`);
    await close(page);
  });
}

await check('add stock, by keyboard: what is wrong stands beside the field, and the new number is typed', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'stock', 'Units', '40');
  const field = page.locator('#live-add-stock');
  await tabTo(page, field);
  await page.keyboard.type('40');
  await page.keyboard.press('Enter');
  await page.locator('#live-add-stock-fault').filter({ hasText: 'from 41' }).waitFor();
  await field.fill('50');
  await act(page, true, '#live-add-send', '50', async (dialog) => has(await dialog.innerText(), ['It has 50 units instead of 40: 10 more', '45 units are left then instead of 35', 'cannot be taken away']));
  await did(page).filter({ hasText: 'It has 50 units now. By local' }).waitFor();
  await shows(page, 'stock', 'Left', '45');
  same((await recorded('add-stock')).at(-1), `local item=${item.id} stock=50 changed`, 'the audit log');
  await close(page);
});

await check('dead letters: a button only where there are some, and their number is typed', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '45');
  same(await page.locator('[id^="live-redrive"]').count(), 0, 'buttons without dead letters');
  await answer(page, 'live', 0, null, (seen) => (seen.queues.value.find((q) => q.name === 'orders').parked = 3));
  await act(page, false, '#live-redrive-orders', '3', async (dialog) => has(await dialog.innerText(), ['3 messages of the dead-letter queue of orders', 'find the cause first']));
  await did(page).filter({ hasText: 'There was nothing to change. By local' }).waitFor(); // the shop has none
  same((await recorded('redrive')).at(-1), 'local queue=orders unchanged', 'the audit log');
  await page.unrouteAll();
  await until('buttons', () => page.locator('[id^="live-redrive"]').count(), 0);
  await close(page);
});

await check('stopping the whole shop hard is for a terminal: the screen shows the line', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await page.locator('#live-hard').click();
  const text = await page.locator('dialog').innerText();
  has(text, ['the whole shop, not this item alone', 'are unpaid', `seckill items stop ${item.id} --hard --url ${base.replace(/\/$/, '')}`, `seckill items resume ${item.id} --hard --url`]);
  await axe(page, 'hard stop');
  await picture(page, 'live-hard');
  await close(page);
});

await check('throttled: a stop says which line to give, and looking does not repeat what was refused', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '45');
  let looks = 0;
  page.on('request', (r) => (looks += r.url().endsWith('/admin/commands') && JSON.parse(r.postData()).operator.command === 'live'));
  const tooMany = { status: 429, code: 'too_many_requests' };
  await answer(page, 'stop', 429, tooMany);
  await act(page, false, '#live-stop', item.id);
  await page.locator('dialog .fault').filter({ hasText: `use the command line: seckill items stop ${item.id} --url` }).waitFor();
  await page.keyboard.press('Escape');
  await answer(page, 'live', 429, tooMany);
  await page.getByText('Next try in 2 s').waitFor();
  const before = looks;
  await page.getByText('Next try in 8 s').waitFor();
  same(looks - before, 2, 'looks between the first refusal and the third');
  has(await page.locator('#content').innerText(), [`To stop the sale now, use the command line: seckill items stop ${item.id}`]);
  await page.unrouteAll();
  await close(page);
});

await check('a session that ended: it says so, asks no more, and goes on after signing in', async () => {
  for (const [lang, text] of [['en', 'Nobody did anything for half an hour'], ['zh', '半小时没有人操作']]) {
    const page = await signedIn({ size: 'desktop', lang }, `#/live/${item.id}`);
    await page.locator('#live-stop').waitFor();
    let looks = 0;
    await answer(page, 'live', 401, { status: 401, code: 'session_ended', sign_in: false });
    page.on('request', (r) => (looks += r.url().endsWith('/admin/commands')));
    await page.getByText(text).waitFor();
    same(await page.locator('dialog').count(), 0, 'nobody is asked before they come back');
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    same(looks, before, 'looks after the session has ended');
    await axe(page, `ended, ${lang}`);
    await page.unrouteAll();
    await page.locator('#live-again').click(); // its session is there: the page finds it
    await page.getByText(text).waitFor({ state: 'hidden' });
    await until('age', async () => (await lastAge(page)) < 2, true);
    await close(page);
  }
});

await check('units that come back, and the clock of the shop', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'counts', 'Given back', '0');
  await advance(16 * 60 + 1);
  await shows(page, 'counts', 'Given back', '2');
  await shows(page, 'stock', 'Left', '47');
  await close(page);
});

await check('refused: it keeps its figures, which grow old, asks less and less often, and goes on', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '47');
  const asked = [];
  await page.route('**/admin/commands', (route) => {
    asked.push(performance.now());
    return route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"code":"unavailable","status":503}' });
  });
  await page.getByText('Next try in 8 s').waitFor();
  same(await figure(page, 'stock', 'Left').innerText(), '47', 'left');
  same(asked.length, 3, 'requests until the third refusal');
  const [first, second, third] = asked;
  if (second - first < 1_900 || third - second < 3_900) throw new Error(`asked after ${second - first} and ${third - second} ms`);
  await until('age', async () => (await lastAge(page)) > 5, true);
  await page.unroute('**/admin/commands');
  await page.locator('#live-trouble').waitFor({ state: 'hidden' });
  await until('age', async () => (await lastAge(page)) < 2, true);
  await close(page);
});

await check('it asks nothing while nobody sees it, and at once when somebody does', async () => {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/live/${item.id}`);
  await shows(page, 'stock', 'Left', '47');
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
