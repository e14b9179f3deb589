// What staff can do about a running sale from its live screen: stop and resume it, add stock, move dead letters back. Each
// says before what will happen, with the newest figures, and wants the item's id, or the number, typed. The whole shop is
// stopped hard without its functions, in a terminal: the screen shows the line to give there.
import { openSheet } from '../dialogs.js';
import { el, put, setText } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { command } from './call.js';
import { confirm } from './confirm.js';
import { checks, form } from './form.js';
import { MAX_STOCK, addHappens } from './items.js';
import { addTexts } from './texts.js';

addTexts({
  live_acts: ['操作', 'What you can do'],
  live_stop_figures: ['剩余 {left} 件不再卖。订单占用的 {held} 件不变，其中至少 {unpaid} 件待付款。正在落单的预占：{awaiting}。', '{left} units left are not sold any more. The {held} units that orders hold stay with them, paid and unpaid; at least {unpaid} are unpaid. Reservations being placed: {awaiting}.'],
  live_resume_figures: ['剩余 {left} 件继续卖，到 {closes} 为止。', '{left} units are on sale again, until {closes}.'],
  live_add_figures: ['剩余从 {left} 件变为 {after} 件；订单占用的 {held} 件不变。', '{after} units are left then instead of {left}. Orders keep their {held}.'],
  live_redrive: ['移回死信：{queue}', 'Move dead letters back: {queue}'],
  live_redrive_figures: ['“{queue}”的死信队列里的 {n} 条消息移回队列，再处理一次。', '{n} messages of the dead-letter queue of {queue} go back to the queue and are handled again.'],
  live_redrive_cause: ['处理不了的会再变成死信：请先查明原因（dead-letters 手册）。处理两次没有害处；超过一小时的下单会被拒绝。', 'What cannot be handled comes back: find the cause first (runbook dead-letters). Handling one twice is harmless. An order older than an hour is rejected.'],
  live_redriven: ['正在移回约 {n} 条消息。', 'About {n} messages go back.'],
  live_by: ['{done} {who}，{time}，已记入审计日志。', '{done} By {who}, {time}; the audit log has it.'],
  live_throttled: ['请求太多，被限流。请用命令行：{line}', 'Throttled: use the command line: {line}'],
  live_hard: ['紧急停店', 'Stop the whole shop hard'],
  live_hard_happens: ['停掉的是整个店铺，不只是这件商品：买家不能浏览、抢购、取消、看订单，所有请求得到 429，直到重新打开。付款通知和后台命令照常。', 'It stops the whole shop, not this item alone: shoppers cannot look, buy, cancel or see an order, and get 429, until it is opened again. Payment notifications and staff’s commands go on.'],
  live_hard_figures: ['这件商品至少有 {unpaid} 件待付款：买家那时打不开订单，到期会关单。排队的订单仍会落单：{awaiting}。', 'At least {unpaid} units of this item are unpaid: their shoppers cannot open their orders then, and they expire. Orders that wait are still placed: {awaiting}.'],
  live_hard_why: ['在函数或 Redis 没有反应时用。所以它不经过商店的函数，网页也做不了：用您自己的权限在终端里执行，它会要求输入店铺名。', 'It is for when functions or Redis do not answer. So it calls no function, and this page cannot do it: give it in a terminal, with your own rights. It asks for the shop’s name.'],
  live_hard_open: ['重新打开：', 'To open it again:'],
});


/** Units that wait for a payment, at the least: a paid unit that was given back is subtracted twice. */
const unpaid = ({ total }) => Math.max(0, total.placed - total.paid - total.given_back);

/** The line of the command line tool that does the same. */
export const line = (page, words) => ['seckill', words, page.tool].filter(Boolean).join(' ');

/**
 * The part with the buttons: {node, show(seen)}. `busy(is)` is told while a command is under way, so that the screen does
 * not ask meanwhile.
 */
