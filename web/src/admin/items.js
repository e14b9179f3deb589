// The items: the list with where each sale is, and one item with what an operator may do during a sale.
import { yuan } from '../core.js';
import { el, put } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { command, itemStatus } from './call.js';
import { confirm } from './confirm.js';
import { beginFile } from './file.js';
import { checks, form } from './form.js';
import { allItems, exportText, exported, fullTitle, oneItem } from './itemlist.js';
import { placeOf } from './place.js';
import { listing } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  items_title: ['秒杀商品', 'Items'],
  items_find: ['编号或名称', 'Id or title'],
  items_caption: ['秒杀商品，按编号', 'Items, by id'],
  items_unreadable: ['读不出来的商品：{n}', 'Items that cannot be read: {n}'],
  items_id: ['编号', 'Id'],
  items_name: ['名称', 'Title'],
  items_state: ['状态', 'State'],
  items_state_waiting: ['未开始', 'Waiting'],
  items_state_online: ['进行中', 'On sale'],
  items_state_stopped: ['已停止', 'Stopped'],
  items_state_ended: ['已结束', 'Ended'],
  items_state_none: ['不知道', 'not known'],
  items_price: ['秒杀价', 'Sale price'],
  items_was: ['原价', 'Price'],
  items_start: ['开始', 'Start'],
  items_end: ['结束', 'End'],
  items_stock: ['总件数', 'Units'],
  items_left: ['剩余', 'Left'],
  items_limit: ['每人限购', 'Limit'],
  items_checks: ['购买验证', 'Checks'],
  items_checks_off: ['无', 'off'],
  items_import: ['导入文件', 'Import a file'],
  items_download: ['下载为 JSON', 'Download as JSON'],
  items_download_note: ['编辑下载的文件含问题的答案，请保密。', 'An editor’s file has the answers to questions: keep it as a secret.'],
  items_orders: ['它的订单', 'Its orders'],

  item_title: ['秒杀商品详情', 'Item'],
  item_copy: ['复制为新商品', 'Copy to a new item'],
  item_none: ['没有这件秒杀商品。', 'There is no such item.'],
  item_variant: ['款式', 'Variant'],
  item_variant_text: ['{options}（款式组 {family}）', '{options}, of family {family}'],
  item_limit_spans: ['{n}（各款合计）', '{n}, all variants together'],
  item_counts: ['到目前为止', 'So far'],
  item_counts_text: ['下单 {placed} 件，付款 {paid} 件，回补 {given_back} 件。', 'Units placed: {placed}; paid: {paid}; given back: {given_back}.'],
  item_stop: ['停止销售', 'Stop the sale'],
  item_stop_happens: ['完成后不再有新的预占；最多再过 2 秒，不再落单。', 'Once this reports success, no unit is reserved any more, and none is placed later than 2 seconds after that.'],
  item_stop_orders: ['已有订单仍可付款。停止后可以恢复。', 'Existing orders can still be paid. You can resume the sale.'],
  item_stopped_now: ['已停止销售。', 'The sale is stopped.'],
  item_resume: ['恢复销售', 'Resume the sale'],
  item_resume_happens: ['在开始和结束时间之内，用剩下的件数继续卖。', 'It goes on within its start and end, with the units that are left.'],
  item_resumed: ['已恢复销售。', 'The sale is resumed.'],
  item_add: ['增加库存', 'Add stock'],
  item_add_total: ['总件数改为', 'Units in total'],
  item_add_hint: ['现在共 {n} 件，只能增加。', 'It has {n} now. Stock only grows.'],
  item_add_happens: ['总件数从 {from} 变为 {to}，多出的 {more} 件立即可以抢购。', 'It has {to} units instead of {from}: {more} more can be bought at once.'],
  item_add_stopped: ['总件数从 {from} 变为 {to}。销售已停止，多出的 {more} 件恢复销售后才可以抢购。', 'It has {to} units instead of {from}. The sale is stopped: the {more} more can be bought once it is resumed.'],
  item_add_final: ['增加后不能减少。', 'Stock cannot be taken away again.'],
  item_added: ['现在共 {n} 件。', 'It has {n} units now.'],
  item_same: ['没有需要改动的。', 'There was nothing to change.'],
});

