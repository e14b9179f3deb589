// Suspicious acts: what shoppers did that looks like a script, by day. Staff handle or block; the shop refuses nobody by itself.
import { el, put } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { dayOf } from './bills.js';
import { command } from './call.js';
import { checks, form, whyField } from './form.js';
import { placeOf } from './place.js';
import { listing } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  acts_title: ['可疑行为', 'Suspicious acts'],
  acts_text: ['规则只是迹象，不是证据：同一运营商的很多人可能共用一个网络地址。', 'Rules are signs and no proof: people behind a carrier share its network address.'],
  acts_caption: ['{day} 的可疑行为，按时间', 'Suspicious acts of {day}, by time'],
  acts_all: ['包括已处理的', 'also handled ones'],
  acts_time: ['时间', 'Time'],
  acts_item: ['商品', 'Item'],
  acts_user: ['买家', 'User'],
  acts_action: ['行为', 'Act'],
  acts_result: ['结果', 'Result'],
  acts_rules: ['规则', 'Rules'],
  acts_status: ['状态', 'Status'],
  acts_agent: ['客户端', 'Client'],
  acts_look: ['查看', 'Look'],
  acts_look_label: ['查看买家 {user} 的行为', 'Look at the act of user {user}'],
  acts_action_challenge: ['要验证', 'challenge'],
  acts_action_ticket: ['要凭证', 'ticket'],
  acts_action_buy: ['下单', 'purchase'],
  acts_result_ok: ['通过', 'not refused'],
  acts_result_not_started: ['还没开始', 'not open yet'],
  acts_result_check_failed: ['验证未通过', 'wrong answer'],
  acts_result_ticket_required: ['没有凭证', 'no ticket'],
  acts_result_too_many_requests: ['太频繁', 'too many requests'],
  acts_status_suspicious: ['未处理', 'not handled'],
  acts_status_handled: ['已处理', 'handled'],
  acts_rule_prelude: ['凭证不是给页面的', 'a ticket for something that is not a page'],
  acts_rule_fast: ['计算比任何页面都快', 'a proof of work that took less time than any page needs'],
  acts_rule_network: ['10 分钟内同一网络地址超过 1000 个买家', 'more than 1000 users of one network address within 10 minutes'],
  acts_rule_agent: ['10 分钟内同一网络地址、同一客户端超过 300 个买家', 'more than 300 users of one network address with the same client within 10 minutes'],
  acts_rule_answer: ['10 分钟内超过 10 个买家答了同样的错误答案', 'more than 10 users with the same wrong answer within 10 minutes'],
  acts_rule_early: ['开始前一分钟内按了 5 次以上', 'more than 5 presses for an item before its start within a minute'],

  act_title: ['可疑行为详情', 'Suspicious act'],
  act_none: ['没有这条记录。', 'There is no such act.'],
  act_id: ['编号', 'Id'],
  act_referrer: ['来自页面', 'Came from'],
  act_took: ['计算用时', 'Proof of work took'],
  act_network: ['网络地址（哈希）', 'Network address, hashed'],
  act_handled: ['{by} 于 {time} 处理：{note}', 'Handled by {by} on {time}: {note}'],
  act_handle: ['记为已处理', 'Record that it is handled'],
  act_handled_now: ['已记为已处理。', 'It is recorded as handled.'],
  act_block: ['禁止这个买家购买', 'Block this user'],
});

const PAGE = 100;
const MAX_NOTE = 200; // characters
const ACT = /^\d{13}-[\da-f]{1,32}$/; // an act's id

const rulesText = (a) => (a.rules ? a.rules.split(',').map((r) => tOr(`acts_rule_${r}`, r)).join(t('office_comma')) : '');
const actionText = (a) => tOr(`acts_action_${a.action}`, a.action);
const statusText = (a) => tOr(`acts_status_${a.status}`, a.status);
const resultText = (a) => tOr(`acts_result_${a.result}`, tOr(`refused_${a.result}`, a.result));

