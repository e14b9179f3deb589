// One order: its whole story, and what may be done with it. Who may not see orders but money sees it by its case.
import { yuan } from '../core.js';
import { el, put } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { command } from './call.js';
import { confirm } from './confirm.js';
import { checks, form, problemNote, whyField } from './form.js';
import { ORDER, amountOf, pill } from './orders.js';
import { casePart, refundPart, waitingOf } from './ordermoney.js';
import { placeOf } from './place.js';
import { parcelFault } from './ship.js';
import { causeText } from './shopsays.js';
import { goodsLeft, over, refundable } from './states.js';
import { addTexts } from './texts.js';

addTexts({
  order_title: ['订单详情', 'Order'],
  order_item: ['商品', 'Item'],
  order_none: ['没有这笔订单。', 'There is no such order.'],
  order_units: ['{count} 件', '{count}'],
  order_units_held: ['{count} 件，其中 {held} 件不可再卖', '{count}, of which {held} are not for sale'],
  order_units_name: ['件数', 'Units'],
  order_amount: ['金额', 'Amount'],
  order_outside: ['¥{amount} 已在本店之外退回', '¥{amount} went back outside the shop'],
  order_undecided: ['要有人决定款项，之前不能接单和发货', 'somebody has to decide about the money: until then it is neither confirmed nor shipped'],
  order_back: ['另行退回', 'Went back'],
  order_created: ['下单时间', 'Placed'],
  order_pay_by: ['付款截止', 'Pay by'],
  order_parcel: ['包裹', 'Parcel'],
  order_refund: ['买家申请退款，原因', 'Its shopper asks for a refund'],
  order_reason: ['未成交原因', 'Why it was not sold'],
  order_hidden: ['已从列表中隐藏', 'It is hidden from the lists'],
  order_do: ['处理', 'What to do'],
  order_nothing: ['您现在没有可做的操作。', 'There is nothing for you to do now.'],
  order_confirm: ['接单', 'Confirm the order'],
  order_confirmed: ['已接单。', 'The order is confirmed.'],
  order_ship: ['发货', 'Ship'],
  order_carrier: ['承运商', 'Carrier'],
  order_number: ['运单号', 'Parcel number'],
  order_ship_sure: ['记录发货', 'Record that it is shipped'],
  order_ship_happens: ['买家会看到承运商和运单号：{carrier}，{number}。', 'The shopper sees carrier and number: {carrier}, {number}.'],
  order_ship_final: ['发货不能撤回（写错的运单可以更正），件数不会再回到库存。', 'A shipment cannot be undone (a wrong parcel can be corrected), and its units never return to the stock.'],
  order_ship_asked: ['买家申请了退款，原因：{why}', 'The shopper asks for a refund: {why}'],
  order_ship_confirms: ['订单还没有接单，会先接单。', 'The order is not confirmed yet: it is confirmed first.'],
  order_shipped: ['已发货。', 'The order is shipped.'],
  order_correct: ['更正运单', 'Correct the parcel'],
  order_correct_hint: ['买家会看到新的承运商和运单号；原来的留在历史里。', 'The shopper sees the new carrier and number. The history keeps the old ones.'],
  order_corrected: ['运单已更正。', 'The parcel is corrected.'],
  order_same: ['之前已经这样发货了，没有改动。', 'It was shipped so already. Nothing changed.'],
  order_note: ['备注', 'Note'],
  order_note_hint: ['只给店员看，写入历史，一行，最多 {most} 个字。不要写地址和电话。', 'For staff, in the history: one line, at most {most} characters. Write no address or phone number.'],
  order_note_add: ['添加备注', 'Add the note'],
  order_noted: ['备注已添加。', 'The note is added.'],
  order_hide: ['从列表中隐藏', 'Hide from the lists'],
  order_hide_note: ['买家仍能看到它，迟到的付款仍会退回。', 'Its shopper still sees it, and late money still goes back.'],
  order_hid: ['已隐藏。', 'The order is hidden.'],
  order_unhide: ['放回列表', 'Put back on the lists'],
  order_unhid: ['已放回列表。', 'The order is on the lists again.'],
  order_unchanged: ['没有需要改动的。', 'There was nothing to change.'],
  order_history: ['历史', 'History'],
  order_to: ['收货地址', 'Where to ship'],
  order_to_show: ['显示收货地址', 'Show where to ship it'],
  order_to_note: ['查看会写入审计日志。', 'That you look is in the audit log.'],
  order_to_erased: ['地址已删除。', 'The address is erased.'],
  order_from: ['下单的网络地址：{address}', 'Bought from network address {address}'],
});