export function acts(page, busy) {
  let seen = null;
  const said = el('p', { class: 'notification', role: 'status', hidden: true });
  const button = (name, text, press) => el('button', { class: 'button plain small', type: 'button', id: `live-${name}`, onclick: press }, text);

  async function give(name, args, words) {
    busy(true);
    try {
      return await command(name, args);
    } catch (problem) {
      throw problem.status === 429 ? new Error(t('live_throttled', { line: line(page, words) })) : problem;
    } finally {
      busy(false);
    }
  }

  function tell(done) {
    said.hidden = false;
    setText(said, t('live_by', { done, who: page.who, time: when(page.now(), true) }));
  }

  /** Asks whether it is meant so, does it, and says who did it; `done(result)` says what happened. */
  async function ask({ title, happens, word, name, args, words, done }) {
    const result = await confirm({ title, happens, yes: title, word, do: () => give(name, args, words) });
    if (result) tell(done(result));
    return result;
  }

  function turn(verb) {
    const { left, held, awaiting, closes } = seen.stock.value;
    const figures = verb === 'stop' ? t('live_stop_figures', { left, held, awaiting, unpaid: unpaid(seen.counts.value) }) : t('live_resume_figures', { left, closes: when(closes, true) });
    const happens = verb === 'stop' ? [figures, t('item_stop_happens'), t('item_stop_orders')] : [figures, t('item_resume_happens')];
    const done = ({ changed }) => t(!changed ? 'item_same' : verb === 'stop' ? 'item_stopped_now' : 'item_resumed');
    return ask({ title: `${t(`item_${verb}`)}: ${page.id}`, happens, word: page.id, name: verb, args: { item: page.id }, words: `items ${verb} ${page.id}`, done });
  }

  function redrive(queue) {
    const n = seen.queues.value.find((q) => q.name === queue)?.parked || 0;
    const name = tOr(`live_queue_${queue}`, queue);
    const happens = [t('live_redrive_figures', { n, queue: name }), t('live_redrive_cause')];
    return ask({ title: t('live_redrive', { queue: name }), happens, word: String(n), name: 'redrive', args: { queue }, words: `redrive ${queue}`, done: ({ messages }) => (messages ? t('live_redriven', { n: messages }) : t('item_same')) });
  }

  function hard() {
    const sheet = openSheet(t('live_hard'));
    const figures = t('live_hard_figures', { unpaid: unpaid(seen.counts.value), awaiting: seen.stock.value.awaiting });
    const code = (words) => el('p', { class: 'code', tabindex: 0 }, line(page, words));
    put(sheet.body, [t('live_hard_happens'), figures, t('live_hard_why')].map((p) => el('p', {}, p)), code(`items stop ${page.id} --hard`), el('p', {}, t('live_hard_open')), code(`items resume ${page.id} --hard`));
  }

  const stop = button('stop', t('item_stop'), () => turn('stop'));
  stop.className = 'button danger small';
  const resume = button('resume', t('item_resume'), () => turn('resume'));
  const queues = el('div', { class: 'row-actions', id: 'live-queues', hidden: true });
  const total = () => seen.stock.value.stock;
  const add = page.may('add-stock') && form({
    name: 'live-add',
    filter: true,
    submit: t('item_add'),
    fields: [{ name: 'stock', label: t('item_add_total'), required: true, check: (text) => checks.whole(total() + 1, MAX_STOCK)(text), input: { inputmode: 'numeric' } }],
    async sure({ stock }) {
      const { left, held, state } = seen.stock.value;
      const more = stock - total();
      const happens = [t(addHappens(state), { from: total(), to: stock, more }), t('live_add_figures', { left, held, after: left + more }), t('item_add_final')];
      return ask({ title: `${t('item_add')}: ${page.id}`, happens, word: String(stock), name: 'add-stock', args: { item: page.id, stock: Number(stock) }, words: `items add-stock ${page.id} ${stock}`, done: (it) => t(it.changed ? 'item_added' : 'item_same', { n: it.stock }) });
    },
    async send() {
      document.getElementById('live-add-stock').value = ''; // it is done
    },
  });
  const node = el('section', { class: 'panel', id: 'live-act' }, el('h2', {}, t('live_acts')), said, el('div', { class: 'row-actions' }, page.may('stop') && [stop, resume, button('hard', t('live_hard'), hard)]), queues, add);

  return {
    node: ['stop', 'add-stock', 'redrive'].some(page.may) && node,
    show(now) {
      seen = now;
      const { state } = seen.stock.value;
      stop.hidden = state === 'stopped' || state === 'ended';
      resume.hidden = state !== 'stopped';
      const dead = page.may('redrive') ? (seen.queues.value || []).filter((q) => q.parked > 0).map((q) => q.name) : [];
      if (queues.dataset.names === dead.join()) return;
      queues.dataset.names = dead.join();
      queues.hidden = dead.length === 0;
      put(queues, dead.map((q) => button(`redrive-${q}`, t('live_redrive', { queue: tOr(`live_queue_${q}`, q) }), () => redrive(q))));
    },
  };
}
