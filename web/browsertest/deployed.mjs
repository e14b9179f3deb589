// A shopper's way through a deployed stack's own page, with no other server: node deployed.mjs BASE OUT, where BASE ends
// with a slash. SHOPPER is {"name","user","token"}, ITEM the id of an item on sale of which the shopper may buy one.
import { card, check, close, finish, has, open, payAt, picture, same, says, startPurchase } from './harness.mjs';

const shopper = JSON.parse(process.env.SHOPPER);
const item = { id: process.env.ITEM };

await check('the stack’s address is a shop: list, purchase, cashier, paid', async () => {
  const page = await open({ size: 'phone', lang: 'zh', shopper });
  const asked = [];
  page.on('request', (r) => r.url().startsWith('data:') || asked.push(r.url()));
  await page.reload();
  await card(page, item.id).waitFor();
  const cards = asked.filter((url) => !/pictures\//.test(url)).length;
  if (cards > 8) throw new Error(`${cards} requests: ${asked.join(' ')}`);
  same(asked.some((url) => url.includes('_local')), false, 'asks for what only a local run has');
  await startPurchase(page, item);
  await page.locator('dialog button[type=submit]').click();
  await says(page, '请在');
  await picture(page, 'deployed');
  await payAt(page, '去付款', '支付成功');
  await says(page, '支付成功');
  await close(page);
});

await check('files of the page are kept for a year, and pages for no longer than a second', async () => {
  const page = await open({ size: 'desktop', lang: 'en', shopper, path: `#/item/${item.id}` });
  const kept = new Map();
  page.on('response', (r) => kept.set(r.url(), r.headers()['cache-control'] || ''));
  await page.reload();
  await card(page, item.id).waitFor();
  for (const [url, cache] of kept) if (url.includes('/assets/')) has(cache, ['immutable', 'max-age=31536000']);
  same([...kept.keys()].filter((url) => url.includes('/assets/')).length, 2, 'files');
  await close(page);
});

await finish();
