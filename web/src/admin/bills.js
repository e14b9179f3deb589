// The payment provider's bill of a day, compared with the ledger.
import { yuan } from '../core.js';
import { announce, el, put, setText } from '../dom.js';
import { t, when } from '../i18n.js';
import { command, passing } from './call.js';
import { form } from './form.js';
import { orderLink } from './orders.js';
import { placeOf } from './place.js';
import { table } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  bills_title: ['对账', 'Bills'],
  bills_text: ['支付平台某一天的账单与账本对比。商店每天早上自动对一次；每次对账都会保存。', 'The payment provider’s bill of a day, compared with the ledger. The shop does so each morning by itself. Every comparison is kept.'],
  bills_days: ['最近的账单日', 'The last days'],
  bills_now: ['现在对账', 'Compare now'],
  bills_goes_on: ['要半分钟以上，正在后台对账。请留在这个页面，结果会显示出来。', 'It takes longer than half a minute, and goes on. Stay on this page: its result will be shown.'],
  bills_done: ['已对账，{n} 处不同。', 'Compared. Differences: {n}.'],
  bills_none: ['这一天还没有对过账。', 'This day was not compared yet.'],
  bills_at: ['{time} 对账', 'Compared {time}'],
  bills_no_bill: ['支付平台没有这一天的账单：没有资金往来，或账单还没出（次日 10:00 前出）。', 'The provider has no bill of this day: no money moved, or it is not made yet (it is by 10:00 of the next day).'],
  bills_sums: ['收款 {payments} 笔，¥{captured}；退款 {refunds} 笔，¥{returned}。', 'Payments: {payments}, ¥{captured}. Refunds: {refunds}, ¥{returned}.'],
  bills_others: ['另有 {n} 行属于同一商户的其他商店，没有对。', 'Lines of the seller’s other shops, which are not compared: {n}.'],
  bills_same: ['账单与账本一致。', 'Bill and ledger agree.'],
  bills_differences: ['不同之处：{n}', 'Differences: {n}'],
  bills_what: ['不同', 'Difference'],
  bills_trade: ['交易号', 'Trade'],
  bills_refund: ['退款编号', 'Refund'],
  bills_here: ['账本', 'Ledger'],
  bills_there: ['账单', 'Bill'],
  difference_payment_not_here: ['账单上有这笔付款，账本里没有', 'The bill has a payment that the ledger does not have'],
  difference_payment_not_there: ['账本里有这笔付款，当天和此前 30 天的账单上都没有', 'The ledger has a payment that is on no bill of that day and the 30 days before'],
  difference_payment_amount: ['付款金额不同', 'Both have the payment, with different amounts'],
  difference_payment_twice: ['账单上这笔付款出现多次', 'The bill has the payment more than once'],
  difference_refund_not_here: ['账单上有这笔退款，账本里没有，或还没有', 'The bill has the refund, the ledger does not, or not yet'],
  difference_refund_not_there: ['账本里有这笔退款，账单上没有', 'The ledger has the refund, but no bill does'],
  difference_refund_amount: ['退款金额不同', 'Both have the refund, with different amounts'],
  difference_refund_foreign: ['在支付平台后台退的款，不是商店退的', 'Refunded in the provider’s console, not by this shop'],
  difference_refund_twice: ['账单上这笔退款出现多次', 'The bill has the refund more than once'],
  difference_row_unreadable: ['账本里的这一行读不出来，没有对', 'The ledger’s row cannot be read, so it was not compared'],
  bills_lacks: ['；可能不全：{why}', '; the sum may lack something: {why}'],
  difference_line_unreadable: ['账单的第 {line} 行读不出来，没有对：{why}', 'Line {line} of the bill cannot be read, so it was not compared: {why}'],
});

const DAY = 86_400_000; // ms
const DAYS = 7; // to choose from
const OUTLASTS = 20_000; // ms; a call that fails after this time was given up while the comparison went on
const EVERY = 5_000; // ms between two looks for its result
const LONGEST = 300_000; // ms; the comparison's own limit

/** A day in UTC+8, in which the provider dates its bills. */
export const dayOf = (ms) => new Date(ms + DAY / 3).toISOString().slice(0, 10);