export const MAX_PARCEL = 64; // characters of a carrier, and of a parcel's number
const MAX_NOTE = 500; // characters

export const order = {
  name: 'order',
  title: 'order_title',
  parent: 'orders',
  needs: ['order', 'case'],
  menu: false,
  async show(page) {
    if (!ORDER.test(page.id)) return void put(page.node, el('p', { class: 'panel' }, t('order_none')));
    const [o, money] = await Promise.all([page.may('order') ? command('order', { order: page.id }) : null, page.may('case') ? command('case', { order: page.id }) : null]);
    const known = { ...money, ...o };
    const waits = page.may('open') && (page.may('refund') || page.may('ship')) && refundable(known.state) ? await waitingOf(page.id) : null;
    if (page.signal.aborted) return;
    const actions = [...staffParts(page, known, o, waits), ...refundPart(page, known, waits)];
    put(
      page.node,
      facts(page, known),
      el('section', { class: 'panel' }, el('h2', {}, t('order_do')), actions.length ? actions : el('p', { class: 'soft' }, t('order_nothing'))),
      el('div', { class: 'two' }, history(known), el('div', {}, page.may('delivery') && delivery(page), money && casePart(page, money))),
    );
  },
};

function facts(page, o) {
  const fact = (name, value) => value && [el('dt', {}, t(name)), el('dd', {}, value)];
  return el(
    'section',
    { class: 'panel' },
    el('h2', { class: 'code' }, o.order_id),
    el(
      'dl',
      { class: 'facts' },
      fact('orders_state', [pill(o), o.hidden ? ` ${t('order_hidden')}` : '']),
      fact('order_item', [page.may('item') ? el('a', { href: placeOf('item', o.item) }, o.item) : o.item, ...[o.title, o.options].filter(Boolean).map((text) => ` · ${text}`)]),
      fact('orders_activity', o.activity && (page.may('activity') ? el('a', { href: placeOf('activity', o.activity) }, o.activity) : o.activity)),
      fact('orders_user', el('a', { href: placeOf('orders', '', { user: o.user }) }, o.user)),
      fact('order_units_name', t(['refund_due', 'refunded'].includes(o.state) ? 'order_units_held' : 'order_units', { count: o.count, held: o.held })),
      fact('order_amount', amountOf(o)),
      fact('order_back', [o.outside && t('order_outside', { amount: yuan(o.outside) }), o.undecided && t('order_undecided')].filter(Boolean).join(' · ')),
      fact('order_created', when(o.create_time, true)),
      fact('order_pay_by', when(o.pay_by, true)),
      fact('order_parcel', o.carrier && `${o.carrier} ${o.number}`),
      fact('order_refund', o.refund_reason),
      fact('order_reason', o.reason && causeText(o.reason)),
    ),
  );
}

const history = (o) =>
  el('section', { class: 'panel' }, el('h2', {}, t('order_history')), el('ol', { class: 'timeline history' }, o.history.map((h) => el('li', {}, el('b', {}, tOr(`state_${h.state}`, h.state)), el('time', { datetime: h.at, class: 'soft' }, when(h.at, true)), el('p', {}, causeText(h.cause))))));

