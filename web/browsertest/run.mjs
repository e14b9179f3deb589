// A shopper's whole way, in two languages on two sizes, with a picture of each page:
//   node run.mjs BASE OUT     e.g. node run.mjs http://localhost:8100 ../../.tools/pictures
// It needs a fresh `seckill run` with its demo data: a live item with at least 3 units, one per shopper, an upcoming
// item, and two demo shoppers. It moves that system's clock.
import { ADDRESS, EXPECTED, GRACE, advance, ask, base, card, cashierTab, check, close, fillAddress, finish, has, mine, open, payAt, picture, same, says, startPurchase, stockOf, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [first, second] = shoppers;
const third = shoppers[2] || second; // whose expired and cancelled orders leave the limit free again
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
const stock = await stockOf(item);

for (const lang of ['zh', 'en']) {
  for (const size of ['phone', 'desktop']) {
    await check(`home, ${lang}, ${size}`, async () => {
      const page = await open({ size, lang, shopper: first });
      await card(page, item.id).waitFor();
      const words = lang === 'zh' ? ['限时秒杀', '正在抢购', '即将开始', '立即抢购', '提前准备', '距结束', '距开抢'] : ['Flash sale', 'On sale now', 'Coming up', 'Buy now', 'Get ready', 'Ends in', 'Starts in'];
      has(await page.locator('body').innerText(), [...words, item.commodity.title, later.commodity.title]);
      same(await page.locator('html').getAttribute('lang'), lang === 'zh' ? 'zh-CN' : 'en', 'lang');
      await picture(page, `home-${lang}-${size}`);
      await close(page);
    });
  }
}

await check('the language switch is remembered', async () => {
  const page = await open({ size: 'desktop', lang: 'zh', shopper: first });
  await page.locator('#language').click();
  await page.goto(new URL('.', base).href);
  await page.getByRole('heading', { name: 'On sale now' }).waitFor();
  await close(page);
});

await check('an item has a page of its own', async () => {
  const page = await open({ size: 'desktop', lang: 'zh', shopper: first, path: `#/item/${item.id}` });
  await page.getByRole('heading', { name: '商品详情' }).waitFor();
  has(await page.locator('main').innerText(), [item.commodity.title, '每人限购']);
  await picture(page, 'item');
  await close(page);
});

await check('an upcoming item can be prepared but not bought', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper: first });
  await card(page, later.id).locator('.button').click();
  const submit = page.locator('dialog button[type=submit]');
  await submit.filter({ hasText: '准备好了' }).click();
  await page.getByText('请填写收件人').waitFor();
  await fillAddress(page);
  await submit.click();
  await submit.filter({ hasText: '后开抢' }).waitFor();
  has(await page.locator('dialog').innerText(), ['已准备好']);
  same(await submit.isDisabled(), true, 'submit disabled');
  await picture(page, 'upcoming');
  await close(page);
});

await check('a bad address is refused before anything is sent', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: first });
  await startPurchase(page, item);
  await page.locator('#address-street').fill('x');
  await page.locator('#address-name').fill('  ');
  await page.locator('dialog button[type=submit]').click();
  await page.getByText('Please give a name.').waitFor();
  await page.getByText('Please give the full street and number.').waitFor();
  await until('stock', () => stockOf(item), stock);
  await close(page);
});

let paidOrder = '';
await check('shopper 1 buys in Chinese: queue, payment, paid, one unit fewer', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper: first });
  await startPurchase(page, item);
  await picture(page, 'buy');
  // The queue is often too quick to be seen: what ends it is held back until the picture is taken.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.routeWebSocket(/\/live$/, (line) => line.connectToServer().onMessage((told) => held.then(() => line.send(told))));
  await page.route(`**/seckill/order/${item.id}`, async (route) => {
    await held;
    await route.continue();
  });
  await page.locator('dialog button[type=submit]').click();
  await says(page, '排队中');
  await picture(page, 'queue');
  release();
  await says(page, '请在');
  has(await page.locator('dialog').innerText(), ['去付款', '抢到了']);
  await picture(page, 'pay');
  await payAt(page, '去付款', '支付成功', (cashier) => picture(cashier, 'cashier'));
  await says(page, '支付成功');
  await picture(page, 'paid');
  await until('stock', () => stockOf(item), stock - 1);
  paidOrder = (await ask(`seckill/order/${item.id}`, mine(first))).order_id;
  await close(page);
});

