// Staff sign in at an issuer of OpenID Connect that is certified, as a client with a secret: on a Chinese phone and an
// English desktop. What is refused, confirmation by refresh token, roles that are taken, new keys, an issuer that is away.
// node staff.mjs BASE OUT; it needs ISSUER_PORT, STAFF_CLIENT_SECRET and a fresh `seckill run --staff-issuer
// 'http://localhost:ISSUER_PORT|office' --staff-claims 'seckill_groups|seckill-|sub|openid'`. It moves the clock.
import { EXPECTED, ask, axe, check, close, finish, has, mine, open, same, until } from './harness.mjs';
import { json, twoDays } from './office.mjs';
import { control, host, issuer, move, shop, startIssuer, stopIssuer, tokenOfAnotherShop, type } from './provider.mjs';

const FRESH = 301_000; // ms after which the next request has a session confirmed
const STALE = 15 * 60_000; // after which a session that is not confirmed changes nothing
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
EXPECTED.push(/status of 401/, /status of 403/, /status of 422/, /status of 503/);

const may = (...roles) => roles.map((r) => `seckill-${r}`);
const groups = { ada: may('operator', 'auditor') };
const office = (place, path = '') => open({ ...place, at: 'admin', path });
const zh = { size: 'phone', lang: 'zh' };
const en = { size: 'desktop', lang: 'en' };
const text = (page) => page.locator('body').innerText();

/** Leads a page to the issuer, and types a password there. */
async function signIn(page, name = 'ada') {
  await page.locator('#sign-in').click();
  await type(page, name);
}

async function signedIn(place, path) {
  const page = await office(place, path);
  await signIn(page);
  await page.locator('#menu a').first().waitFor();
  return page;
}

/** Gives a command as a page does: its status and answer. */
const give = (page, command, args = {}) =>
  page.evaluate(
    async (operator) => {
      const answer = await fetch('admin/commands', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Seckill-Staff': '1' }, body: JSON.stringify({ operator }) });
      return { status: answer.status, ...(await answer.json()) };
    },
    { command, ...args },
  );
const session = (page) => page.evaluate(async () => (await fetch('admin/session')).json());
const used = async () => (await control({})).refreshes.office || 0;

/** What a page says instead of signing somebody in, who is nobody then. */
async function nobody(page, words, what) {
  await page.getByText(words).waitFor();
  same((await page.context().request.get(`${shop}admin/session`)).status(), 401, `${what}: session`);
  same((await page.context().cookies()).some((c) => c.name.startsWith('staff')), false, `${what}: a cookie`);
}

await check('the issuer is down: said in words; nobody is signed in', async () => {
  const page = await office(en);
  await page.locator('#sign-in').click();
  await nobody(page, 'The sign-in cannot be reached now', 'down');
  await close(page);
  await startIssuer();
  await control({ groups });
  const leads = async () => (await fetch(`${shop}admin/signin`, { redirect: 'manual' })).status;
  await until('sign-in leads to the issuer', leads, 302); // the shop asks an issuer that was away once a second
});

await check('phone, Chinese: a wrong password, the right one, and back to the same place; out again', async () => {
  const page = await office(zh, `#/item/${item.id}`);
  const seen = [];
  page.on('request', (r) => seen.push(r));
  await axe(page, 'sign-in');
  await page.locator('#sign-in').click();
  await type(page, 'ada', 'wrong');
  await page.getByText('That is not right.').waitFor();
  await type(page, 'ada');
  await page.locator('#item-switch-send').waitFor();
  same(page.url(), `${shop}admin#/item/${item.id}`, 'place');
  const [cookie, ...more] = (await page.context().cookies()).filter((c) => c.name.startsWith('staff'));
  same(`${cookie.name} ${cookie.httpOnly} ${cookie.sameSite} ${more.length}`, 'staff true Strict 0', 'cookie');
  const kept = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage, document.cookie]));
  same(/eyJ|staff=/.test(kept), false, `the page has a token: ${kept}`);
  const asked = new URL(seen.find((r) => r.url().startsWith(`${issuer}/auth?`)).url()).searchParams;
  same(['response_type', 'code_challenge_method', 'scope'].map((name) => asked.get(name)).join(), 'code,S256,openid', 'what the issuer was asked');
  same(seen.some((r) => r.url().includes('code=') && !r.url().startsWith(`${shop}admin/callback?code=`)), false, 'the code in another address');
  same(seen.some((r) => /code=/.test(r.headers().referer || '')), false, 'the code in a Referer');
  const { who, roles } = await session(page);
  same(`${who} ${roles}`, `${host}/ada operator,auditor`, 'who');
  same((await give(page, 'stop', { item: item.id })).status, 200, 'stop');
  same((await give(page, 'refund', { order: 'obbbbbbbbbbbbbbbbbbbbbbbbbb', why: 'x' })).code, 'role_forbidden', 'refund, which operators may not');
  same((await give(page, 'resume', { item: item.id })).status, 200, 'resume');
  await page.goto(`${shop}admin?lang=zh#/audit`);
  await page.locator('.screen').waitFor();
  await page.getByText(`${host}/ada`).first().waitFor();
  await page.locator('#who').click();
  await page.locator('#sign-out').click();
  await page.locator('#sign-in').waitFor();
  same((await page.context().request.get(`${shop}admin/session`)).status(), 401, 'session after signing out');
  await close(page);
});