const PAGE = 25;
export const MAX_STOCK = 1_000_000; // units, as the shop has it
const STATUS_LAG = 3_000; // ms that what everybody sees of an item may lag behind a command

const told = new Map(); // what a command said about an item, {state, left, at}, for as long as that

/** Where an item's sale is. */
async function statusOf(id, now) {
  const got = told.get(id);
  return got && now < got.at + STATUS_LAG ? got : itemStatus(id);
}

const statePill = (status) => el('span', { class: `pill ${{ online: 'good', stopped: 'bad', waiting: 'wait' }[status?.state] || ''}` }, status ? tOr(`items_state_${status.state}`, status.state) : t('items_state_none'));
const limitOf = (it) => (it.limit_spans ? t('item_limit_spans', { n: it.limit }) : String(it.limit));
const checksText = (it) => (!it.checks || it.checks === 'off' ? t('items_checks_off') : it.checks);

const columns = () => [
  { name: 'id', title: t('items_id'), cell: (it) => el('a', { href: placeOf('item', it.id) }, it.id) },
  { name: 'name', title: t('items_name'), long: true, cell: fullTitle, by: fullTitle },
  { name: 'state', title: t('items_state'), cell: (it) => statePill(it.status), by: (it) => it.status?.state || '' },
  { name: 'price', title: t('items_price'), figure: true, minor: true, cell: (it) => `¥${yuan(it.sk_price)}`, by: (it) => Number(it.sk_price) },
  { name: 'stock', title: t('items_stock'), figure: true, cell: (it) => String(it.stock), by: (it) => it.stock },
  { name: 'left', title: t('items_left'), figure: true, cell: (it) => (it.status ? String(it.status.left) : '–'), by: (it) => it.status?.left ?? -1 },
  { name: 'limit', title: t('items_limit'), figure: true, minor: true, cell: limitOf },
  { name: 'start', title: t('items_start'), cell: (it) => when(it.start_time), by: (it) => Date.parse(it.start_time) },
  { name: 'end', title: t('items_end'), minor: true, cell: (it) => when(it.end_time), by: (it) => Date.parse(it.end_time) },
];

export const items = {
  name: 'items',
  title: 'items_title',
  needs: ['items'],
  menu: true,
  async show(page) {
    const find = page.query.get('find') || '';
    const got = await allItems();
    if (page.signal.aborted) return;
    const wanted = got.items.filter((it) => it.id === find || it.title.toLowerCase().includes(find.toLowerCase()));
    const from = Math.max(0, wanted.findIndex((it) => it.id === page.query.get('after')) + 1);
    const rows = wanted.slice(from, from + PAGE);
    const statuses = await Promise.all(rows.map((it) => statusOf(it.id, page.now())));
    if (page.signal.aborted) return;
    const filter = form({ name: 'items-find', filter: true, submit: t('show_these'), fields: [{ name: 'find', label: t('items_find'), value: find }], send: async (v) => page.go({ ...v, after: '' }) });
    const next = wanted.length > from + PAGE ? rows.at(-1).id : '';
    put(
      page.node,
      el('section', { class: 'panel' }, filter, el('div', { class: 'row-actions' }, page.may('import') && [el('a', { class: 'button', href: placeOf('edit'), id: 'item-new' }, t('edit_new')), el('a', { class: 'button plain', href: placeOf('import'), id: 'to-import' }, t('items_import'))], el('button', { class: 'button plain', type: 'button', id: 'items-download', onclick: download }, t('items_download'))), el('small', { class: 'soft' }, t('items_download_note'))),
      got.unreadable.length > 0 && el('div', { class: 'notification', role: 'alert' }, el('p', {}, t('items_unreadable', { n: got.unreadable.length })), el('ul', { class: 'faults code' }, got.unreadable.slice(0, 20).map((row) => el('li', {}, row)))),
      listing(page, { caption: t('items_caption'), columns: columns(), rows: rows.map((it, i) => ({ ...it, status: statuses[i] })), next }),
    );
  },
};

