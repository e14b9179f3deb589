// A product's variants: one card, its chooser, sold-out ones, a limit that spans them, and the order that keeps the choice.
// SECKILL=BIN node variants.mjs BASE OUT; it needs a fresh `seckill run --items variants.json`.
import { EXPECTED, ask, axe, base, card, check, close, finish, fits, has, mine, open, picture, same, says, seckill, startPurchase, stockOf, tabTo, toCashier, until } from './harness.mjs';
import { go, main, signedIn } from './office.mjs';

const { shoppers } = await ask('_local/shoppers');
const BLACK = { id: '7001' };
const LARGE = { id: '7002' };
const WHITE = { id: '7003' };
const radio = (page, name) => page.getByRole('radio', { name });
const chosen = (page, id) => card(page, id).waitFor();
const buyBy = (who, item, count) =>
  ask('seckill/buy', { method: 'POST', headers: { ...mine(who).headers, 'Content-Type': 'application/json' }, body: JSON.stringify({ seckill_id: item.id, count, address: 'x' }) });

await check('one card for a family, beside an item alone', async () => {
  const page = await open({ size: 'desktop', lang: 'zh', shopper: shoppers[0] });
  await card(page, BLACK.id).waitFor();
  same(await page.locator('.live .card').count(), 2, 'cards');
  same(await page.getByRole('radio').count(), 0, 'choices in a list');
  has(await card(page, BLACK.id).innerText(), ['各款合计每人限购 2 件', '2,999.00']);
  await card(page, BLACK.id).getByRole('button', { name: '选择款式' }).click();
  await page.getByRole('group', { name: '容量' }).waitFor();
  await until('sizes', () => page.getByRole('group', { name: '容量' }).getByRole('radio').count(), 2); // the family is being read
  await fits(page, 'variants');
  await picture(page, 'variants-zh');
  await close(page);
});

await check('by keyboard: arrows choose, the price, the stock and the page follow, and the focus stays', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: shoppers[0], path: '#/item/7001' });
  await radio(page, '128 GB').waitFor();
  await tabTo(page, radio(page, '128 GB'));
  await page.keyboard.press('ArrowRight');
  await chosen(page, LARGE.id);
  has(await card(page, LARGE.id).innerText(), ['3,499.00', '1 of 1 left']);
  same(await radio(page, '256 GB').evaluate((node) => node === document.activeElement), true, 'focus');
  await radio(page, '黑').focus();
  await page.keyboard.press('ArrowDown'); // there is no white one of 256 GB
  await chosen(page, WHITE.id);
  same(await radio(page, '128 GB').isChecked(), true, 'the size that there is');
  same(await card(page, WHITE.id).getByRole('status').innerText(), '白 · 256 GB is not offered. 白 · 128 GB is chosen instead.', 'what is read out');
  await page.waitForTimeout(4000); // a look at the lists
  same(await radio(page, '白').evaluate((node) => node === document.activeElement), true, 'focus after a look');
  same(new URL(page.url()).hash, '#/item/7003', 'the page of the chosen one');
  await close(page);
});

await check('the page of one variant offers the others', async () => {
  const page = await open({ size: 'desktop', lang: 'en', path: '#/item/7002' });
  await radio(page, '256 GB').waitFor();
  same(await radio(page, '256 GB').isChecked(), true, 'chosen');
  await radio(page, '白').check();
  await chosen(page, WHITE.id);
  same(new URL(page.url()).hash, '#/item/7003', 'address');
  has(await page.locator('.rich').innerText(), ['白，128 GB']);
  await fits(page, 'the page of a variant');
  await picture(page, 'variant-en');
  await close(page);
});

await check('a sold-out variant says so, and the other can be bought; the order keeps the choice', async () => {
  await buyBy(shoppers[1], LARGE, 1);
  await until('stock', () => stockOf(LARGE), 0);
  const page = await open({ size: 'phone', lang: 'en', shopper: shoppers[0], path: '#/item/7001' });
  await radio(page, '256 GB · Sold out').check();
  await page.getByRole('radio', { name: '黑', exact: true }).waitFor(); // there are others of it
  await radio(page, '白').check();
  await startPurchase(page, WHITE);
  has(await page.locator('dialog').innerText(), ['白 · 128 GB', 'all variants together']);
  await axe(page, 'the sheet of a variant');
  await page.locator('dialog button[type=submit]').click();
  await says(page, 'Pay within');
  has(await page.locator('dialog').innerText(), ['白 · 128 GB']);
  await toCashier(page, 'Pay now');
  has(await page.locator('#pay').innerText(), ['¥2,899.00']);
  await page.goto(new URL('?lang=en#/orders', base).href);
  await page.locator('.order').filter({ hasText: '白 · 128 GB' }).waitFor();
  await close(page);
});

