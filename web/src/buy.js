// The purchase sheet: form, sending, queue, payment, outcome. It draws what purchase.js decides.
import { buy, newestOrder, orderDetail } from './api.js';
import { at, now, onSecond, sync } from './clock.js';
import { MAX_ADDRESS, addressFault, clockText, decide, maxCount, orderOf, outcome, phase, yuan } from './core.js';
import { cover } from './cover.js';
import { openSheet, whoSheet } from './dialogs.js';
import { announce, el, pause, put, setText } from './dom.js';
import { t, tOr } from './i18n.js';
import { showOrder, statePanel } from './panel.js';
import { follow, purchase } from './purchase.js';
import { forgetIntent, intent, keepAddress, lastAddress, shopper } from './session.js';

const HOLDING = ['queued', 'pending_payment', 'closing'];

/** Opens the sheet for an item, after asking who buys. */
export async function openPurchase(item) {
  if (!shopper() && !(await whoSheet())) return;
  const left = new AbortController();
  let undraw = () => {};
  const sheet = openSheet(t(phase(item, now()) === 'upcoming' ? 'prepare' : 'buy'), () => {
    left.abort();
    undraw();
  });
  const panel = el('div', { class: 'panel-body', tabindex: -1 });
  const notification = el('p', { class: 'notification', hidden: true }, t('trouble'));
  put(sheet.body, summary(item), panel, notification);
  const io = {
    item,
    signal: left.signal,
    close: sheet.close,
    // Each thing shown may leave something running; the next one ends it. A focus that would be lost stays in the panel.
    show(f) {
      const focused = panel.contains(document.activeElement);
      undraw();
      undraw = f(panel) || (() => {});
      if (focused) panel.focus();
    },
    trouble(on) {
      notification.hidden = !on;
      if (on) announce(t('trouble'));
    },
  };
  await begin(io);
}

// An order that is still open comes first: who reloads the page or lost the answer finds it again.
async function begin(io) {
  io.show((node) => void put(node, el('p', { class: 'soft center' }, t('loading'))));
  try {
    const order = orderOf(await newestOrder(io.item.id));
    if (io.signal.aborted) return;
    if (HOLDING.includes(order.state)) return void watch(io, order.id);
  } catch {
    if (io.signal.aborted) return; // without an answer the form is still of use
  }
  form(io);
}

function summary(item) {
  return el(
    'div',
    { class: 'summary' },
    el('div', { class: 'cover' }, cover(item)),
    el('div', {}, el('p', { class: 'summary-title' }, item.commodity.title), el('p', { class: 'price' }, el('span', { class: 'now' }, el('small', {}, '¥'), yuan(item.sk_price)), el('span', { class: 'tag' }, t('limit', { n: item.sk_per_max_count })))),
  );
}

function form(io, problem) {
  const { item } = io;
  const most = maxCount(item);
  let count = 1;
  const fault = el('p', { class: 'fault', id: 'buy-fault', role: 'alert' }, problem?.detail || '');
  const address = el('textarea', { id: 'address', rows: 3, required: true, placeholder: t('address_hint'), autocomplete: 'street-address', 'aria-describedby': 'buy-fault address-count' });
  address.value = lastAddress();
  const length = el('small', { id: 'address-count', class: 'soft' });
  const amount = el('output', { id: 'count', class: 'stepper-count', for: 'fewer more-units' });
  const total = el('span', { class: 'now' });
  const fewer = el('button', { id: 'fewer', class: 'round', type: 'button', 'aria-label': t('fewer'), onclick: () => step(-1) }, '−');
  const more = el('button', { id: 'more-units', class: 'round', type: 'button', 'aria-label': t('more_units'), onclick: () => step(1) }, '+');
  const submit = el('button', { class: 'button wide', type: 'submit' });

  function step(by) {
    count = Math.min(most, Math.max(1, count + by));
    setText(amount, String(count));
    fewer.disabled = count <= 1;
    more.disabled = count >= most;
    put(total, el('small', {}, '¥'), yuan(item.sk_price * count));
  }

  function measure() {
    setText(length, `${[...address.value].length}/${MAX_ADDRESS}`);
    put(fault, '');
  }

  function send(event) {
    event.preventDefault();
    const wrong = addressFault(address.value);
    if (wrong) {
      put(fault, t(`address_${wrong}`, { n: MAX_ADDRESS }));
      address.setAttribute('aria-invalid', 'true');
      address.focus();
      return;
    }
    keepAddress(address.value);
    run(io, { count, address: address.value });
  }

  // The button follows the server's clock and opens at the instant.
  function opening() {
    const current = phase(item, now());
    submit.disabled = current !== 'live';
    setText(submit, current === 'upcoming' ? t('submit_wait', { time: clockText(Date.parse(item.start_time) - now()) }) : t(current === 'live' ? 'submit' : 'over'));
  }

  address.addEventListener('input', measure);
  io.show((node) => {
    put(
      node,
      el(
        'form',
        { class: 'purchase', novalidate: true, onsubmit: send },
        el('div', { class: 'row' }, el('span', { id: 'count-label' }, t('count')), el('div', { class: 'stepper', role: 'group', 'aria-labelledby': 'count-label' }, fewer, amount, more)),
        el('div', { class: 'row' }, el('label', { for: 'address' }, t('address')), length),
        address,
        fault,
        el('div', { class: 'row total' }, el('span', {}, t('total')), total),
        submit,
        el('p', { class: 'soft center small' }, t('submit_note')),
      ),
    );
    step(0);
    setText(length, `${[...address.value].length}/${MAX_ADDRESS}`);
    const stops = [onSecond(opening), at(Date.parse(item.start_time), opening)];
    return () => stops.forEach((stop) => stop());
  });
}

