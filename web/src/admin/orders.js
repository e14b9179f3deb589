// The list of orders: of an item or of a user, by pages, and as a CSV file.
import { yuan } from '../core.js';
import { announce, el, put, setText } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { Problem, command, patiently, words } from './call.js';
import * as csv from './csv.js';
import { beginFile } from './file.js';
import { checks, form } from './form.js';
import { placeOf } from './place.js';
import { LISTED, look, older, status } from './states.js';
import { listing } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  orders_title: ['订单', 'Orders'],
  orders_start: ['请填写秒杀商品或买家的编号：订单按其中之一列出。', 'Give the id of an item or of a user: orders are listed by one of them.'],
  orders_one: ['商品编号和买家编号，请只填一个。', 'Give an item or a user, not both.'],
  orders_state: ['状态', 'State'],
  orders_any: ['全部', 'any'],
  orders_from: ['下单不早于', 'Placed since'],
  orders_to: ['下单早于', 'Placed before'],
  orders_asked: ['买家申请退款', 'refund asked for'],
  orders_all: ['包括已隐藏的', 'also hidden ones'],
  orders_of_item: ['商品 {item} 的订单。列表没有特定顺序', 'Orders of item {item}. The list is in no particular order'],
  orders_of_user: ['买家 {user} 的订单。新的在前', 'Orders of user {user}. Newest first'],
  orders_order: ['订单', 'Order'],
  orders_user: ['买家', 'User'],
  orders_item: ['商品', 'Item'],
  orders_count: ['件数', 'Units'],
  orders_amount: ['金额', 'Amount'],
  orders_created: ['下单', 'Placed'],
  orders_changed: ['最近变化', 'Changed'],
  orders_parcel: ['包裹', 'Parcel'],
  orders_refund: ['退款申请', 'Refund asked'],
  orders_hidden: ['已隐藏', 'hidden'],
  orders_open: ['打开订单', 'Open the order'],
  orders_number: ['订单号以 o 开头，只有小写字母和数字 2 至 7。', 'An order’s number begins with o, and has small letters and the digits 2 to 7.'],
  orders_export: ['导出为 CSV', 'Export as CSV'],
  orders_export_text: ['导出筛选出的全部订单，不含地址。', 'All orders that the filter chooses. No addresses.'],
  orders_export_on: ['继续导出', 'Go on with the export'],
  orders_export_broken: ['已导出 {n} 笔后中断，已导出的还在。{why}', 'It broke off after {n} orders, which are kept. {why}'],
  orders_exporting: ['已导出 {n} 笔…', '{n} orders so far…'],
  orders_exported: ['已导出 {n} 笔订单。', 'Exported {n} orders.'],
  orders_endless: ['列表没有尽头，已停止。请告诉开发人员。', 'The list does not end, so this stopped. Tell the developers.'],
});

const PAGE = 50;
export const ORDER = /^o[a-z2-7]{26,40}$/; // the shop looks closer
const EXPORT_PAGE = 500; // the largest that the shop gives

/** datetime-local in the person's zone, from and to the address's time in UTC. */
const localTime = (text) => {
  const ms = Date.parse(text || '');
  return ms ? new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : '';
};
const utcTime = (text) => (text ? new Date(text).toISOString() : '');

/** The command's arguments for a query. */
export function wanted(query) {
  const get = (name) => query.get(name) || undefined;
  return { item: get('item'), user: get('user'), state: get('state'), from: get('from'), to: get('to'), asked: query.has('asked') || undefined, all: query.has('all') || undefined };
}

export const pill = (order) => el('span', { class: `pill ${look(order.state)}` }, tOr(`state_${order.state}`, order.state));
/** Its amount; the ledger has none of an order that was rejected. */
export const amountOf = (order) => (order.state === 'rejected' ? '–' : `¥${yuan(order.amount)}`);
export const orderLink = (id) => el('a', { class: 'code', href: placeOf('order', id) }, id);

const COLUMNS = () => [
  { name: 'order', title: t('orders_order'), cell: (o) => [orderLink(o.order_id), o.hidden && el('small', {}, ` · ${t('orders_hidden')}`)] },
  { name: 'state', title: t('orders_state'), cell: pill, by: (o) => LISTED.indexOf(o.state) },
  { name: 'item', title: t('orders_item'), minor: true, cell: (o) => o.item, by: (o) => o.item },
  { name: 'user', title: t('orders_user'), minor: true, cell: (o) => o.user, by: (o) => o.user },
  { name: 'count', title: t('orders_count'), figure: true, minor: true, cell: (o) => String(o.count), by: (o) => o.count },
  { name: 'amount', title: t('orders_amount'), figure: true, cell: amountOf, by: (o) => o.amount },
  { name: 'created', title: t('orders_created'), cell: (o) => when(o.create_time), by: (o) => Date.parse(o.create_time) },
  { name: 'changed', title: t('orders_changed'), minor: true, cell: (o) => when(o.changed), by: (o) => Date.parse(o.changed) },
  { name: 'parcel', title: t('orders_parcel'), minor: true, cell: (o) => [o.carrier, o.number].filter(Boolean).join(' ') },
  { name: 'refund', title: t('orders_refund'), long: true, minor: true, cell: (o) => o.refund_reason || '' },
];

