// Ships the orders of a CSV file: all lines are checked, with the shop, before the first order is shipped.
import { announce, el, put } from '../dom.js';
import { t, tOr } from '../i18n.js';
import { command, patiently, words } from './call.js';
import { confirm } from './confirm.js';
import * as csv from './csv.js';
import { form } from './form.js';
import { ORDER } from './orders.js';
import { addTexts } from './texts.js';

addTexts({
  ship_title: ['批量发货', 'Ship by file'],
  ship_text: ['CSV 文件（UTF-8 或 UTF-16，用逗号、分号或制表符分隔）第一行写列名：order、carrier、number，其他列不看，所以可以直接用导出的订单文件，填好承运商和运单号。', 'A CSV file (UTF-8 or UTF-16, with commas, semicolons or tabs) names its columns on the first line: order, carrier and number. Others are left alone, so an export of orders can be filled in and shipped.'],
  ship_all: ['所有行都对，才会开始发货；有一行不对，什么都不改。', 'All lines are checked first. If one is wrong, nothing is changed.'],
  ship_file: ['文件', 'File'],
  ship_confirm: ['还没有接单的已付款订单，先接单再发货', 'Also ship paid orders, which are confirmed first'],
  ship_check: ['检查文件', 'Check the file'],
  ship_checking: ['已检查 {n} / {all} 行', '{n} of {all} lines checked'],
  ship_good: ['{n} 行都对，还没有发货。', 'No line is wrong, of {n}. Nothing is shipped yet.'],
  ship_wrong: ['{n} 行不对，什么都没有改。', 'Lines that are wrong: {n}. Nothing was changed.'],
  ship_wrong_more: ['还有 {n} 行。', 'And {n} more.'],
  ship_line: ['第 {n} 行：{what}', 'Line {n}: {what}'],
  ship_go: ['发货 {n} 笔订单', 'Ship the orders ({n})'],
  ship_happens: ['{n} 笔订单变为已发货，买家会看到承运商和运单号。', 'The orders, {n}, become shipped. Their shoppers see carrier and number.'],
  ship_final: ['发货不能撤回。', 'A shipment cannot be undone.'],
  ship_shipping: ['已发货 {n} / {all} 行', '{n} of {all} lines shipped'],
  ship_broken: ['在第 {line} 行中断，之前的已发货。{why}', 'It broke off at line {line}; what is before it is shipped. {why}'],
  ship_on: ['继续', 'Go on'],
  ship_done: ['已发货 {shipped} 笔；{same} 笔之前就已这样发货。', 'Shipped: {shipped}. Shipped so already: {same}.'],
  ship_meanwhile: ['{n} 笔订单在此期间有变化，没有发货：', 'Orders that changed in the meantime, and are not shipped: {n}'],
  ship_stays: ['正在发货，请不要离开这个页面。', 'Orders are being shipped: please stay on this page.'],

  parcel_twice: ['这笔订单已在第 {n} 行。', 'This order is on line {n} already.'],
  parcel_damaged: ['运单号被表格软件改过：{number}。请把这一列设为文本，重新填写。', 'A program changed the number: {number}. Make the column text, and enter the number again.'],
  parcel_order: ['订单号不对。', 'This is not an order’s number.'],
  parcel_carrier: ['请填写承运商，一行，最多 {most} 个字。', 'Give the carrier: one line, at most {most} characters.'],
  parcel_number: ['请填写运单号，一行，最多 {most} 个字。', 'Give the parcel’s number: one line, at most {most} characters.'],
  parcel_none: ['没有这笔订单。', 'There is no such order.'],
  parcel_state: ['订单应为已接单，现在是{state}。', 'The order should be confirmed; it is “{state}”.'],
  parcel_undecided: ['{amount} 元中已在本店之外退回 {outside} 元，要先有人决定款项。', 'Somebody has to decide about its money first: {outside} of {amount} yuan went back outside the shop.'],
  parcel_other: ['已用别的包裹发货：{parcel}', 'It is shipped already, with {parcel}'],
});

