// The money of one order: its payments, a refund, and what waits for a second person.
import { yuan } from '../core.js';
import { el } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { command } from './call.js';
import { confirm } from './confirm.js';
import { checks, form, whyField } from './form.js';
import { causeText } from './shopsays.js';
import { goodsLeft, refundable } from './states.js';
import { addTexts } from './texts.js';

addTexts({
  money_refund: ['退款', 'Refund'],
  money_restock: ['退款后重新上架这些件数', 'Sell its units again'],
  money_left: ['货已发出，件数不会回到库存。', 'The goods have left, so its units stay out of sale.'],
  money_happens: ['¥{amount} 原路退回买家 {user}。', '¥{amount} goes back to user {user}, the way it came.'],
  money_restocked: ['{count} 件重新上架。', 'Its units, {count}, are sold again.'],
  money_kept: ['{count} 件不再出售。', 'Its units, {count}, stay out of sale.'],
  money_second_yes: ['这一笔要等另一位同事同意，之前不退款。', 'This one waits for a second person: nothing goes back until they want it, too.'],
  money_second_perhaps: ['如果您今天退的笔数已满，要等另一位同事同意，之前不退款。', 'If you have made as many refunds today as one person may, this one waits for a second person.'],
  money_started: ['退款已开始，订单会自动变为已退款。', 'The refund has begun. The order becomes refunded by itself.'],
  money_nothing: ['没有需要退的款。', 'There was nothing to refund.'],
  money_waits: ['等待另一位同事同意，还没有退款。', 'It waits for a second person. Nothing goes back yet.'],
  money_waits_title: ['等待第二人同意的退款', 'A refund waits for a second person'],
  money_waits_text: ['{who} 于 {time} 提议退款 ¥{amount}：{why}', '{who} wants ¥{amount} to go back, since {time}: {why}'],
  money_waits_restock: ['件数会重新上架。', 'The units would be sold again.'],
  money_waits_keep: ['件数不再出售。', 'The units would stay out of sale.'],
  money_mine: ['提议的是您自己，要由另一位同事同意。', 'It is your own proposal: somebody else has to approve it.'],
  money_approve: ['同意退款', 'Approve the refund'],
  money_withdraw: ['撤回提议', 'Withdraw the proposal'],
  money_withdrawn: ['提议已撤回，没有退款。', 'The proposal is withdrawn. Nothing goes back.'],
  money_payments: ['付款', 'Payments'],
  money_no_payments: ['没有付款记录。', 'No payment is recorded.'],
  money_trade: ['交易号 {trade}', 'Trade {trade}'],
  money_state_captured: ['已收款', 'Kept'],
  money_state_refund_due: ['退款中，退款编号 {refund}，已试 {tries} 次，{next}', 'Goes back, refund {refund}, tried {tries} times, {next}'],
  money_state_refused: ['支付平台拒绝了退款 {refund}：{code}', 'The payment provider refused refund {refund}: {code}'],
  money_state_returned: ['已退回，{back} 记录', 'Went back, recorded on {back}'],
  money_outside: ['其中 ¥{amount} 已在本店之外退回', '¥{amount} of it went back outside the shop'],
  money_accept: ['照常发货', 'Let it ship'],
  money_accept_text: ['部分款项已在本店之外退回，订单暂停发货。要退其余的款，请用退款。', 'A part of the money went back outside the shop, so the order is not shipped. To give the rest back, refund the order.'],
  money_gone: ['确认已全部退回', 'Say that all of it went back'],
  money_gone_happens: ['¥{amount} 已在本店之外全部退回买家 {user}，本店不再退款。请先在支付平台后台核对。', 'All ¥{amount} went back to user {user} outside the shop, and no more money moves. Check the provider’s console first.'],
  money_less: ['实际退回较少，照常继续', 'Less went back: let it go on'],
  money_less_text: ['按收到的消息，款项已全部退回，正在向支付平台查询。如果后台显示退得较少，请填写实际退回的金额。', 'By what the shop heard, all of it went back, and the provider is asked. If its console shows less, say how much.'],
  money_back: ['实际退回的金额（元）', 'What really went back, in yuan'],
  money_accepted: ['可以发货了。', 'It may ship.'],
  money_not_accepted: ['没有需要决定的。', 'There was nothing to decide.'],
  money_state_refunded: ['已于 {back} 退回，退款编号 {refund}', 'Went back on {back}, refund {refund}'],
  money_next: ['下次 {time}', 'next try {time}'],
  money_next_now: ['下一轮就退', 'with the next sweep'],
  money_notifications: ['支付通知', 'Notifications'],
  money_again: ['立即再退一次', 'Ask for the refund again'],
  money_again_text: ['请先排除支付平台拒绝的原因。', 'Mend first what made the provider refuse.'],
  money_again_done: ['已再次请求 {n} 笔退款。', 'Refunds asked for again: {n}.'],
  money_ask: ['立即向支付平台查询', 'Ask the payment provider now'],
  money_ask_text: ['订单正在关闭，还不知道是否已付款。', 'The order is closing, and nobody knows yet whether it was paid.'],
  money_asked: ['已请求查询，结果会写入历史。', 'The provider is asked. The history shows what it says.'],
  money_record: ['按交易号入账', 'Record a trade'],
  money_record_text: ['向支付平台查询一笔交易，如已付款就入账。', 'Asks the provider about one trade and, if it is paid, records its money.'],
  money_record_number: ['支付平台交易号', 'The provider’s trade number'],
  money_recorded: ['已入账。', 'The payment is recorded.'],
  money_not_recorded: ['没有新的付款要入账。', 'There was no new payment to record.'],
});

