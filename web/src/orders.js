// My orders: the list by pages, and one order with its history and where its money is. A part of the page that is loaded
// when a shopper looks at orders. It imports nothing that app.js has: what it uses of the page comes as io.
import { STATES } from './state-texts.js';

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  orders_none: ['还没有订单。去会场看看吧！', 'No orders yet. Have a look at the sales!'],
  order_no: ['订单号', 'Order number'],
  order_gone: ['没有找到这笔订单。', 'This order was not found.'],
  placed_at: ['下单时间', 'Placed'],
  amount: ['订单金额', 'Amount'],
  pay_by: ['付款截止', 'Pay by'],
  history: ['订单进度', 'History'],
  money: ['款项去向', 'Where your money is'],
  money_unpaid: ['还没有收到付款。如果您已经付款，请稍候，不要再付。', 'No payment has arrived yet. If you have paid, wait a little, and do not pay again.'],
  money_asking: ['正在向支付平台核实您是否已付款：如已付款，订单照常生效，或款项原路退回。', 'We are asking the payment provider whether you have paid: if so, your order counts, or the money goes back to you.'],
  money_none: ['没有扣款。', 'No money was taken.'],
  money_captured: ['已付款。', 'Paid.'],
  money_refund_due: ['会原路退回。', 'It goes back the way it came.'],
  money_refunded: ['已原路退回。', 'It went back the way it came.'],
  payment_captured: ['¥{amount} 已收款', '¥{amount} received'],
  payment_refund_due: ['¥{amount} 退款中，原路退回，退款编号 {refund}', '¥{amount} on its way back to you, refund number {refund}'],
  payment_refunded: ['¥{amount} 已于 {at} 退回，退款编号 {refund}', '¥{amount} returned on {at}, refund number {refund}'],
  payment_returned: ['¥{amount} 已于 {at} 退回', '¥{amount} returned on {at}'], // not by the shop
  payment_went: ['¥{amount} 已另行退回，正在向支付平台核实', '¥{amount} went back separately; we ask the payment provider about it'],
  payment_outside: ['¥{amount} 已另行退回', '¥{amount} went back separately'], // beside what the shop keeps, or gives back
  trade_no: ['交易号', 'Trade number'],
  cancel_order: ['取消订单', 'Cancel order'],
  cancel_ask: ['确定取消这笔订单吗？', 'Cancel this order?'],
  cancel_ask_text: ['取消后商品会放回，可能被别人抢走。', 'Its units go back on sale, and somebody else may buy them.'],
  cancel_keep: ['再想想', 'Keep it'],
  previous: ['上一页', 'Previous'],
  next: ['下一页', 'Next'],
  page: ['第 {n} 页', 'Page {n}'],
  back_sign_in: ['如果您已经付款，付款会记在订单上，这里不用做什么。登录后可以查看，也可以回到下单的设备上看。', 'If you have paid, your payment is recorded with the order: there is nothing to do here. Sign in to see it, or look where you ordered.'],
  back_not_yours: [
    '这笔订单不属于现在登录的用户。付款会记在下单的用户名下：请用那个用户登录，或回到下单的设备上看。',
    'This order is not of the shopper who is signed in here. A payment counts for whoever ordered: sign in as that shopper, or look where you ordered.',
  ],
  copy: ['复制', 'Copy'],
  copied: ['已复制', 'Copied'],
};

const PAGE = 10;
const LATER = 60_000; // ms between looks at an order that waits for the shop

/** What became of a payment, and what of it went back in another way than by the shop's refund: lines, by io's words. */
export function paymentLines(p, { t, tOr, yuan, when }) {
  const outside = p.outside || 0;
  const all = !p.refund_id && { refunded: 'returned', refund_due: 'went' }[p.state]; // nothing was left to refund
  const amount = yuan(p.refund_id ? p.amount - outside : p.amount);
  const line = tOr(`payment_${all || p.state}`, `¥${amount}`, { amount, refund: p.refund_id || '', at: p.refunded_at ? when(p.refunded_at) : '' });
  return outside > 0 && !all ? [line, t('payment_outside', { amount: yuan(outside) })] : [line];
}

