// Signing in at an issuer of OpenID Connect that is certified, with a typed password, on a Chinese phone and an English
// desktop: the way there and back, what is refused, renewal, signing out. node signin.mjs BASE OUT; it needs a fresh
// `seckill run --limit 5 --issuers 'http://localhost:PORT|shop'`, and that free PORT as ISSUER_PORT. It moves the clock.
import { execFileSync } from 'node:child_process';
import { EXPECTED, ask, axe, base, card, check, close, fillAddress, finish, has, open, same, says, until } from './harness.mjs';
import { PASSWORDS, control, host, issuer, move, shop, startIssuer, stopIssuer, tokenOfAnotherShop, type } from './provider.mjs';

const MINUTE = 60_000;

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
const opening = Date.parse(later.start_time);

const serverNow = async () => (await ask('seckill/time')).now_ms;

const statusOf = async (token) => (await fetch(new URL('order/list', base), { headers: { Authorization: `Bearer ${token}` } })).status;
const kept = (page) => page.evaluate(() => JSON.parse(sessionStorage.getItem('seckill.shopper')));
const storage = (page) => page.evaluate(() => Object.keys(sessionStorage).sort().join(' '));
const who = (page, text) => page.locator('#who').filter({ hasText: text }).waitFor();
const buyButton = (page, of) => card(page, of.id).locator('.button');
const submit = (page) => page.locator('dialog button[type=submit]');
const inSheet = (page, name) => page.locator('dialog').getByRole('button', { name });

/** Presses Buy and types the password. */
async function buyAs(page, name, of = item) {
  await buyButton(page, of).click();
  await type(page, name);
}

async function nobody(page, title, text) {
  await says(page, title);
  has(await page.locator('dialog').innerText(), [text]);
  same(await kept(page), null, 'who is signed in');
  same(/code|state|error/.test(page.url()), false, `${page.url()} has the answer`);
}

const FORGED = { zh: ['没有登录成功', '请重新登录'], en: ['You are not signed in', 'Please sign in again'] };

await check('the issuer is down: said in words, tried again by itself, then on request; nobody is signed in', async () => {
  EXPECTED.push(/status of 503/);
  const page = await open({ size: 'phone', lang: 'zh' });
  const asked = [];
  page.on('request', (r) => asked.push(r.url()));
  await buyButton(page, item).waitFor();
  same(asked.filter((url) => /signin/.test(url)).length, 0, 'asked for before anybody signs in');
  await buyButton(page, item).click();
  await says(page, '登录服务很忙');
  await page.route('**/signin', (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '60' }, body: '{}' }));
  await nobody(page, '暂时连不上登录服务', '您填写的内容都还在');
  await page.unroute('**/signin');
  await startIssuer();
  await inSheet(page, '重试').click();
  await page.locator('[name=name]').waitFor();
  EXPECTED.pop();
  await close(page);
});

