// CSV files as people have them, and cells that spreadsheets leave as they are: what shared/api/csvfile does for the command
// line tool, in the browser.
import { addTexts } from './texts.js';

addTexts({
  csv_utf8: ['文件不是 UTF-8 文本，请另存为 CSV UTF-8。', 'The file is not UTF-8 text: save it as CSV UTF-8.'],
  csv_empty: ['文件是空的，第一行应写列名：{columns}。', 'The file is empty: its first line should name the columns {columns}.'],
  csv_lines: ['文件超过 {most} 行，请拆开。', 'The file has more than {most} lines: split it.'],
  csv_head: ['第一行的引号不对。', 'The quotes of the first line are wrong.'],
  csv_twice: ['列 {name} 有两个。', 'The column {name} is there twice.'],
  csv_unknown: ['没有 {name} 这一列，可用的列：{columns}。', '{name} is not a column: there are {columns}.'],
  csv_missing: ['缺少列 {name}：应有 {columns}；第一行是 {found}。', 'The column {name} is missing: want {columns}; the first line has {found}.'],
  csv_none: ['文件里没有数据。', 'The file has no lines below its first.'],
  csv_long: ['超过 {most} 个字。', 'Longer than {most} characters.'],
  csv_quotes: ['引号不对：用引号括起的格要有结尾的引号，里面的引号写两个。', 'Its quotes are wrong: a cell in quotes has two for each quote in it, and ends with one.'],
  csv_width: ['有 {n} 格，第一行有 {want} 格。', '{n} fields, and the first line has {want}.'],
  csv_nameless: ['第 {n} 格是“{cell}”，第一行没有给这一列名字。', 'Field {n} is “{cell}”, and the first line gives it no name.'],
  csv_error: ['{name} 是 {cell}：这是表格软件的错误，不是原来的内容。', '{name} {cell}: an error of a spreadsheet, instead of what stood there.'],
  csv_blank: ['{name} 是 {cell}：这是程序写的空格子。', '{name} {cell}: what a program writes for an empty cell.'],
  csv_short: ['{name} 是 {cell}：被表格软件缩写了，请把这一列设为文本再填一次。', '{name} {cell}: a spreadsheet shortened it; make the column text, and enter it again.'],
  csv_decimal: ['{name} 是 {cell}：被程序当成了小数，请把这一列设为文本再填一次。', '{name} {cell}: a program took it for a number with decimals; make the column text, and enter it again.'],
  csv_cut: ["{name} 是 {cell}：表格软件只保留 15 位，其余变成 0；如果没有错，请在前面加 '。", "{name} {cell}: a spreadsheet keeps 15 digits and makes the others 0; if this is right, put a ' before it."],
});

export const MAX_LINES = 100_000; // of a file that is read; the command line tool takes more
const MAX_LINE = 4 << 10; // characters

