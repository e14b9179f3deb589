// The purchase sheet: form, sending, queue, payment, outcome. It draws what purchase.js decides.
import { buy, itemStatus, myOrders, newestOrder, orderDetail } from './api.js';
import { addressForm } from './address.js';
import { at, knownNow, now, onSecond, sync } from './clock.js';
import { addressFaults, addressText, bodyOf, clockText, counted, decide, gaveBack, holding, maxCount, noToken, orderOf, outcome, phase, unitsOf, yuan } from './core.js';
import { cover } from './cover.js';
import { openSheet } from './dialogs.js';
import { announce, el, pause, put, setText } from './dom.js';
import { door } from './door.js';
import { noteAccepted, noteClosed, noteOrder } from './holds.js';
import { t, tOr } from './i18n.js';
import { onLook } from './items.js';
import { lineOf } from './line.js';
import { showOrder, statePanel } from './panel.js';
import { follow, purchase } from './purchase.js';
import { beReady, forgetIntent, intent, intents, lastAddress, readyFor } from './session.js';
import { limitText, nameOf, optionsText } from './variants.js';
import { signIn, signedIn } from './who.js';

const RENEWALS = 2; // how often a refused ticket is renewed at one press
const STALE = 7_000; // ms for which a look may still show what was there before the refusal
const RECENT = 100; // orders among which the item's orders are counted

