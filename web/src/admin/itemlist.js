// The shop's items, shortly or as an export has them, and files of items: what a file would change.
import { command } from './call.js';
import { Unreadable, read } from './csv.js';

/** Every item, sorted by id, without descriptions and questions: {items, unreadable}. */
export async function allItems() {
  const { items, unreadable = [] } = await command('items', { no_left: true });
  return { items, unreadable };
}

/** The same with everything that a file has, as an export gives it. */
export async function exported() {
  const items = [];
  const unreadable = new Set();
  for (let after; ; ) {
    const page = await command('export', { after });
    items.push(...page.items);
    for (const row of page.unreadable || []) unreadable.add(row);
    if (!page.next || page.next === after) return { items, unreadable: [...unreadable] };
    after = page.next;
  }
}

/** An item's title with its options, by which variants are told apart. */
export const fullTitle = (it) => [it.title, it.options].filter(Boolean).join(' · ');

/** The file of exported items, byte for byte as `seckill items export` writes it: prices have two decimals. */
export const exportText = (items) => `${JSON.stringify(items, null, 2).replace(/^( {4}"(?:sk_)?price": )([\d.]+)/gm, (_, key, yuan) => key + Number(yuan).toFixed(2))}\n`;

/** The item of an id with its `rules`, or undefined. */
export async function oneItem(id) {
  try {
    const { item, rules } = await command('item', { item: id });
    return { ...item, rules };
  } catch (problem) {
    if (problem.code === 'item_unknown') return undefined;
    throw problem;
  }
}

/** The columns of a file, in the order in which changes are told. */
export const COLUMNS = ['title', 'price', 'sk_price', 'start_time', 'end_time', 'stock', 'limit', 'checks', 'commodity_id', 'family', 'options', 'limit_spans', 'covers', 'questions', 'detail'];

// The columns of a CSV file, as package itemfile has them.
const REQUIRED = ['id', 'title', 'price', 'sk_price', 'start_time', 'end_time', 'stock', 'limit'];
const FORMAT = { required: REQUIRED, columns: ['id', ...COLUMNS, 'version'], numbers: ['id', 'commodity_id', 'family'] };

/**
 * Reads a file of items: {text, rows: [{…columns}], lines}. `text` is the JSON that the shop takes; lines[i] is the line
 * of a CSV file in which row i begins, lines is null for JSON. Throws an Error whose message is the name of a text, or
 * Unreadable; what is wrong in a row, the shop says.
 */
export function readItems(name, text) {
  if (/\.json$/i.test(name)) {
    let rows;
    try {
      rows = JSON.parse(text);
    } catch {
      throw new Error('import_json');
    }
    if (!Array.isArray(rows) || rows.some((r) => !r || typeof r !== 'object')) throw new Error('import_array');
    return { text, rows, lines: null };
  }
  if (!/\.csv$/i.test(name)) throw new Error('import_kind');
  const { lines, faults } = read(text, FORMAT, 0);
  if (faults.length) throw new Unreadable(faults[0].text, faults[0].values, faults[0].n);
  const rows = lines.map((row) => rowOf(Object.fromEntries(FORMAT.columns.filter(row.has).map((column) => [column, row.cell(column).trim()]))));
  return { text: JSON.stringify(rows), rows, lines: lines.map((row) => row.n) };
}

// A line's cells as an element of a JSON file: pictures are separated by blanks, questions stand one on a line.
function rowOf(cells) {
  const { covers = '', questions = '', ...row } = cells;
  if ('covers' in cells) row.covers = covers.split(/\s+/).filter(Boolean);
  if ('questions' in cells) row.questions = questionsOf(questions);
  return row;
}

/** Questions as they are written, one on a line: text = answer | answer. */
export const questionsOf = (text) =>
  text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const at = line.lastIndexOf('=');
    return { text: line.slice(0, Math.max(at, 0)).trim(), answers: line.slice(at + 1).split('|').map((a) => a.trim()) };
  });

/** The same, the other way round. */
export const writtenQuestions = (all = []) => all.map((q) => `${q.text} = ${q.answers.join(' | ')}`).join('\n');

// A column's value in one spelling, so that only real differences differ.
const SPELL = {
  title: (r) => String(r.title ?? '').trim(),
  price: (r) => Number(r.price).toFixed(2),
  sk_price: (r) => Number(r.sk_price).toFixed(2),
  start_time: (r) => Date.parse(r.start_time),
  end_time: (r) => Date.parse(r.end_time),
  stock: (r) => Number(r.stock),
  limit: (r) => Number(r.limit),
  checks: (r) => (r.checks === 'off' || !r.checks ? '' : r.checks),
  commodity_id: (r) => String(r.commodity_id || r.id),
  family: (r) => String(r.family || ''),
  options: (r) => String(r.options || '').split('|').map((part) => part.split('=').map((s) => s.trim()).join('=')).join(' | '),
  limit_spans: (r) => String(r.limit_spans || 'false').toLowerCase(),
  covers: (r) => (r.covers || []).join(' '),
  questions: (r) => JSON.stringify((r.questions || []).map((q) => [q.text, q.answers])),
  detail: (r) => r.detail || '',
};

/**
 * What a file would change: [{id, title, made, changes: [{column, before, after}]}]. An item keeps the columns that its row
 * does not have. The shop cleans descriptions when it takes them, so one may be listed as a change although it is not.
 */
export function changesOf(rows, items) {
  const known = new Map(items.map((it) => [it.id, it]));
  return rows.map((r) => {
    const old = known.get(String(r.id));
    const differ = (column) => r[column] !== undefined && !Object.is(SPELL[column](r), SPELL[column](old));
    const changes = old ? COLUMNS.filter(differ).map((column) => ({ column, before: old[column], after: r[column] })) : [];
    return { id: String(r.id ?? ''), title: SPELL.title(r), made: !old, changes };
  });
}

/** A refusal of a file of items, with the lines of the CSV file in place of the elements that were made of it. */
export const atLines = (text, lines) => (lines ? text.replace(/items\.json: /, '').replace(/element (\d+) \(line \d+\)/g, (whole, n) => (lines[n - 1] ? `line ${lines[n - 1]}` : whole)) : text.replace(/items\.json: /, ''));
