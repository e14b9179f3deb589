// What a shopper sees and does of an order that waits for nothing any more: the parcel, "I received it", asking for a
// refund, and the check of the sale's report. It is loaded when such an order is opened; what it needs comes in.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  parcel: ['物流信息', 'Delivery'],
  prices: ['购买时的价格', 'Prices when you bought it'],
  price_each: ['单价', 'Each'],
  price_list: ['原价', 'Usually'],
  carrier: ['承运商', 'Carrier'],
  parcel_no: ['运单号', 'Parcel number'],
  receive: ['我已收到', 'I received it'],
  receive_ask: ['确定已收到商品吗？', 'Do you have the goods?'],
  receive_ask_text: ['确认后不能撤回。之后 {days} 天内仍可申请退款。', 'This cannot be taken back. You can still ask for a refund for {days} days.'],
  receive_not_yet: ['还没收到', 'Not yet'],
  receive_by: ['收到后请确认。如不确认，{at} 自动视为已收货。', 'Say so once you have it. If you do not, it counts as received on {at}.'],
  complete_by: ['订单将于 {at} 完成，在此之前可以申请退款。', 'The order completes on {at}. Until then you can ask for a refund.'],
  refund_ask: ['申请退款', 'Ask for a refund'],
  refund_why: ['退款原因', 'Why do you want your money back?'],
  refund_note: ['由商家决定，结果会显示在这里。最多 {most} 个字。', 'The shop decides, and this page shows it. At most {most} characters.'],
  refund_send: ['提交申请', 'Send'],
  refund_empty: ['请填写退款原因。', 'Please say why.'],
  refund_long: ['最多 {most} 个字，现在有 {n} 个。', 'At most {most} characters. There are {n}.'],
  refund_asked: ['您已申请退款', 'You asked for a refund'],
  refund_waits: ['等待商家处理，结果会显示在这里。', 'The shop decides, and this page shows it.'],
  paid_first: ['您的付款在取消之前已经到账，所以订单没有取消。', 'Your payment arrived before the cancellation, so the order stands.'],
  report_check: ['核对秒杀报告', 'Check that this order is in the sale’s report'],
};

const RECEIVED_DAYS = 15; // after shipping, when nobody says so
const COMPLETED_DAYS = 7; // after receipt
const MAX_REASON = 500; // characters, as the API counts them
const DAY = 86_400_000; // ms
const REFUNDABLE = ['paid', 'confirmed', 'shipped', 'received'];

let changed = ''; // the part that the shopper changed just now: it gets the focus once it is drawn

/**
 * Shows in `top` where the parcel is, and in `node` what else there is for an order, as GET /order/{id} answers. `again`
 * asks for the order once more and draws it if it changed.
 * @param {object} io  el, put, t, TEXTS, at, when, yuan, announce, confirmSheet; orderAct(order, what, body), which throws a
 *   Problem; drafts and keepDraft, of this tab; wantedCancel, whether the shopper gave it up just now; copyButton(text); and for the report's check shopper and tOr
 */
export function show(io, top, node, order, again) {
  Object.assign(io.TEXTS, TEXTS);
  const late = io.wantedCancel && REFUNDABLE.includes(order.state); // it was being cancelled
  io.put(top, late && io.el('p', { class: 'notification' }, io.t('paid_first')), order.carrier && parcel(io, order, again));
  io.put(node, order.as_sold && prices(io, order), refund(io, order, again), reportCheck(io, order));
  if (late) io.announce(io.t('paid_first'));
  if (changed) document.getElementById(changed)?.focus();
  changed = '';
}

const heading = ({ el, t }, name) => el('h2', { id: `head-${name}`, tabindex: -1 }, t(name));

/** When the order came into its state, plus days. */
const daysOn = (order, days) => Date.parse(order.history.at(-1).at) + days * DAY;

function parcel(io, order, again) {
  const { el, t, when } = io;
  const note = order.state === 'shipped' ? t('receive_by', { at: when(daysOn(order, RECEIVED_DAYS)) }) : order.state === 'received' ? t('complete_by', { at: when(daysOn(order, COMPLETED_DAYS)) }) : '';
  return el(
    'section',
    { class: 'panel', 'aria-labelledby': 'head-parcel' },
    heading(io, 'parcel'),
    el('dl', { class: 'facts' }, el('dt', {}, t('carrier')), el('dd', {}, order.carrier), el('dt', {}, t('parcel_no')), el('dd', {}, order.number, io.copyButton(order.number))),
    note && el('p', { class: 'soft rich' }, note),
    order.state === 'shipped' && receiveButton(io, order, again),
  );
}