const MAX_WHY = 200; // characters
const MAX_TRADE = 64; // bytes

/** The refund of an order that waits for a second person, or null. */
export async function waitingOf(order) {
  const open = await command('open');
  return open.waiting.refunds.find((w) => w.order_id === order) || null;
}

/** What this person may do about a refund of the order. */
export function refundPart(page, o, waits) {
  const gone = o.outside >= o.amount && (refundable(o.state) || o.state === 'completed');
  if (!page.may('refund') || !(gone || refundable(o.state))) return [];
  const after = (done) => {
    page.said(t(done.waits ? 'money_waits' : done.changed ? 'money_started' : 'money_nothing'));
    page.again();
  };
  const send = (restock) => async ({ why }) => after(await command('refund', { order: page.id, why, restock: restock || undefined, gone: gone || undefined }));
  const title = t(gone ? 'money_gone' : 'money_refund');
  const happens = (restock) => [t(gone ? 'money_gone_happens' : 'money_happens', { amount: yuan(gone ? o.amount : o.amount - (o.outside || 0)), user: o.user }), t(restock ? 'money_restocked' : 'money_kept', { count: o.count })];
  const sure = (restock, ...more) => confirm({ title, happens: [...happens(restock), ...more], yes: title });
  if (waits) return [waitingPart(page, waits, send, sure)];
  const left = goodsLeft(o.state);
  const second = tOr(`money_second_${o.second}`, '');
  return [
    el(
      'details',
      { class: 'folded' },
      el('summary', {}, title),
      second && el('p', { class: 'soft' }, second),
      form({
        name: 'refund',
        about: page.id,
        danger: true,
        submit: title,
        fields: [whyField(MAX_WHY), ...(left ? [] : [{ name: 'restock', label: t('money_restock'), kind: 'check' }])],
        sure: (v) => sure(v.restock, ...[left && t('money_left'), second].filter(Boolean)),
        send: (v) => send(v.restock)(v),
      }),
    ),
  ];
}

/** Who somebody is, whatever role they took on: the end of their name, as the shop compares persons. */
const person = (who) => who.toLowerCase().replace(/^[/ ]+|[/ ]+$/g, '').split('/').at(-1);

function waitingPart(page, w, send, sure) {
  const mine = person(w.who) === person(page.who);
  const withdraw = form({
    name: 'withdraw',
    about: page.id,
    submit: t('money_withdraw'),
    fields: [whyField(MAX_WHY)],
    async send({ why }) {
      await command('withdraw', { order: page.id, why });
      page.said(t('money_withdrawn'));
      page.again();
    },
  });
  return el(
    'section',
    { class: 'notification waits' },
    el('h3', {}, t('money_waits_title')),
    el('p', {}, t('money_waits_text', { who: w.who, time: when(w.since), amount: yuan(w.amount), why: w.why })),
    el('p', {}, t(w.restock ? 'money_waits_restock' : 'money_waits_keep')),
    mine
      ? el('p', {}, t('money_mine'))
      : form({ name: 'approve', about: page.id, danger: true, submit: t('money_approve'), fields: [whyField(MAX_WHY)], sure: () => sure(w.restock), send: send(w.restock) }),
    el('details', { class: 'folded' }, el('summary', {}, t('money_withdraw')), withdraw),
  );
}

