// Push in a browser, on a Chinese phone and on an English computer: the outcome without asking, connections that break,
// are refused or replaced, and what a shopper reads all the same. node push.mjs BASE OUT; it needs a fresh
// `seckill run --stock 40 --limit 20`.
import { EXPECTED, ask, base, cashierTab, check, close, finish, has, mine, open, same, says, startPurchase, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const json = { 'Content-Type': 'application/json' };
const SECOND = 1000; // ms
const LINE = /^ws:/;

const PLACES = [
  { lang: 'zh', size: 'phone', who: shoppers[0], queue: '排队中', wait: '请在', pay: '去付款', paid: '支付成功', cancelled: '订单已取消' },
  { lang: 'en', size: 'desktop', who: shoppers[1], queue: 'In the queue', wait: 'Pay within', pay: 'Pay now', paid: 'Paid', cancelled: 'Order cancelled' },
];

const post = (who, path, body) => ask(path, { method: 'POST', headers: { ...mine(who).headers, ...json }, body: JSON.stringify(body) });
const cancel = (who, id) => post(who, `order/${id}/cancel`, {});

/** Buys one unit by the API and waits until the order can be paid. */
async function bought(who) {
  const { order_id: id } = await post(who, 'seckill/buy', { seckill_id: item.id, count: 1, address: 'x' });
  await until('order', async () => (await ask(`seckill/order/${item.id}`, mine(who))).state, 'pending_payment');
  return id;
}

/** Opens a blank page of a shopper whose asks and connections are noted from its first request. */
async function noted(place) {
  const page = await open({ ...place, shopper: place.who });
  const seen = { page, asks: [], lines: [] };
  page.on('request', (r) => {
    const { pathname } = new URL(r.url());
    if (r.method() === 'GET' && /^\/(seckill\/order|order)\/(?!list)/.test(pathname)) seen.asks.push(pathname);
  });
  page.on('websocket', (socket) => {
    const line = { frames: [], open: true, socket };
    seen.lines.push(line);
    socket.on('framereceived', ({ payload }) => line.frames.push(payload));
    socket.on('close', () => (line.open = false));
  });
  return seen;
}

/** The page of an order, once it is connected and has asked. */
async function followed(place, id) {
  const seen = await noted(place);
  await follows(seen, place, id);
  return seen;
}

async function follows(seen, place, id) {
  await seen.page.goto(new URL(`?lang=${place.lang}#/order/${id}`, base).href);
  await says(seen.page, place.wait);
  await until('connections', async () => seen.lines.filter((l) => l.open).length, 1);
  await until('asks: one to show it, one when the connection was open', async () => seen.asks.join(' '), `/order/${id} /order/${id}`);
}

/** Routes the page's connections through the test: `through.page` and `through.server` are the two ends of the last one. */
async function between(page) {
  const through = { opened: 0 };
  await page.routeWebSocket(LINE, (ws) => {
    through.opened++;
    through.page = ws;
    through.server = ws.connectToServer();
  });
  return through;
}

const breaks = (through) => Promise.all([through.page.close({ code: 1011 }), through.server.close()]);

/** Fails when the page asks within a while. */
async function asksNobody(seen, ms, what) {
  const before = seen.asks.length;
  await seen.page.waitForTimeout(ms);
  same(seen.asks.slice(before).join(' '), '', what);
}

/** Pays an order in a tab of its own, and answers how long its page took to say so, ms. */
async function paidElsewhere(seen, place, id) {
  const cashier = await cashierTab(seen.page, place.who, id, place.size === 'phone' ? 'wap' : 'page');
  await cashier.locator('#pay').click();
  const began = Date.now();
  await says(seen.page, place.paid);
  await cashier.close();
  return Date.now() - began;
}

async function all(place) {
  const { lang, size, who } = place;
  const on = `${size}, ${lang}`;

  await check(`${on}: a purchase has its outcome with at most two asks`, async () => {
    const seen = await noted(place);
    await startPurchase(seen.page, item);
    const before = seen.asks.length;
    await seen.page.locator('dialog button[type=submit]').click();
    await says(seen.page, place.wait);
    await seen.page.locator('dialog').getByRole('button', { name: place.pay }).waitFor();
    await until('connections', async () => seen.lines.filter((l) => l.open).length, 1);
    await seen.page.waitForTimeout(5 * SECOND);
    const asks = seen.asks.slice(before);
    if (asks.length > 2) throw new Error(`${asks.length} asks: ${asks.join(' ')}`);
    await close(seen.page);
  });

  await check(`${on}: an order that is placed late is on the page by push`, async () => {
    // One tab follows an order and hears of every order of its shopper. What it hears of the second tab's purchase is
    // what that one hears late, after it asked: its order had no row yet.
    const first = await followed(place, await bought(who));
    const seen = await noted(place);
    let own = '';
    await seen.page.route('**/seckill/buy', async (route) => {
      const answer = await route.fetch();
      own = (await answer.json()).order_id;
      await route.fulfill({ response: answer });
    });
    let line;
    await seen.page.routeWebSocket(LINE, (ws) => {
      line = ws;
      ws.connectToServer().onMessage(() => {}); // late, below
    });
    const queued = () => ({ alipay_order: '', order_id: own, state: 'queued', retry_after_ms: 500 });
    await seen.page.route(`**/seckill/order/${item.id}`, (route) => route.fulfill({ json: own ? queued() : { alipay_order: '' } }));
    await startPurchase(seen.page, item);
    const before = seen.asks.length;
    await seen.page.locator('dialog button[type=submit]').click();
    await says(seen.page, place.queue);
    await until('what the first tab hears', async () => first.lines[0].frames.some((f) => f.includes(own)), true);
    await until('asks while it is queued', async () => seen.asks.length - before, 1);
    await asksNobody(seen, 3 * SECOND, 'asks of a shopper in the queue');
    const began = Date.now();
    for (const frame of first.lines[0].frames) line.send(frame); // the first tab's order, too: not of this page
    await says(seen.page, place.wait);
    await seen.page.locator('dialog').getByRole('button', { name: place.pay }).waitFor();
    const took = Date.now() - began;
    console.log(`        on the page, with its button, ${took} ms after the push`);
    same(seen.asks.slice(before).join(' '), `/seckill/order/${item.id}`, 'asks: none after the push');
    await close(seen.page);
    await close(first.page);
  });

  await check(`${on}: paid elsewhere: on the page by push, with one ask`, async () => {
    const id = await bought(who);
    const seen = await followed(place, id);
    await asksNobody(seen, 5 * SECOND, 'asks while nothing happens');
    const took = await paidElsewhere(seen, place, id);
    console.log(`        on the page ${took} ms after the press`);
    same(seen.asks.length, 3, 'asks');
    const frames = seen.lines[0].frames.map((f) => JSON.parse(f)).filter((f) => f.order_id === id);
    same(frames.at(-1)?.state.replace('confirmed', 'paid'), 'paid', 'what was heard');
    await until('connections of an order that rests', async () => seen.lines.filter((l) => l.open).length, 1);
    await close(seen.page);
  });

  await check(`${on}: the network is lost and back: what happened meanwhile is on the page`, async () => {
    const id = await bought(who);
    const seen = await noted(place);
    const through = await between(seen.page);
    await follows(seen, place, id);
    EXPECTED.push(/ERR_INTERNET_DISCONNECTED/);
    await seen.page.context().setOffline(true);
    await breaks(through);
    await cancel(who, id);
    await seen.page.waitForTimeout(3 * SECOND);
    await says(seen.page, place.wait); // nobody could tell it
    await seen.page.context().setOffline(false);
    await says(seen.page, place.cancelled);
    await close(seen.page);
  });

  await check(`${on}: a connection that breaks is made anew, by another pass; one that breaks again is not`, async () => {
    const id = await bought(who);
    const seen = await noted(place);
    const through = await between(seen.page);
    const passes = [];
    seen.page.on('response', async (r) => r.url().endsWith('/push') && passes.push((await r.json()).pass));
    await follows(seen, place, id);
    await breaks(through);
    await until('connections', async () => through.opened, 2);
    await until('passes', async () => new Set(passes).size, 2);
    await seen.page.waitForTimeout(SECOND);
    await asksNobody(seen, 5 * SECOND, 'asks while it is connected again');
    await breaks(through);
    await until('it polls', async () => seen.asks.length > 8, true);
    same(through.opened, 2, 'connections');
    await paidElsewhere(seen, place, id);
    await close(seen.page);
  });

  await check(`${on}: push that is refused on its way: the page polls, and says the outcome`, async () => {
    const id = await bought(who);
    const seen = await noted(place);
    EXPECTED.push(/WebSocket connection to .* failed/);
    // Nothing that a server or a proxy refuses differs for a page: here the pass is forged.
    await seen.page.route('**/order/*/push', async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: { ...answer, pass: `${answer.pass.slice(0, -3)}AAA` } });
    });
    await seen.page.goto(new URL(`?lang=${lang}#/order/${id}`, base).href);
    await says(seen.page, place.wait);
    await until('it polls', async () => seen.asks.length >= 4, true);
    same(seen.lines.length, 1, 'attempts to connect');
    await paidElsewhere(seen, place, id);
    await close(seen.page);
  });

  await check(`${on}: two tabs hear it; a third takes the oldest one's place, which polls and takes nobody's`, async () => {
    const id = await bought(who);
    const first = await followed(place, id);
    const second = await followed(place, id);
    const third = await followed(place, id);
    await until('the oldest connection', async () => first.lines[0].open, false);
    await first.page.waitForTimeout(5 * SECOND); // a page that came back would have done so
    same([first, second, third].map((s) => s.lines.map((l) => (l.open ? 'open' : 'closed')).join()).join(' '), 'closed open open', 'connections');
    same(first.asks.length > 3, true, 'the oldest one polls');
    same([second.asks.length, third.asks.length].join(), '2,2', 'asks of those that hear');
    await Promise.all([paidElsewhere(second, place, id), says(first.page, place.paid), says(third.page, place.paid)]);
    for (const seen of [first, second, third]) await close(seen.page);
  });

  await check(`${on}: who signs out is not connected any more`, async () => {
    const id = await bought(who);
    const seen = await followed(place, id);
    await seen.page.locator('#who').click();
    await seen.page.getByRole('button', { name: lang === 'zh' ? '退出' : 'Sign out' }).click();
    await until('connection', async () => seen.lines[0].open, false);
    await seen.page.waitForTimeout(3 * SECOND);
    same(seen.lines.length, 1, 'connections');
    await cancel(who, id);
    await close(seen.page);
  });
}

await check('the policy names where the shop pushes', async () => {
  const policy = (await fetch(base)).headers.get('Content-Security-Policy');
  const id = await bought(shoppers[2]);
  const { url } = await post(shoppers[2], `order/${id}/push`, {});
  has(policy, [`connect-src 'self' ${new URL(url).protocol}//${new URL(url).host};`]);
  await cancel(shoppers[2], id);
});
await Promise.all(PLACES.map(all));
await finish();