/** Opens the sheet for an item, after asking who buys; `back` when its shopper comes back from signing in. */
export async function openPurchase(item, back) {
  if (!signedIn() && !(await signIn({ item: item.id }))) return;
  const left = new AbortController();
  let undraw = () => {};
  const closed = () => {
    left.abort();
    undraw();
    noteClosed();
  };
  const sheet = openSheet(t(phase(item, knownNow()) === 'upcoming' ? 'prepare' : 'buy'), closed, { item: item.id });
  const panel = el('div', { class: 'panel-body', tabindex: -1 });
  const notification = el('p', { class: 'notification', hidden: true }, t('trouble'));
  const price = el('p', { class: 'price' });
  put(sheet.body, summary(item, price), panel, notification);
  const io = {
    item,
    room: maxCount(item), // units that the limit still allows
    signal: left.signal,
    close: sheet.close,
    title: (name) => sheet.title(t(name)),
    // The price of one unit, or what an order of several costs.
    price(amount, count) {
      const each = count > 1 ? el('span', { class: 'soft' }, `${count} × ¥${yuan(item.sk_price)}`) : el('span', { class: 'tag' }, limitText(item));
      put(price, el('span', { class: 'now' }, el('small', {}, '¥'), yuan(amount)), each);
    },
    // What is shown may leave something running; the next thing that is shown ends it. A focus that would be lost stays
    // in the panel.
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
  io.price(item.sk_price, 1);
  await begin(io, back);
}

// An order that is still open comes first, then a purchase without an answer, then the limit: who reloads the page or
// lost the answer finds it again, and nobody fills in a form in vain. Shoppers who signed in again to send a purchase
// go on with it; who was only ready has not pressed the button.
async function begin(io, back) {
  io.show((node) => void put(node, el('p', { class: 'soft center' }, t('loading'))));
  const { item } = io;
  try {
    const order = orderOf(await newestOrder(item.id));
    if (io.signal.aborted) return;
    if (holding(order)) {
      forgetIntent(item.id);
      return void watch(io, order.id);
    }
    if (order.id || item.variant?.limit_spans) {
      const orders = await myOrders(1, RECENT);
      io.room = maxCount(item) - unitsOf(orders, item);
      if (io.signal.aborted) return;
      const other = counted(orders, item).find((o) => o.seckill.id !== item.id);
      if (io.room <= 0 && (other || !gaveBack(order))) {
        forgetIntent(item.id);
        return void atLimit(io, order.id && !gaveBack(order) ? { orderId: order.id } : { orderId: other.id, other });
      }
      io.room = Math.max(1, io.room); // the server decides
    }
  } catch {
    if (io.signal.aborted) return; // without an answer the form is still of use
  }
  const open = intents()[item.id];
  if (open && back?.sent) return void run(io, bodyOf(open));
  if (open) return void unanswered(io, open);
  const count = readyFor(item.id);
  if (count && !back && phase(item, knownNow()) === 'live' && Object.keys(addressFaults(lastAddress())).length === 0) {
    return void run(io, { count: Math.min(count, io.room), address: addressText(lastAddress()) });
  }
  form(io);
}

function summary(item, price) {
  return el('div', { class: 'summary' }, el('div', { class: 'cover' }, cover(item)), el('div', {}, el('p', { class: 'summary-title' }, item.commodity.title), item.variant && el('p', { class: 'soft' }, optionsText(item)), price));
}

function form(io, problem) {
  const { item } = io;
  const most = Math.min(maxCount(item), io.room);
  let count = Math.min(most, readyFor(item.id) || 1);
  const upcoming = phase(item, knownNow()) === 'upcoming';
  io.title(upcoming ? 'prepare' : 'buy');
  const fault = el('p', { class: 'fault', role: 'alert' }, problem?.detail || '');
  const address = addressForm();
  const checks = item.checks && el('div');
  const amount = el('output', { id: 'count', class: 'stepper-count', for: 'fewer more-units' });
  const fewer = el('button', { id: 'fewer', class: 'round', type: 'button', 'aria-label': t('fewer'), onclick: () => step(-1) }, '−');
  const more = el('button', { id: 'more-units', class: 'round', type: 'button', 'aria-label': t('more_units'), onclick: () => step(1) }, '+');
  const total = el('span', { class: 'now' });
  const submit = el('button', { class: 'button wide', type: 'submit' });
  const ready = el('p', { class: 'ready', role: 'status' });
  const hold = Number(document.documentElement.dataset.hold); // seconds

  function step(by) {
    count = Math.min(most, Math.max(1, count + by));
    setText(amount, String(count));
    fewer.disabled = count <= 1;
    more.disabled = count >= most;
    put(total, el('small', {}, '¥'), yuan(item.sk_price * count));
    if (by && readyFor(item.id)) beReady(item.id, count);
  }

  function send(event) {
    event.preventDefault();
    if (!address.check()) return;
    const question = document.querySelector('[data-open]');
    if (question) return question.requestSubmit(); // the question comes first
    if (phase(item, knownNow()) === 'upcoming') {
      beReady(item.id, count);
      return opening();
    }
    run(io, { count, address: addressText(address.parts()) });
  }

  // The button follows the server's clock and opens at the instant.
  function opening() {
    const current = phase(item, knownNow());
    const isReady = current === 'upcoming' && readyFor(item.id) > 0;
    submit.disabled = (current !== 'live' && current !== 'upcoming') || isReady;
    const wait = { time: clockText(Date.parse(item.start_time) - now()) };
    setText(submit, current === 'live' ? t('submit') : current === 'upcoming' ? (isReady ? t('submit_wait', wait) : t('be_ready')) : t(current === 'stopped' ? 'stopped' : 'over'));
    setText(ready, isReady ? t('ready_text') : '');
    if (current === 'live') io.title('buy');
  }

  address.onChange(() => {
    put(fault, '');
    if (!readyFor(item.id)) return;
    beReady(item.id, 0);
    opening();
  });
  io.show((node) => {
    put(
      node,
      checks,
      el(
        'form',
        { class: 'purchase', novalidate: true, onsubmit: send },
        el('div', { class: 'row' }, el('span', { id: 'count-label' }, t('count')), el('div', { class: 'stepper', role: 'group', 'aria-labelledby': 'count-label' }, fewer, amount, more)),
        address.node,
        fault,
        el('div', { class: 'pinned' }, el('div', { class: 'row total' }, el('span', {}, t('total')), total), ready, submit),
        hold > 0 && el('p', { class: 'soft center small' }, t('submit_note', { n: Math.round(hold / 6) / 10 })),
      ),
    );
    step(0);
    door(item, (d) => d.show(item, checks));
    const stops = [onSecond(opening), at(Date.parse(item.start_time), opening)];
    return () => stops.forEach((stop) => stop());
  });
}

// A state in which the shopper waits; `until` counts down by itself, so that nothing on the page stands still.
function waiting(io, name, { until, actions = [] } = {}) {
  io.title('buy');
  io.show((node) => {
    const title = t(name);
    const panel = statePanel({ look: 'wait', title, text: '', busy: true }, el('div', { class: 'actions' }, actions));
    put(node, panel.node);
    const words = () => t(`${name}_text`, { n: until ? Math.max(0, Math.ceil((until - now()) / 1000)) : 0 });
    setText(panel.words, words());
    announce(`${title} ${words()}`);
    return until ? onSecond(() => setText(panel.words, words())) : undefined;
  });
}

function unanswered(io, body) {
  const again = action('keep_trying', () => run(io, body));
  const other = el('button', { class: 'button plain', type: 'button', onclick: () => form(io) }, t('other_order'));
  waiting(io, 'unanswered', { actions: [again, other] });
}

async function run(io, body, renewed = 0) {
  const { item, signal } = io;
  const got = await door(item, (d) => d.ticket(item, signal, renewed, (name, until) => waiting(io, name, { until })));
  if (signal.aborted) return;
  if (item.checks && !got?.ok) return void refused(io, got || {});
  const earlier = intents()[item.id]?.key;
  const meant = intent(item.id, nameOf(item), body);
  beReady(item.id, 0);
  io.price(item.sk_price * body.count, body.count);
  let attempts = 0;
  const result = await purchase({
    send() {
      waiting(io, attempts++ ? 'sending_again' : 'sending');
      return buy(item.id, body, meant.key, got?.ticket);
    },
    wait: (ms) => pause(ms, signal),
    now,
    signal,
    sentBefore: earlier === meant.key,
    ticket: Boolean(got?.ticket),
    soldOut: () => itemStatus(item.id).then((s) => s.sold_out && !s.as_of, () => false),
    onWait({ kind, ms, problem }) {
      waiting(io, kind === 'waiting_start' ? kind : problem.status === 0 ? 'offline' : 'retrying', { until: now() + ms });
    },
  });
  if (result.kind === 'unanswered') return void unanswered(io, body);
  if (result.kind === 'left') return; // without an answer the key is kept for the next attempt
  if (result.problem?.code === 'ticket_required' && renewed < RENEWALS) {
    item.checks ||= 'standard'; // the item has got checks since the page asked
    return void run(io, body, renewed + 1);
  }
  if (result.kind !== 'sign_in') forgetIntent(item.id); // it is sent with the same key afterwards
  if (result.kind === 'accepted') noteAccepted(result.orderId);
  if (signal.aborted) return;
  if (result.kind === 'accepted') return void watch(io, result.orderId, { count: body.count, push: result.push });
  if (result.kind === 'limit') return void atLimit(io, result.problem);
  refused(io, result.problem, body);
}

// What is pushed of an order that can be paid says all that this sheet shows.
const enough = (order) => order.state === 'pending_payment';

// Follows the order to its rest. `push` is what the answer to the purchase says about it.
function watch(io, orderId, { words, count, push, other } = {}) {
  const { item, signal } = io;
  io.title('order');
  let known = count;
  const draw = (order) =>
    io.show((node) => showOrder(node, order, { words: words?.(order), actions: [orderLink(order), again(io, order, known)] }));
  // The newest order says only its state, but other parts of the page need its price, and that it is open.
  const learn = (answer) => {
    noteOrder(answer);
    known = answer.count;
    if (!signal.aborted && answer.amount) io.price(answer.amount, answer.count); // a rejected order has no units
  };
  draw(orderOf({ id: orderId, state: 'queued' }));
  let shown = '';
  const see = (order) => {
    io.trouble(false);
    if (order.state === 'expired' && now() < order.payBy) sync(); // our clock is behind
    const key = JSON.stringify([order.state, order.canPay, order.payBy]);
    if (key === shown) return false;
    draw(order);
    shown = key;
    return true;
  };
  follow({
    orderId,
    newest: other ? undefined : () => newestOrder(item.id),
    byId: orderDetail,
    wait: (ms) => pause(ms, signal),
    line: orderId ? lineOf(orderId, push, signal, now() - Date.parse(item.start_time)) : undefined,
    signal,
    onHeard(order, message) {
      see(order);
      if (enough(order)) learn({ ...message, id: orderId, seckill: other?.seckill || item });
    },
    enough,
    onOrder(order, whole) {
      const changed = see(order);
      if (whole) learn(whole);
      else if (changed && order.id && order.state !== 'queued' && order.state !== 'none') orderDetail(order.id).then(learn, () => {});
    },
    onTrouble(problem) {
      if (decide(problem) === 'retry') io.trouble(true);
      else refused(io, problem);
    },
  });
}

// The limit is used up: by an order to pay, by a paid order, or by an order that is on its way; `other` is an order of
// another variant.
function atLimit(io, problem) {
  const words = (order) => {
    const { look, payable } = outcome(order, now());
    if (payable) return { title: t('pay_your_order'), text: t('pay_your_order_text') };
    if (look === 'good') return { title: t('already_bought'), text: t('already_bought_text', { n: io.item.sk_per_max_count }) };
    return undefined;
  };
  watch(io, problem.orderId, { words, other: problem.other });
}

// `body` is the purchase that was refused.
function refused(io, problem, body) {
  if (problem.status === 422) return void form(io, problem);
  const unknown = noToken(problem);
  const title = unknown ? t('sign_in_first') : tOr(`refused_${problem.code}`, t('refused'));
  const kept = unknown && intents()[io.item.id];
  const text = kept ? t('signin_kept_text') : problem.detail || t('refused_text');
  const place = { item: io.item.id, sent: true };
  const signInAgain = () =>
    io.close(async () => {
      if (await signIn(place)) openPurchase(io.item, place);
    });
  const next = unknown ? action('sign_in', signInAgain) : action('done', () => io.close());
  const since = now();
  io.show((node) => {
    put(node, statePanel({ look: 'bad', title, text }, el('div', { class: 'actions' }, next)).node);
    return body && ['sold_out', 'not_enough', 'stopped'].includes(problem.code) ? onLook((item) => now() - since > STALE && isBack(io, item, body)) : undefined;
  });
  announce(`${title} ${text}`);
}

// Units came back while the shopper still reads that there were none.
function isBack(io, { id, stock: n, state }, body) {
  if (id !== io.item.id || n < body.count || state !== 'online') return;
  const words = { look: 'good', title: t('back_again'), text: t('back_again_text', { n }) };
  io.show((node) => void put(node, statePanel(words, el('div', { class: 'actions' }, action('buy', () => run(io, body)))).node));
  announce(`${words.title} ${words.text}`);
}

const action = (name, f) => el('button', { class: 'button', type: 'button', onclick: f }, t(name));

function orderLink(order) {
  if (!order.id || order.state === 'queued' || order.state === 'none') return null;
  return el('a', { class: 'button plain', href: `#/order/${order.id}` }, t('see_order'));
}

// Buying again makes sense once the order gave its units back, or when the limit has room beside it.
function again(io, order, count) {
  if (phase(io.item, knownNow()) !== 'live' || order.reason === 'blocked') return null;
  const lost = gaveBack(order);
  if (!lost && (order.state === 'queued' || !count || io.room - count <= 0)) return null;
  return el('button', { class: 'button plain', type: 'button', onclick: () => begun(io) }, t(lost ? 'again' : 'buy_more'));
}

// Another purchase beside an open order: begin would show that order again.
async function begun(io) {
  try {
    io.room = Math.max(1, maxCount(io.item) - unitsOf(await myOrders(1, RECENT), io.item));
  } catch {
    io.room = maxCount(io.item); // the server decides
  }
  io.price(io.item.sk_price, 1);
  if (!io.signal.aborted) form(io);
}
