// Blocks: users and ranges of network addresses that may not buy.
import { el, put } from '../dom.js';
import { t, when } from '../i18n.js';
import { command } from './call.js';
import { confirm } from './confirm.js';
import { checks, form } from './form.js';
import { placeOf } from './place.js';
import { listing } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  blocks_title: ['禁购名单', 'Blocks'],
  field_subject: ['买家编号或网络地址', 'User, or network address'],
  blocks_subject_hint: ['例如 1001、203.0.113.7 或 203.0.113.0/24。没有验证的商品不看网络地址。', 'Such as 1001, 203.0.113.7 or 203.0.113.0/24. Items without checks do not look at networks.'],
  blocks_caption: ['被禁购的买家和网络地址，没有特定顺序', 'Users and network addresses that may not buy, in no particular order'],
  blocks_of: ['{subject} 的禁购记录', 'Blocks of {subject}'],
  blocks_who: ['谁', 'Who'],
  blocks_item: ['商品', 'Item'],
  blocks_every: ['全部商品', 'every item'],
  blocks_reason: ['原因', 'Reason'],
  blocks_reason_hint: ['只给店员看，一行，最多 {most} 个字。', 'For staff: one line, at most {most} characters.'],
  blocks_until: ['到', 'Until'],
  blocks_always: ['一直', 'for good'],
  blocks_over: ['已过期', 'over'],
  blocks_by: ['操作人', 'By'],
  blocks_made: ['时间', 'Made'],
  blocks_add: ['禁止购买', 'Block'],
  blocks_add_item: ['只限这件商品', 'Only for this item'],
  blocks_add_until: ['到什么时候', 'Until'],
  blocks_add_until_hint: ['不填就是一直。', 'Leave it empty to block for good.'],
  blocks_past: ['应在以后。', 'This should be later than now.'],
  blocks_added: ['已禁止购买。', 'The block holds.'],
  blocks_same: ['之前已经这样禁止了。', 'It was blocked so already.'],
  blocks_unknown_item: ['没有商品 {item}。', 'There is no item {item}.'],
  blocks_remove: ['解除', 'Remove'],
  blocks_remove_label: ['解除 {subject} 的禁购', 'Remove the block of {subject}'],
  blocks_remove_happens: ['{subject} 又可以购买：{item}。', '{subject} may buy again: {item}.'],
  blocks_removed: ['已解除禁购。', 'The block is removed.'],
  blocks_gone: ['这条禁购已经不在了。', 'There was no such block any more.'],
  blocks_unreadable: ['读不出来的记录：{n}', 'Rows that cannot be read: {n}'],
});

const PAGE = 100;
const MAX_REASON = 200; // characters
const SUBJECT = /^([1-9]\d{0,18}|[\da-fA-F:.]+(\/\d{1,3})?)$/; // the shop looks closer

const subjectField = (value, required) => ({ name: 'subject', label: t('field_subject'), hint: required ? t('blocks_subject_hint') : undefined, value, required, check: (text) => (SUBJECT.test(text) ? '' : t('blocks_subject_hint')) });

export const blocks = {
  name: 'blocks',
  title: 'blocks_title',
  needs: ['blocks'],
  menu: true,
  async show(page) {
    const { query } = page;
    const subject = query.get('subject') || '';
    const list = el('div', {});
    const filter = form({ name: 'blocks-filter', filter: true, submit: t('show_these'), fields: [subjectField(subject, false)], send: async (v) => page.go({ ...v, after: '', reason: '' }) });
    put(page.node, el('section', { class: 'panel' }, filter), page.may('block') && addPart(page), list);
    const got = await command('blocks', { subject: subject || undefined, cursor: query.get('after') || undefined, limit: PAGE });
    if (page.signal.aborted) return;
    const bad = got.unreadable || [];
    put(
      list,
      bad.length > 0 && el('div', { class: 'notification', role: 'alert' }, el('p', {}, t('blocks_unreadable', { n: bad.length })), el('ul', { class: 'faults code' }, bad.slice(0, 20).map((row) => el('li', {}, row)))),
      listing(page, { caption: subject ? t('blocks_of', { subject }) : t('blocks_caption'), columns: columns(page), rows: got.blocks, next: got.next }),
    );
  },
};

const columns = (page) => {
  const shown = [
    { name: 'who', title: t('blocks_who'), cell: (b) => el('span', { class: 'code' }, b.subject), by: (b) => b.subject },
    { name: 'item', title: t('blocks_item'), cell: (b) => (b.item ? el('a', { href: placeOf('item', b.item) }, b.item) : t('blocks_every')), by: (b) => b.item || '' },
    { name: 'reason', title: t('blocks_reason'), long: true, cell: (b) => b.reason },
    { name: 'until', title: t('blocks_until'), cell: (b) => (b.until ? `${when(b.until)}${Date.parse(b.until) <= page.now() ? ` · ${t('blocks_over')}` : ''}` : t('blocks_always')), by: (b) => Date.parse(b.until) || Infinity },
    { name: 'by', title: t('blocks_by'), minor: true, long: true, cell: (b) => b.by || '', by: (b) => b.by || '' },
    { name: 'made', title: t('blocks_made'), minor: true, cell: (b) => when(b.made), by: (b) => Date.parse(b.made) },
  ];
  if (page.may('unblock')) shown.push({ name: 'do', title: '', cell: (b) => el('button', { class: 'button plain small', type: 'button', 'aria-label': t('blocks_remove_label', { subject: b.subject }), onclick: () => remove(page, b) }, t('blocks_remove')) });
  return shown;
};

async function remove(page, b) {
  const title = t('blocks_remove_label', { subject: b.subject });
  const gone = await confirm({
    title,
    happens: [t('blocks_remove_happens', { subject: b.subject, item: b.item || t('blocks_every') })],
    yes: t('blocks_remove'),
    do: () => command('unblock', { subject: b.subject, item: b.item || undefined }),
  });
  if (gone === null) return;
  page.said(t(gone ? 'blocks_removed' : 'blocks_gone'));
  page.again();
}

function addPart(page) {
  const { query } = page;
  const fields = [
    subjectField(query.get('reason') ? query.get('subject') || '' : '', true),
    { name: 'item', label: t('blocks_add_item'), check: checks.id, input: { inputmode: 'numeric' } },
    { name: 'reason', label: t('blocks_reason'), hint: t('blocks_reason_hint', { most: MAX_REASON }), value: query.get('reason') || '', required: true, check: checks.line(MAX_REASON) },
    { name: 'until', label: t('blocks_add_until'), hint: t('blocks_add_until_hint'), kind: 'datetime-local', check: (text) => (Date.parse(text) > page.now() ? '' : t('blocks_past')) },
  ];
  const add = form({
    name: 'block',
    about: query.get('subject') || '',
    fields,
    submit: t('blocks_add'),
    danger: true,
    async send(v) {
      const block = { subject: v.subject, item: v.item || undefined, reason: v.reason, until: v.until ? new Date(v.until).toISOString() : undefined };
      const done = await command('block', { blocks: [block] });
      if (done.unknown?.length) throw new Error(t('blocks_unknown_item', { item: done.unknown[0] }));
      page.said(t(done.same ? 'blocks_same' : 'blocks_added'));
      page.go({ reason: '' });
    },
  });
  return el('details', { class: 'panel', open: query.has('reason') }, el('summary', {}, t('blocks_add')), add);
}