async function download() {
  const { items: all } = await exported();
  const file = await beginFile();
  await file.write(exportText(all));
  await file.done('items.json');
}

export const item = {
  name: 'item',
  title: 'item_title',
  parent: 'items',
  needs: ['item'],
  menu: false,
  async show(page) {
    const [it, status, counts] = await Promise.all([oneItem(page.id), statusOf(page.id, page.now()), page.may('counts') ? command('counts', { item: page.id }).catch(() => null) : null]);
    if (page.signal.aborted) return;
    if (!it) return void put(page.node, el('p', { class: 'panel' }, t('item_none')));
    const fact = (name, value) => [el('dt', {}, t(name)), el('dd', {}, value)];
    put(
      page.node,
      el(
        'section',
        { class: 'panel' },
        el('h2', {}, `${it.id} · ${it.title}`),
        el(
          'dl',
          { class: 'facts' },
          fact('items_state', statePill(status)),
          fact('items_stock', String(it.stock)),
          fact('items_left', status ? String(status.left) : '–'),
          fact('items_price', `¥${yuan(it.sk_price)}`),
          fact('items_was', `¥${yuan(it.price)}`),
          fact('items_limit', limitOf(it)),
          it.family && fact('item_variant', t('item_variant_text', it)),
          fact('items_start', when(it.start_time, true)),
          fact('items_end', when(it.end_time, true)),
          fact('items_checks', checksText(it)),
          counts && fact('item_counts', t('item_counts_text', counts.total)),
        ),
        el('div', { class: 'row-actions' }, page.may('import') && el('a', { class: 'button small', href: placeOf('edit', it.id), id: 'item-edit' }, t('edit_title')), page.may('import') && el('a', { class: 'button plain small', href: placeOf('edit', '', { like: it.id }), id: 'item-copy' }, t('item_copy')), page.may('orders') && el('a', { class: 'button plain small', href: placeOf('orders', '', { item: it.id }) }, t('items_orders'))),
      ),
      page.may('stop') && switchPart(page, status?.state === 'stopped'),
      page.may('add-stock') && stockPart(page, it, status?.state),
    );
  },
};

function switchPart(page, stopped) {
  const verb = stopped ? 'resume' : 'stop';
  const title = t(`item_${verb}`);
  const happens = stopped ? [t('item_resume_happens')] : [t('item_stop_happens'), t('item_stop_orders')];
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, title),
    happens.map((p) => el('p', { class: 'soft' }, p)),
    form({
      name: 'item-switch',
      danger: !stopped,
      submit: title,
      fields: [],
      sure: () => confirm({ title: `${title}: ${page.id}`, happens, yes: title, word: page.id }),
      async send() {
        const done = await command(verb, { item: page.id });
        told.set(page.id, { ...done, at: page.now() });
        page.said(t(done.changed ? (stopped ? 'item_resumed' : 'item_stopped_now') : 'item_same'));
        page.again();
      },
    }),
  );
}

/** The text of what becomes of units that are added, by the state of the item's sale. */
export const addHappens = (state) => (state === 'stopped' ? 'item_add_stopped' : 'item_add_happens');

const stockPart = (page, it, state) =>
  el(
    'section',
    { class: 'panel' },
    el('h2', {}, t('item_add')),
    form({
      name: 'add-stock',
      about: page.id,
      submit: t('item_add'),
      fields: [{ name: 'stock', label: t('item_add_total'), hint: t('item_add_hint', { n: it.stock }), required: true, check: checks.whole(it.stock + 1, MAX_STOCK), input: { inputmode: 'numeric' } }],
      sure: ({ stock }) => confirm({ title: `${t('item_add')}: ${page.id}`, happens: [t(addHappens(state), { from: it.stock, to: stock, more: stock - it.stock }), t('item_add_final')], yes: t('item_add'), word: page.id }),
      async send({ stock }) {
        const done = await command('add-stock', { item: page.id, stock: Number(stock) });
        told.set(page.id, { ...done, at: page.now() });
        page.said(t(done.changed ? 'item_added' : 'item_same', { n: done.stock }));
        page.again();
      },
    }),
  );