function prices(io, { seckill }) {
  const { el, t, yuan } = io;
  return el(
    'section',
    { class: 'panel', 'aria-labelledby': 'head-prices' },
    heading(io, 'prices'),
    el('dl', { class: 'facts' }, el('dt', {}, t('price_each')), el('dd', {}, `¥${yuan(seckill.sk_price)}`), el('dt', {}, t('price_list')), el('dd', {}, `¥${yuan(seckill.commodity.price)}`)),
  );
}

function receiveButton({ el, put, t, announce, confirmSheet, orderAct }, order, again) {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const receive = async () => {
    if (!(await confirmSheet(t('receive_ask'), t('receive_ask_text', { days: COMPLETED_DAYS }), t('receive'), t('receive_not_yet')))) return;
    button.disabled = true;
    put(fault, '');
    try {
      await orderAct(order.id, 'received');
      changed = 'head-parcel';
    } catch (problem) {
      button.disabled = false;
      put(fault, problem.detail || t('no_answer'));
      if (problem.status !== 409) return;
      announce(fault.textContent); // it stands elsewhere by now, and what is drawn next says where
    }
    again();
  };
  const button = el('button', { class: 'button', type: 'button', onclick: receive }, t('receive'));
  return el('div', { class: 'rich' }, button, fault);
}

function refund(io, order, again) {
  const { el, t } = io;
  const open = REFUNDABLE.includes(order.state);
  if (order.refund_reason) {
    return el('section', { class: 'panel', 'aria-labelledby': 'head-refund_asked' }, heading(io, 'refund_asked'), el('p', { class: 'rich' }, order.refund_reason), open && el('p', { class: 'soft rich' }, t('refund_waits')));
  }
  return open && el('details', { class: 'panel', open: order.id in io.drafts() }, el('summary', {}, t('refund_ask')), refundForm(io, order, again));
}

function refundForm({ el, put, t, announce, orderAct, drafts, keepDraft }, order, again) {
  const fault = el('p', { class: 'fault', id: 'refund-fault', role: 'alert' });
  const field = el('textarea', { id: 'refund-why', rows: 3, autocomplete: 'off', 'aria-describedby': 'refund-note refund-fault' });
  field.value = drafts()[order.id] || '';
  field.addEventListener('input', () => keepDraft(order.id, field.value));
  const blame = (text) => {
    put(fault, text);
    field.setAttribute('aria-invalid', 'true');
    field.focus();
  };
  const submit = async (event) => {
    event.preventDefault();
    const reason = field.value.trim().replace(/\s+/g, ' '); // one line, as the API wants it
    const n = [...reason].length;
    if (!n) return blame(t('refund_empty'));
    if (n > MAX_REASON) return blame(t('refund_long', { most: MAX_REASON, n }));
    put(fault, '');
    field.removeAttribute('aria-invalid');
    send.disabled = true;
    try {
      await orderAct(order.id, 'refund-request', { reason });
      keepDraft(order.id, '');
      changed = 'head-refund_asked';
      announce(t('refund_asked'));
    } catch (problem) {
      send.disabled = false;
      blame(problem.detail || t('no_answer'));
      if (problem.status !== 409) return;
      announce(fault.textContent);
    }
    again();
  };
  const send = el('button', { class: 'button', type: 'submit' }, t('refund_send'));
  return el('form', { class: 'token rich', onsubmit: submit }, el('label', { for: 'refund-why' }, t('refund_why')), field, fault, el('p', { class: 'soft small', id: 'refund-note' }, t('refund_note', { most: MAX_REASON })), send);
}

// A report is of a sale that is over. Its part of the page is loaded when the shopper opens it.
function reportCheck(io, order) {
  const { at, el, put, t } = io;
  const body = el('div', { class: 'rich' }, el('p', { class: 'soft' }, t('loading')));
  const load = () => node.open && import('./inreport.js').then((part) => part.show(io, body, order), () => put(body, el('p', { class: 'fault', role: 'alert' }, t('no_answer'))));
  const node = el('details', { class: 'panel', ontoggle: load }, el('summary', {}, t('report_check')), body);
  const place = el('div', {});
  at(Date.parse(order.seckill.end_time), () => put(place, node)); // at once if it is over, and the shop's clock known
  return place;
}
