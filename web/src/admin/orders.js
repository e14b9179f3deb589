// The back office begins here: what is to do, and the list of orders, newest first, by pages and as a CSV file.
import { yuan } from '../core.js';
import { announce, el, put, setText } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { Problem, command, patiently, words } from './call.js';
import * as csv from './csv.js';
import { beginFile } from './file.js';
import { checks, form } from './form.js';
import { todo } from './home.js';
import { allItems, fullTitle } from './itemlist.js';
import { placeOf } from './place.js';
import { LISTED, look, older, status } from './states.js';
import { listing } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  orders_title: ['订单', 'Orders'],
  orders_activity: ['场次', 'Activity'],
  orders_day: ['下单日期（北京时间）', 'Day (UTC+8)'],
  orders_state: ['状态', 'State'],
  orders_any: ['全部', 'any'],
  orders_from: ['下单不早于', 'Placed since'],
  orders_to: ['下单早于', 'Placed before'],
  orders_asked: ['买家申请退款', 'refund asked for'],
  orders_undecided: ['款项等人决定', 'money waits for a decision'],
  orders_all: ['包括已隐藏的', 'also hidden ones'],
  orders_of_all: ['订单，新的在前', 'Orders, newest first'],
  orders_of_item: ['商品 {item} 的订单，新的在前', 'Orders of item {item}, newest first'],
  orders_of_user: ['买家 {user} 的订单，新的在前', 'Orders of user {user}, newest first'],
  orders_looked: ['看了 {n} 笔订单，到 {time} 为止。更早的在下一页。', 'Looked at {n} orders, back to {time}. Older ones are on the next page.'],
  orders_since: ['列表从 {time} 的订单开始。', 'The list begins with the orders of {time}.'],
  orders_older: ['更早版本写下的订单不在此列表和计数中，请按商品或买家筛选。', 'Orders that an older release wrote are not in this list, nor in the counts: filter by item or user.'],
  orders_unreadable: ['有 {n} 笔订单读不出来，请告诉开发人员。', 'Orders that cannot be read: {n}. Tell the developers.'],
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
  orders_export_unreadable: ['有 {n} 笔订单读不出来，不在文件里，请告诉开发人员。', 'Orders that cannot be read, so they are not in the file: {n}. Tell the developers.'],
  orders_exported: ['已导出 {n} 笔订单。', 'Exported {n} orders.'],
  orders_endless: ['列表没有尽头，已停止。请告诉开发人员。', 'The list does not end, so this stopped. Tell the developers.'],
});

const PAGE = 50;
export const ORDER = /^o[a-z2-7]{26,40}$/; // the shop looks closer
const DAY = 86_400_000; // ms
const EXPORT_PAGE = 500; // the largest that the shop gives
const ACTIVITIES = 100; // of which one may be chosen
const LATE = 3_600_000; // ms after an activity's end in which its last purchases may be placed

/** datetime-local in the person's zone, from and to the address's time in UTC. */
const localTime = (text) => {
  const ms = Date.parse(text || '');
  return ms ? new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : '';
};
const utcTime = (text) => (text ? new Date(text).toISOString() : '');

/** The command's arguments for a query. */
export function wanted(query) {
  const get = (name) => query.get(name) || undefined;
  const day = get('day') && Date.parse(`${get('day')}T00:00:00+08:00`);
  const at = (ms) => (day ? new Date(ms).toISOString() : undefined);
  return { item: get('item'), user: get('user'), activity: get('activity'), state: get('state'), from: get('from') || at(day), to: get('to') || at(day + DAY), asked: query.has('asked') || undefined, undecided: query.has('undecided') || undefined, all: query.has('all') || undefined };
}

/** Its state, and whether it stays there until somebody decides about its money. */
export const pill = (order) => el('span', { class: `pill ${order.undecided ? 'bad' : look(order.state)}` }, [tOr(`state_${order.state}`, order.state), order.undecided && ` · ${t('orders_undecided')}`]);
/** Its amount; the ledger has none of an order that was rejected. */
export const amountOf = (order) => (order.state === 'rejected' ? '–' : `¥${yuan(order.amount)}`);
export const orderLink = (id) => el('a', { class: 'code', href: placeOf('order', id) }, id);

