// Paying in a browser, on a Chinese phone and on an English computer: the way there and back, and what a shopper reads
// when something is in between. node payment.mjs BASE OUT; it needs a fresh `seckill run --stock 40 --limit 20`.
import { EXPECTED, GRACE, WHOLE, advance, ask, base, browser, cashierTab, check, close, finish, has, launch, mine, open, picture, same, says, stateTitle, toCashier, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
EXPECTED.push(/status of 4(04|10)/); // somebody else's order; a cashier that takes nothing
const json = { 'Content-Type': 'application/json' };
const faults = (shares) => ask('faults', { method: 'PUT', headers: json, body: JSON.stringify({ shares }) });
const orderOf = (who, id) => ask(`order/${id}`, mine(who));
const cancel = (who, id) => ask(`order/${id}/cancel`, { method: 'POST', ...mine(who) });

const PLACES = [
  { lang: 'zh', size: 'phone', who: shoppers[0], kind: 'wap', pay: '去付款', success: '支付成功', paid: '支付成功', wait: '请在', confirming: '正在确认付款', dont: '请不要再付', still: '还在确认付款', leave: '什么都不用做', once: '只需付一次', elsewhere: '收银台已在另一个标签页打开', went: '收银台打开过', over: '付款时间已到', noMore: '支付宝页面不能再付款', expired: '订单已过期', cancelled: '订单已取消', closed: '订单在付款到账之前已经关闭', signIn: '登录后可以查看', notYours: '不属于现在登录的用户', refused: '不能再付款', late: '退款中' },
  { lang: 'en', size: 'desktop', who: shoppers[1], kind: 'page', pay: 'Pay now', success: 'Payment successful', paid: 'Paid', wait: 'Pay within', confirming: 'Confirming your payment', dont: 'do not pay again', still: 'Still confirming', leave: 'there is nothing to do', once: 'Pay once, on any device', elsewhere: 'open in another tab', went: 'The cashier was opened', over: 'The time to pay is over', noMore: 'takes no payment any more', expired: 'Order expired', cancelled: 'Order cancelled', closed: 'The order closed before a payment arrived', signIn: 'Sign in to see it', notYours: 'not of the shopper who is signed in', refused: 'paid or closed', late: 'Refund on its way' },
];

/** Buys one unit by the API and waits until the order can be paid. */
async function bought(who) {
  const body = JSON.stringify({ seckill_id: item.id, count: 1, address: 'x' });
  const { order_id: id } = await ask('seckill/buy', { method: 'POST', headers: { ...mine(who).headers, ...json }, body });
  await until('order', async () => (await ask(`seckill/order/${item.id}`, mine(who))).state, 'pending_payment');
  return id;
}

const main = (page) => page.locator('#content');
const reads = (page, text) => main(page).getByText(text).first().waitFor();
const payButtons = (page, place) => main(page).getByRole('button', { name: place.pay }).count();
const at = (place, id) => open({ ...place, shopper: place.who, path: `#/order/${id}` });
const pastTheHold = async (who, id, more = 1) => {
  const { now_ms: now } = await ask('seckill/time');
  await advance(Math.ceil((Date.parse((await orderOf(who, id)).pay_by) - now) / 1000) + more);
};
/** Presses the cashier's button and comes back by its link. */
async function payAndReturn(page, place) {
  await page.locator('#pay').click();
  await page.getByText(place.success).first().waitFor();
  await page.locator('#back').click();
}

/** Goes back until the order's page is there. */
async function backToOrder(page) {
  for (let n = 0; n < 4 && !page.url().includes('#/order/'); n++) await page.goBack();
}

/** What needs neither the gateway's faults nor the clock: both places at once. */
async function atAnyTime(place) {
  const { lang, size, who } = place;
  const on = `${size}, ${lang}`;

  await check(`${on}: a return is not a proof, whatever it says; still confirming after a while`, async () => {
    const id = await bought(who);
    const page = await open({ ...place, shopper: who, path: `&paid=${id}&out_trade_no=${id}&trade_no=1&total_amount=0.01&method=alipay.trade.page.pay.return&sign=x` });
    await says(page, place.confirming);
    same(page.url(), new URL(`?lang=${lang}#/order/${id}`, base).href, 'address');
    await page.evaluate(() => {
      const kept = JSON.parse(sessionStorage.getItem('seckill.cashier'));
      for (const note of Object.values(kept)) note.at -= 30_000;
      sessionStorage.setItem('seckill.cashier', JSON.stringify(kept));
    });
    await page.reload();
    await says(page, place.still);
    await reads(page, place.leave);
    same(await payButtons(page, place), 1, 'buttons to pay');
    same((await orderOf(who, id)).state, 'pending_payment', 'the ledger');
    await picture(page, `still-confirming-${lang}`);
    await close(page);
  });

  await check(`${on}: a second tab reads that the cashier is open in the first, and becomes paid by itself`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    const second = await page.context().newPage();
    await second.goto(page.url());
    await says(second, place.wait);
    await toCashier(page, place.pay);
    await reads(second, place.elsewhere);
    same(await second.evaluate(() => localStorage.getItem('seckill.cashier')), null, 'left on the device');
    await payAndReturn(page, place);
    await says(page, place.paid);
    await says(second, place.paid);
    await close(page);
  });

  await check(`${on}: Back from the cashier finds the order, its time and its button`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    await says(page, place.wait);
    await toCashier(page, place.pay);
    await backToOrder(page);
    await reads(page, place.went);
    await says(page, place.wait);
    same(await page.locator('#content button:disabled').count(), 0, 'buttons that do nothing');
    // In another order of things: paid, and then Back instead of the cashier's link.
    await toCashier(page, place.pay);
    await page.locator('#pay').click();
    await page.getByText(place.success).first().waitFor();
    await backToOrder(page);
    await says(page, place.paid);
    await close(page);
  });

  await check(`${on}: Back finds the page as it was left, out of the browser's cache of pages, and its button works`, async () => {
    // Chromium's headless shell has no such cache.
    const caching = await launch({ executablePath: WHOLE, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
    const id = await bought(who);
    const page = await open({ ...place, shopper: who, path: `#/order/${id}`, into: caching });
    await page.evaluate(() => (window.kept = true));
    await toCashier(page, place.pay);
    await page.goBack({ waitUntil: 'commit' });
    await reads(page, place.went);
    same(await page.evaluate(() => window.kept), true, 'the page as it was left');
    await toCashier(page, place.pay);
    await caching.close();
  });

  await check(`${on}: the cashier's way out leads to the order`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    await toCashier(page, place.pay);
    await page.locator('#back').click();
    await reads(page, place.went);
    same(page.url().endsWith(`#/order/${id}`), true, page.url());
    await close(page);
  });

  await check(`${on}: another device: paid there, seen here; come back there, signed out or as somebody else`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    await says(page, place.wait);
    const other = await open({ ...place, size: size === 'phone' ? 'desktop' : 'phone', shopper: who, path: `#/order/${id}` });
    await toCashier(other, place.pay);
    await payAndReturn(other, place);
    await says(page, place.paid);
    await close(other);
    const stranger = await open({ ...place, shopper: shoppers[2], path: `&paid=${id}` });
    await reads(stranger, place.notYours);
    await close(stranger);
    const context = await browser.newContext({ locale: lang === 'en' ? 'en-US' : 'zh-CN' });
    const nobody = await context.newPage();
    await nobody.route('**/_local/shoppers', (route) => route.fulfill({ json: { shoppers: [] } })); // a demo signs the first one in
    await nobody.goto(new URL(`?paid=${id}`, base).href);
    await reads(nobody, place.signIn);
    await context.close();
    await close(page);
  });

  await check(`${on}: an order that was cancelled meanwhile, elsewhere`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    await toCashier(page, place.pay);
    await cancel(who, id);
    await until('order', async () => (await orderOf(who, id)).state, 'cancelled');
    await page.locator('#pay').click();
    await page.locator('#pay').waitFor({ state: 'detached' }); // the cashier takes nothing
    await backToOrder(page);
    await says(page, place.cancelled);
    await reads(page, place.closed);
    await close(page);
  });

  await check(`${on}: a button that was left on an old page says why it pays nothing`, async () => {
    const id = await bought(who);
    const page = await open({ ...place, shopper: who, path: '#/orders' });
    const row = page.locator(`[data-order="${id}"]`);
    await row.getByRole('button', { name: place.pay }).waitFor();
    await page.route('**/order/list*', () => {}); // never answered
    await cancel(who, id);
    const [answer] = await Promise.all([page.waitForResponse(`**/order/${id}/payment`), row.getByRole('button', { name: place.pay }).click()]);
    same(answer.status(), 409, 'status');
    has((await answer.json()).detail, [place.refused]);
    await close(page);
  });

  await check(`${on}: what an app passes to Alipay stays in the answers`, async () => {
    const id = await bought(who);
    const { alipay_order: string } = await orderOf(who, id);
    has(string, ['method=alipay.trade.app.pay', id]);
    const { order_string: same_string } = await ask(`order/${id}/payment`, { method: 'POST', headers: { ...mine(who).headers, ...json }, body: '{"kind":"app"}' });
    same(same_string, string, 'order string');
  });
}

