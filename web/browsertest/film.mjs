// A sale in half a minute, as an animated picture for the README: node film.mjs BASE OUT. It needs a fresh `seckill run`
// and img2webp (Debian: webp). A shopper gets ready, the sale opens, one press, the cashier, paid.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { advance, ask, card, check, close, fillAddress, finish, open, out, says, toCashier } from './harness.mjs';

const EVERY = 200; // ms between frames
const LARGEST = 2_000_000; // bytes

const { shoppers } = await ask('_local/shoppers');
const [later] = (await ask('seckill/will?page=1&size=10')).seckills;

await check('a film of a sale', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'film'));
  const frames = [];
  let filming = true;
  const rest = Math.floor((Date.parse(later.start_time) - (await ask('seckill/time')).now_ms) / 1000) - 14;
  if (rest > 0) await advance(rest);
  const page = await open({ size: 'phone', lang: 'en', shopper: shoppers[0] });
  const camera = (async () => {
    while (filming) {
      const began = Date.now();
      const name = join(folder, `${String(frames.length).padStart(4, '0')}.png`);
      const picture = await page.screenshot({ scale: 'css' }).catch(() => null); // none between two pages: the frame before lasts
      if (picture) {
        writeFileSync(name, picture);
        frames.push([name, Math.max(EVERY, Date.now() - began)]);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, EVERY - (Date.now() - began))));
    }
  })();
  await card(page, later.id).locator('.button').click();
  await fillAddress(page);
  await page.locator('dialog button[type=submit]').click();
  await page.locator('dialog button[type=submit]').filter({ hasText: 'Place order' }).click();
  await says(page, 'Pay within');
  await page.waitForTimeout(1500);
  await toCashier(page, 'Pay now');
  await page.waitForTimeout(1500);
  await page.locator('#pay').click();
  await page.waitForTimeout(1000);
  await page.locator('#back').click();
  await says(page, 'Paid');
  await page.waitForTimeout(2000);
  filming = false;
  await camera;
  if (frames.length < 30) throw new Error(`only ${frames.length} pictures could be taken`);
  const film = join(out, 'sale.webp');
  execFileSync('img2webp', ['-loop', '0', '-lossy', '-q', '55', '-m', '4', ...frames.flatMap(([name, ms]) => ['-d', String(ms), name]), '-o', film]);
  rmSync(folder, { recursive: true });
  const { size } = await (await import('node:fs/promises')).stat(film);
  if (size > LARGEST) throw new Error(`${film} has ${size} bytes, at most ${LARGEST} wanted`);
  console.log(`        ${frames.length} frames, ${size} bytes`);
  await close(page);
});

await finish();
