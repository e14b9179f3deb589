// CSV files: lines of a file that staff choose, as package linefile of the command line tool reads them, and files that
// the pages write, as its exports are.

export const MAX_LINES = 100_000; // of a file that is read; the command line tool takes more
const MAX_LINE = 4 << 10; // characters

const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Puts a ' before a cell that a spreadsheet would take for a formula. */
export const harmless = (cell) => (FORMULA.test(cell) ? `'${cell}` : cell);

/** Takes back what harmless did. */
export const unquoted = (cell) => (cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell);

/** A line of a file, without formulas. */
export const line = (cells) => `${cells.map((c) => quoted(harmless(String(c ?? '')))).join(',')}\n`;

const quoted = (cell) => (/["\r\n,]|^\s|^\\\.$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A time as the command line tool writes it: UTC, whole seconds; '' for none. */
export const time = (text) => {
  const ms = Date.parse(text);
  return ms ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : '';
};

/** Money as the command line tool writes it: yuan with two decimals. */
export const yuan = (amount) => Number(amount || 0).toFixed(2);

/** Why a file cannot be read at all: the name of a text, and what it is filled with. */
export class Unreadable extends Error {
  constructor(name, values = {}) {
    super(name);
    this.text = name;
    this.values = values;
  }
}

/**
 * Reads a file's text: {lines: [{n, cell(column)}], faults: [{n, text, values}]}; n is the line's number, from 1. A quoted
 * field ends on its line. Throws Unreadable.
 */
export function read(bytes, required) {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) throw new Unreadable('csv_utf16');
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes); // which also takes the mark off
  } catch {
    throw new Unreadable('csv_utf8');
  }
  const all = text.split(/\r?\n/);
  if (all.at(-1) === '') all.pop();
  if (all.length === 0) throw new Unreadable('csv_empty', { columns: required.join(', ') });
  if (all.length > MAX_LINES + 1) throw new Unreadable('csv_lines', { most: MAX_LINES });
  const names = fields(all[0]);
  if (!names) throw new Unreadable('csv_head');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Unreadable('csv_twice', { name: twice });
  const missing = required.find((name) => !names.includes(name));
  if (missing) throw new Unreadable('csv_missing', { name: missing });
  const out = { lines: [], faults: [] };
  all.slice(1).forEach((raw, i) => {
    const n = i + 2;
    if (raw === '') return;
    if (raw.length > MAX_LINE) return void out.faults.push({ n, text: 'csv_long', values: { most: MAX_LINE } });
    const cells = fields(raw);
    if (!cells) return void out.faults.push({ n, text: 'csv_quotes' });
    if (cells.length !== names.length) return void out.faults.push({ n, text: 'csv_width', values: { n: cells.length, want: names.length } });
    out.lines.push({ n, cell: (name) => cells[names.indexOf(name)] ?? '' });
  });
  if (out.lines.length + out.faults.length === 0) throw new Unreadable('csv_none');
  return out;
}

// The cells of a line, or null if its quotes are wrong.
function fields(raw) {
  const out = [];
  let rest = raw;
  for (;;) {
    const m = /^"((?:[^"]|"")*)"(,|$)|^([^",]*)(,|$)/.exec(rest);
    if (!m) return null;
    out.push((m[1] !== undefined ? m[1].replaceAll('""', '"') : m[3]).replace(/^[ \t]+|[ \t]+$/g, ''));
    rest = rest.slice(m[0].length);
    if ((m[2] ?? m[4]) === '') return out;
  }
}

/**
 * The records of a file whose quoted fields may have several lines: [{n, cells}], n is the line on which one begins; null
 * if its quotes are wrong. Empty lines are left out.
 */
export function records(text) {
  const out = [];
  let n = 1;
  const body = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  for (let at = 0; at < body.length; ) {
    const cells = [];
    const first = n;
    for (let end = ','; end === ','; ) {
      const m = /"((?:[^"]|"")*)"(,|\n|$)|([^",\n]*)(,|\n|$)/y;
      m.lastIndex = at;
      const found = m.exec(body);
      if (!found) return null;
      cells.push((found[1] !== undefined ? found[1].replaceAll('""', '"') : found[3]).trim());
      at += found[0].length;
      n += found[0].split('\n').length - 1;
      end = found[2] ?? found[4];
    }
    if (cells.length > 1 || cells[0] !== '') out.push({ n: first, cells });
  }
  return out;
}