async function run(io, body) {
  const { item, signal } = io;
  const meant = intent(item.id, body);
  const state = (name, text, actions = []) =>
    io.show((node) => {
      const title = t(name);
      put(node, statePanel({ look: 'wait', title, text, busy: true }, el('div', { class: 'actions' }, actions)).node);
      announce(`${title} ${text}`);
    });
  state('sending', t('sending_text'));
  const result = await purchase({
    send: () => buy(item.id, meant.count, meant.address, meant.key),
    wait: (ms) => pause(ms, signal),
    now,
    signal,
    onWait({ kind, ms, problem }) {
      const name = kind === 'waiting_start' ? kind : problem.status === 0 ? 'offline' : 'retrying';
      state(name, t(`${name}_text`, { n: Math.ceil(ms / 1000) }));
    },
  });
  if (result.kind === 'unanswered') return void state('unanswered', t('unanswered_text'), [action('keep_trying', () => run(io, body)), ordersLink(io)]);
  if (result.kind === 'left') return; // unanswered: the key is kept for the next time
  forgetIntent(item.id);
  if (signal.aborted) return;
  if (result.kind === 'accepted') return void watch(io, result.orderId);
  if (result.kind === 'limit') return void atLimit(io, result.problem);
  refused(io, result.problem);
}

// Follows the order to its rest.
function watch(io, orderId, words) {
  const { item, signal } = io;
  const draw = (order) =>
    io.show((node) => showOrder(node, order, { words: words?.(order), actions: [orderLink(io, order), again(io, order, Boolean(words))] }));
  draw(orderOf({ id: orderId, state: 'queued' }));
  let shown = '';
  follow({
    orderId,
    newest: () => newestOrder(item.id),
    byId: orderDetail,
    wait: (ms) => pause(ms, signal),
    signal,
    onOrder(order) {
      io.trouble(false);
      if (order.state === 'expired' && now() < order.payBy) sync(); // our clock is behind
      const key = JSON.stringify([order.state, order.payString, order.payBy]);
      if (key !== shown) draw(order);
      shown = key;
    },
    onTrouble(problem) {
      if (decide(problem) === 'retry') io.trouble(true);
      else refused(io, problem);
    },
  });
}

// The limit is used up: by an order to pay, by one that was paid, or by one that is on its way.
function atLimit(io, problem) {
  watch(io, problem.orderId, (order) => {
    const { look, payable } = outcome(order, now());
    if (payable) return { title: t('pay_your_order'), text: t('pay_your_order_text') };
    if (look === 'good') return { title: t('already_bought'), text: t('already_bought_text', { n: io.item.sk_per_max_count }) };
    return undefined;
  });
}

function refused(io, problem) {
  if (problem.status === 422) return void form(io, problem);
  const signIn = problem.status === 403 || problem.status === 401;
  const title = signIn ? t('sign_in_first') : tOr(`refused_${problem.code}`, t('refused'));
  const text = problem.detail || t('refused_text');
  const signInAgain = async () => {
    io.close();
    if (await whoSheet()) openPurchase(io.item);
  };
  const next = signIn ? action('sign_in', signInAgain) : action('done', io.close);
  io.show((node) => void put(node, statePanel({ look: 'bad', title, text }, el('div', { class: 'actions' }, next)).node));
  announce(`${title} ${text}`);
}

const action = (name, f) => el('button', { class: 'button', type: 'button', onclick: f }, t(name));
const ordersLink = (io) => el('a', { class: 'button plain', href: '#/orders', onclick: io.close }, t('see_orders'));

function orderLink(io, order) {
  if (!order.id || order.state === 'queued' || order.state === 'none') return null;
  return el('a', { class: 'button plain', href: `#/order/${order.id}`, onclick: io.close }, t('see_order'));
}

// Buying again makes sense once the order gave its units back, or when the limit may have room.
function again(io, order, full) {
  if (phase(io.item, now()) !== 'live') return null;
  const lost = ['expired', 'cancelled', 'rejected', 'refund_due', 'refunded'].includes(order.state);
  if (!lost && (full || maxCount(io.item) === 1 || order.state === 'queued')) return null;
  return el('button', { class: 'button plain', type: 'button', onclick: () => form(io) }, t(lost ? 'again' : 'buy_more'));
}
