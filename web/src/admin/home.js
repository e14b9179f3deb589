// What there is to do, above the list of orders: counts, each a link to what it counts. The list does not wait for them,
// and no count reads more than a fixed number of rows.
import { el, put } from '../dom.js';
import { t, when } from '../i18n.js';
import { command } from './call.js';
import { fullTitle } from './itemlist.js';
import { placeOf } from './place.js';
import { addTexts } from './texts.js';

addTexts({
  home_title: ['今天', 'Today'],
  home_paid: ['待接单', 'To confirm'],
  home_confirmed: ['待发货', 'To ship'],
  home_waiting: ['等第二人同意的退款', 'Refunds that wait for a second person'],
  home_refused: ['被支付平台拒绝的退款', 'Refunds that the provider refused'],
  home_outside: ['款项等人决定的订单', 'Orders whose money waits for a decision'],
  home_unknown: ['付款不明的订单', 'Orders whose payment is unknown'],
  home_next: ['下一场', 'Next sale'],
  home_now: ['正在卖', 'On sale'],
  home_items: ['{n} 件商品', '{n} items'],
  home_none: ['没有', 'none'],
  home_unread: ['读不到', 'not read'],
});

const MOST = 50; // orders that are counted

/** A strip of counts. items: a promise of the shop's items, or of null. */
export function todo(page, items) {
  const list = el('dl', { class: 'todo' });
  const add = (title, read) => {
    const node = el('dd', {}, '…');
    list.append(el('div', {}, el('dt', {}, t(title)), node));
    Promise.resolve().then(read).catch(() => t('home_unread')).then((value) => page.signal.aborted || put(node, value));
  };
  const count = (n, more, href) => (n || more ? el('a', { href }, more ? `${n}+` : String(n)) : '0');
  const ordersIn = (state) => async () => {
    const got = await command('orders', { state, limit: MOST });
    return count(got.orders.filter((o) => !o.undecided).length, got.next, placeOf('orders', '', { state }));
  };
  if (page.may('confirm')) add('home_paid', ordersIn('paid'));
  if (page.may('ship')) add('home_confirmed', ordersIn('confirmed'));
  if (page.may('open')) {
    const open = command('open');
    const money = (of, n) => async () => count(n((await open)[of]), (await open)[of].more, placeOf('money'));
    add('home_waiting', money('waiting', (w) => w.refunds.length));
    add('home_refused', money('refused', (r) => r.count));
    add('home_outside', money('outside', (o) => o.count));
    add('home_unknown', money('unknown', (u) => u.count));
  }
  if (page.may('items')) {
    add('home_now', async () => t('home_items', { n: (await items).items.filter((it) => it.state === 'online').length }));
    add('home_next', async () => next(page, (await items).items));
  }
  return list.children.length > 0 && el('section', { class: 'panel', id: 'todo', 'aria-label': t('home_title') }, list);
}

function next(page, items) {
  const [it] = items.filter((one) => Date.parse(one.start_time) > page.now()).sort((a, b) => Date.parse(a.start_time) - Date.parse(b.start_time));
  return it ? [el('a', { href: placeOf('item', it.id) }, fullTitle(it)), ` · ${when(it.start_time)}`] : t('home_none');
}
