// Tickets in a browser, on a Chinese phone and on an English computer: got ahead, by a proof of work and, with strict
// checks, by an answer; and what a shopper reads on the way. node admission.mjs BASE OUT; it needs a fresh
// `seckill run --checks standard|strict --stock 40 --limit 20`, and moves its clock.
import { EXPECTED, advance, ask, axe, base, card, check, close, fillAddress, finish, has, mine, open, picture, same, says, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;
const strict = item.checks === 'strict';
EXPECTED.push(/status of 4(03|29)/); // a wrong answer, a ticket that is refused, too many answers

const PLACES = [
  { lang: 'zh', size: 'phone', who: shoppers[0], other: shoppers[2], wait: '请在', getting: '正在准备您的购买凭证', ready: '按一下即可下单', early: '您的购买凭证已就绪', prepared: '准备好了', wrong: '答案不对', empty: '请填写答案', many: '答得太多了', seconds: '秒后可以再答', blocked: '您不能购买', support: '联系客服', insecure: 'https', leave: '退出' },
  { lang: 'en', size: 'desktop', who: shoppers[1], other: shoppers[3], wait: 'Pay within', getting: 'Getting your ticket ready', ready: 'Ready: one press buys', early: 'Your ticket is ready', prepared: 'I am ready', wrong: 'That was not right', empty: 'Please type an answer', many: 'Too many answers', seconds: 'You can answer again in', blocked: 'You cannot buy', support: 'contact the shop', insecure: 'https', leave: 'Sign out' },
];

const POSTS = /\/seckill\/(challenge|ticket|buy)$/;
const dialog = (page) => page.locator('dialog');
const press = (page) => page.locator('dialog .pinned button');
const field = (page) => page.locator('#answer');
const reads = (page, text) => dialog(page).getByText(text).first().waitFor();

/** The answer to a demo item's question. */
const answerTo = (question) => (question.includes('首都') ? '北京' : '7');

/** A page of a shopper whose posts and workers are noted; `before` is done to it before it loads. */
async function noted(place, { who = place.who, before } = {}) {
  const page = await open({ ...place, shopper: who });
  const posts = [];
  const workers = [];
  page.on('worker', (worker) => workers.push(worker.url()));
  page.on('request', (r) => r.method() === 'POST' && POSTS.test(r.url()) && posts.push(POSTS.exec(r.url())[1]));
  if (before) {
    await before(page);
    await page.reload();
  }
  workers.length = 0;
  return { page, posts, workers };
}

const opened = (page, id = item.id) => card(page, id).locator('.button').click();

/** Holds answers to a path back until the function that it answers is called. */
async function held(page, path) {
  let release;
  const free = new Promise((resolve) => (release = resolve));
  await page.route(path, async (route) => {
    await free;
    await route.continue();
  });
  return release;
}

/** Answers the question in an open sheet, if there is one. */
async function answered(page) {
  if (!strict) return;
  await field(page).waitFor();
  await field(page).fill(answerTo(await page.locator('label[for=answer]').innerText()));
  await field(page).press('Enter');
}

/** The order on the page has come; it is cancelled, so that the next sheet begins with the form. */
async function ordered(page, place, who = place.who, id = item.id) {
  await says(page, place.wait);
  const { order_id: order } = await ask(`seckill/order/${id}`, mine(who));
  await ask(`order/${order}/cancel`, { method: 'POST', ...mine(who) });
  await until('the order', async () => (await ask(`seckill/order/${id}`, mine(who))).state, 'cancelled');
}

async function tabTo(page, selector) {
  for (let n = 0; n < 30; n++) {
    if (await page.evaluate((s) => document.activeElement.matches(s), selector)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${selector}`);
}

async function all(place) {
  const { lang, size } = place;
  const on = `${item.checks}, ${size}, ${lang}`;

  await check(`${on}: the ticket is there before the press, and one press is one request`, async () => {
    const { page, posts, workers } = await noted(place);
    const release = await held(page, '**/seckill/ticket');
    await opened(page);
    await answered(page);
    await reads(page, place.getting);
    same(await page.locator('dialog [role=status]').filter({ hasText: /\d/ }).count(), 0, 'figures that a screen reader reads out');
    await until('steps', async () => /\d{2}/.test(await dialog(page).locator('.small').first().innerText()) || posts.includes('ticket'), true);
    await axe(page, 'getting a ticket');
    await picture(page, `ticket-getting-${item.checks}-${lang}`);
    release();
    await reads(page, place.ready);
    await axe(page, 'ready');
    await fillAddress(page);
    await picture(page, `ticket-ready-${item.checks}-${lang}`);
    same(posts.join(' '), 'challenge ticket', 'posts before the press');
    same(workers.length, 1, 'workers');
    await press(page).click();
    await ordered(page, place);
    same(posts.join(' '), 'challenge ticket buy', 'posts');
    await close(page);
  });

  await check(`${on}: a ticket that is refused is renewed, and the purchase goes on${strict ? ' after the question' : ' by itself'}`, async () => {
    const forged = { [item.id]: { text: 'forged', expires: Date.parse(item.end_time) } };
    const keep = ([name, kept]) => sessionStorage.getItem(name) || sessionStorage.setItem(name, kept);
    const { page, posts } = await noted(place, { before: (p) => p.addInitScript(keep, [`seckill.tickets.${place.who.user}`, JSON.stringify(forged)]) });
    await opened(page);
    await reads(page, place.ready);
    await fillAddress(page);
    await press(page).click();
    if (strict) {
      await answered(page);
      await reads(page, place.ready);
      await press(page).click();
    }
    await ordered(page, place);
    same(posts.join(' '), 'buy buy challenge ticket buy', 'posts');
    await close(page);
  });

  if (strict) return byKeyboard(place, on);

  await check(`${on}: no worker, pressed too early: it is solved in the page, and the purchase goes on`, async () => {
    const { page, posts, workers } = await noted(place, { who: place.other, before: (p) => p.addInitScript(() => delete globalThis.Worker) });
    await opened(page);
    await fillAddress(page);
    await press(page).click();
    await ordered(page, place, place.other);
    same(workers.length, 0, 'workers');
    same(posts.join(' '), 'challenge ticket buy', 'posts');
    await page.goto(base);
    await page.locator('#who').click();
    await page.getByRole('button', { name: place.leave }).click();
    await until('tickets after signing out', () => page.evaluate(() => Object.keys(sessionStorage).filter((k) => k.startsWith('seckill.tickets')).join()), '');
    await close(page);
  });

  await check(`${on}: who may not buy, and an address that is not secure: in words`, async () => {
    const { page } = await noted(place, { who: place.other });
    const detail = lang === 'zh' ? '您的账号暂时无法购买，如有疑问请联系客服。' : 'Your account cannot buy at the moment. Please contact the shop’s support.';
    await page.route('**/seckill/challenge', (route) => route.fulfill({ status: 403, contentType: 'application/problem+json', body: JSON.stringify({ code: 'blocked', status: 403, detail }) }));
    await opened(page);
    await reads(page, place.support);
    await axe(page, 'blocked');
    await picture(page, `ticket-blocked-${item.checks}-${lang}`);
    await fillAddress(page);
    await press(page).click();
    await says(page, place.blocked);
    await close(page);
    const plain = await noted(place, { who: place.other, before: (p) => p.addInitScript(() => Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined })) });
    await opened(plain.page);
    await reads(plain.page, place.insecure);
    await close(plain.page);
  });
}

async function byKeyboard(place, on) {
  await check(`${on}: by keyboard: nothing typed, a wrong answer, a right one, and the order`, async () => {
    const { page, posts } = await noted(place);
    await card(page, item.id).locator('.button').focus();
    await page.keyboard.press('Enter');
    await field(page).waitFor();
    same(await page.getByRole('textbox', { name: await page.locator('label[for=answer]').innerText() }).count(), 1, 'fields that the question names');
    await tabTo(page, '#answer');
    await page.keyboard.press('Enter');
    await reads(page, place.empty);
    await page.keyboard.type('42');
    await page.keyboard.press('Enter');
    await reads(page, place.wrong);
    same(await field(page).inputValue(), '42', 'what was typed');
    same(await page.evaluate(() => document.activeElement.id), 'answer', 'focus');
    same(await field(page).getAttribute('aria-invalid'), 'true', 'aria-invalid');
    await axe(page, 'wrong answer');
    await picture(page, `question-wrong-${place.lang}`);
    await field(page).selectText();
    await page.keyboard.type(answerTo(await page.locator('label[for=answer]').innerText()));
    await tabTo(page, 'form[data-open] button');
    await page.keyboard.press('Enter');
    await reads(page, place.ready);
    same(await page.evaluate(() => document.activeElement.textContent).then((text) => text.includes(place.ready)), true, 'focus where it says so');
    await fillAddress(page);
    await tabTo(page, '.pinned button');
    await page.keyboard.press('Enter');
    await ordered(page, place);
    same(posts.join(' '), 'challenge ticket ticket buy', 'posts');
    await close(page);
  });
}

/** Moves the clock: a shopper's answers are counted by the minute. */
async function tooMany(place) {
  await check(`strict, ${place.size}, ${place.lang}: the order's button asks for the answer first; too many answers: it says when again`, async () => {
    const { page, posts } = await noted(place, { who: place.other, before: (p) => p.clock.install() });
    await opened(page);
    await field(page).waitFor();
    await fillAddress(page);
    await press(page).click();
    await reads(page, place.empty);
    same(posts.join(' '), 'challenge', 'posts');
    const answer = { seckill_id: item.id, proof: 'AAAA', answer: 'x' };
    const { now_ms: now } = await ask('seckill/time');
    await advance(60 - (Math.floor(now / 1000) % 60)); // all in one minute
    const headers = { ...mine(place.other).headers, 'Content-Type': 'application/json' };
    for (let n = 0; n < 5; n++) await fetch(new URL('seckill/ticket', base), { method: 'POST', headers, body: JSON.stringify(answer) });
    await answered(page);
    await reads(page, place.many);
    await reads(page, place.seconds);
    const typed = await field(page).inputValue();
    await axe(page, 'too many answers');
    await picture(page, `question-many-${place.lang}`);
    await advance(60);
    await page.clock.fastForward(60_000);
    await page.locator('form[data-open] button[aria-disabled=false]').waitFor();
    same(await field(page).inputValue(), typed, 'what was typed');
    await field(page).press('Enter');
    await reads(page, place.ready);
    await close(page);
  });
}

/** The upcoming item: tickets are got at once, and the clocks are moved to its start. */
async function opening() {
  await check(`${item.checks}: got before the start; when it opens, one press is one request`, async () => {
    const seen = await Promise.all(PLACES.map((place) => noted(place, { before: (p) => p.clock.install() })));
    const each = (f) => Promise.all(seen.map((s, i) => f(s, PLACES[i])));
    await each(async ({ page }, place) => {
      await opened(page, later.id);
      await answered(page);
      await reads(page, place.early);
      await fillAddress(page);
      await press(page).filter({ hasText: place.prepared }).click();
      await until('it waits', () => press(page).isDisabled(), true);
      await picture(page, `ticket-early-${item.checks}-${place.lang}`);
    });
    const { now_ms: now } = await ask('seckill/time');
    const seconds = Math.ceil((Date.parse(later.start_time) - now) / 1000);
    await advance(seconds);
    await each(async ({ page, posts }, place) => {
      same(posts.join(' '), 'challenge ticket', 'posts before the start');
      await page.clock.fastForward(seconds * 1000);
      await until('it is open', () => press(page).isDisabled(), false);
      await press(page).click();
      await says(page, place.wait);
      same(posts.join(' '), 'challenge ticket buy', 'posts');
      await close(page);
    });
  });
}

await check(`${item.checks}: the policy names where workers come from`, async () => has((await fetch(base)).headers.get('Content-Security-Policy'), ["worker-src 'self'"]));
await Promise.all(PLACES.map(all));
if (strict) for (const place of PLACES) await tooMany(place);
else await opening();
await finish();
