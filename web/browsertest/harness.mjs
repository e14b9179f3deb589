// What the browser tests share: a Chromium, checks that are counted, pages that note every complaint, and steps of a
// purchase. A test is started as `node TEST.mjs BASE OUT`; CHROMIUM names the browser (default Chromium's headless shell,
// which needs half the processor time; where it is missing, Chromium). Exit code 0 when all checks held, 1 when not, 2 for
// wrong arguments.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

export const [base, out] = process.argv.slice(2);
if (!base || !out) {
  console.error('usage: node TEST.mjs BASE OUT');
  process.exit(2);
}

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
export const GRACE = 60; // seconds from the end of the hold to the release
export const PATIENCE = 60_000; // ms for anything that should appear, on a machine that is busy
const LONGEST = 300_000; // ms for one check: a browser that hangs is a failure, not a reason to wait
const LARGEST = 300 * 1024; // bytes of one picture
export const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
export const PARTS = { name: '王小明', phone: '13800000000', region: '上海市浦东新区', street: '世纪大道 100 号 8 楼' };
export const ADDRESS = Object.values(PARTS).join(' ');

let passed = 0;
const failures = [];

/** Counts a check, and answers whether it held. */
export async function check(name, f) {
  try {
    await within(LONGEST, f());
    passed++;
    console.log(`ok      ${name}`);
    return true;
  } catch (error) {
    failures.push(name);
    console.log(`FAILED  ${name}\n        ${String(error.message || error).split('\n').slice(0, 6).join('\n        ')}`);
    return false;
  }
}

export async function within(ms, work) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`no end after ${ms} ms`)), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function same(got, want, what) {
  if (got !== want) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

export function has(text, wanted) {
  for (const want of wanted) if (!text.includes(want)) throw new Error(`no ${JSON.stringify(want)} in ${JSON.stringify(text)}`);
}

export async function ask(path, options) {
  let answer = await fetch(new URL(path, base), options);
  for (let n = 0; n < 5 && answer.status === 503 && !options?.method; n++) { // a later try may be answered
    await new Promise((resolve) => setTimeout(resolve, 1000));
    answer = await fetch(new URL(path, base), options);
  }
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/** Runs the command line tool, whose path SECKILL is, and answers what it prints. */
export const tool = async (...args) => (await promisify(execFile)(process.env.SECKILL, args)).stdout.trim();
export const seckill = (...args) => tool(...args, '--url', new URL(base).origin); // at this shop

export const mine = (shopper) => ({ headers: { Authorization: `Bearer ${shopper.token}` } });
let moved = -Infinity; // when a test last moved the clock
export const advance = (seconds) => {
  moved = performance.now();
  return ask('_local/clock', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ advance_seconds: seconds }) });
};
// A clock that is moved past a connect pass's life ends the pass of a page that is just connecting.
const passEnded = (text) => /\/live' failed: .* 403/.test(text) && performance.now() - moved < 10_000;

/** Asks until the answer is the wanted one, or fails with the last. */
export async function until(what, f, want) {
  const end = Date.now() + PATIENCE;
  let got = await f();
  while (got !== want && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    got = await f();
  }
  same(got, want, what);
}

export const WHOLE = process.env.CHROMIUM || '/usr/bin/chromium';
const SHELL = '/usr/bin/chromium-headless-shell';
const executablePath = process.env.CHROMIUM || (existsSync(SHELL) ? SHELL : WHOLE);
export const launch = async (options = {}) => {
  const started = await chromium.launch({ executablePath, args: FLAGS, ...options });
  const newContext = started.newContext.bind(started);
  started.newContext = async (its) => (await newContext(its)).on('page', repeated);
  return started;
};

/**
 * Makes a page repeat navigations that the browser drops because the machine's network has changed. The browser then
 * shows an error page and reloads by itself, which may interrupt the repetition: so that is repeated, too.
 */
