// The pictures of docs/OPERATE.md's sale day: node day.mjs BASE OUT. It needs a fresh `seckill run --refund-alone-yuan
// 100`, and gives the page's commands, shortened; TestSaleDay follows them to the letter.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXPECTED, advance, ask, browser, check, close, finish, out, seckill, until } from './harness.mjs';
import { signedIn } from './office.mjs';

const LARGEST = 60_000; // bytes of a picture
const folder = mkdtempSync(join(tmpdir(), 'day-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
EXPECTED.push(/status of 401/); // before the link
const written = (name, text) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

async function shot(page, name) {
  const cdp = await page.context().newCDPSession(page);
  const { width, height } = page.viewportSize();
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 70, clip: { x: 0, y: 0, width, height, scale: 0.6 } });
  const picture = Buffer.from(data, 'base64');
  if (picture.length > LARGEST) throw new Error(`${name}.webp has ${picture.length} bytes, at most ${LARGEST} wanted`);
  writeFileSync(join(out, `${name}.webp`), picture);
}

async function screen(place, name, ready) {
  const page = await signedIn({ size: 'desktop', lang: 'en' }, `#/${place}`);
  await ready?.(page);
  await shot(page, name);
  await close(page);
}

await check('the sale day, in pictures', async () => {
  const { now_ms: now } = await ask('seckill/time');
  const at = (hours) => new Date(now + hours * 3_600_000).toISOString().replace(/\.\d+Z/, 'Z');
  const [opens, ends] = [at(1), at(3)];
  await seckill('items', 'import', written('night.csv', `id,title,price,sk_price,start_time,end_time,stock,limit,checks
3001,Headphones,899,199,${opens},${ends},20,1,off
3002,Keyboard,499,99,${opens},${ends},10,1,standard
`));
  await seckill('activities', 'save', written('night.json', JSON.stringify({ id: '7001', title: 'One night', items: ['3001', '3002'], start_time: opens, end_time: ends })));
  await screen('items', 'day-items');
  await advance(Math.ceil((Date.parse(opens) - (await ask('seckill/time')).now_ms) / 1000));
  await seckill('load', '--item', '3001', '--shoppers', '300', '--seed', '1');
  await screen('live/3001', 'day-live', (page) => page.locator('#curve-counts canvas').waitFor());
  await screen('orders?item=3001&state=paid', 'day-orders');
  const [order] = (await seckill('orders', 'export', '--item', '3001', '--state', 'paid', '--csv', '-')).split('\n')[1].split(',');
  await seckill('refund', order, '--why', 'ordered by mistake', '--who', 'ann');
  await screen('money', 'day-second', (page) => page.getByText('ordered by mistake').waitFor());
  await seckill('refund', order, '--why', 'she wrote to us', '--who', 'ben');
  await advance(120);
  await until(`order ${order}`, async () => JSON.parse(await seckill('orders', 'show', order, '--json')).state, 'refunded');
  await advance(129_600);
  const day = new Date(Date.parse(opens) + 8 * 3_600_000).toISOString().slice(0, 10);
  await seckill('reconcile', '--date', day);
  await screen(`bills?day=${day}`, 'day-bill');
  const html = join(folder, 'night.html');
  await seckill('report', 'make', '--item', '3001,3002', '--out', join(folder, 'night.jsonl'), '--html', html);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' })).newPage();
  await page.goto(pathToFileURL(html).href);
  await shot(page, 'day-report');
  await close(page);
});

await finish();