await check('buying again says that it was bought already', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper: first });
  await card(page, item.id).locator('.button').click();
  await says(page, '您已经买到了'); // before any form
  await until('stock', () => stockOf(item), stock - 1);
  await close(page);
});

// Before any order waits for payment: the clock moves to the later sale's start.
await check('an upcoming item opens at its instant without a reload', async () => {
  const { now_ms: now } = await ask('seckill/time');
  const rest = Math.floor((Date.parse(later.start_time) - now) / 1000) - 8; // time to open the sheet
  if (rest > 0) await advance(rest);
  const page = await open({ size: 'phone', lang: 'en', shopper: first });
  const button = card(page, later.id).locator('.button');
  await button.filter({ hasText: 'Get ready' }).waitFor();
  await button.click();
  await fillAddress(page);
  await page.locator('dialog button[type=submit]').click();
  await page.locator('dialog button[type=submit]').filter({ hasText: 'Opens in' }).waitFor();
  await page.locator('dialog button[type=submit]').filter({ hasText: 'Place order' }).click();
  await says(page, 'Pay within');
  await close(page);
});

await check('a lost answer is sent again with the same key and buys once', async () => {
  const page = await open({ size: 'desktop', lang: 'en', shopper: second });
  const keys = [];
  await page.route('**/seckill/buy', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    await route.fetch(); // it arrives, its answer does not
    return route.fulfill({ status: 503, contentType: 'application/problem+json', headers: { 'Retry-After': '1' }, body: '{"code":"unavailable"}' });
  });
  EXPECTED.push(/status of 503/);
  await startPurchase(page, item);
  await picture(page, 'buy-desktop');
  await page.locator('dialog button[type=submit]').click();
  await says(page, 'Very busy');
  await picture(page, 'retrying');
  await says(page, 'Pay within');
  EXPECTED.pop();
  same(keys.length, 2, 'requests');
  same(keys[0], keys[1], 'key');
  await until('stock', () => stockOf(item), stock - 2);
  await close(page);
});

await check('who reloads while the order waits for payment finds it again', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: second });
  await card(page, item.id).locator('.button').click();
  await says(page, 'Pay within');
  await close(page);
});

await check('shopper 2 does not pay: expired, and the unit is back', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper: second });
  await card(page, item.id).locator('.button').click();
  await says(page, '请在');
  const { pay_by: payBy } = await ask(`seckill/order/${item.id}`, mine(second));
  const { now_ms: now } = await ask('seckill/time');
  await advance(Math.ceil((Date.parse(payBy) - now) / 1000) + GRACE + 1);
  await says(page, '订单已过期');
  has(await page.locator('dialog').innerText(), ['没有扣款', '再抢一次']);
  await picture(page, 'expired');
  await until('stock', () => stockOf(item), stock - 1);
  await close(page);
});

await check('an order that waits can be cancelled, and its unit is back', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper: second });
  await startPurchase(page, item);
  await page.locator('dialog button[type=submit]').click();
  await says(page, '请在');
  await page.locator('dialog').getByRole('link', { name: '查看订单' }).click();
  await page.getByRole('button', { name: '取消订单' }).click();
  await page.locator('dialog .danger').click();
  await page.getByText('订单已取消').first().waitFor();
  await picture(page, 'cancelled');
  await until('stock', () => stockOf(item), stock - 1);
  await close(page);
});

// The cashier was open in time; its provider takes money when the order has long expired.
await check('who pays after the order expired reads that the money goes back, and later that it went', async () => {
  const put = (faults) => ask('faults', { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(faults) });
  const page = await open({ size: 'phone', lang: 'zh', shopper: second });
  await startPurchase(page, item);
  await page.locator('dialog button[type=submit]').click();
  await says(page, '请在');
  await put({ shares: { 'pay-late': 1 } });
  const { pay_by: payBy, order_id: order } = await ask(`seckill/order/${item.id}`, mine(second));
  const cashier = await cashierTab(page, second, order);
  const { now_ms: now } = await ask('seckill/time');
  await advance(Math.ceil((Date.parse(payBy) - now) / 1000) + GRACE + 1);
  await says(page, '订单已过期');
  await cashier.locator('#pay').click();
  await cashier.getByText('支付成功').first().waitFor();
  await put({ shares: { 'call-5xx': 1 } }); // no refund is made before the page has been read
  await until('order', async () => (await ask(`order/${order}`, mine(second))).state, 'refund_due');
  await page.goto(new URL(`?lang=zh#/order/${order}`, base).href);
  await page.getByText('您的付款在订单关闭之后才到').first().waitFor();
  const due = await ask(`order/${order}`, { headers: { ...mine(second).headers, 'Accept-Language': 'en' } });
  const [{ refund_id: number }] = due.payments;
  same(due.money, `Your payment of ${due.amount.toFixed(2)} yuan arrived after the order closed; it goes back to you, refund number ${number}.`, 'money');
  has(await page.locator('main').innerText(), ['退款中，原路退回', number]);
  const english = await open({ size: 'desktop', lang: 'en', shopper: second, path: `#/order/${order}` });
  await english.getByText('Your payment arrived after the order closed; it goes back to you.').first().waitFor();
  await picture(page, 'late');
  await put({ shares: {} });
  await advance(180); // a refund that failed twice is made again after two minutes
  await until('order', async () => (await ask(`order/${order}`, mine(second))).state, 'refunded');
  await page.reload();
  await page.getByText('已原路退回').first().waitFor();
  has(await page.locator('main').innerText(), ['退回，退款编号', number]);
  await english.reload();
  await english.getByText('Your payment arrived after the order closed; it went back to you.').first().waitFor();
  await close(english);
  await picture(page, 'late-refunded');
  await until('stock', () => stockOf(item), stock - 1);
  await close(page);
});

