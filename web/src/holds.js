// The shopper's open orders: units that are held and not paid yet. They are the first thing on every page, also after a
// reload. Who signs in is asked for once by the list; afterwards this tab knows its orders by their ids.
import { myOrders, orderDetail } from './api.js';
import { now, onSecond } from './clock.js';
import { cashierText, clockText, holding, orderOf, outcome, pollWait, retryWait } from './core.js';
import { el, put, setText } from './dom.js';
import { t, tOr } from './i18n.js';
import { cashierNote, payButton } from './pay.js';
import { intents, onShopper, onSignInEnded, openOrders, rememberOpen, shopper } from './session.js';
import { nameOf } from './variants.js';

const LATEST = 10; // orders asked for after signing in
const SLOWEST = 10_000; // ms between looks at an open order outside its sheet and its page

const held = new Map(); // answers of /order/{id}, by id
const listeners = new Set();
let round = 0;
let timer = 0;

/** The open order of an item, or undefined. */
export const holdOf = (item) => [...held.values()].find((o) => o.seckill?.id === item);

/** Calls f whenever the open orders change. */
export function onHolds(f) {
  listeners.add(f);
  return () => listeners.delete(f);
}

const tell = () => listeners.forEach((f) => f());

/** Takes note of an order as /order/{id} or the list has it. */
export function noteOrder(answer) {
  const open = holding(answer);
  if (!open && !held.has(answer.id)) return;
  rememberOpen(answer.id, open);
  if (open) held.set(answer.id, answer);
  else held.delete(answer.id);
  tell();
}

/** A sheet was closed: what goes on in it goes on in the bar. */
export function noteClosed() {
  tell();
  if (openOrders().length > 0) refresh();
}

/** A purchase was accepted: its order is followed from now on. */
export function noteAccepted(id) {
  rememberOpen(id, true);
  refresh();
}

/** Asks for the open orders that this tab knows; `signedIn` asks for the newest orders instead. */
export async function refresh(signedIn = false) {
  const mine = ++round;
  clearTimeout(timer);
  if (!shopper()) return;
  let failed = 0;
  if (signedIn) {
    try {
      const orders = await myOrders(1, LATEST);
      if (mine !== round) return;
      orders.forEach(noteOrder);
    } catch {
      failed++;
    }
  } else if (document.visibilityState === 'visible' && !document.querySelector('dialog')) {
    for (const id of openOrders()) {
      if (location.hash === `#/order/${id}`) continue; // the order's page asks
      try {
        const answer = await orderDetail(id);
        if (mine !== round) return;
        held.set(id, answer);
        noteOrder(answer);
      } catch (problem) {
        if (mine !== round) return;
        // A queued order may have no row yet; if an order stays unknown, its page treats it as rejected.
        if (problem.status === 403) return;
        failed++;
      }
    }
  }
  if (openOrders().length > 0 || failed) {
    const states = [...held.values()].map((o) => pollWait(o.state, 60, 0) || SLOWEST);
    timer = setTimeout(() => refresh(), failed ? retryWait(4, 0) : Math.max(SLOWEST / 2, Math.min(SLOWEST, ...states)));
  }
}

/** Shows the open orders and unanswered purchases in `node`; `onContinue(itemId)` goes on with an unanswered one. */
export function holdsBar(node, onContinue) {
  let stops = [];
  const draw = () => {
    for (const stop of stops) stop();
    stops = [];
    const shown = [...held.values()].filter((o) => location.hash !== `#/order/${o.id}`);
    const known = new Set([...held.values()].map((o) => o.seckill?.id));
    const unanswered = shopper() ? Object.entries(intents()).filter(([item]) => !known.has(item)) : [];
    node.hidden = shown.length + unanswered.length === 0;
    put(
      node,
      shown.map(row),
      unanswered.map(([item, { title }]) =>
        el('div', { class: 'hold' }, el('p', {}, el('b', {}, title), ' ', t('hold_unanswered')), el('button', { class: 'button', type: 'button', onclick: () => onContinue(item) }, t('hold_continue'))),
      ),
    );
  };
  const row = (answer) => {
    const order = orderOf(answer);
    const words = el('span', {});
    const tick = () => {
      const result = outcome(order, now());
      const way = cashierText(order, cashierNote(order.id), now());
      setText(words, tOr(way, t(result.text, { time: clockText(order.payBy - now()) })));
    };
    stops.push(onSecond(tick));
    return el(
      'div',
      { class: 'hold', 'data-hold': answer.id },
      el('p', {}, el('b', {}, nameOf(answer.seckill)), ' ', words),
      el('div', { class: 'actions' }, el('a', { class: 'button plain', href: `#/order/${answer.id}` }, t('see_order')), outcome(order, now()).payable && cashierText(order, cashierNote(order.id), now()) !== 'confirming' && payButton(order, refresh)),
    );
  };
  onHolds(draw);
  onShopper(() => {
    held.clear();
    draw();
    refresh(true);
  });
  onSignInEnded(() => {
    held.clear();
    draw();
  });
  window.addEventListener('hashchange', draw);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && openOrders().length > 0 && refresh());
  draw();
  if (openOrders().length > 0) refresh();
  return draw;
}