await check('phone, Chinese: Buy, a wrong password, the right one, and the purchase goes on', async () => {
  const page = await open({ size: 'phone', lang: 'zh' });
  const seen = [];
  page.on('request', (r) => seen.push(`${r.method()} ${r.url()} ${r.headers().referer || ''}`));
  await buyButton(page, item).click();
  await type(page, '小明', 'wrong');
  await page.getByText('That is not right.').waitFor();
  await type(page, '小明');
  await fillAddress(page);
  same(page.url(), shop, 'address');
  same((await storage(page)).includes('signin'), false, 'keeps the verifier');
  const { token, refresh } = await kept(page);
  await submit(page).click();
  await says(page, '请在');
  for (const secret of [token, refresh]) same(seen.some((line) => line.includes(secret)), false, 'a token in an address');
  same(seen.some((line) => /GET .*[?&]code=.*#?/.test(line) && !line.startsWith(`GET ${shop}?code=`)), false, 'the code in another address');
  await page.reload();
  await who(page, '用户');
  await close(page);
});

await check('desktop, English, by keyboard: from an item’s page and back to it, and out again', async () => {
  const page = await open({ size: 'desktop', lang: 'en', path: `#/item/${item.id}` });
  await card(page, item.id).waitFor();
  await page.locator('#who').press('Enter');
  await inSheet(page, 'Sign in').press('Enter');
  await page.locator('[name=name]').fill('ada');
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORDS.ada);
  await page.keyboard.press('Enter');
  await who(page, 'User');
  same(page.url(), `${shop}#/item/${item.id}`, 'address');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.locator('#who').press('Enter');
  await page.locator('.person').first().waitFor();
  await axe(page, 'who am I');
  await inSheet(page, 'Sign out').press('Enter');
  await page.getByRole('button', { name: /yes/i }).click(); // the issuer asks, because it gets no token
  await who(page, 'Sign in');
  same(new URL(page.url()).href.startsWith(shop), true, 'back in the shop');
  same(await storage(page), '', 'the tab keeps');
  await buyButton(page, item).click();
  await page.locator('[name=name]').waitFor(); // signed out there, too
  await close(page);
});

const cancelled = check('cancelled at the issuer, in both languages', async () => {
  for (const [lang, size, title, text] of [['zh', 'phone', '登录已取消', '您还没有登录'], ['en', 'desktop', 'The sign-in was cancelled', 'You are not signed in']]) {
    const page = await open({ size, lang });
    await page.locator('#who').waitFor();
    await page.evaluate(() => delete document.documentElement.dataset.local); // as a deployed page
    await page.locator('#who').click();
    await page.locator('[name=name]').waitFor();
    await page.goBack();
    await buyButton(page, item).waitFor();
    same(await page.locator('dialog').count(), 0, 'sheets after Back');
    await buyButton(page, item).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await nobody(page, title, text);
    await axe(page, 'cancelled');
    await inSheet(page, lang === 'zh' ? '重新登录' : 'Sign in again').click();
    await type(page, 'ada');
    await submit(page).waitFor(); // the purchase that it was for
    await close(page);
  }
});

const forged = check('a state that this tab did not send, with and without a sign-in under way', async () => {
  const page = await open({ size: 'desktop', lang: 'en' });
  await page.goto(`${shop}?code=stolen&state=forged#/orders`);
  await nobody(page, 'This sign-in did not begin here', 'nobody was signed in');
  same(page.url(), `${shop}#/orders`, 'address');
  await inSheet(page, 'Sign in again').click();
  await page.locator('[name=name]').waitFor();
  await page.goto(`${shop}?code=stolen&state=forged&iss=${encodeURIComponent(issuer)}`);
  await nobody(page, 'This sign-in did not begin here', 'nobody was signed in');
  await close(page);
});

const clocks = check('a device whose clock is 5 minutes off signs in', async () => {
  for (const off of [-5 * MINUTE, 5 * MINUTE]) {
    const page = await open({ size: 'phone', lang: 'en' });
    await page.context().addInitScript((ms) => {
      const real = Date.now;
      Date.now = () => real() + ms;
    }, off);
    await page.reload();
    await buyAs(page, 'ada');
    await submit(page).waitFor();
    await close(page);
  }
});

const lists = check('several issuers: a list; none: a token', async () => {
  const page = await open({ size: 'phone', lang: 'en' });
  const { issuers } = await ask('signin');
  await page.route('**/signin', (route) => route.fulfill({ json: { issuers: [{ ...issuers[0], issuer: 'https://id.example.com', client_id: 'b' }, ...issuers] } }));
  await buyButton(page, item).click();
  await page.getByRole('heading', { name: 'Choose where to sign in' }).waitFor();
  await axe(page, 'a list of issuers');
  await page.locator('.person').filter({ hasText: host }).click();
  await page.locator('[name=name]').waitFor();
  await page.goBack();
  await page.route('**/signin', (route) => route.fulfill({ json: { issuers: [] } }));
  await buyButton(page, item).click();
  await page.locator('#token').fill(shoppers[0].token);
  await inSheet(page, 'Use it').click();
  await page.locator('#address-name').waitFor();
  await close(page);
});

// These change nothing, and wait for pages mostly.
await Promise.all([cancelled, forged, clocks, lists]);

const exchanges = []; // bodies of POST /signin
const spy = (page) => page.on('request', (r) => r.method() === 'POST' && r.url().endsWith('/signin') && exchanges.push(r.postData()));

await check('a code that was used before', async () => {
  EXPECTED.push(/status of 401/);
  const first = await open({ size: 'desktop', lang: 'en' });
  spy(first);
  await buyAs(first, 'ada');
  await submit(first).waitFor();
  await close(first);
  const page = await open({ size: 'phone', lang: 'zh' });
  await page.route('**/signin', (route) => route.continue(route.request().method() === 'POST' ? { postData: exchanges[0] } : {}));
  await buyAs(page, '小明');
  await nobody(page, ...FORGED.zh);
  await close(page);
  EXPECTED.pop();
});

await check('another shop’s token, an earlier sign-in’s, and an issuer whose clock is 5 minutes off', async () => {
  EXPECTED.push(/status of 401/);
  const foreign = await tokenOfAnotherShop();
  const { shop: earlier } = await control({});
  const cases = { 'another audience': { idToken: foreign }, 'another nonce': { idToken: earlier }, 'clock fast': { clock: 5 * MINUTE }, 'clock slow': { clock: -11 * MINUTE } };
  for (const [name, wrong] of Object.entries(cases)) {
    const lang = name.startsWith('another') ? 'en' : 'zh';
    const page = await open({ size: lang === 'en' ? 'desktop' : 'phone', lang });
    await control(wrong);
    await buyAs(page, 'ada');
    await nobody(page, ...FORGED[lang]).catch((error) => Promise.reject(new Error(`${name}: ${error.message}`)));
    await control({});
    await inSheet(page, lang === 'en' ? 'Sign in again' : '重新登录').click();
    await submit(page).waitFor(); // the issuer still knows them
    await close(page);
  }
  const page = await open({ size: 'desktop', lang: 'en' });
  await page.locator('#who').click();
  await page.locator('#token').fill(foreign);
  await submit(page).click();
  await page.getByText('The sign-in was not accepted').waitFor();
  same(await kept(page), null, 'who is signed in');
  await close(page);
  EXPECTED.pop();
});

await check('a sign-in that ends in the middle of a purchase: signed in again, and the same purchase goes on', async () => {
  EXPECTED.push(/status of 403/);
  for (const refresh of [false, true]) {
    await control({ refresh });
    const page = await open({ size: 'phone', lang: 'zh' });
    const keys = [];
    page.on('request', (r) => r.url().endsWith('/seckill/buy') && keys.push(r.headers()['idempotency-key']));
    await buyAs(page, 'ada');
    await submit(page).waitFor();
    await fillAddress(page);
    await page.evaluate(() => {
      const shopper = JSON.parse(sessionStorage.getItem('seckill.shopper'));
      sessionStorage.setItem('seckill.shopper', JSON.stringify({ ...shopper, token: `${shopper.token}x` }));
    });
    await submit(page).click();
    if (!refresh) {
      await says(page, '请先登录');
      has(await page.locator('dialog').innerText(), ['订单请求已保留', '不会重复下单']);
      await axe(page, 'sign in again');
      await inSheet(page, '登录').click(); // the issuer asks nothing
    }
    await says(page, '请在');
    same(keys.length, 2, 'sent');
    same(keys[0], keys[1], 'key');
    const { id } = (await ask('order/list?page=1&size=1', { headers: { Authorization: `Bearer ${(await kept(page)).token}` } })).orders[0];
    await ask(`order/${id}/cancel`, { method: 'POST', headers: { Authorization: `Bearer ${(await kept(page)).token}` } });
    await close(page);
  }
  await control({});
  EXPECTED.pop();
});

await check('a sign-in that ends at the opening is renewed before it, or its shopper is asked to', async () => {
  const life = Math.floor((opening - (await serverNow())) / 1000) + 60;
  const signedIn = async (look, name, more) => {
    await control({ life, ...more });
    const page = await open(look);
    spy(page);
    await buyAs(page, name, later);
    await fillAddress(page);
    await submit(page).click(); // ready
    return page;
  };
  const phone = await signedIn({ size: 'phone', lang: 'zh' }, '小明', { refresh: false });
  const desktop = await signedIn({ size: 'desktop', lang: 'en' }, 'ada', { refresh: true });
  exchanges.length = 0;
  await move(opening - (await serverNow()) - 100_000);
  await control({ refresh: false });

  await phone.reload();
  await phone.locator('#renew').filter({ hasText: '您的登录将在' }).waitFor();
  await axe(phone, 'the warning on the page');
  await buyButton(phone, later).click();
  const warning = phone.locator('dialog .renew');
  await warning.waitFor();
  await axe(phone, 'the warning in the sheet');
  const { token: before } = await kept(phone);
  const exchanged = phone.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/signin'));
  await warning.getByRole('button', { name: '重新登录' }).click();
  same((await exchanged).status(), 200, 'signed in again');
  same(await statusOf(before), 403, 'the earlier token');
  await phone.locator('dialog[data-signin]').waitFor({ state: 'detached' });
  await submit(phone).filter({ hasText: '后开抢' }).waitFor(); // ready as before
  same(await warning.count(), 0, 'warnings');
  same(await phone.locator('#address-name').inputValue(), '王小明', 'name');

  await desktop.reload();
  await until('renewed', async () => (await kept(desktop)).expires > opening + 10 * MINUTE, true);
  same(exchanges.filter((body) => body.includes('"refresh"')).length, 1, 'renewals');
  await move(opening - (await serverNow()) - 6_000);
  await desktop.reload();
  await buyButton(desktop, later).click();
  await submit(desktop).filter({ hasText: 'Opens in' }).waitFor();
  await submit(desktop).filter({ hasText: 'Place order' }).click();
  await says(desktop, 'Pay within');
  await close(phone);
  await close(desktop);
});

await check('a shopper sees where they are signed in, and signs out everywhere', async () => {
  EXPECTED.push(/status of 40[13]/);
  const page = await open({ size: 'phone', lang: 'zh' });
  await buyAs(page, 'ada');
  await submit(page).waitFor();
  await page.goto(`${shop}#/orders`);
  const other = await open({ size: 'desktop', lang: 'en' });
  await buyAs(other, 'ada');
  await submit(other).waitFor();
  const tokens = [(await kept(page)).token, (await kept(other)).token];
  for (const token of tokens) same(await statusOf(token), 200, 'before');
  await other.goto(shop);
  await other.locator('#who').click();
  await inSheet(other, 'Where you are signed in').click();
  const here = other.locator('dialog li').filter({ hasText: 'Chrome, Linux (this one)' });
  await here.waitFor();
  has(await here.innerText(), ['Since', 'last used']);
  same(await here.count(), 1, 'of this page');
  same((await other.locator('dialog li').count()) >= 2, true, 'lists the other');
  await axe(other, 'where one is signed in');
  await other.route('**/signin/end', (route) => route.abort());
  EXPECTED.push(/ERR_FAILED/);
  await inSheet(other, 'Sign out everywhere').click();
  await other.getByText('There was no answer').waitFor();
  EXPECTED.pop();
  await other.unroute('**/signin/end');
  await inSheet(other, 'Sign out everywhere').click();
  await other.getByRole('button', { name: /yes/i }).click(); // the issuer asks
  await who(other, 'Sign in');
  same(await storage(other), '', 'the tab keeps');
  for (const token of tokens) same(await statusOf(token), 403, 'afterwards');
  await page.locator('#who').click();
  await inSheet(page, '登录的设备').click();
  await page.getByText('您的登录已到期').first().waitFor();
  await axe(page, 'signed out elsewhere');
  EXPECTED.pop();
  await close(page);
  await close(other);
});

await check('keys that the issuer changed: signed in', async () => {
  await stopIssuer();
  await startIssuer();
  await move(61_000); // the shop looks for new keys at most once a minute
  const page = await open({ size: 'phone', lang: 'zh' });
  await buyAs(page, 'ada');
  await submit(page).or(page.locator('dialog .state-title')).first().waitFor();
  await who(page, '用户');
  await close(page);
});

await check('the issuer goes down under way: tried again, and nobody is signed in', async () => {
  EXPECTED.push(/status of 503/);
  const page = await open({ size: 'desktop', lang: 'en' });
  let posts = 0;
  await page.route('**/signin', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    if (++posts > 1) return route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, body: '{}' });
    await stopIssuer();
    return route.continue();
  });
  EXPECTED.push(/status of 429/);
  await buyAs(page, 'ada');
  await says(page, 'The sign-in service is busy');
  await nobody(page, 'The sign-in service cannot be reached', 'what you typed is kept');
  same(posts, 2, 'attempts');
  await axe(page, 'away');
  EXPECTED.splice(-2);
  await close(page);
});

await check('what the shop has to mend is not told as the shopper’s fault', async () => {
  EXPECTED.push(/status of 503/);
  await startIssuer();
  const page = await open({ size: 'phone', lang: 'zh' });
  const refused = { status: 503, json: { code: 'signin_broken', detail: '不是您的问题', retry_after_ms: 60_000 } };
  await page.route('**/signin', (route) => (route.request().method() === 'POST' ? route.fulfill(refused) : route.continue()));
  await buyAs(page, 'ada');
  await nobody(page, '没有登录成功', '不是您的问题');
  EXPECTED.pop();
  await close(page);
});

await check('refusals are counted by cause', async () => {
  const counts = execFileSync('curl', ['-s', new URL('_local/state', base).href], { encoding: 'utf8' });
  for (const cause of ['token_grant', 'token_audience', 'token_nonce', 'token_early', 'token_stale']) has(counts, [cause]);
});

await finish();