const COLUMNS = () => [
  { name: 'order', title: t('orders_order'), cell: (o) => [orderLink(o.order_id), o.hidden && el('small', {}, ` · ${t('orders_hidden')}`)] },
  { name: 'state', title: t('orders_state'), cell: pill, by: (o) => LISTED.indexOf(o.state) },
  { name: 'item', title: t('orders_item'), long: true, cell: (o) => [[o.title, o.options].filter(Boolean).join(' · '), ' ', el('a', { class: 'soft', href: placeOf('orders', '', { item: o.item }) }, o.item)], by: (o) => o.title },
  { name: 'user', title: t('orders_user'), minor: true, cell: (o) => [el('a', { href: placeOf('orders', '', { user: o.user }) }, o.user), o.shopper_name && ` ${o.shopper_name}`], by: (o) => o.user },
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
    const begins = [...query.keys()].every((name) => name === 'sort');
    const items = page.may('items') ? allItems() : Promise.resolve(null);
    items.catch(() => {}); // who awaits it is told
    const chosen = filter(page);
    put(page.node, begins && todo(page, items), el('div', { class: 'panel' }, chosen.node, byNumber()), list);
    put(list, el('p', { class: 'panel soft' }, t('loading')));
    const got = await command('orders', { ...wanted(query), cursor: query.get('after') || undefined, limit: PAGE }).finally(() => put(list));
    if (page.signal.aborted) return;
    const [item, user] = [query.get('item'), query.get('user')];
    const caption = user ? t('orders_of_user', { user }) : item ? t('orders_of_item', { item }) : t('orders_of_all');
    put(
      list,
      got.unreadable && el('p', { class: 'notification', role: 'alert' }, t('orders_unreadable', { n: got.unreadable })),
      listing(page, { caption, columns: COLUMNS(), rows: got.orders, next: got.next }),
      got.next && got.looked > got.orders.length && el('p', { class: 'soft', id: 'orders-looked' }, t('orders_looked', { n: got.looked, time: when(got.back, true) })),
      !item && !user && el('p', { class: 'soft', id: 'orders-older' }, [!got.next && !query.get('from') && !query.get('day') && got.back && t('orders_since', { time: when(got.back, true) }), ' ', t('orders_older')]),
      exporter(page),
    );
    void chosen.offer(items); // after the list: nobody waits for what may be chosen
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

/**
 * The times of an activity that is chosen anew, as {from, to}: they take the place of the former one's. An activity that
 * is long over would else have all younger orders looked at. {} leaves the times as they are: what somebody typed counts.
 */
export function windowOf(v, query, windows) {
  const was = query.get('activity') || '';
  const own = (name) => v[name] && (!was || v[name] !== localTime(query.get(name)));
  if ((v.activity ?? was) === was || own('from') || own('to')) return {};
  const of = !v.day && windows.get(v.activity);
  return of ? { from: of.start_time, to: new Date(Date.parse(of.end_time) + LATE).toISOString() } : { from: '', to: '' };
}

// The filter, and what offers its choices once they are read: typing in the item's field narrows its list.
function filter(page) {
  const { query } = page;
  const titles = el('datalist', { id: 'orders-items' });
  const lists = page.may('activities');
  const id = (text) => /^\d+/.exec(text)?.[0] || text;
  let windows = new Map(); // of activities, in which their orders lie
  const node = form({
    name: 'orders-filter',
    filter: true,
    submit: t('show_these'),
    fields: [
      lists && { name: 'activity', label: t('orders_activity'), kind: 'select', value: query.get('activity') || '', options: [['', t('orders_any')], ...[query.get('activity')].filter(Boolean).map((a) => [a, a])] },
      { name: 'item', label: t('field_item'), value: query.get('item') || '', check: (text) => checks.id(id(text)), input: { list: 'orders-items' } },
      { name: 'user', label: t('field_user'), value: query.get('user') || '', check: checks.id, input: { inputmode: 'numeric' } },
      { name: 'state', label: t('orders_state'), kind: 'select', value: query.get('state') || '', options: [['', t('orders_any')], ...LISTED.map((s) => [s, t(`state_${s}`)])] },
      { name: 'day', label: t('orders_day'), kind: 'date', value: query.get('day') || '' },
      { name: 'from', label: t('orders_from'), kind: 'datetime-local', value: localTime(query.get('from')) },
      { name: 'to', label: t('orders_to'), kind: 'datetime-local', value: localTime(query.get('to')) },
      { name: 'asked', label: t('orders_asked'), kind: 'check', value: query.has('asked') },
      { name: 'undecided', label: t('orders_undecided'), kind: 'check', value: query.has('undecided') },
      { name: 'all', label: t('orders_all'), kind: 'check', value: query.has('all') },
    ].filter(Boolean),
    async send(v) {
      page.go({ ...v, item: v.item && id(v.item), from: utcTime(v.from), to: utcTime(v.to), ...windowOf(v, query, windows), after: '' });
    },
  });

  async function offer(items) {
    const [known, got] = await Promise.all([items.catch(() => null), lists && command('activities', { limit: ACTIVITIES, all: true }).catch(() => null)]);
    if (page.signal.aborted) return;
    put(titles, (known?.items || []).map((it) => el('option', { value: `${it.id} · ${fullTitle(it)}` })));
    if (!got) return;
    windows = new Map(got.activities.map((a) => [a.id, a]));
    const select = node.querySelector('#orders-filter-activity');
    const now = select.value;
    put(select, el('option', { value: '' }, t('orders_any')), [...windows.values()].map((a) => el('option', { value: a.id }, `${a.title} · ${when(a.start_time)}`)), now && !windows.has(now) && el('option', { value: now }, now));
    select.value = now;
  }
  node.append(titles);
  return { node, offer };
}

// The columns of `seckill orders export`, so that the file can be filled in and shipped by either.
const CSV_COLUMNS = ['order', 'carrier', 'number', 'state', 'status', 'older', 'item', 'title', 'user', 'count', 'held', 'yuan', 'made', 'pay_by', 'changed', 'refund_asked', 'hidden', 'shopper_name', 'variant'];

/** An order as a line of the export. */
export const csvLine = (o) =>
  csv.line([o.order_id, csv.text(o.carrier), csv.text(o.number), o.state, status(o), older(o), csv.id(o.item), csv.text(o.title), csv.id(o.user), o.count, o.held, csv.yuan(o.amount), csv.time(o.create_time), csv.time(o.pay_by), csv.time(o.changed), csv.text(o.refund_reason), o.hidden ? 'hidden' : '', csv.text(o.shopper_name), csv.text(o.options)]);

const exported = ({ n, unreadable }) => [t('orders_exported', { n }), unreadable && t('orders_export_unreadable', { n: unreadable })].filter(Boolean).join(' ');

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
      await open.file.done(`orders-${page.query.get('item') || page.query.get('user') || page.query.get('day') || 'all'}.csv`);
      setText(said, exported(open));
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
    return { file, n: 0, unreadable: 0, cursor: undefined };
  }

  async function writeAll() {
    for (;;) {
      const ask = () => command('orders', { ...wanted(page.query), cursor: open.cursor, limit: EXPORT_PAGE });
      const got = await (open.n ? patiently(page.signal, ask) : ask());
      page.signal.throwIfAborted();
      await open.file.write(got.orders.map(csvLine).join(''));
      open.n += got.orders.length;
      open.unreadable += got.unreadable || 0;
      if (!got.next) return;
      if (got.next === open.cursor) throw new Error(t('orders_endless'));
      open.cursor = got.next;
      setText(said, t('orders_exporting', { n: open.n }));
    }
  }
  return el('div', { class: 'panel' }, el('p', { class: 'soft' }, t('orders_export_text')), el('div', { class: 'row-actions' }, button), said, fault);
}
