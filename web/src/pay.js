// Paying: the way to the cashier and the way back. Coming back proves nothing: an order is paid when the server says so.
// What this tab knows of the cashier lies in sessionStorage, by order: that it went there, came back by the cashier's own
// link, or that another tab went.
import { payOrder } from './api.js';
import { sync } from './clock.js';
import { el, put, setText } from './dom.js';
import { t } from './i18n.js';
import { onShopper, shopper } from './session.js';

const STORE = 'seckill.cashier';
const GIVE_UP = 10_000; // ms after which a cashier that did not open can be opened again
const MOST = 20; // orders that are remembered
const ORDER = /^o[a-z2-7]{26,31}$/;
const PHONE = '(max-width: 640px), (pointer: coarse)';

let notes = read(); // by order: {what: "went", "back" or "elsewhere", at (ms, by the device's clock)}

/** What this tab knows of the cashier of an order, {what, ago (ms)}, or undefined. */
export const cashierNote = (order) => notes[order] && { what: notes[order].what, ago: Date.now() - notes[order].at };

function note(order, what) {
  const { [order]: _, ...rest } = notes;
  notes = Object.fromEntries([...Object.entries(rest).slice(1 - MOST), [order, { what, at: Date.now() }]]);
  try {
    sessionStorage.setItem(STORE, JSON.stringify(notes));
  } catch {
    return; // it lasts as long as the page
  }
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(STORE)) || {};
  } catch {
    return {};
  }
}

/**
 * Takes what the cashier added to the page's address out of it, and goes to the order: paid=ID is the way back from a
 * payment, order=ID from a cashier that was left; Alipay's own parameters say less than the server does.
 */
export function arrive() {
  const query = new URLSearchParams(location.search);
  const order = query.get('paid') || query.get('order') || query.get('out_trade_no');
  if (order === null) return;
  const lang = query.has('lang') ? `?lang=${encodeURIComponent(query.get('lang'))}` : '';
  const known = ORDER.test(order);
  history.replaceState(null, '', `${location.pathname}${lang}${known ? `#/order/${order}` : location.hash}`);
  if (known) note(order, query.has('paid') ? 'back' : 'went');
}

/**
 * A button that goes to the cashier, in this tab: that is where the cashier sends the shopper back to. `onRefused` runs
 * when the order cannot be paid any more.
 */
export function payButton(order, onRefused = () => {}) {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const ready = () => {
    button.disabled = false;
    setText(button, t('pay_button'));
  };
  const go = async () => {
    button.disabled = true;
    setText(button, t('pay_opening'));
    put(fault, '');
    try {
      const { url } = await payOrder(order.id, matchMedia(PHONE).matches ? 'wap' : 'page');
      note(order.id, 'went');
      tellTabs(order.id);
      window.addEventListener('pageshow', ready, { once: true }); // Back may find the page as it was left
      setTimeout(ready, GIVE_UP);
      location.assign(url);
    } catch (problem) {
      ready();
      put(fault, problem.detail || t('no_answer'));
      if (problem.status === 409) onRefused();
    }
  };
  const button = el('button', { class: 'button', type: 'button', onclick: go }, t('pay_button'));
  return [button, fault];
}

// Other tabs hear of it as a change of storage; nothing stays there.
function tellTabs(order) {
  try {
    localStorage.setItem(STORE, JSON.stringify({ order, at: Date.now() }));
    localStorage.removeItem(STORE);
  } catch {
    return; // they see what becomes of the order all the same
  }
}

window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== STORE || !newValue) return;
  const { order } = JSON.parse(newValue);
  if (ORDER.test(order) && !notes[order]) note(order, 'elsewhere');
});

// A page that comes out of the back/forward cache has slept: its clock may be late.
window.addEventListener('pageshow', (event) => event.persisted && sync());

onShopper(() => {
  if (shopper()) return;
  notes = {};
  try {
    sessionStorage.removeItem(STORE);
  } catch {
    return; // there is no storage
  }
});
