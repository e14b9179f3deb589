// The audit log: what staff did on a day, with what it changed.
import { el, put } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { dayOf } from './bills.js';
import { command } from './call.js';
import { form } from './form.js';
import { listing } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  audit_title: ['审计日志', 'Audit log'],
  audit_text: ['店员做过的每件事，不能改也不能删。', 'What staff did. None of it can be changed or deleted.'],
  audit_of: ['{day} 的记录，旧的在前', 'Entries of {day}. Oldest first'],
  audit_reads: ['包括只查看的', 'also what was only looked at'],
  audit_time: ['时间', 'Time'],
  audit_who: ['谁', 'Who'],
  audit_act: ['做了什么', 'Did'],
  audit_change: ['之前 → 之后', 'Before → after'],
  audit_why: ['原因', 'Reason'],
  audit_result: ['结果', 'Result'],
  audit_result_changed: ['已改动', 'changed'],
  audit_result_unchanged: ['没有改动', 'unchanged'],
  audit_result_read: ['只查看', 'read'],
  audit_result_waits: ['等第二人', 'waits'],
  audit_open: ['开始了，这一天没有结束的记录', 'began, and no end is recorded on this day'],
  audit_open_yet: ['开始了，结束的记录在后面的页', 'began; its end is on a later page, if it is recorded'],
});

const PAGE = 200;

export const audit = {
  name: 'audit',
  title: 'audit_title',
  needs: ['audit'],
  menu: true,
  async show(page) {
    const day = page.query.get('day') || dayOf(page.now());
    const reads = page.query.has('reads');
    const choose = form({
      name: 'audit-day',
      filter: true,
      submit: t('show_these'),
      fields: [
        { name: 'day', label: t('field_day'), kind: 'date', value: day, required: true },
        { name: 'reads', label: t('audit_reads'), kind: 'check', value: reads },
      ],
      send: async (v) => page.go({ ...v, after: '' }),
    });
    const list = el('div', {});
    put(page.node, el('section', { class: 'panel' }, el('p', { class: 'soft' }, t('audit_text')), choose), list);
    const got = await command('audit', { day, cursor: page.query.get('after') || undefined, limit: PAGE });
    if (page.signal.aborted) return;
    put(list, listing(page, { caption: t('audit_of', { day }), columns: columns(got.next), rows: whole(got.entries || []).filter((e) => reads || e.result !== 'read'), next: got.next }));
  },
};

/** Entries without the beginnings of acts whose end is also on this page; a person's roles stand at the first entry only. */
export function whole(entries) {
  const ended = new Set(entries.filter((e) => e.kind === 'ended').map((e) => e.id));
  const told = new Set();
  return entries.filter((e) => e.kind !== 'begun' || !ended.has(e.id)).map((e) => {
    const person = `${e.who} ${e.roles}`;
    if (told.has(person)) return { ...e, roles: '' };
    told.add(person);
    return e;
  });
}

const columns = (next) => [
  { name: 'time', title: t('audit_time'), cell: (e) => when(e.at, true) },
  { name: 'who', title: t('audit_who'), long: true, cell: (e) => [e.who, ...(e.roles ? [el('br'), el('small', { class: 'soft' }, e.roles.split(',').map((r) => tOr(`role_${r}`, r)).join(t('office_comma')))] : [])], by: (e) => e.who },
  { name: 'act', title: t('audit_act'), long: true, cell: (e) => [el('b', {}, e.act), ' ', el('span', { class: 'code' }, e.subject)], by: (e) => e.act },
  { name: 'change', title: t('audit_change'), long: true, cell: (e) => (e.before || e.after ? el('span', { class: 'code' }, `${e.before || '–'} → ${e.after || '–'}`) : '') },
  { name: 'why', title: t('audit_why'), long: true, cell: (e) => e.why },
  { name: 'result', title: t('audit_result'), cell: (e) => (e.kind === 'begun' ? t(next ? 'audit_open_yet' : 'audit_open') : tOr(`audit_result_${e.result}`, e.result)) },
];