await check('no role, cancelled, a forged state, a code used twice, another nonce, audience and clock: nobody', async () => {
  let page = await office(zh);
  await signIn(page, '小明');
  await nobody(page, '您的账号没有后台的任何角色', 'no role');
  await close(page);

  page = await office(en);
  await page.locator('#sign-in').click();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await nobody(page, 'The sign-in was not completed', 'cancelled');
  await page.goto(`${shop}admin/callback?code=stolen&state=forged`);
  await nobody(page, 'The sign-in was not completed', 'forged');
  await close(page);

  page = await office(en);
  const returned = page.waitForRequest((r) => r.url().includes('/admin/callback?'));
  await signIn(page);
  await page.locator('#menu a').first().waitFor();
  const back = (await returned).url();
  await page.context().clearCookies({ name: 'staff' });
  await page.goto(back);
  await nobody(page, 'The sign-in was not completed', 'a code used twice');
  await close(page);

  const { office: earlier } = await control({});
  const foreign = await tokenOfAnotherShop();
  for (const [what, wrong] of Object.entries({ 'another nonce': { idToken: earlier }, 'another audience': { idToken: foreign }, 'a clock 5 minutes fast': { clock: 300_000 }, 'a clock 11 minutes slow': { clock: -660_000 } })) {
    page = await office(en);
    await control(wrong);
    await signIn(page);
    await nobody(page, 'The sign-in was not completed', what);
    await control({});
    await close(page);
  }
});

await check('money wants a sign-in of the last 15 minutes: the page leads to the issuer, and back to what was typed', async () => {
  const [shopper] = (await ask('_local/shoppers')).shoppers;
  const body = JSON.stringify({ seckill_id: item.id, count: 1, address: 'x' });
  const { order_id: order } = await ask('seckill/buy', { method: 'POST', headers: { ...mine(shopper).headers, ...json }, body });
  await control({ groups: { ada: may('operator', 'finance') } });
  const page = await signedIn(en, `#/order/${order}`);
  const refused = async (command) => (await give(page, command, { order, why: 'x' })).code === 'sign_in_again';
  same(await refused('refund'), false, 'refund at once: refused for the sign-in');
  await move(STALE);
  same(await refused('refund'), true, 'refund after 15 minutes: refused for the sign-in');
  same(await refused('ask'), false, 'ask after 15 minutes: refused for the sign-in');
  const record = page.locator('summary').filter({ has: page.getByText('Record a trade') });
  await record.click();
  await page.locator('#record-trade-trade_no').fill('9');
  await page.locator('#record-trade-why').fill('seen in the console');
  await page.locator('#record-trade-send').click();
  await page.locator('dialog').filter({ hasText: 'a sign-in of the last 15 minutes' }).waitFor();
  await axe(page, 'sign in again');
  const asked = page.waitForRequest((r) => r.url().startsWith(`${issuer}/auth?`));
  await page.locator('dialog #sign-in').click();
  const { searchParams: q } = new URL((await asked).url());
  same(`${q.get('prompt')} ${q.get('max_age')}`, 'login 900', 'what the issuer was asked');
  await type(page, 'ada');
  await record.click();
  same(new URL(page.url()).hash, `#/order/${order}`, 'place');
  same(await page.locator('#record-trade-why').inputValue(), 'seen in the console', 'what was typed');
  same(await refused('refund'), false, 'refund after signing in again: refused for the sign-in');
  await control({ groups });
  await close(page);
});

