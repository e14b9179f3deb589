// The money that is not yet where it belongs: refunds that wait for a second person, refunds that are due or refused, and
// orders whose payment is unknown. What can be done about one is on its order's page.
import { yuan } from '../core.js';
import { el, put } from '../dom.js';
import { t, when } from '../i18n.js';
import { command } from './call.js';
import { whereIs } from './ordermoney.js';
import { byNumber, orderLink } from './orders.js';
import { causeText } from './shopsays.js';
import { table } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  open_title: ['款项', 'Money'],
  open_good: ['没有待处理的款项。', 'All money is where it belongs.'],
  open_looked: ['查询于 {time}。退款和支付查询每分钟自动进行一次。', 'As of {time}. The shop asks the provider by itself each minute.'],
  open_waiting: ['等待第二人同意的退款：{n} 笔，按订单号', 'Refunds that wait for a second person: {n}, by order'],
  open_refused: ['支付平台拒绝的退款：{n} 笔，¥{amount}，要有人处理，旧的在前', 'Refunds that the provider refused: {n}, ¥{amount}. A person has to act. Oldest first'],
  open_outside: ['在本店之外退过的款，等人决定：{n} 笔，¥{amount}，旧的在前', 'Payments of which money went back outside the shop, to be decided about: {n}, ¥{amount}. Oldest first'],
  open_due: ['正在退的款：{n} 笔，¥{amount}，旧的在前', 'Refunds that are due: {n}, ¥{amount}. Oldest first'],
  open_unknown: ['不知道是否已付款的订单：{n} 笔，¥{amount}，旧的在前', 'Orders whose payment is unknown: {n}, ¥{amount}. Oldest first'],
  open_more: ['还有更多，这里没有列出。', 'There are more, which are not listed here.'],
  open_unreadable: ['有 {n} 行数据读不出来，请告诉开发人员：', 'Rows that cannot be read, tell the developers: {n}'],
  open_amount: ['金额', 'Amount'],
  open_since: ['起始时间', 'Since'],
  open_who: ['提议人', 'Wanted by'],
  open_why: ['原因', 'Reason'],
  open_units: ['件数', 'Units'],
  open_restock: ['重新上架', 'sold again'],
  open_kept: ['不再出售', 'kept out of sale'],
  open_where: ['款项去向', 'Where it is'],
  open_trade: ['交易号', 'Trade'],
  open_cause: ['关闭原因', 'Closing because'],
  open_end: ['将变为', 'Closes as'],
});

const order = { name: 'order', title: () => t('orders_order'), cell: (r) => orderLink(r.order_id) };
const amount = { name: 'amount', title: () => t('open_amount'), figure: true, cell: (r) => `¥${yuan(r.amount)}` };
const since = (field) => ({ name: 'since', title: () => t('open_since'), cell: (r) => when(r[field]) });
const text = (name, title, cell, more) => ({ name, title: () => t(title), cell, ...more });

export const money = {
  name: 'money',
  title: 'open_title',
  needs: ['open'],
  menu: true,
  async show(page) {
    const open = await command('open');
    if (page.signal.aborted) return;
    const where = text('where', 'open_where', (p) => whereIs(p, Date.parse(open.now)), { long: true });
    const trade = text('trade', 'open_trade', (p) => el('span', { class: 'code' }, p.trade_no), { minor: true });
    const parts = [
      list(page, open.waiting, open.waiting.refunds, 'open_waiting', [order, amount, since('since'), text('who', 'open_who', (w) => w.who), text('why', 'open_why', (w) => w.why, { long: true }), text('units', 'open_units', (w) => t(w.restock ? 'open_restock' : 'open_kept'))]),
      list(page, open.refused, open.refused.payments, 'open_refused', [order, amount, since('at'), where, trade]),
      list(page, open.outside, open.outside.payments, 'open_outside', [order, amount, since('at'), where, trade]),
      list(page, open.due, open.due.payments, 'open_due', [order, amount, since('at'), where, trade]),
      list(page, open.unknown, open.unknown.orders, 'open_unknown', [order, amount, since('since'), text('cause', 'open_cause', (o) => causeText(o.cause), { long: true }), text('end', 'open_end', (o) => t(`state_${o.closes_to}`))]),
    ].filter(Boolean);
    const bad = open.unreadable || [];
    put(
      page.node,
      el('section', { class: 'panel' }, el('p', { class: 'soft' }, t('open_looked', { time: when(open.now, true) })), byNumber()),
      bad.length > 0 && el('div', { class: 'notification', role: 'alert' }, el('p', {}, t('open_unreadable', { n: bad.length })), el('ul', { class: 'faults code' }, bad.slice(0, 20).map((row) => el('li', {}, row)))),
      parts.length ? parts : el('p', { class: 'panel', role: 'status' }, t('open_good')),
    );
  },
};

function list(page, of, rows, caption, columns) {
  if (rows.length === 0 && !of.more) return null;
  const told = t(caption, { n: of.count, amount: yuan(of.amount) });
  const named = columns.map((c) => ({ ...c, title: c.title() }));
  return el('section', {}, table(page, told, named, rows), (of.more || of.count > rows.length) && el('p', { class: 'soft' }, t('open_more')));
}