const BATCH = 100; // parcels of one call
const SHOWN = 20; // lines that are named
const MAX = 64; // characters of a carrier, and of a number
const COLUMNS = { required: ['order', 'carrier', 'number'], numbers: ['number'] };

/** What the shop says about a parcel, in the page's language where it is known. */
export function parcelFault(what) {
  if (what === 'no such order') return t('parcel_none');
  const state = /^order: want confirmed; it is (\w+)$/.exec(what);
  if (state) return t('parcel_state', { state: tOr(`state_${state[1]}`, state[1]) });
  const undecided = /^order: want one about whose money somebody has decided: (\S+) of (\S+) yuan went back outside the shop$/.exec(what);
  if (undecided) return t('parcel_undecided', { outside: undecided[1], amount: undecided[2] });
  const damaged = /^number: want the carrier's: (.*?) (was|got|is) /.exec(what);
  if (damaged) return t('parcel_damaged', { number: damaged[1] });
  const other = /^order: want one that is not shipped; it is, with (.*)$/.exec(what);
  if (other) return t('parcel_other', { parcel: other[1] });
  return what;
}

/** The parcels of a file, and what is wrong with its lines: {parcels: [{n, order, carrier, number}], faults: [{n, what}]}. */
export function parcelsOf(bytes) {
  const { lines, faults } = csv.read(csv.decoded(bytes), COLUMNS);
  const out = { parcels: [], faults: faults.map((f) => ({ n: f.n, what: t(f.text, f.values) })) };
  const at = new Map();
  const one = (text) => text.trim() !== '' && [...text].length <= MAX && !/\p{Cc}/u.test(text);
  for (const { n, cell } of lines) {
    const parcel = { n, order: cell('order'), carrier: cell('carrier'), number: cell('number') };
    const say = (text, values) => out.faults.push({ n, what: t(text, values) });
    if (at.has(parcel.order)) say('parcel_twice', { n: at.get(parcel.order) });
    else if (!ORDER.test(parcel.order)) say('parcel_order');
    else if (!one(parcel.carrier)) say('parcel_carrier', { most: MAX });
    else if (!one(parcel.number)) say('parcel_number', { most: MAX });
    else out.parcels.push(parcel);
    at.set(parcel.order, n);
  }
  out.faults.sort((a, b) => a.n - b.n);
  return out;
}

export const ship = {
  name: 'ship',
  title: 'ship_title',
  needs: ['ship'],
  menu: true,
  async show(page) {
    const result = el('div', {});
    put(
      page.node,
      el(
        'section',
        { class: 'panel' },
        el('p', {}, t('ship_text')),
        el('p', { class: 'soft' }, t('ship_all')),
        form({
          name: 'ship-file',
          submit: t('ship_check'),
          fields: [
            { name: 'file', label: t('ship_file'), kind: 'file', accept: '.csv,text/csv', required: true },
            { name: 'confirm', label: t('ship_confirm'), kind: 'check' },
          ],
          send: (v) => check(page, result, v),
        }),
      ),
      result,
    );
  },
};

/** Checks a file: by itself, then with the shop. */
async function check(page, result, { file, confirm: confirms }) {
  put(result);
  let read;
  try {
    read = parcelsOf(new Uint8Array(await file.arrayBuffer()));
  } catch (problem) {
    throw problem instanceof csv.Unreadable ? new Error(t(problem.text, problem.values)) : problem;
  }
  const { parcels, faults } = read;
  let same = 0;
  if (faults.length === 0) {
    await batches(page, result, parcels, 'ship_checking', async (batch) => {
      const done = await call(page, batch, { confirm: confirms || undefined, dry: true });
      same += done.same;
      for (const f of done.faults || []) faults.push({ n: batch[f.at].n, what: parcelFault(f.what) });
    });
  }
  if (faults.length) return void put(result, faultList('ship_wrong', faults));
  const said = t('ship_good', { n: parcels.length });
  announce(said);
  const go = el('button', { class: 'button danger', type: 'button', id: 'ship-all' }, t('ship_go', { n: parcels.length }));
  go.addEventListener('click', async () => {
    const sure = await confirm({ title: t('ship_title'), happens: [t('ship_happens', { n: parcels.length }), t('ship_final')], yes: t('ship_go', { n: parcels.length }) });
    if (sure) shipAll(page, result, { parcels, same, at: 0, changed: [] }, confirms);
  });
  put(result, el('section', { class: 'panel' }, el('p', { role: 'status' }, said), el('div', { class: 'row-actions' }, go)));
}