function repeated(page) {
  for (const way of ['goto', 'reload']) {
    const once = page[way].bind(page);
    page[way] = async (...args) => {
      for (let left = 3, changed = false; ; left--) {
        try {
          return await once(...args);
        } catch (e) {
          const dropped = /ERR_NETWORK_CHANGED/.test(e.message);
          if (left === 0 || !dropped && !(changed && /interrupted by another navigation/.test(e.message))) throw e;
          changed = true;
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
      }
    };
  }
}

export const browser = await launch();
mkdirSync(out, { recursive: true });

const complaints = [];

// The browser itself writes to the console of a refusal that a page expects, and of a connection that a page which is
// left gives up while it is being opened, and of requests that it drops when the machine's network changes, as it does
// when a Lambda container starts beside it: the page asks again. Nothing else may be there.
export const EXPECTED = [/status of 409/, /WebSocket is closed before the connection is established/, /ERR_NETWORK_CHANGED/];

/** A page of its own tab and storage, signed in as the shopper, that notes every complaint; `at` is which page. */
export async function open({ size, lang, shopper, at = '', path = '', into = browser }) {
  const context = await into.newContext({
    viewport: SIZES[size],
    locale: lang === 'en' ? 'en-US' : 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    reducedMotion: 'reduce',
    colorScheme: 'light',
  });
  context.setDefaultTimeout(PATIENCE);
  context.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()) && !EXPECTED.some((e) => e.test(m.text())) && !passEnded(m.text())) complaints.push(`${m.text()} ${m.location().url}`);
  });
  context.on('weberror', (e) => complaints.push(String(e.error())));
  const signIn = ([who, origin]) => location.origin === origin && sessionStorage.setItem('seckill.shopper', JSON.stringify(who));
  if (shopper) await context.addInitScript(signIn, [shopper, new URL(base).origin]);
  const page = await context.newPage();
  await page.goto(new URL(`${at}?lang=${lang}${path}`, base).href);
  return page;
}

export async function picture(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  same(wide, 0, `${name}: pixels too wide`);
  const path = join(out, `${name}.png`);
  await page.screenshot({ path });
  if (statSync(path).size > LARGEST) throw new Error(`${name}.png has ${statSync(path).size} bytes, at most ${LARGEST} wanted`);
}

const AXE = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** WCAG 2.2 AA, as far as a machine can tell. */
export async function axe(page, name) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Runtime.evaluate', { expression: AXE }); // past the page's policy, which forbids foreign scripts
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  same(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} ${n.any[0]?.message || ''}`).join(', ')}`).join('\n'), '', `axe, ${name}`);
}

/** The text of a page, in which no element stands for its words. */
export function textOnly(text) {
  if (/\[object /.test(text)) throw new Error(`no text: ${text.match(/.{0,40}\[object .{0,40}/)[0]}`);
  return text;
}

/** Nothing is wider than a small phone, and axe finds nothing, with every part open. */
export async function fits(page, name) {
  const size = page.viewportSize();
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)));
  textOnly(await page.evaluate(() => document.body.innerText));
  await page.setViewportSize({ width: 320, height: 720 });
  await page.evaluate(() => window.scrollTo(0, 0)); // the head covers what is scrolled below it
  same(await page.evaluate(() => document.documentElement.scrollWidth), 320, `${name}: width at 320 px`);
  await axe(page, `${name}, 320 px`);
  await page.setViewportSize(size);
  await axe(page, name);
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page, locator) {
  for (let n = 0; n < 60; n++) {
    if (await locator.evaluate((node) => node === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('no way there by Tab');
}

export const close = (page) => page.context().close();
export const card = (page, id) => page.locator(`[data-item="${id}"]`);
export const stateTitle = (page) => page.locator('dialog .state-title, #content .state-title');

export async function says(page, title) {
  await stateTitle(page).filter({ hasText: title }).first().waitFor();
}

export async function startPurchase(page, item) {
  await card(page, item.id).locator('.button').click();
  await fillAddress(page);
}

export async function fillAddress(page) {
  for (const [name, text] of Object.entries(PARTS)) await page.locator(`#address-${name}`).fill(text);
}

/** Goes to the cashier by the order's button. */
export async function toCashier(page, button) {
  await page.locator('dialog, #content').getByRole('button', { name: button }).first().click();
  await page.locator('#pay').waitFor();
}

/** Pays at the cashier, which leads back to the order's page; `before` sees the cashier first. */
export async function payAt(page, button, success, before = async () => {}) {
  await toCashier(page, button);
  await before(page);
  await page.locator('#pay').click();
  await page.getByText(success).first().waitFor();
  await page.locator('#back').click();
}

/** Opens the cashier of an order in a tab of its own. */
export async function cashierTab(page, shopper, order, kind = 'page') {
  const headers = { ...mine(shopper).headers, 'Content-Type': 'application/json' };
  const { url } = await ask(`order/${order}/payment`, { method: 'POST', headers, body: JSON.stringify({ kind }) });
  const cashier = await page.context().newPage();
  await cashier.goto(url);
  await cashier.locator('#pay').waitFor();
  return cashier;
}

// An instance may answer with figures up to a second old.
export const stockOf = async (item) => (await ask(`seckill/detail/${item.id}`)).stock;

/** Closes the browser, says how many checks held, and ends the process. */
export async function finish() {
  await check('no page complained', async () => same([...new Set(complaints)].join('\n'), '', 'console'));
  await within(PATIENCE, browser.close()).catch((error) => console.log(`the browser did not close: ${error.message}`));
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exit(failures.length ? 1 : 0);
}