/** What staff may do with an order in its state; each its own part. */
function staffParts(page, o, full, waits) {
  const parts = [];
  const done = (text) => ({ changed }) => {
    page.said(t(changed ? text : 'order_unchanged'));
    page.again();
  };
  const { may, id } = page;
  const free = !waits && !o.undecided; // nobody has to decide about its money first
  if (may('confirm') && o.state === 'paid' && free) {
    parts.push(form({ name: 'confirm-order', fields: [], submit: t('order_confirm'), send: async () => done('order_confirmed')(await command('confirm', { order: id })) }));
  }
  if (may('ship') && ['paid', 'confirmed'].includes(o.state) && free) parts.push(shipForm(page, o));
  if (may('correct') && goodsLeft(o.state)) {
    const fields = [...parcelFields(o), whyField(MAX_NOTE)];
    const correct = form({ name: 'correct', about: id, fields, submit: t('order_correct'), send: async (v) => done('order_corrected')(await command('correct', { order: id, ...v })) });
    parts.push(folded('order_correct', el('p', { class: 'soft' }, t('order_correct_hint')), correct));
  }
  if (may('note')) {
    const note = { ...whyField(MAX_NOTE), label: t('order_note'), hint: t('order_note_hint', { most: MAX_NOTE }) };
    const add = form({ name: 'note', about: id, fields: [note], submit: t('order_note_add'), send: async ({ why }) => done('order_noted')(await command('note', { order: id, why })) });
    parts.push(folded('order_note', add));
  }
  if (may('hide') && full && (o.hidden || over(o.state))) {
    const undo = o.hidden || undefined;
    const hide = form({ name: 'hide', about: id, fields: [whyField(MAX_NOTE)], submit: t(undo ? 'order_unhide' : 'order_hide'), send: async ({ why }) => done(undo ? 'order_unhid' : 'order_hid')(await command('hide', { order: id, why, undo })) });
    parts.push(folded(undo ? 'order_unhide' : 'order_hide', el('p', { class: 'soft' }, t('order_hide_note')), hide));
  }
  return parts;
}

/** A part that opens by its summary. */
export const folded = (title, ...parts) => el('details', { class: 'folded' }, el('summary', {}, t(title)), parts);

/** The fields of a parcel; they begin with what `of` has. */
function parcelFields(of = {}) {
  const line = (name, label) => ({ name, label: t(label), required: true, value: of[name], check: checks.line(MAX_PARCEL) });
  return [line('carrier', 'order_carrier'), line('number', 'order_number')];
}

function shipForm(page, o) {
  const confirms = o.state === 'paid';
  return form({
    name: 'ship',
    about: page.id,
    submit: t('order_ship'),
    fields: parcelFields(),
    sure: (v) => confirm({ title: t('order_ship_sure'), happens: [o.refund_reason && t('order_ship_asked', { why: o.refund_reason }), t('order_ship_happens', v), confirms && t('order_ship_confirms'), t('order_ship_final')].filter(Boolean), yes: t('order_ship') }),
    async send(v) {
      const done = await command('ship', { parcels: [{ order: page.id, ...v }], confirm: confirms || undefined });
      if (done.faults?.length) throw new Error(parcelFault(done.faults[0].what));
      page.said(t(done.same ? 'order_same' : 'order_shipped'));
      page.again();
    },
  });
}

function delivery(page) {
  const shown = el('div', { role: 'status' });
  const show = async () => {
    try {
      const to = await command('delivery', { order: page.id });
      put(shown, el('p', { class: 'address-shown' }, to.address || t('order_to_erased')), to.network_address && el('p', { class: 'soft' }, t('order_from', { address: to.network_address })));
    } catch (problem) {
      put(shown, problemNote(problem, show));
    }
  };
  return el('section', { class: 'panel' }, el('h2', {}, t('order_to')), el('p', { class: 'soft' }, t('order_to_note')), el('div', { class: 'row-actions' }, el('button', { class: 'button plain small', type: 'button', id: 'show-address', onclick: show }, t('order_to_show'))), shown);
}