function faultList(title, faults) {
  const more = faults.length - SHOWN;
  return el(
    'section',
    { class: 'notification', role: 'alert' },
    el('p', {}, t(title, { n: faults.length })),
    el('ul', { class: 'faults' }, faults.slice(0, SHOWN).map((f) => el('li', {}, t('ship_line', f)))),
    more > 0 && el('p', {}, t('ship_wrong_more', { n: more })),
  );
}

/** Goes through parcels in batches, from one on, and shows how far it is. */
async function batches(page, result, parcels, text, each, warning = '', from = 0) {
  const bar = el('progress', { max: parcels.length, value: from, 'aria-label': t('ship_title') });
  const said = el('p', { class: 'soft' });
  put(result, el('section', { class: 'panel' }, warning && el('p', {}, warning), bar, said));
  for (let at = from; at < parcels.length; at += BATCH) {
    page.signal.throwIfAborted();
    const batch = parcels.slice(at, at + BATCH);
    await each(batch);
    bar.value = at + batch.length;
    put(said, t(text, { n: at + batch.length, all: parcels.length }));
  }
}

/** Ships some parcels, or checks them. */
const call = (page, batch, args) => patiently(page.signal, () => command('ship', { parcels: batch.map(({ order, carrier, number }) => ({ order, carrier, number })), ...args }));

/**
 * Ships a batch of a run, which goes on where it was if this fails. Orders that changed since they were checked are left
 * out, and named when all of the batch is done.
 * @param {object} run  {parcels, same: how many were shipped so when they were checked, at: the next one, changed}
 */
export async function shipBatch(run, whole, send) {
  const changed = [];
  for (let batch = whole; batch.length > 0; ) {
    const done = await send(batch);
    const faults = done.faults || [];
    for (const f of faults) changed.push({ n: batch[f.at].n, what: parcelFault(f.what) });
    if (done.shipped + done.same > 0 || faults.length === 0) break;
    batch = batch.filter((_, i) => !faults.some((f) => f.at === i)); // a fault at the beginning keeps all back
  }
  run.changed.push(...changed);
  run.at += whole.length;
}

/** What a run has done. What it shipped in a call whose answer was lost comes back as shipped so: it is not counted so. */
export const shippedBy = (run) => ({ shipped: Math.max(0, run.at - run.changed.length - run.same), same: run.same });

/** Ships the parcels of a run that are left. */
async function shipAll(page, result, run, confirms) {
  const stay = (event) => event.preventDefault(); // the browser asks whether to leave
  window.addEventListener('beforeunload', stay);
  announce(t('ship_stays'));
  try {
    const send = (batch) => call(page, batch, { confirm: confirms || undefined });
    await batches(page, result, run.parcels, 'ship_shipping', (whole) => shipBatch(run, whole, send), t('ship_stays'), run.at);
    const text = t('ship_done', shippedBy(run));
    announce(text);
    put(result, el('p', { class: 'notification said', role: 'status', id: 'ship-done' }, text), run.changed.length > 0 && faultList('ship_meanwhile', run.changed));
  } catch (problem) {
    if (page.signal.aborted) return;
    const on = el('button', { class: 'button', type: 'button', id: 'ship-on', onclick: () => shipAll(page, result, run, confirms) }, t('ship_on'));
    put(result, el('section', { class: 'notification trouble', role: 'alert' }, el('p', {}, t('ship_broken', { line: run.parcels[run.at].n, why: words(problem) })), on));
  } finally {
    window.removeEventListener('beforeunload', stay);
  }
}