/** Where the money of a payment is, in words. */
export function whereIs(p, now) {
  const rest = whereRest(p, now);
  return p.outside ? `${rest}; ${t('money_outside', { amount: yuan(p.outside) })}` : rest;
}

function whereRest(p, now) {
  if (p.state === 'refunded' && !p.refund_id) return t('money_state_returned', { back: when(p.refunded_time, true) });
  if (p.refused) return t('money_state_refused', { refund: p.refund_id, code: p.refused });
  const next = Date.parse(p.next) > now ? t('money_next', { time: when(p.next, true) }) : t('money_next_now');
  return tOr(`money_state_${p.state}`, p.state, { refund: p.refund_id, tries: p.tries || 0, next, back: when(p.refunded_time, true) });
}

/** What is known about the order's money, and what finance may do about it. */
export function casePart(page, c) {
  const entry = (head, ...lines) => el('li', {}, el('b', {}, head), lines.map((l) => el('small', { class: 'soft' }, l)));
  const payments = c.payments.map((p) => entry(`¥${yuan(p.amount)} · ${whereIs(p, page.now())}`, t('money_trade', { trade: p.trade_no }), `${when(p.at, true)} · ${causeText(p.cause)}`));
  const told = c.notifications.map((n) => entry(`¥${yuan(n.amount)} · ${causeText(n.outcome)}`, t('money_trade', { trade: n.trade_no }), when(n.at, true)));
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, t('money_payments')),
    payments.length ? el('ul', { class: 'moneys' }, payments) : el('p', { class: 'soft' }, t('money_no_payments')),
    told.length > 0 && [el('h3', {}, t('money_notifications')), el('ul', { class: 'moneys' }, told)],
    doing(page, c),
  );
}

function doing(page, c) {
  const parts = [];
  const add = (name, text, title, fields, send) => {
    if (page.may(name)) parts.push(el('details', { class: 'folded' }, el('summary', {}, t(title)), el('p', { class: 'soft' }, t(text)), form({ name, about: page.id, fields: [...fields, whyField(MAX_WHY)], submit: t(title), send: async (v) => finish(await send(v)) })));
  };
  const finish = (text) => {
    page.said(text);
    page.again();
  };
  if (c.payments.some((p) => p.state === 'refund_due')) {
    add('again', 'money_again_text', 'money_again', [], async ({ why }) => t('money_again_done', { n: (await command('again', { order: page.id, why })).asked || 0 }));
  }
  if (['paid', 'confirmed'].includes(c.state) && c.undecided && c.payments.some((p) => p.state === 'captured' && p.outside < p.amount)) {
    add('accept', 'money_accept_text', 'money_accept', [], async ({ why }) => t((await command('accept', { order: page.id, why })).changed ? 'money_accepted' : 'money_not_accepted'));
  }
  if (c.payments.some((p) => p.state === 'captured' && p.outside >= p.amount)) {
    const back = { name: 'back', label: t('money_back'), required: true, check: checks.line(12) };
    add('accept', 'money_less_text', 'money_less', [back], async (v) => t((await command('accept', { order: page.id, ...v })).changed ? 'money_accepted' : 'money_not_accepted'));
  }
  if (c.state === 'closing') add('ask', 'money_ask_text', 'money_ask', [], async ({ why }) => (await command('ask', { order: page.id, why }), t('money_asked')));
  const number = { name: 'trade_no', label: t('money_record_number'), required: true, check: checks.line(MAX_TRADE) };
  add('record-trade', 'money_record_text', 'money_record', [number], async (v) => t((await command('record-trade', { order: page.id, ...v })).changed ? 'money_recorded' : 'money_not_recorded'));
  return parts;
}
