// Tables of records. The shop gives pages of a list in one order that is cheap for it; only the page that is shown can be
// sorted otherwise, and the table says so. Sort and cursor are in the address.
import { el } from '../dom.js';
import { t } from '../i18n.js';
import { changed, placeOf } from './place.js';

/**
 * A table in a region that scrolls.
 * @param {object} place  the screen's {name, id, query}
 * @param {string} caption  what the rows are, and in which order
 * @param {object[]} columns  {name, title, cell(row) => text, node or list of them; figure: right-aligned; minor: left
 *   out on a phone; by(row) => a number or text to sort by, if one may}
 * @param {object[]} rows
 */
export function table(place, caption, columns, rows) {
  const sort = place.query.get('sort') || '';
  const column = columns.find((c) => c.by && c.name === sort.replace(/^-/, ''));
  const down = sort.startsWith('-');
  const shown = column ? rows.toSorted((a, b) => order(column.by(a), column.by(b)) * (down ? -1 : 1)) : rows;
  const head = (c) => {
    const on = c === column;
    const next = on && down ? '' : `${on ? '-' : ''}${c.name}`; // up, down, as the shop has them
    const link = () => el('a', { id: `sort-${c.name}`, class: 'sort', href: placeOf(place.name, place.id, changed(place.query, { sort: next })) }, c.title, el('span', { 'aria-hidden': 'true' }, on ? (down ? ' ▼' : ' ▲') : ' ↕'));
    return el('th', { scope: 'col', class: classes(c), 'aria-sort': on ? (down ? 'descending' : 'ascending') : null }, c.by ? link() : c.title);
  };
  const row = (r) => el('tr', {}, columns.map((c) => el('td', { class: classes(c) }, c.cell(r))));
  return el(
    'div',
    { class: 'scroll panel', tabindex: 0, role: 'region', 'aria-label': `${caption.split(/[。.,，]/)[0]} · ${t('table_scroll')}` },
    el('table', {}, el('caption', {}, caption, column && ` · ${t('table_sorted')}`), el('thead', {}, el('tr', {}, columns.map(head))), el('tbody', {}, shown.map(row))),
  );
}

const classes = (c) => [c.figure && 'figure', c.minor && 'minor', c.long && 'long'].filter(Boolean).join(' ') || null;

function order(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a ?? '').localeCompare(String(b ?? ''), 'en', { numeric: true });
}

/** Below a page of a list: the next page, and the way back to the first. */
export function pager(place, next) {
  const after = place.query.get('after');
  if (!after && !next) return null;
  const link = (id, text, cursor) => el('a', { id, class: 'button plain', href: placeOf(place.name, place.id, changed(place.query, { after: cursor })) }, t(text));
  return el('nav', { class: 'pager', 'aria-label': t('table_pages') }, after && link('page-first', 'table_first', ''), next && link('page-next', 'table_next', next));
}

/** A page of a list: its table, or that it is empty, and the pager. */
export function listing(place, { caption, columns, rows, next }) {
  const all = [...place.query.keys()].every((name) => name === 'sort');
  return [rows.length ? table(place, caption, columns, rows) : el('p', { class: 'panel soft', role: 'status' }, t(next ? 'table_none_yet' : all ? 'table_empty' : 'table_none')), pager(place, next)];
}