export const orders = {
  name: 'orders',
  title: 'orders_title',
  needs: ['orders'],
  menu: true,
  async show(page) {
    const { query } = page;
    const list = el('div', {});
    put(page.node, el('div', { class: 'panel' }, filter(page), byNumber()), list);
    if (!query.get('item') && !query.get('user')) return void put(list, el('p', { class: 'panel soft' }, t('orders_start')));
    put(list, el('p', { class: 'panel soft' }, t('loading')));
    const got = await command('orders', { ...wanted(query), cursor: query.get('after') || undefined, limit: PAGE }).finally(() => put(list));
    if (page.signal.aborted) return;
    const caption = query.get('item') ? t('orders_of_item', { item: query.get('item') }) : t('orders_of_user', { user: query.get('user') });
    put(list, listing(page, { caption, columns: COLUMNS(), rows: got.orders, next: got.next }), exporter(page));
  },
};

/** Opens an order by its number. */
export const byNumber = () =>
  form({
    name: 'order-open',
    filter: true,
    submit: t('orders_open'),
    fields: [{ name: 'order', label: t('field_order'), required: true, check: (text) => (ORDER.test(text) ? '' : t('orders_number')) }],
    send: async (v) => void (location.hash = placeOf('order', v.order)),
  });

function filter(page) {
  const { query } = page;
  return form({
    name: 'orders-filter',
    filter: true,
    submit: t('show_these'),
    fields: [
      { name: 'item', label: t('field_item'), value: query.get('item') || '', check: checks.id, input: { inputmode: 'numeric' } },
      { name: 'user', label: t('field_user'), value: query.get('user') || '', check: checks.id, input: { inputmode: 'numeric' } },
      { name: 'state', label: t('orders_state'), kind: 'select', value: query.get('state') || '', options: [['', t('orders_any')], ...LISTED.map((s) => [s, t(`state_${s}`)])] },
      { name: 'from', label: t('orders_from'), kind: 'datetime-local', value: localTime(query.get('from')) },
      { name: 'to', label: t('orders_to'), kind: 'datetime-local', value: localTime(query.get('to')) },
      { name: 'asked', label: t('orders_asked'), kind: 'check', value: query.has('asked') },
      { name: 'all', label: t('orders_all'), kind: 'check', value: query.has('all') },
    ],
    async send(v) {
      if (!v.item === !v.user) throw new Error(t(v.item ? 'orders_one' : 'orders_start'));
      page.go({ ...v, from: utcTime(v.from), to: utcTime(v.to), after: '' });
    },
  });
}

// The columns of `seckill orders export`, so that the file can be filled in and shipped by either.
const CSV_COLUMNS = ['order', 'carrier', 'number', 'state', 'status', 'older', 'item', 'title', 'user', 'count', 'held', 'yuan', 'made', 'pay_by', 'changed', 'refund_asked', 'hidden', 'shopper_name', 'variant'];

/** An order as a line of the export. */
export const csvLine = (o) =>
  csv.line([o.order_id, o.carrier, o.number, o.state, status(o), older(o), o.item, o.title, o.user, o.count, o.held, csv.yuan(o.amount), csv.time(o.create_time), csv.time(o.pay_by), csv.time(o.changed), o.refund_reason, o.hidden ? 'hidden' : '', o.shopper_name, o.options]);

function exporter(page) {
  const said = el('p', { class: 'soft', role: 'status' });
  const fault = el('p', { class: 'fault', role: 'alert' });
  const button = el('button', { class: 'button plain', type: 'button', id: 'orders-export', onclick: go }, t('orders_export'));

  let open = null; // the file and how far it is; what broke off goes on there

  async function go() {
    if (button.getAttribute('aria-disabled')) return;
    button.setAttribute('aria-disabled', 'true');
    put(fault);
    try {
      open ??= await begin();
      await writeAll();
      await open.file.done(`orders-${page.query.get('item') || page.query.get('user')}.csv`);
      setText(said, t('orders_exported', { n: open.n }));
      announce(said.textContent);
      open = null;
    } catch (problem) {
      const kept = problem instanceof Problem && open?.n > 0;
      put(said);
      put(fault, kept ? t('orders_export_broken', { n: open.n, why: words(problem) }) : words(problem));
      if (!kept) {
        await open?.file.drop().catch(() => {});
        open = null;
      }
    }
    setText(button, t(open ? 'orders_export_on' : 'orders_export'));
    button.removeAttribute('aria-disabled');
  }

  async function begin() {
    const file = await beginFile();
    page.signal.addEventListener('abort', () => file.drop().catch(() => {})); // nobody waits for it; one that is done stays
    await file.write(`\ufeff${csv.line(CSV_COLUMNS)}`);
    return { file, n: 0, cursor: undefined };
  }

  async function writeAll() {
    for (;;) {
      const ask = () => command('orders', { ...wanted(page.query), cursor: open.cursor, limit: EXPORT_PAGE });
      const got = await (open.n ? patiently(page.signal, ask) : ask());
      page.signal.throwIfAborted();
      await open.file.write(got.orders.map(csvLine).join(''));
      open.n += got.orders.length;
      if (!got.next) return;
      if (got.next === open.cursor) throw new Error(t('orders_endless'));
      open.cursor = got.next;
      setText(said, t('orders_exporting', { n: open.n }));
    }
  }
  return el('div', { class: 'panel' }, el('p', { class: 'soft' }, t('orders_export_text')), el('div', { class: 'row-actions' }, button), said, fault);
}