const columns = () => [
  { name: 'time', title: t('acts_time'), cell: (a) => when(a.at, true) },
  { name: 'user', title: t('acts_user'), cell: (a) => a.user, by: (a) => a.user },
  { name: 'item', title: t('acts_item'), minor: true, cell: (a) => a.item, by: (a) => a.item },
  { name: 'action', title: t('acts_action'), cell: actionText, by: (a) => a.action },
  { name: 'result', title: t('acts_result'), minor: true, cell: resultText, by: (a) => a.result },
  { name: 'rules', title: t('acts_rules'), long: true, cell: rulesText, by: (a) => a.rules },
  { name: 'status', title: t('acts_status'), minor: true, cell: statusText },
  { name: 'look', title: t('acts_look'), cell: (a) => el('a', { href: placeOf('act', a.id), 'aria-label': t('acts_look_label', { user: a.user }) }, t('acts_look')) },
];

export const acts = {
  name: 'acts',
  title: 'acts_title',
  needs: ['acts'],
  menu: true,
  async show(page) {
    const { query } = page;
    const day = query.get('day') || dayOf(page.now());
    const list = el('div', {});
    const filter = form({
      name: 'acts-filter',
      filter: true,
      submit: t('show_these'),
      fields: [
        { name: 'day', label: t('field_day'), kind: 'date', value: day, required: true },
        { name: 'item', label: t('field_item'), value: query.get('item') || '', check: checks.id, input: { inputmode: 'numeric' } },
        { name: 'all', label: t('acts_all'), kind: 'check', value: query.has('all') },
      ],
      send: async (v) => page.go({ ...v, after: '' }),
    });
    put(page.node, el('section', { class: 'panel' }, el('p', { class: 'soft' }, t('acts_text')), filter), list);
    const got = await command('acts', { day, item: query.get('item') || undefined, all: query.has('all') || undefined, cursor: query.get('after') || undefined, limit: PAGE });
    if (page.signal.aborted) return;
    put(list, listing(page, { caption: t('acts_caption', { day }), columns: columns(), rows: got.acts || [], next: got.next }));
  },
};

export const act = {
  name: 'act',
  title: 'act_title',
  parent: 'acts',
  needs: ['act'],
  menu: false,
  async show(page) {
    if (!ACT.test(page.id)) return void put(page.node, el('p', { class: 'panel' }, t('act_none')));
    const a = await command('act', { act: page.id });
    if (page.signal.aborted) return;
    const fact = (name, value) => value && [el('dt', {}, t(name)), el('dd', {}, value)];
    put(
      page.node,
      el(
        'section',
        { class: 'panel' },
        el('dl', { class: 'facts' }, fact('acts_time', when(a.at, true)), fact('acts_user', page.may('orders') ? el('a', { href: placeOf('orders', '', { user: a.user }) }, a.user) : a.user), fact('acts_item', a.item), fact('acts_action', actionText(a)), fact('acts_result', resultText(a)), fact('acts_rules', rulesText(a)), fact('acts_status', statusText(a)), fact('acts_agent', a.agent), fact('act_referrer', a.referrer), fact('act_took', a.took_ms && `${a.took_ms} ms`), fact('act_network', el('span', { class: 'code' }, a.network_hash)), fact('act_id', el('span', { class: 'code' }, a.id))),
        a.handled && el('p', {}, t('act_handled', { by: a.by, time: when(a.handled), note: a.note })),
      ),
      page.may('handle') && el('section', { class: 'panel' }, el('h2', {}, t('act_handle')), handleForm(page)),
      page.may('block') && el('div', { class: 'row-actions' }, el('a', { class: 'button danger', id: 'act-block', href: placeOf('blocks', '', { subject: a.user, reason: `${a.rules} ${a.id}` }) }, t('act_block'))),
    );
  },
};

const handleForm = (page) =>
  form({
    name: 'handle',
    about: page.id,
    submit: t('act_handle'),
    fields: [{ ...whyField(MAX_NOTE) }],
    async send({ why }) {
      await command('handle', { act: page.id, why });
      page.said(t('act_handled_now'));
      page.again();
    },
  });