export const bills = {
  name: 'bills',
  title: 'bills_title',
  needs: ['reconciled'],
  menu: true,
  async show(page) {
    const day = page.query.get('day') || dayOf(page.now() - DAY);
    const choose = form({
      name: 'bills-day',
      filter: true,
      submit: t('show_these'),
      fields: [{ name: 'day', label: t('field_day'), kind: 'date', value: day, required: true }],
      send: async (v) => page.go(v),
    });
    const results = el('div', {});
    const goesOn = el('p', { class: 'soft', role: 'status' });
    const listed = command('reconciled', { day });
    const newest = async () => (await listed).reconciliations.at(-1)?.at; // when the newest result was made
    const tell = () => {
      setText(goesOn, t('bills_goes_on'));
      announce(t('bills_goes_on'));
    };
    const now = page.may('reconcile') && compare(page, day, newest, tell);
    put(page.node, el('section', { class: 'panel' }, el('p', { class: 'soft' }, t('bills_text')), days(page, day), choose, now, goesOn), results);
    const { reconciliations } = await listed;
    if (page.signal.aborted) return;
    const shown = reconciliations.toReversed().map((r) => result(page, r));
    put(results, shown.length ? shown : el('p', { class: 'panel soft', role: 'status' }, t('bills_none')));
  },
};

/** The days whose bills exist by now, to choose from. */
const days = (page, day) =>
  el('nav', { class: 'row-actions', 'aria-label': t('bills_days') }, Array.from({ length: DAYS }, (_, i) => dayOf(page.now() - (i + 1) * DAY)).map((d) => el('a', { class: 'button plain small', href: placeOf('bills', '', { day: d }), 'aria-current': d === day ? 'true' : null }, d.slice(5))));

/**
 * Compares; what outlasts its call goes on, and its result is asked for. before: a promise of when the newest result was
 * made, without which an old one might pass for this one.
 */
export async function compared(page, day, before, goesOn) {
  const old = await before;
  const began = Date.now();
  try {
    return await command('reconcile', { day });
  } catch (problem) {
    if (Date.now() - began < OUTLASTS || !passing(problem)) throw problem;
    goesOn();
    while (Date.now() - began < LONGEST) {
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      page.signal.throwIfAborted();
      const { reconciliations = [] } = await command('reconciled', { day }).catch(() => ({}));
      if (reconciliations.length && reconciliations.at(-1).at !== old) return reconciliations.at(-1);
    }
    throw problem;
  }
}

const compare = (page, day, before, goesOn) =>
  form({
    name: 'bills-compare',
    fields: [],
    submit: t('bills_now'),
    async send() {
      const done = await compared(page, day, before(), goesOn);
      page.said(done.no_bill ? t('bills_no_bill') : t('bills_done', { n: done.count }));
      page.again();
    },
  });

function result(page, r) {
  const columns = [
    { name: 'what', title: t('bills_what'), long: true, cell: (d) => t(`difference_${d.kind}`, d) + (d.kind === 'refund_foreign' && d.why ? t('bills_lacks', d) : '') },
    { name: 'order', title: t('orders_order'), cell: (d) => d.order && orderLink(d.order) },
    { name: 'here', title: t('bills_here'), figure: true, cell: (d) => `¥${yuan(d.here)}` },
    { name: 'there', title: t('bills_there'), figure: true, cell: (d) => `¥${yuan(d.there)}` },
    { name: 'trade', title: t('bills_trade'), cell: (d) => el('span', { class: 'code' }, d.trade_no) },
    { name: 'refund', title: t('bills_refund'), minor: true, cell: (d) => el('span', { class: 'code' }, d.refund_id || '') },
  ];
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, t('bills_at', { time: when(r.at, true) })),
    r.no_bill ? el('p', {}, t('bills_no_bill')) : el('p', {}, t('bills_sums', { ...r, captured: yuan(r.captured), returned: yuan(r.returned) })),
    r.others > 0 && el('p', { class: 'soft' }, t('bills_others', { n: r.others })),
    !r.no_bill && r.count === 0 && el('p', {}, t('bills_same')),
    r.count > 0 && table(page, t('bills_differences', { n: r.count }), columns, r.differences),
  );
}
