// My orders: the list by pages, and one order with its history and where its money is.
import { myOrders, orderAct, orderDetail } from './api.js';
import { now, onSecond } from './clock.js';
import { clockText, holding, moneyText, orderOf, outcome, yuan } from './core.js';
import { cover } from './cover.js';
import { confirmSheet } from './dialogs.js';
import { announce, el, icon, pause, put, setText } from './dom.js';
import { io } from './door.js';
import { t, tOr, when } from './i18n.js';
import { backLink } from './items.js';
import { noteOrder } from './holds.js';
import { lineOf } from './line.js';
import { cancelButton, showOrder } from './panel.js';
import { cashierNote, payButton } from './pay.js';
import { follow } from './purchase.js';
import { drafts, keepDraft, shopper } from './session.js';
import { optionsText } from './variants.js';
import { signIn } from './who.js';

const PAGE = 10;

const unitsText = (n) => t('units', { n });
const stateText = (state) => tOr(`state_${state}`, t('state_unknown'));

/** The list of the shopper's orders. Answers {node, stop}. */
export function ordersView() {
  const list = el('div', {});
  const node = el('section', { class: 'band', 'aria-labelledby': 'head-orders' }, el('h1', { id: 'head-orders' }, t('nav_orders')), list);
  const left = new AbortController();
  let ticking = [];
  let page = 1;

  const clear = () => {
    for (const stop of ticking) stop();
    ticking = [];
  };

  async function show() {
    if (!shopper()) return void put(list, signInNote('orders_sign_in'));
    let orders;
    try {
      orders = await myOrders(page, PAGE);
    } catch (problem) {
      if (!left.signal.aborted) put(list, troubleNote(problem, show));
      return;
    }
    if (left.signal.aborted) return;
    clear();
    if (orders.length === 0 && page === 1) return void put(list, el('p', { class: 'empty' }, icon('empty'), t('orders_none'), el('a', { class: 'button', href: '#/' }, t('nav_home'))));
    put(list, el('ul', { class: 'orders' }, orders.map(row)), pager(orders.length));
  }

  function row(answer) {
    const order = orderOf(answer);
    const id = answer.id;
    const result = outcome(order, now());
    const fault = el('p', { class: 'fault', role: 'alert' });
    const state = el('span', { class: `pill ${result.look}` }, stateText(order.state));
    const due = el('small', { class: 'soft' });
    if (result.payable) {
      ticking.push(onSecond(() => setText(due, now() < order.payBy ? t('pay', { time: clockText(order.payBy - now()) }) : t('pay_over'))));
    }
    return el(
      'li',
      { class: 'order', 'data-order': id, 'data-state': order.state },
      el('a', { class: 'cover', href: `#/order/${id}`, tabindex: -1, 'aria-hidden': 'true' }, cover(answer.seckill)),
      el(
        'div',
        { class: 'order-body' },
        el('div', { class: 'row' }, el('h2', {}, el('a', { href: `#/order/${id}` }, answer.seckill.commodity.title)), state),
        el('p', { class: 'soft' }, answer.seckill.variant && `${optionsText(answer.seckill)} · `, when(answer.create_time), ' · ', unitsText(answer.count)),
        el('div', { class: 'row' }, el('p', { class: 'price' }, el('span', { class: 'now' }, el('small', {}, '¥'), yuan(answer.amount))), due),
        result.payable && el('div', { class: 'actions' }, cancelButton({ id }, (text) => (text ? put(fault, text) : show())), payButton(order, show)),
        fault,
      ),
    );
  }

  function pager(length) {
    if (page === 1 && length < PAGE) return null;
    const go = (by) => () => {
      page += by;
      show();
    };
    return el(
      'nav',
      { class: 'pager', 'aria-label': t('page', { n: page }) },
      el('button', { class: 'button plain', type: 'button', disabled: page === 1, onclick: go(-1) }, t('previous')),
      el('span', { class: 'soft' }, t('page', { n: page })),
      el('button', { class: 'button plain', type: 'button', disabled: length < PAGE, onclick: go(1) }, t('next')),
    );
  }

  // Shoppers who come back from another tab, or by Back from the cashier, want to see what became of the order.
  const seen = () => document.visibilityState === 'visible' && show();
  document.addEventListener('visibilitychange', seen);
  window.addEventListener('pageshow', seen);
  show();
  const stop = () => {
    left.abort();
    clear();
    document.removeEventListener('visibilitychange', seen);
    window.removeEventListener('pageshow', seen);
  };
  return { node, stop };
}

