// What an order's state looks like, with what its shopper can do about it: the same in the purchase sheet, the list and
// the order's page.
import { now, onSecond } from './clock.js';
import { cashierText, clockText, outcome } from './core.js';
import { announce, el, icon, put, setText } from './dom.js';
import { t, tOr } from './i18n.js';
import { cashierNote, payButton } from './pay.js';

const PICTURES = { wait: 'clock', good: 'check', bad: 'close', plain: 'undo' };

/** A state as a picture, a title and a text; `busy` turns the picture. */
export function statePanel({ look, title, text, busy }, ...more) {
  const heading = el('p', { class: 'state-title' }, title);
  const words = el('p', { class: 'soft' }, text);
  const badge = el('span', { class: `badge ${look}${busy ? ' busy' : ''}` }, icon(PICTURES[look]));
  return { node: el('div', { class: 'state', 'data-look': look }, badge, heading, words, ...more), heading, words };
}

/**
 * Shows an order's state in `node` and keeps its time to pay counting. Answers the function that stops the counting.
 * `words` may replace the title and the text; what a shopper who was at the cashier has to know comes before both.
 * `actions` are put beside the order's own.
 */
export function showOrder(node, order, { words, actions = [] } = {}) {
  let shown = '';
  let panel;
  const draw = () => {
    const result = outcome(order, now());
    const values = { time: clockText(order.payBy - now()) };
    const way = cashierText(order, cashierNote(order.id), now());
    const own = way ? tOr(way, '') : words?.title;
    const title = own || t(result.text, values);
    if (shown !== `${result.text} ${way}`) {
      shown = `${result.text} ${way}`;
      const waits = ['queued', 'closing', 'pay_over'].includes(result.text) || way === 'confirming';
      const text = way ? t(`${way}_text`) : words?.text || order.help || t(`${result.text}_text`);
      const pays = result.payable && way !== 'confirming'; // shoppers must not pay a second time
      const time = own && pays ? el('p', { class: 'pay-time' }) : null;
      const once = pays && !way ? el('p', { class: 'soft small' }, t('pay_once')) : null;
      panel = statePanel({ look: result.look, title, text, busy: waits }, time, el('div', { class: 'actions' }, pays && payButton(order), actions), once);
      panel.time = time;
      put(node, panel.node);
      announce(`${title} ${text}`);
    }
    setText(panel.heading, title);
    if (panel.time) setText(panel.time, t('pay', values));
  };
  return onSecond(draw);
}