await check('the limit counts the other variant: one more is offered, and then none', async () => {
  const page = await open({ size: 'phone', lang: 'en', shopper: shoppers[0], path: '#/item/7001' });
  await startPurchase(page, BLACK);
  same(await page.locator('#more-units').isDisabled(), true, 'two are too many');
  await page.locator('dialog button[type=submit]').click();
  await says(page, 'Pay within');
  await close(page);
  const again = await open({ size: 'phone', lang: 'en', shopper: shoppers[1], path: '#/item/7001' });
  await buyBy(shoppers[1], WHITE, 1);
  await until('stock', () => stockOf(WHITE), 3);
  await card(again, BLACK.id).locator('.button').click();
  await again.locator('dialog').getByText('Pay your order').or(again.locator('dialog').getByText('Pay within')).first().waitFor();
  same(await again.locator('dialog #more-units').count(), 0, 'a form');
  await close(again);
});

await check('what is over the limit is refused at once, and takes no unit', async () => {
  await until('stock', () => stockOf(BLACK), 4); // one is the first shopper's
  same(await buyBy(shoppers[1], BLACK, 1).catch((error) => error.message), 'seckill/buy: 409', 'the answer'); // the page would not
  same(await stockOf(BLACK), 4, 'stock');
});

await check('a blocked shopper reads so, and is offered no second try', async () => {
  await seckill('blocks', 'add', '--user', shoppers[3].user, '--reason', 'script');
  EXPECTED.push(/status of 403/);
  const page = await open({ size: 'phone', lang: 'zh', shopper: shoppers[3], path: '#/item/7001' });
  await radio(page, '白').check();
  await startPurchase(page, WHITE);
  await page.locator('dialog button[type=submit]').click();
  await page.locator('dialog').filter({ hasText: '您的账号暂时无法购买' }).waitFor();
  same(await page.getByRole('button', { name: '再抢一次' }).count(), 0, 'buttons to try again');
  await close(page);
});

await check('staff make an item a variant, and hear beside the field what does not fit; an order shows the choice', async () => {
  EXPECTED.push(/status of 4\d\d/);
  const { order_id: id } = await ask(`seckill/order/${WHITE.id}`, mine(shoppers[0]));
  const place = { size: 'desktop', lang: 'en' };
  const page = await signedIn(place, '#/edit/7201');
  const save = async (options) => {
    await page.locator('#item-edit-family').fill('720');
    await page.locator('#item-edit-options').fill(options);
    await page.locator('#item-edit-send').click();
  };
  await page.locator('#item-edit-family').waitFor();
  await fits(page, 'the form of a variant');
  await save('black');
  await page.locator('#item-edit-options-fault').filter({ hasText: 'name=value' }).waitFor();
  await save('颜色=红');
  await page.locator('#item-edit-options-fault').filter({ hasText: 'item 7202 of the family has the same' }).waitFor();
  await save('颜色=金');
  await page.locator('.said').waitFor();
  await go(page, place, '#/item/7201');
  await page.locator('.facts').filter({ hasText: '颜色=金, of family 720' }).waitFor();
  await picture(page, 'variant-office');
  await page.locator('#item-copy').click(); // the family's third begins with the values of this one
  await page.locator('#item-edit-id').fill('7203');
  await page.locator('#item-edit-options').fill('颜色=银');
  await page.locator('#item-edit-send').click();
  await page.locator('.said').waitFor();
  same(new URL(page.url()).hash, '#/edit/7203', 'the new item');
  await page.locator('h2', { hasText: await page.locator('#item-edit-title').inputValue() }).waitFor();
  same(await page.locator('#item-edit-family').inputValue(), '720', 'its family');
  await go(page, place, '#/item/7001');
  await page.locator('.facts').filter({ hasText: '2, all variants together' }).waitFor();
  await go(page, place, '#/edit/7001');
  await page.locator('#item-edit-options').waitFor();
  same(await page.locator('#item-edit-family').getAttribute('readonly'), '', 'a field that is fixed');
  same(await page.locator('#item-edit-limit_spans').isDisabled(), true, 'what the limit counts');
  await page.locator('#item-edit-limit_spans-hint').filter({ hasText: 'loaded for sale' }).waitFor();
  await page.locator('#item-edit-title').fill('云听 X 手机 5G');
  await page.locator('#item-edit-send').click();
  await page.locator('.said').waitFor();
  same((await ask('seckill/detail/7001')).variant.limit_spans, true, 'the variant after a save of the title');
  await go(page, place, `#/order/${id}`);
  await page.getByText('云听 X 手机 · 颜色=白 | 容量=128 GB').waitFor();
  await page.locator('.facts a', { hasText: WHITE.id }).waitFor();
  await go(page, place, '#/items');
  has(await main(page), ['云听 X 手机 · 颜色=白 | 容量=128 GB']);
  await close(page);
});

await check('the page of a stopped variant offers those still on sale', async () => {
  await seckill('items', 'stop', BLACK.id);
  await until('state', async () => (await ask(`seckill/status/${BLACK.id}`)).state, 'stopped');
  const page = await open({ size: 'phone', lang: 'en', path: `#/item/${BLACK.id}` });
  await page.getByRole('button', { name: 'Stopped' }).waitFor();
  same((await page.getByRole('group').first().innerText()).split('\n').filter((text) => /^[黑白]/.test(text)).join(), '黑,白', 'the order, as before the stop');
  await radio(page, '白').check();
  await chosen(page, WHITE.id);
  same(await page.getByRole('button', { name: 'Buy now' }).isEnabled(), true, 'to be bought');
  await fits(page, 'the page of a stopped variant');
  await close(page);
});

await finish();