await check('a session is confirmed by refresh token once in five minutes, also when the issuer signs with new keys', async () => {
  const page = await signedIn(en);
  const before = await used();
  await session(page);
  same(await used(), before, 'confirmations in the first five minutes');
  await move(FRESH);
  await Promise.all([session(page), session(page), give(page, 'health')]);
  same(await used(), before + 1, 'confirmations');
  await control({ rotate: true });
  await move(FRESH);
  same((await session(page)).who, `${host}/ada`, 'who, confirmed with new keys');
  same(await used(), before + 2, 'confirmations');
  const other = await signedIn(zh); // new keys sign people in, too
  await close(other);
  await close(page);
});

await check('a role that is taken at the issuer is gone within five minutes; one that is given is there', async () => {
  const page = await signedIn(en, `#/item/${item.id}`);
  await page.locator('#item-switch-send').waitFor();
  await control({ groups: { ada: may('viewer', 'finance') } });
  same((await session(page)).roles.join(), 'operator,auditor', 'roles at once');
  await move(FRESH);
  await page.locator('#item-switch-send').click();
  await page.locator('#confirm-word').fill(item.id);
  await page.locator('#confirm-send').click();
  await page.getByText('Your roles may not do this').waitFor();
  same((await session(page)).roles.join(), 'viewer,finance', 'roles');
  same((await ask(`seckill/detail/${item.id}`)).state, 'online', 'the sale');
  await control({ groups });
  await move(FRESH);
  same((await give(page, 'stop', { item: item.id })).status, 200, 'stop, with the role again');
  await give(page, 'resume', { item: item.id });
  await close(page);
});

await check('whom the issuer knows no longer, or gives no role, is signed out within five minutes', async () => {
  for (const change of [{ gone: ['ada'] }, { groups: {} }]) {
    const page = await signedIn(en, '#/blocks');
    await control(change);
    await move(FRESH);
    await page.locator('#blocks-filter-send').press('Enter'); // a click waits for two frames, which once did not come for a minute
    await page.locator('dialog').filter({ hasText: 'Your session has ended' }).waitFor();
    same((await give(page, 'health')).code, 'session_ended', 'a command');
    await control({ gone: [], groups });
    await page.locator('dialog #sign-in').click();
    await until('signed in again, without a password', async () => page.locator('#menu a').count().then((n) => n > 0), true);
    same(new URL(page.url()).hash.split('?')[0], '#/blocks', 'place');
    await close(page);
  }
});

await check('without refresh tokens a session ends after 15 minutes', async () => {
  await control({ refresh: false });
  const page = await signedIn(en);
  await move(STALE - 1000);
  same((await session(page)).who, `${host}/ada`, 'before');
  await move(2000);
  same((await session(page)).code, 'session_ended', 'after');
  await control({});
  await close(page);
});

await check('while the issuer is away, staff go on: changes for 15 minutes, reading for 30', async () => {
  const page = await signedIn(en);
  await stopIssuer();
  await move(FRESH);
  same((await give(page, 'stop', { item: item.id })).status, 200, 'a change after 5 minutes');
  same((await give(page, 'resume', { item: item.id })).status, 200, 'a change after 5 minutes');
  await move(STALE - FRESH);
  same((await give(page, 'stop', { item: item.id })).code, 'unavailable', 'a change after 15 minutes');
  same((await give(page, 'export')).status, 200, 'reading after 15 minutes');
  await startIssuer();
  await control({ groups });
  await move(STALE);
  same((await session(page)).code, 'session_ended', 'after 30 minutes');
  await close(page);
});

await check('the audit log has who signed in and out, and who was refused', async () => {
  const page = await signedIn(en);
  const log = [];
  for (const day of await twoDays()) log.push(...(await give(page, 'audit', { day, limit: 500 })).result.entries);
  const acts = log.map((e) => `${e.act} ${e.who} ${e.result}`);
  for (const act of [`sign-in ${host}/ada changed`, `sign-out ${host}/ada changed`, `sign-in ${host}/小明 no_role`, 'sign-in unknown signin_refused']) has(acts.join('\n'), [act]);
  has(await text(page), ['ada']);
  await close(page);
});

await finish();