/** One order's page; it follows the order while something may change. */
export function orderView(id) {
  const node = el('div', { class: 'band' }, backToOrders(), el('p', { class: 'soft' }, t('loading')));
  let round = new AbortController();
  let undraw = () => {};
  let shown = '';
  let wantedCancel = false;
  const asked = () => (cashierNote(id) ? 'back_sign_in' : 'orders_sign_in');

  function run({ signal }) {
    follow({
      orderId: id,
      byId: orderDetail,
      wait: (ms) => pause(ms, signal),
      line: lineOf(id, undefined, signal),
      signal,
      onOrder(_, answer) {
        if (!answer) return; // no row after all: what is shown stays
        const key = JSON.stringify([answer.state, answer.history, answer.payments, answer.alipay_order, answer.refund_reason]);
        noteOrder(answer);
        if (key !== shown) draw(answer);
        shown = key;
      },
      onTrouble(problem) {
        if (problem.status === 404) return void put(node, backToOrders(), el('p', { class: 'empty' }, icon('empty'), t(cashierNote(id) ? 'back_not_yours' : 'order_gone')));
        if (problem.status === 403) return void put(node, backToOrders(), signInNote(asked()));
        if (!shown) put(node, backToOrders(), el('p', { class: 'notification', role: 'status' }, t('list_trouble')));
      },
    });
  }

  function draw(answer) {
    undraw();
    const order = orderOf(answer);
    const state = el('div', { class: 'panel' });
    const fault = el('p', { class: 'fault', role: 'alert' });
    const cancelled = (text) => {
      if (text) return void put(fault, text);
      wantedCancel = true;
      shown = 'again'; // a shopper who hears meanwhile that the order is paid is told what became of the cancelling
      restart();
    };
    const actions = order.state === 'pending_payment' ? [cancelButton({ id }, cancelled)] : [];
    undraw = showOrder(state, order, { actions });
    const more = el('div', {});
    // Its part of the page (after.js) is loaded for orders that wait for nothing any more.
    const after = () => import('./after.js').then((part) => part.show({ ...io, announce, confirmSheet, orderAct, drafts, keepDraft, when, yuan, wantedCancel }, more, answer, restart), () => put(more, troubleNote({}, after)));
    if (!holding(order)) after();
    put(node, backToOrders(), state, fault, more, goods(answer), el('div', { class: 'two' }, timeline(order), money(order)));
  }

  function restart() {
    round.abort();
    round = new AbortController();
    run(round);
  }

  if (shopper()) run(round);
  else put(node, backToOrders(), signInNote(asked()));
  const stop = () => {
    round.abort();
    undraw();
  };
  return { node, stop };
}

const backToOrders = () => backLink('#/orders', 'nav_orders');

function goods(answer) {
  const fact = (name, value) => value && [el('dt', {}, t(name)), el('dd', {}, value)];
  return el(
    'section',
    { class: 'panel' },
    el(
      'div',
      { class: 'summary' },
      el('a', { class: 'cover', href: `#/item/${answer.seckill.id}`, tabindex: -1, 'aria-hidden': 'true' }, cover(answer.seckill)),
      el('div', {}, el('h1', { class: 'summary-title' }, answer.seckill.commodity.title), el('p', { class: 'soft' }, answer.seckill.variant && `${optionsText(answer.seckill)} · `, unitsText(answer.count))),
    ),
    el(
      'dl',
      { class: 'facts' },
      fact('amount', answer.amount > 0 && `¥${yuan(answer.amount)}`), // a rejected order has no amount
      fact('address', answer.address),
      fact('order_no', answer.id),
      fact('placed_at', when(answer.create_time, true)),
      answer.state === 'pending_payment' && fact('pay_by', when(answer.pay_by, true)),
    ),
  );
}

function timeline(order) {
  const steps = order.history.map((h) => el('li', {}, el('b', {}, stateText(h.state)), el('time', { datetime: h.at, class: 'soft' }, when(h.at, true))));
  return el('section', { class: 'panel' }, el('h2', {}, t('history')), el('ol', { class: 'timeline' }, steps));
}

function money(order) {
  const rows = order.payments.map((p) =>
    el('li', {}, el('b', {}, tOr(`payment_${p.state}`, `¥${yuan(p.amount)}`, { amount: yuan(p.amount), refund: p.refund_id || '', at: p.refunded_at ? when(p.refunded_at) : '' })), el('small', { class: 'soft' }, `${t('trade_no')} ${p.trade_no}`)),
  );
  return el('section', { class: 'panel' }, el('h2', {}, t('money')), rows.length ? el('ul', { class: 'moneys' }, rows) : el('p', { class: 'soft' }, t(moneyText(order))));
}

function signInNote(name) {
  return el('p', { class: 'empty' }, icon('person'), t(name), el('button', { class: 'button', type: 'button', onclick: () => signIn() }, t('sign_in')));
}

function troubleNote(problem, again) {
  if (problem.status === 403) return signInNote('orders_sign_in');
  return el('p', { class: 'empty' }, icon('empty'), problem.detail || t('no_answer'), el('button', { class: 'button', type: 'button', onclick: again }, t('retry')));
}
