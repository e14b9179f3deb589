// Items and activities in the back office, by keyboard on a Chinese phone and by mouse on an English computer: an item is
// made and edited, an activity goes from empty to online, offline, deleted and copied, and two editors meet at both.
// SECKILL=BIN node activities.mjs BASE OUT; it needs a fresh `seckill run`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPECTED, ask, axe, base, check, close, finish, fits, has, open, picture, same, seckill, tabTo, until } from './harness.mjs';
import { confirm, go, main, press, said, signedIn, type } from './office.mjs';

const folder = mkdtempSync(join(tmpdir(), 'activities-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
EXPECTED.push(/status of 401/, /status of 422/, /status of 404/, /status of 400/);

const TEXTS = {
  zh: { amount: '请填写金额', empty: '请填写', exists: '已经有了', removed: '已去掉', saved: '已保存', after: '应晚于开始', unknown: '没有编号为', moved: '排第 1', online: '进行中', offline: '已下线', madeFrom: '在后台网页', theirs: '现在存的是', conflict: '别人存了第', onSale: '不能移出', fixed: '已装载待售', grows: '只能增加', went: '已下线，', back: '已上线', copied: '已复制，共 2 件', there: '以前已复制', gone: '场次已删除', undone: '场次已恢复', deleted: '已删除', typed: '还没保存', newItem: '新建商品', sure: '已过', https: '应为以 https 开头的地址', kind: '既不是 JPEG', shrinks: '库存只能增加', outside: (id) => `商品 ${id} 从`, selling: '正在卖：' },
  en: { amount: 'give an amount', empty: 'Please fill this in', exists: 'already', removed: 'must not have', saved: 'Saved', after: 'after the start', unknown: 'There is no item', moved: 'number 1', online: 'Online', offline: 'Offline', madeFrom: 'in the back office', theirs: 'Stored now', conflict: 'somebody saved version', onSale: 'an item that is on sale stays', fixed: 'Fixed since', grows: 'never shrinks', went: 'Done: Take offline', back: 'Done: Put online', copied: 'Copied, with 2 items', there: 'before', gone: 'The activity is deleted', undone: 'The activity is back', deleted: 'Deleted', typed: 'did not save', newItem: 'New item', sure: 'is over', https: 'want an https:// address', kind: 'neither a JPEG nor a PNG', shrinks: 'stock only grows', outside: (id) => `item ${id} sells from`, selling: 'on sale now: ' },
};
const PLACES = [
  { lang: 'zh', size: 'phone', keyboard: true, item: '8101', other: '8102', id: '71' },
  { lang: 'en', size: 'desktop', keyboard: false, item: '8201', other: '8202', id: '72' },
];

const HOUR = 3_600_000; // ms
const WEEK = 7 * 24 * HOUR;
const began = Math.floor(Date.now() / 1000) * 1000;
const at = (hours) => new Date(began + hours * HOUR).toISOString();
const field = (hours) => new Date(began + (hours + 8) * HOUR).toISOString().slice(0, 19); // the page's zone is UTC+8

const fault = (page, name, text) => page.locator(`#${name}-fault`).filter({ hasText: text }).waitFor();
const command = async (page, args) => {
  const answer = await page.context().request.post(new URL('admin/commands', base).href, { data: { operator: args }, headers: { 'X-Seckill-Staff': '1' } });
  return (await answer.json()).result;
};
const hint = (page, name, text) => page.locator(`#${name}-hint`).filter({ hasText: text }).waitFor();

for (const place of PLACES) {
  const words = TEXTS[place.lang];
  const on = `${place.size}, ${place.lang}`;

  await check(`${on}: an item is made: what is wrong stands beside the field, and what a description must not have is named`, async () => {
    const page = await signedIn(place, '#/items');
    await press(place, page, '#item-new');
    await page.locator('#item-edit-id').waitFor();
    same(await page.locator('h1').innerText(), words.newItem, 'heading');
    await fits(page, `new item, ${on}`);
    same(/^[1-9]\d{3,}$/.test(await page.locator('#item-edit-id').inputValue()), true, 'an id is proposed');
    await page.locator('#item-edit-id').fill('');
    await press(place, page, '#item-edit-send');
    await fault(page, 'item-edit-id', words.empty);
    same(await page.evaluate(() => document.activeElement.id), 'item-edit-id', 'focus');
    await type(place, page, '#item-edit-id', '2002');
    await type(place, page, '#item-edit-title', '红茶');
    await type(place, page, '#item-edit-sk_price', '19.999');
    await type(place, page, '#item-edit-price', '199');
    await page.locator('#item-edit-start_time').fill(field(-1));
    await page.locator('#item-edit-end_time').fill(field(-2));
    await type(place, page, '#item-edit-stock', '30');
    await type(place, page, '#item-edit-limit', '2');
    await type(place, page, '#item-edit-covers', 'tea.jpg');
    await type(place, page, '#item-edit-detail', '<p onclick="x()">红</p><script>1</script>');
    await press(place, page, '#item-edit-send');
    await fault(page, 'item-edit-sk_price', words.amount);
    await fault(page, 'item-edit-end_time', words.after);
    await axe(page, `faults of an item, ${on}`);
    await page.reload();
    same(await page.locator('#item-edit-title').inputValue(), '红茶', 'what was typed, after a reload');
    await type(place, page, '#item-edit-sk_price', '19.90');
    await page.locator('#item-edit-end_time').fill(field(24));
    await press(place, page, '#item-edit-send');
    await page.locator('dialog').filter({ hasText: words.sure }).waitFor(); // it is on sale at once
    await confirm(place, page);
    await fault(page, 'item-edit-id', words.exists);
    await type(place, page, '#item-edit-id', place.item);
    await press(place, page, '#item-edit-send');
    await confirm(place, page);
    await fault(page, 'item-edit-covers', words.https); // the shop said so
    await type(place, page, '#item-edit-covers', '/pictures/tea.svg');
    await press(place, page, '#item-edit-send');
    await confirm(place, page);
    await said(page, words.removed);
    has(await page.locator('.said').innerText(), ['onclick of <p>', '<script>']);
    same(new URL(page.url()).hash, `#/edit/${place.item}`, 'address');
    same(await page.locator('#item-edit-detail').inputValue(), '<p>红</p>', 'description');
    await until('item', () => ask(`seckill/detail/${place.item}`).then((d) => d.state, () => ''), 'online');
    const file = join(folder, `${place.other}.json`);
    writeFileSync(file, JSON.stringify([{ id: place.other, title: '绿茶', price: 99, sk_price: 9.9, start_time: at(5), end_time: at(23), stock: 20, limit: 1 }]));
    await seckill('items', 'import', file);
    await close(page);
  });

  await check(`${on}: a picture is checked by its content, encoded anew, shown, and part of the item once it is saved`, async () => {
    const page = await signedIn(place, `#/edit/${place.item}`);
    const choose = (name, mimeType, buffer) => page.locator('#item-picture-data').setInputFiles({ name, mimeType, buffer });
    await choose('tea.jpg', 'image/jpeg', Buffer.from('GIF89a not a picture'));
    await press(place, page, '#item-picture-send');
    await fault(page, 'item-picture-data', words.kind); // the shop said so
    await choose('tea.jpg', 'image/jpeg', Buffer.alloc(3_670_017));
    await press(place, page, '#item-picture-send');
    await fault(page, 'item-picture-data', '3.5 MiB');
    await fits(page, `picture that is refused, ${on}`);
    await choose('tea.png', 'image/png', await page.locator('#who').screenshot());
    await press(place, page, '#item-picture-send');
    await page.locator('#item-uploaded').filter({ hasText: 'KiB' }).waitFor();
    const [, path] = (await page.locator('#item-edit-covers').inputValue()).split('\n');
    const shown = page.locator('.previews img').nth(1);
    await until('preview', () => shown.evaluate((node) => node.naturalWidth > 1), true);
    same(await shown.getAttribute('alt'), place.lang === 'zh' ? '红茶 图 2' : '红茶, picture 2', 'text for who does not see it');
    await axe(page, `picture that is uploaded, ${on}`);
    await press(place, page, '#item-edit-send');
    await said(page, words.saved);
    const got = await page.context().request.get(new URL(path, base).href);
    same(`${got.status()} ${got.headers()['content-type']} ${got.headers()['cache-control']}`, '200 image/png public, max-age=31536000, immutable', 'picture');
    same((await ask(`seckill/detail/${place.item}`)).commodity.covers[1], path, 'what shoppers see');
    await close(page);
  });

  await check(`${on}: an item on sale: what may change is said, the rest is fixed; the second of two editors sees both`, async () => {
    const page = await signedIn(place, `#/item/${place.item}`);
    await press(place, page, '#item-edit');
    await hint(page, 'item-edit-sk_price', words.fixed);
    await hint(page, 'item-edit-stock', words.grows);
    same(await page.locator('#item-edit-sk_price').evaluate((node) => node.readOnly), true, 'the price is fixed');
    await fits(page, `item on sale, ${on}`);
    await type(place, page, '#item-edit-stock', '20');
    await type(place, page, '#item-edit-title', '祁门红茶');
    await press(place, page, '#item-edit-send');
    await fault(page, 'item-edit-stock', words.shrinks);
    await type(place, page, '#item-edit-stock', '40');
    const { item } = await command(page, { command: 'item', item: place.item });
    await command(page, { command: 'import', items: [{ ...item, title: '滇红', detail: '<p>新</p>' }] });
    await press(place, page, '#item-edit-send');
    await fault(page, 'item-edit-title', words.theirs);
    await fault(page, 'item-edit-title', '滇红');
    await fault(page, 'item-edit-detail', '<p>新</p>');
    await page.locator('#item-edit .form-end .fault').filter({ hasText: words.conflict }).waitFor();
    await fits(page, `two editors of an item, ${on}`);
    if (place.lang === 'zh') await picture(page, 'office-conflict');
    await press(place, page, '#item-edit-detail-take');
    same(await page.locator('#item-edit-detail').inputValue(), '<p>新</p>', 'description that was taken');
    await page.reload(); // and still it knows that the other save was seen
    await page.locator('.notification').filter({ hasText: words.typed }).waitFor();
    await press(place, page, '#item-edit-send');
    await said(page, words.saved);
    const now = (await command(page, { command: 'item', item: place.item })).item;
    same(`${now.title} ${now.stock} ${now.detail} ${now.version}`, '祁门红茶 40 <p>新</p> 4', 'item');
    await type(place, page, '#item-edit-title', '别的');
    await page.reload();
    await press(place, page, '#item-edit-drop');
    await page.locator('#item-edit-drop').waitFor({ state: 'detached' });
    same(await page.locator('#item-edit-title').inputValue(), '祁门红茶', 'title after it was dropped');
    await close(page);
  });

  await check(`${on}: an activity from empty to online: its items in order, what is wrong beside the field`, async () => {
    const page = await signedIn(place, '#/activities');
    await fits(page, `activities, ${on}`);
    await press(place, page, '#activity-new');
    await page.locator('#activity-edit-id').waitFor();
    await type(place, page, '#activity-edit-id', place.id);
    await type(place, page, '#activity-edit-title', `早场 ${place.id}`);
    await page.locator('#activity-edit-start_time').fill(field(-1));
    await page.locator('#activity-edit-end_time').fill(field(6));
    const add = async (id) => {
      await type(place, page, '#activity-edit-items', id);
      if (place.keyboard) await page.keyboard.press('Enter');
      else await page.locator('#activity-edit-items-add').click();
    };
    await add('999');
    await page.locator('.members-field .fault').filter({ hasText: words.unknown }).waitFor();
    await add(place.item);
    await add(place.other);
    await press(place, page, `#activity-edit-items-up-${place.other}`);
    same((await page.locator('.members li').allInnerTexts()).map((text) => text.slice(0, 4)).join(), `${place.other},${place.item}`, 'order');
    has(await page.locator('#live').innerText(), [words.moved]);
    await fits(page, `new activity, ${on}`);
    await press(place, page, '#activity-edit-send');
    await fault(page, 'activity-edit-items', words.outside(place.item)); // the shop said so
    await axe(page, `faults of an activity, ${on}`);
    await page.locator('#activity-edit-end_time').fill(field(24));
    await press(place, page, '#activity-edit-send');
    await said(page, words.saved);
    await page.locator('.members-field').waitFor();
    has(await main(page), [words.online, 'local', words.madeFrom, '祁门红茶', '绿茶']);
    await fits(page, `activity, ${on}`);
    await until('title over the item', async () => JSON.stringify((await ask('seckill/ing?page=1&size=50')).seckills).includes(`早场 ${place.id}`), true);
    const shop = await open(place);
    const head = shop.locator('.live .activity').filter({ hasText: `早场 ${place.id}` });
    await head.waitFor();
    same(await shop.locator('.activity + [data-item]').count(), await shop.locator('.activity').count(), 'headings with an item below');
    same(await head.locator('.timing').isVisible(), true, 'countdown of an activity whose items end at once');
    await fits(shop, `an activity in the list of sales, ${on}`);
    await axe(shop, `an activity in the list of sales, ${on}`);
    await close(shop);
    await go(page, place, '#/activity');
    for (const [name, value] of [['id', place.id], ['title', 'x']]) await type(place, page, `#activity-edit-${name}`, value);
    await page.locator('#activity-edit-start_time').fill(field(1));
    await page.locator('#activity-edit-end_time').fill(field(2));
    await press(place, page, '#activity-edit-send');
    await fault(page, 'activity-edit-id', words.exists);
    await close(page);
  });

  await check(`${on}: the second of two editors of an activity sees both values; what runs stays`, async () => {
    const page = await signedIn(place, `#/activity/${place.id}`);
    const other = await signedIn(place, `#/activity/${place.id}`);
    await type(place, other, '#activity-edit-title', '晚场');
    await press(place, other, '#activity-edit-send');
    await said(other, words.saved);
    await close(other);
    await type(place, page, '#activity-edit-title', '午场');
    await press(place, page, `#activity-edit-items-out-${place.other}`);
    await press(place, page, '#activity-edit-send');
    await fault(page, 'activity-edit-title', '晚场');
    await fault(page, 'activity-edit-title', '午场');
    await fault(page, 'activity-edit-items', `${place.other}, ${place.item}`);
    await fits(page, `two editors of an activity, ${on}`);
    await press(place, page, '#activity-edit-items-take');
    await press(place, page, '#activity-edit-send');
    await said(page, words.saved);
    const now = await command(page, { command: 'activity', activity: place.id });
    same(`${now.title} ${now.items} ${now.version}`, `午场 ${place.other},${place.item} 3`, 'activity');
    await hint(page, 'activity-edit-items', words.onSale);
    await press(place, page, `#activity-edit-items-out-${place.item}`);
    await press(place, page, '#activity-edit-send');
    await fault(page, 'activity-edit-items', `${words.selling}${place.item}`);
    await press(place, page, '#activity-delete-send');
    await confirm(place, page);
    await page.locator('#activity-delete .form-end .fault').filter({ hasText: words.selling }).waitFor();
    await close(page);
  });

  await check(`${on}: offline, online, copied to next week, the copy deleted and brought back`, async () => {
    const page = await signedIn(place, `#/activity/${place.id}`);
    await press(place, page, '#activity-switch-send');
    await axe(page, `question of an activity, ${on}`);
    await confirm(place, page, place.id);
    await said(page, words.went);
    has(await main(page), [words.offline]);
    await until('item', () => ask(`seckill/detail/${place.item}`).then((d) => d.state), 'stopped');
    await press(place, page, '#activity-switch-send');
    await confirm(place, page, place.id);
    await said(page, words.back);
    await until('item', () => ask(`seckill/detail/${place.item}`).then((d) => d.state), 'online');
    same(Date.parse(await page.locator('#activity-copy-start').inputValue()), Date.parse(field(-1 + WEEK / HOUR)), 'start of a copy'); // it may leave out :00
    await press(place, page, '#activity-copy-send');
    await said(page, words.copied);
    const copy = new URL(page.url()).hash.split('/')[2];
    const now = await command(page, { command: 'activity', activity: copy });
    same(`${now.title} ${now.start_time} ${now.items.length} ${now.made_from}`, `午场 ${at(-1 + WEEK / HOUR).replace('.000', '')} 2 page`, 'copy');
    await go(page, place, `#/activity/${place.id}`);
    await press(place, page, '#activity-copy-send');
    await said(page, words.there);
    await press(place, page, '#activity-delete-send');
    await confirm(place, page);
    await said(page, words.gone);
    await fits(page, `deleted activity, ${on}`);
    await go(page, place, `#/activity/${place.id}`);
    await press(place, page, '#activity-copy-send');
    await fault(page, 'activity-copy-start', copy);
    await go(page, place, '#/activities');
    same(await page.locator('tbody a', { hasText: copy }).count(), 0, 'deleted ones in the list');
    if (place.keyboard) {
      await tabTo(page, page.locator('#activities-filter-all'));
      await page.keyboard.press('Space');
    } else await page.locator('#activities-filter-all').check();
    await press(place, page, '#activities-filter-send');
    await page.locator('.pill').filter({ hasText: words.deleted }).first().waitFor();
    await press(place, page, page.locator('tbody a', { hasText: copy }));
    await press(place, page, '#activity-delete-send');
    await confirm(place, page);
    await said(page, words.undone);
    await press(place, page, page.locator('td a').first());
    await press(place, page, '#item-edit');
    await hint(page, 'item-edit-sk_price', /./);
    same(await page.locator('#item-edit-sk_price').evaluate((node) => node.readOnly), false, 'the price of a copy is free');
    await close(page);
  });

  await check(`${on}: who may only look has no forms`, async () => {
    const page = await signedIn(place);
    await page.route('**/admin/session', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), may: ['activities', 'activity', 'items', 'item'] } });
    });
    await go(page, place, `#/activity/${place.id}`);
    same(await page.locator('form, #activity-new, #item-edit').count(), 0, 'forms');
    has(await main(page), ['午场', '祁门红茶']);
    await fits(page, `activity for a viewer, ${on}`);
    await close(page);
  });
}

await finish();
