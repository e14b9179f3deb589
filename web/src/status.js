// The read-only status page of a local run. Fields that an older or newer server does not send are shown as a dash.
import { localState } from './api.js';
import { yuan } from './core.js';
import { el, put, setText } from './dom.js';
import { startLanguage, switchLanguage, t, tOr, translate, when } from './i18n.js';
import './status-texts.js';

const EVERY = 2_000; // ms

const TABLES = [
  ['items', 'status_items', ['id', 'title', 'state', 'stock', 'left', 'held', 'awaiting', 'installed']],
  ['queues', 'status_queues', ['queue', 'visible', 'in_flight', 'delayed', 'parked']],
  ['refunds_due', 'status_refunds', ['order', 'trade', 'amount']],
  ['refunds_refused', 'status_refused', ['order', 'trade', 'amount']],
];

// Columns that are not simply the field of their name.
const CELLS = {
  queue: (row) => row.name,
  order: (row) => row.order_id,
  trade: (row) => row.trade_no,
  amount: (row) => row.amount !== undefined && `¥${yuan(row.amount)}`,
  state: (row) => tOr(`item_${row.state}`, row.state),
  installed: (row) => row.installed !== undefined && t(row.installed ? 'yes' : 'no'),
};

const TEXT_COLUMNS = new Set(['id', 'title', 'state', 'installed', 'queue', 'order', 'trade']);

let last = {};

function table([field, heading, columns]) {
  const rows = Array.isArray(last[field]) ? last[field] : [];
  const cell = (row, column) => {
    const value = (CELLS[column] || ((r) => r[column]))(row);
    const shown = value === undefined || value === null || value === false ? '–' : String(value);
    const alarm = column === 'parked' && row.parked > 0;
    return el('td', { class: [TEXT_COLUMNS.has(column) ? '' : 'figure', alarm ? 'alarm' : ''].join(' ').trim() || null }, shown);
  };
  const head = el('tr', {}, columns.map((c) => el('th', { scope: 'col', class: TEXT_COLUMNS.has(c) ? null : 'figure' }, t(`st_${c}`))));
  const body = rows.map((row) => el('tr', {}, columns.map((c) => cell(row, c))));
  return el(
    'section',
    { class: 'panel', 'data-table': field },
    el('h2', {}, t(heading)),
    rows.length ? el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t(heading) }, el('table', {}, el('thead', {}, head), el('tbody', {}, body))) : el('p', { class: 'soft' }, t('status_none')),
  );
}

function orders() {
  const counts = Object.entries(last.orders || {}).filter(([, n]) => n > 0);
  const chips = counts.map(([state, n]) => el('li', { 'data-state': state }, el('b', {}, String(n)), tOr(`state_${state}`, state)));
  return el('section', { class: 'panel' }, el('h2', {}, t('status_orders')), chips.length ? el('ul', { class: 'counts' }, chips) : el('p', { class: 'soft' }, t('status_none')));
}

function show() {
  translate(document);
  document.title = `${t('status')} · ${t('brand')}`;
  const facts = [last.now && `${t('server_time')} ${when(last.now, true)}`, last.version && `${t('status_version')} ${last.version}`];
  setText(document.getElementById('facts'), facts.filter(Boolean).join(' · '));
  const [items, queues, ...refunds] = TABLES.map(table);
  put(document.getElementById('state'), items, orders(), queues, ...refunds);
}

async function look() {
  if (document.visibilityState === 'visible') {
    const trouble = document.getElementById('trouble');
    try {
      last = (await localState()) || {};
      trouble.hidden = true;
      show();
    } catch {
      trouble.hidden = false;
    }
  }
  setTimeout(look, EVERY);
}

startLanguage();
document.getElementById('language').addEventListener('click', () => {
  switchLanguage();
  show();
});
show();
look();