const MARKED = /^[=+\-@\t\r\n＝＋－＠'`]/;
const VALUES = /^(?:true|false|na|n\/a|#na|#n\/a|<na>|nan|nat|null|none|inf|infinity)$/i;
const WORD = /^(?:[eaptz]|am|pm|上午|下午|[年月日时分秒]|utc|gmt|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december)$/i;
const FAILED = /^(?:#(?:REF!|N\/A|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|SPILL!|CALC!)|#{3,}|Err:5\d\d)$/;
const FIGURE = 11; // digits of a number that every program shows and keeps

// Whether a program would take a cell for something else than text, or would lose what it begins with.
const changes = (cell) => MARKED.test(cell) || VALUES.test(cell) || FAILED.test(cell) || (/\p{N}/u.test(cell) && (cell.match(/\p{L}+/gu) || []).every((word) => WORD.test(word)));

// Where a program that separates cells in another way would see a formula begin, and what marks it as text.
const INNER = /([;|\t\r\n][\s"]*)('*[=+\-@＝＋－＠])/g;
const MARKS = /([;|\t\r\n][\s"]*)'('*[=+\-@＝＋－＠])/g;

/** A cell that programs take for text, whatever it says and they separate by: with ' before it and what is in it. */
export function text(cell) {
  const inside = String(cell ?? '').replace(INNER, "$1'$2");
  return changes(inside) ? `'${inside}` : inside;
}

/** The same of a decimal id: one that is short enough stays a number. */
export const id = (cell) => (String(cell).length <= FIGURE ? String(cell) : text(cell));

/** A line of a file. */
export const line = (cells) => `${cells.map((c) => quoted(String(c ?? ''))).join(',')}\n`;

const quoted = (cell) => (/["\r\n,]|^\s|^\\\.$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A time as the command line tool writes it: UTC, whole seconds; '' for none. */
export const time = (text) => {
  const ms = Date.parse(text);
  return ms ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : '';
};

/** Money as the command line tool writes it: yuan with two decimals. */
export const yuan = (amount) => Number(amount || 0).toFixed(2);

/** Why a file cannot be read at all: the name of a text, what it is filled with, and the line if it is about one. */
export class Unreadable extends Error {
  constructor(name, values = {}, n = 0) {
    super(name);
    this.text = name;
    this.values = values;
    this.n = n;
  }
}

/** A file's text: UTF-8, or UTF-16 as Excel's “Unicode text”, without a mark. Throws Unreadable. */
export function decoded(bytes) {
  const [a, b] = bytes;
  let kind = 'utf-8';
  if ((a === 0xff && b === 0xfe) || (a > 0 && b === 0)) kind = 'utf-16le';
  else if ((a === 0xfe && b === 0xff) || (a === 0 && b > 0)) kind = 'utf-16be';
  try {
    return new TextDecoder(kind, { fatal: true }).decode(bytes); // which also takes the mark off
  } catch {
    throw new Unreadable('csv_utf8');
  }
}

/**
 * Reads a file's text: {lines: [{n, has(column), cell(column)}], faults: [{n, text, values}]}; n is the number of the line
 * on which a row begins, from 1. Throws Unreadable.
 * @param {string} body
 * @param {object} format  {required, columns: all, if there may be no others, numbers: those of ids and numbers}
 * @param {number} most  characters of a row; 0 for any number, where wrong quotes end the reading
 */
export function read(body, { required, columns, numbers = [] }, most = MAX_LINE) {
  const all = body.split(/^[^\r\n]*\r(?!\n)/.test(body) ? '\r' : /\r?\n/);
  if (most && all.length > MAX_LINES + 2) throw new Unreadable('csv_lines', { most: MAX_LINES });
  const { comma, names, n: head } = header(all, required, columns);
  const out = { lines: [], faults: [] };
  const wanted = columns || required;
  for (let i = head; i < all.length; i++) {
    const n = i + 1;
    const fault = (text, values) => void out.faults.push({ n, text, values });
    if (most && all[i].length > most) {
      fault('csv_long', { most });
      continue;
    }
    let end = i + 1; // a cell in quotes may go on on the next lines
    for (let open = odd(all[i]), size = all[i].length; open && end < all.length; end++) {
      size += 1 + all[end].length;
      if (most && size > most) break;
      open = open !== odd(all[end]);
    }
    const cells = split(all.slice(i, end).join('\n'), comma);
    if (!cells) {
      fault('csv_quotes');
      if (!most) return out;
      continue;
    }
    i = end - 1;
    while (cells.length > names.length && cells.at(-1).trim() === '') cells.pop();
    if (cells.every((c) => c.trim() === '')) continue;
    // Excel leaves out separators of cells that are empty on sixteen lines
    const short = cells.length < names.length && (columns || required.some((name) => names.indexOf(name) >= cells.length));
    const nameless = cells.findIndex((c, at) => names[at] === '' && c.trim() !== '');
    const hurt = wanted.map((name) => ({ name, text: damaged(cells[names.indexOf(name)] ?? '', numbers.includes(name)) })).find((d) => d.text);
    if (short || cells.length > names.length) fault('csv_width', { n: cells.length, want: names.length });
    else if (nameless >= 0) fault('csv_nameless', { n: nameless + 1, cell: cells[nameless].trim() });
    else if (hurt) fault(hurt.text, { name: hurt.name, cell: cells[names.indexOf(hurt.name)].trim() });
    else out.lines.push({ n, has: (name) => names.includes(name), cell: (name) => plain(cells[names.indexOf(name)] ?? '')[0] });
  }
  if (out.lines.length + out.faults.length === 0) throw new Unreadable('csv_none');
  return out;
}

// The first line: {comma: what separates cells, names, n}. A column without a name is none.
function header(all, required, columns) {
  let comma = '';
  for (const [i, raw] of all.entries()) {
    const said = /^sep=(.)$/iu.exec(raw);
    if (said) comma = said[1];
    if (said || /^[ \t,;，]*$/.test(raw)) continue;
    if (!comma) {
      const known = (c) => (split(raw, c) || []).filter((name) => (columns || required).includes(name.trim())).length;
      comma = [',', ';', '\t', '，'].reduce((best, c) => (known(c) > known(best) ? c : best));
    }
    const names = split(raw, comma)?.map((name) => name.trim());
    if (!names) throw new Unreadable('csv_head');
    const twice = names.find((name, at) => name && names.indexOf(name) < at);
    if (twice) throw new Unreadable('csv_twice', { name: twice });
    const unknown = columns && names.find((name) => name && !columns.includes(name));
    if (unknown) throw new Unreadable('csv_unknown', { name: unknown, columns: columns.join(', ') });
    while (names.at(-1) === '') names.pop();
    const missing = required.find((name) => !names.includes(name));
    if (missing) throw new Unreadable('csv_missing', { name: missing, columns: required.join(', '), found: names.join(comma) });
    return { comma, names, n: i + 1 };
  }
  throw new Unreadable('csv_empty', { columns: required.join(', ') });
}

const odd = (raw) => (raw.split('"').length - 1) % 2 === 1;

// The cells of a row as they are written, without the quotes around them; null if its quotes are wrong.
function split(raw, comma) {
  if (!raw.includes('"')) return raw.split(comma);
  const cells = [];
  for (let rest = raw; ; ) {
    const found = /^ *(=?)"((?:[^"]|"")*)"[^\S\t]*/.exec(rest);
    let cell;
    if (found) {
      const says = found[2].replaceAll('""', '"');
      cell = found[1] ? `="${says}"` : says; // ="0012", not in quotes
      rest = rest.slice(found[0].length);
    } else {
      const end = rest.indexOf(comma);
      cell = end < 0 ? rest : rest.slice(0, end);
      rest = rest.slice(cell.length);
      if (cell.includes('"')) return null;
    }
    cells.push(cell);
    if (rest === '') return cells;
    if (!rest.startsWith(comma)) return null;
    rest = rest.slice(comma.length);
  }
}

// What a cell says without the marks that make it text to a spreadsheet, and whether there was one.
function plain(cell) {
  const [says, marked] = bareOf(cell);
  return [says.replace(MARKS, '$1$2'), marked];
}

function bareOf(cell) {
  const bare = cell.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  const formula = /^="((?:[^"]|"")*)"$/.exec(bare);
  if (formula) return [formula[1].replaceAll('""', '"'), true];
  if (/^['`]/.test(bare) && changes(bare.slice(1))) return [bare.slice(1), true];
  return [bare, cell.replace(/^[ \r\n]+|[ \r\n]+$/g, '') !== bare];
}

// What a program did to a cell: the name of a text, or ''.
function damaged(cell, number) {
  const [says, marked] = plain(cell);
  if (!marked && FAILED.test(says)) return 'csv_error';
  if (!marked && /^(?:nan|NaN|NaT|<NA>)$/.test(says)) return 'csv_blank';
  if (!number) return '';
  if (/^\d+(?:[.,]\d+[eE]\+?|[eE]\+)\d+$/.test(says)) return 'csv_short';
  if (marked) return '';
  if (/^\d+[.,]0+$/.test(says)) return 'csv_decimal';
  return /^[1-9]\d{14}0+$/.test(says) ? 'csv_cut' : '';
}
