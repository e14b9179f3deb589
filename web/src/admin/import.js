// Imports a file of items: the shop checks it first, and what is wrong or would change is shown. All items are taken, or
// none.
import { announce, el, put } from '../dom.js';
import { t, when } from '../i18n.js';
import { Problem, command, words } from './call.js';
import { confirm } from './confirm.js';
import { decoded } from './csv.js';
import { form } from './form.js';
import { atLines, changesOf, exported, readItems } from './itemlist.js';
import { placeOf } from './place.js';
import { table } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  import_title: ['导入秒杀商品', 'Import items'],
  import_text: ['JSON 或 CSV 文件，与 seckill items import 相同。文件里没有的商品不变，没有的列也不变，空的格会清除。标题、图片、详情和规格在结束前都能改，库存只能加；验证方式和问题到开始前 30 分钟为止，其余到开始前 10 分钟为止。', 'A JSON or CSV file, as “seckill items import” takes. Items that it does not have stay as they are; so do columns, and an empty cell clears. Title, pictures, details and options can change until the end, and stock can grow; checks and questions until 30 minutes before the start, all else until 10 minutes before it.'],
  import_file: ['文件', 'File'],
  import_look: ['看看会改什么', 'Show what would change'],
  import_kind: ['请选择 .json 或 .csv 文件。', 'Please choose a .json or .csv file.'],
  import_json: ['文件不是 JSON。', 'The file is not JSON.'],
  import_array: ['文件应是商品的数组：[{…}, …]。', 'The file should be an array of items: [{…}, …].'],
  import_large: ['文件超过 {most} MiB，请拆开。', 'The file has more than {most} MiB: split it.'],
  import_wrong: ['{n} 处不对，什么都没有改。', 'Wrong: {n}. Nothing was changed.'],
  import_wrong_more: ['还有 {n} 处。', 'And {n} more.'],
  import_line: ['第 {n} 行：{what}', 'Line {n}: {what}'],
  import_caption: ['文件里的商品，按文件顺序', 'Items of the file, in its order'],
  import_item: ['商品', 'Item'],
  import_what: ['会怎样', 'What would happen'],
  import_made: ['新建', 'It is new'],
  import_same: ['不变', 'Nothing changes'],
  import_change: ['{column}：{before} → {after}', '{column}: {before} → {after}'],
  import_changed: ['{column} 有变化', '{column} changes'],
  import_sum: ['新建 {made} 件，改动 {changed} 件，不变 {same} 件。', 'New: {made}; changed: {changed}; the same: {same}.'],
  import_go: ['导入', 'Import'],
  import_soon: ['一分钟内就可以抢购，如果已到开始时间。', 'They can be bought within a minute, if their sale is open.'],
  import_removed: ['商品 {id} 的详情里去掉了：{what}。', 'Taken out of the description of item {id}: {what}.'],
  import_done: ['已导入。新建 {made} 件，改动 {changed} 件，不变 {same} 件。', 'Imported. New: {made}; changed: {changed}; the same: {same}.'],
  import_nothing: ['没有要改的，什么都没有发送。', 'There is nothing to change, so nothing was sent.'],
});

const MAX_SIZE = 5 << 20; // bytes, as the shop takes
const SHOWN = 20; // lines that are named

export const imports = {
  name: 'import',
  title: 'import_title',
  parent: 'items',
  needs: ['import'],
  menu: false,
  async show(page) {
    const result = el('div', {});
    const fields = [{ name: 'file', label: t('import_file'), kind: 'file', accept: '.json,.csv,application/json,text/csv', required: true }];
    put(page.node, el('section', { class: 'panel' }, el('p', { class: 'soft' }, t('import_text')), form({ name: 'import-file', fields, submit: t('import_look'), send: (v) => look(page, result, v.file) })), result);
  },
};

async function look(page, result, file) {
  put(result);
  if (file.size > MAX_SIZE) throw new Error(t('import_large', { most: MAX_SIZE >> 20 }));
  let read;
  try {
    read = readItems(file.name, decoded(new Uint8Array(await file.arrayBuffer())));
  } catch (problem) {
    const what = t(problem.message, problem.values);
    throw new Error(problem.n ? t('import_line', { n: problem.n, what }) : what);
  }
  let judged;
  try {
    judged = await command('import', { dry: true }, read.text);
  } catch (problem) {
    if (!(problem instanceof Problem) || !problem.wrong) throw problem;
    return void put(result, wrongLines(problem, read.lines));
  }
  const same = new Set(judged.unchanged);
  const changes = changesOf(read.rows, (await exported()).items).map((c) => (same.has(c.id) ? { ...c, changes: [] } : c));
  if (page.signal.aborted) return;
  const sum = { made: judged.made.length, changed: judged.changed.length, same: same.size };
  const columns = [
    { name: 'item', title: t('import_item'), long: true, cell: (c) => `${c.id} · ${c.title}` },
    { name: 'what', title: t('import_what'), long: true, cell: (c) => (c.made ? el('b', {}, t('import_made')) : c.changes.length ? el('ul', { class: 'faults' }, c.changes.map((d) => el('li', {}, told(d)))) : t('import_same')) },
  ];
  announce(t('import_sum', sum));
  put(result, table(page, t('import_caption'), columns, changes), el('section', { class: 'panel' }, el('p', { role: 'status' }, t('import_sum', sum)), sum.made + sum.changed ? sending(page, result, read, sum) : el('p', {}, t('import_nothing'))));
}

// What the shop says is wrong with a file, line by line.
function wrongLines({ lines, wrong }, at) {
  const shown = lines.slice(0, SHOWN);
  return el(
    'section',
    { class: 'notification', role: 'alert', id: 'import-wrong' },
    el('p', {}, t('import_wrong', { n: wrong })),
    el('ul', { class: 'faults' }, shown.map(({ n, where, what }) => el('li', {}, at?.[n - 1] ? t('import_line', { n: at[n - 1], what }) : `${where}: ${what}`))),
    wrong > shown.length && el('p', {}, t('import_wrong_more', { n: wrong - shown.length })),
  );
}

// A change in words. Long values are not repeated.
function told({ column, before, after }) {
  if (['detail', 'covers', 'questions'].includes(column)) return t('import_changed', { column });
  const shown = (v) => (column.endsWith('_time') && Date.parse(v) ? when(v, true) : String(v ?? '–'));
  return t('import_change', { column, before: shown(before), after: shown(after) });
}

const sending = (page, result, read, sum) =>
  form({
    name: 'import-go',
    fields: [],
    submit: t('import_go'),
    sure: () => confirm({ title: t('import_title'), happens: [t('import_sum', sum), t('import_soon')], yes: t('import_go') }),
    async send() {
      let done;
      try {
        done = await command('import', {}, read.text);
      } catch (problem) {
        throw problem instanceof Problem && problem.detail ? new Error(atLines(words(problem), read.lines)) : problem;
      }
      const text = t('import_done', { made: done.made.length, changed: done.changed.length, same: done.unchanged.length });
      announce(text);
      const removed = Object.entries(done.removed || {}).map(([id, what]) => el('li', {}, t('import_removed', { id, what: what.join(', ') })));
      put(result, removed.length > 0 && el('ul', { class: 'faults', id: 'import-removed' }, removed), el('p', { class: 'notification said', role: 'status', id: 'import-done' }, text, ' ', el('a', { class: 'text-link', href: placeOf('items') }, t('items_title'))));
    },
  });