await check('another shopper buys that unit, in English', async () => {
  const page = await open({ size: 'desktop', lang: 'en', shopper: third });
  await startPurchase(page, item);
  await page.locator('dialog button[type=submit]').click();
  await says(page, 'Pay within');
  await until('stock', () => stockOf(item), stock - 2);
  await payAt(page, 'Pay now', 'Payment successful');
  await says(page, 'Paid');
  await picture(page, 'paid-desktop');
  await close(page);
});

await check('my orders, both languages', async () => {
  for (const [lang, word] of [['zh', '已付款'], ['en', 'Paid']]) {
    const page = await open({ size: lang === 'zh' ? 'phone' : 'desktop', lang, shopper: first, path: '#/orders' });
    await page.locator(`[data-order="${paidOrder}"]`).filter({ hasText: word }).waitFor();
    await picture(page, `orders-${lang}`);
    await close(page);
  }
});

await check('an order shows its history and where the money is', async () => {
  const page = await open({ size: 'desktop', lang: 'zh', shopper: first, path: `#/order/${paidOrder}` });
  await page.getByText('支付成功').first().waitFor();
  has(await page.locator('main').innerText(), ['订单进度', '已付款', '款项去向', '已收款', ADDRESS]);
  await picture(page, 'order');
  await close(page);
});

await check('somebody else’s order is not shown', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: second, path: `#/order/${paidOrder}` });
  EXPECTED.push(/status of 404/);
  await page.getByText('This order was not found.').waitFor();
  EXPECTED.pop();
  await close(page);
});

await check('who am I: demo shoppers and a token', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper: first });
  await page.locator('#who').click();
  await page.locator('.person').nth(1).waitFor();
  await picture(page, 'who');
  await page.locator('.person').nth(1).click();
  await page.locator('#who').filter({ hasText: second.name }).waitFor();
  await page.locator('#who').click();
  await page.locator('#token').fill('nonsense');
  await page.locator('dialog button[type=submit]').click();
  await page.getByText('这不像一个访问令牌').waitFor();
  await close(page);
});

await check('nobody is signed in: the demo issuer asks who, and the purchase goes on; signing out', async () => {
  const page = await open({ size: 'phone', lang: 'en' });
  await card(page, later.id).locator('.button').click();
  await page.getByRole('link', { name: second.name }).click();
  await page.locator('#address-name').waitFor();
  await page.reload();
  await page.locator('#who').filter({ hasText: second.user }).click();
  await page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
  await page.locator('#who').filter({ hasText: 'Sign in' }).waitFor();
  await page.waitForFunction(() => sessionStorage.length === 0); // also while the issuer's sign-out leads there and back
  await close(page);
});

await check('status page, both languages', async () => {
  for (const [lang, size, words] of [['zh', 'desktop', ['运行状态', '待退款', '被拒绝的退款', '已付款']], ['en', 'phone', ['System status', 'Refunds due', 'Refunds refused', 'Paid']]]) {
    const page = await open({ size, lang });
    await page.goto(new URL(`status?lang=${lang}`, base).href);
    await page.locator('[data-table="items"] tbody tr').first().waitFor();
    has(await page.locator('body').innerText(), [...words, item.id]);
    await picture(page, `status-${lang}`);
    await close(page);
  }
});

await finish();