/** What moves the clock, or makes the gateway fail. */
async function inTurn(place) {
  const { lang, size, who } = place;
  const on = `${size}, ${lang}`;

  await check(`${on}: the device's cashier, and back by the public addresses, to a page that waits for the ledger`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    await reads(page, place.once);
    await toCashier(page, place.pay);
    const query = new URL(page.url()).searchParams;
    same(query.get('method'), `alipay.trade.${place.kind}.pay`, 'method');
    same(query.get('return_url'), new URL(`?paid=${id}`, base).href, 'return_url');
    same(query.get('notify_url').endsWith('/seckill/alipay/notify'), true, 'notify_url');
    await faults({ 'notification-lost': 1 });
    await payAndReturn(page, place);
    await says(page, place.confirming);
    await reads(page, place.dont);
    same(page.url(), new URL(`#/order/${id}`, base).href, 'address: nothing of the cashier stays in it');
    same(await payButtons(page, place), 0, 'buttons to pay again');
    same((await orderOf(who, id)).state, 'pending_payment', 'the ledger');
    await picture(page, `confirming-${lang}`);
    await faults({});
    await advance(240); // Alipay sends it again
    await says(page, place.paid);
    await close(page);
  });

  await check(`${on}: an order that expired meanwhile: money that came late goes back`, async () => {
    const late = await bought(who);
    const tab = await at(place, late);
    const cashier = await cashierTab(tab, who, late, place.kind);
    await faults({ 'pay-late': 1 });
    await pastTheHold(who, late, GRACE + 1);
    await until('order', async () => (await orderOf(who, late)).state, 'expired');
    await faults({ 'pay-late': 1, 'call-5xx': 1 }); // no refund is made before the page has been read
    await payAndReturn(cashier, place);
    await says(cashier, place.late);
    await faults({});
    await close(tab);
  });

  await check(`${on}: Alipay's page left open past the hold takes nothing, and the order says so`, async () => {
    const id = await bought(who);
    const page = await at(place, id);
    await toCashier(page, place.pay);
    await pastTheHold(who, id);
    await page.locator('#pay').evaluate((button) => (button.disabled = false) || button.click()); // its own clock cannot know
    await page.locator('#pay').waitFor({ state: 'detached' });
    await backToOrder(page);
    await says(page, place.over);
    await reads(page, place.noMore);
    await picture(page, `over-${lang}`);
    await advance(GRACE);
    await says(page, place.expired);
    await reads(page, place.closed);
    same(await stateTitle(page).count(), 1, 'titles');
    await close(page);
  });
}

await Promise.all(PLACES.map(atAnyTime));
for (const place of PLACES) await inTurn(place);
await finish();
