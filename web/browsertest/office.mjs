// What the browser tests of the back office share: who signs in by a link of their own, and acts of a person there, by
// keyboard or by mouse.
import { ask, base, open, tabTo, textOnly } from './harness.mjs';

export const json = { 'Content-Type': 'application/json' };
export const link = async () => (await ask('_local/staff-link', { method: 'POST', headers: json, body: '{}' })).link;
export const office = (place, path = '') => open({ ...place, at: 'admin', path });
export const main = async (page) => textOnly(await page.locator('main').innerText());
export const still = (page) => page.locator('#content:not([aria-busy])').waitFor();

/** A page of somebody who signed in by a link of their own. */
export async function signedIn(place, path = '') {
  const page = await office(place);
  await page.goto(await link());
  await go(page, place, path);
  return page;
}

export async function go(page, place, path) {
  await page.goto(new URL(`admin?lang=${place.lang}${path}`, base).href);
  await page.reload(); // a change behind # alone would not begin anew
  await page.locator('.screen').waitFor();
  await still(page);
}

/** Presses a button or link, by keyboard or by mouse. */
export async function press(place, page, target) {
  const locator = typeof target === 'string' ? page.locator(target) : target;
  await locator.waitFor();
  if (!place.keyboard) return locator.click();
  await tabTo(page, locator);
  await page.keyboard.press('Enter');
}

/** Types into a field, by keyboard alone or after a click. */
export async function type(place, page, selector, text) {
  const locator = page.locator(selector);
  await locator.waitFor();
  if (place.keyboard) await tabTo(page, locator);
  else await locator.click();
  await locator.selectText().catch(() => {});
  await page.keyboard.type(text);
}

export const said = (page, text) => page.locator('.said').filter({ hasText: text }).waitFor();

/** Confirms a question, whose word is typed if it has one. */
export async function confirm(place, page, word) {
  await page.locator('dialog').waitFor();
  if (word) await type(place, page, '#confirm-word', word);
  await press(place, page, '#confirm-send');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** Today and yesterday in UTC+8. A test may begin before midnight or move the clock past it, so its acts are in either. */
export async function twoDays() {
  const { now_ms: now } = await ask('seckill/time');
  return [-16, 8].map((hours) => new Date(now + hours * 3_600_000).toISOString().slice(0, 10));
}

/** What the audit log shows of these two days. */
export async function auditLog(page, place) {
  let log = '';
  for (const day of await twoDays()) {
    await go(page, place, `#/audit?day=${day}`);
    await still(page);
    log += await main(page);
    while (await page.locator('#page-next').count()) {
      const before = page.url();
      for (let n = 1; page.url() === before; n++) { // a list that is being drawn anew may lose a press
        if (!(await page.locator('#page-next').count())) break; // drawn anew meanwhile, as the last page
        await page.locator('#page-next').click({ timeout: 10_000 }).catch(() => {}); // it may go while it is pressed
        await page.waitForURL((url) => url.href !== before, { timeout: 20_000 }).catch((e) => n < 3 || Promise.reject(e));
      }
      await still(page);
      log += await main(page);
    }
  }
  return log;
}