/** The views of orders, {ordersView, orderView}; each answers {node, stop}. */
export function views(io) {
  const { myOrders, orderAct, orderDetail, decide, lookAgain, now, onSecond, clockText, holding, moneyText, orderOf, outcome, yuan, cover, confirmSheet, announce, el, icon, pause, put, setText, t, tOr, when, backLink, noteOrder, lineOf, showOrder, cashierNote, payButton, follow, shopper, optionsText, signIn } = io;
  Object.assign(io.TEXTS, STATES, TEXTS);

  const unitsText = (n) => t('units', { n });
  const stateText = (state) => tOr(`state_${state}`, t('state_unknown'));

  // The list of the shopper's orders. Answers {node, stop}.
  function ordersView() {
    const list = el('div', {});
    const node = el('section', { class: 'band', 'aria-labelledby': 'head-orders' }, el('h1', { id: 'head-orders' }, t('nav_orders')), list);
    const left = new AbortController();
    let ticking = [];
    let page = 1;

    const clear = () => {
      for (const stop of ticking) stop();
      ticking = [];
    };

    let round = 0;
    let failures = 0;

    async function show() {
      const mine = ++round;
      const gone = () => left.signal.aborted || mine !== round;
      if (!shopper()) return void put(list, signInNote('orders_sign_in'));
      let orders;
      try {
        orders = await myOrders(page, PAGE);
      } catch (problem) {
        if (gone()) return;
        clear();
        put(list, troubleNote(problem, show));
        if (decide(problem) !== 'retry') return;
        await pause(lookAgain(failures++, problem.retryAfter), left.signal);
        return gone() ? undefined : show();
      }
      if (gone()) return;
      failures = 0;
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
          result.payable && el('div', { class: 'actions' }, cancelButton(id, (text) => (text ? put(fault, text) : show())), payButton(order, show)),
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

  // One order's page; it follows the order while something may change.
  function orderView(id) {
    const node = el('div', { class: 'band' }, backToOrders(), el('p', { class: 'soft' }, t('loading')));
    let round = new AbortController();
    let undraw = () => {};
    let shown = '';
    let wantedCancel = false;
    const asked = () => (cashierNote(id) ? 'back_sign_in' : 'orders_sign_in');

    // Nobody waits for anything, but staff may act: it is looked at each minute, and once its shopper is back.
    async function run({ signal }) {
      let known = false;
      await follow({
        orderId: id,
        byId: orderDetail,
        wait: (ms) => pause(ms, signal),
        line: lineOf(id, undefined, signal),
        signal,
        onOrder(_, answer) {
          if (!answer) return; // no row after all: what is shown stays
          known = true;
          const key = JSON.stringify([answer.state, answer.history, answer.payments, answer.alipay_order, answer.refund_reason, answer.carrier, answer.number]);
          noteOrder(answer);
          if (key !== shown) draw(answer);
          shown = key;
        },
        onTrouble(problem) {
          known = false;
          if (problem.status === 404) return void put(node, backToOrders(), el('p', { class: 'empty' }, icon('empty'), t(cashierNote(id) ? 'back_not_yours' : 'order_gone')));
          if (shown) return; // what is shown stays, and what is typed: who does something is asked to sign in
          if (problem.status === 403) return void put(node, backToOrders(), el('h1', { class: 'unseen' }, t('nav_orders')), signInNote(asked()));
          put(node, backToOrders(), el('p', { class: 'notification', role: 'status' }, t('list_trouble')));
        },
      });
      do await pause(LATER * (1 + Math.random() / 5), signal);
      while (document.visibilityState === 'hidden' && !signal.aborted);
      if (known && !signal.aborted) restart();
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
      const actions = order.state === 'pending_payment' ? [cancelButton(id, cancelled)] : [];
      undraw = showOrder(state, order, { actions });
      const [parcel, more] = [el('div', {}), el('div', {})];
      // Its part of the page (after.js) is loaded for orders that wait for nothing any more.
      const after = () => import('./after.js').then((part) => part.show({ ...io, wantedCancel, copyButton }, parcel, more, answer, restart), () => put(more, troubleNote({}, after)));
      if (!holding(order)) after();
      put(node, backToOrders(), state, fault, parcel, goods(answer), el('div', { class: 'two' }, timeline(order), money(order)), more);
    }

    function restart() {
      round.abort();
      round = new AbortController();
      run(round);
    }

    if (shopper()) run(round);
    else put(node, backToOrders(), el('h1', { class: 'unseen' }, t('nav_orders')), signInNote(asked()));
    const stop = () => {
      round.abort();
      undraw();
    };
    return { node, stop };
  }

  function copyButton(text) {
    const copy = () => navigator.clipboard.writeText(text).then(() => {
      button.removeAttribute('aria-label');
      setText(button, t('copied'));
      announce(t('copied'));
    }, () => {});
    const button = el('button', { class: 'link', type: 'button', 'aria-label': `${t('copy')} ${text}`, onclick: copy }, t('copy'));
    return navigator.clipboard && button; // browsers have none without https
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
        fact('order_no', [answer.id, copyButton(answer.id)]),
        fact('placed_at', when(answer.create_time, true)),
        answer.state === 'pending_payment' && fact('pay_by', when(answer.pay_by, true)),
      ),
    );
  }

  function timeline(order) {
    // "closing" says nothing once the order is closed.
    const steps = order.history.filter((h, i, all) => h.state !== 'closing' || i === all.length - 1).map((h) => el('li', {}, el('b', {}, stateText(h.state)), el('time', { datetime: h.at, class: 'soft' }, when(h.at, true))));
    return el('section', { class: 'panel' }, el('h2', {}, t('history')), el('ol', { class: 'timeline' }, steps));
  }

  function money(order) {
    const rows = order.payments.map((p) =>
      el('li', {}, paymentLines(p, io).map((line, i) => el(i ? 'small' : 'b', {}, line)), el('small', { class: 'soft' }, `${t('trade_no')} ${p.trade_no}`)),
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

  // A button that cancels the order once it is confirmed. `onDone` runs afterwards, with the server's text when refused.
  function cancelButton(id, onDone) {
    const run = async () => {
      if (!(await confirmSheet(t('cancel_ask'), t('cancel_ask_text'), t('cancel_order'), t('cancel_keep')))) return;
      button.disabled = true;
      try {
        await orderAct(id, 'cancel');
        onDone('');
      } catch (problem) {
        button.disabled = false;
        onDone(problem.detail || t('no_answer'));
      }
    };
    const button = el('button', { class: 'button plain', type: 'button', onclick: run }, t('cancel_order'));
    return button;
  }

  return { ordersView, orderView };
}
