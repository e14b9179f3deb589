// The activities: the list, and one with its items and all that may be done with it. An activity decides nothing: each
// item keeps its window and its stop switch.
import { el, put } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { command } from './call.js';
import { confirm } from './confirm.js';
import { idField, localTime, ruled, timeField, windowFields, wireTime } from './editor.js';
import { checks, form } from './form.js';
import { itemsControl } from './itemfield.js';
import { allItems, fullTitle } from './itemlist.js';
import { placeOf } from './place.js';
import { listing, table } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  activities_title: ['场次', 'Activities'],
  activities_caption: ['场次，结束最晚的在前。新建的可能几秒后才出现', 'Activities, the one that ends last first. A new one may be missing for some seconds'],
  activities_all: ['包括已删除的', 'Also deleted ones'],
  activities_new: ['新建场次', 'New activity'],
  activities_id: ['编号', 'Id'],
  activities_name: ['名称', 'Title'],
  activities_state: ['状态', 'State'],
  activities_state_waiting: ['未开始', 'Waiting'],
  activities_state_online: ['进行中', 'Online'],
  activities_state_offline: ['已下线', 'Offline'],
  activities_state_ended: ['已结束', 'Ended'],
  activities_state_deleted: ['已删除', 'Deleted'],
  activities_items: ['商品数', 'Items'],
  activities_who: ['创建人', 'Made by'],
  activities_unreadable: ['读不出来的场次：{n}', 'Activities that cannot be read: {n}'],

  activity_title: ['场次详情', 'Activity'],
  activity_made: ['创建', 'Made'],
  activity_made_text: ['{who}，{from}，{time}', 'by {who}, {from}, {time}'],
  activity_from_page: ['在后台网页', 'in the back office'],
  activity_from_cli: ['用命令行', 'with the command line tool'],
  activity_version: ['版本', 'Version'],
  activity_members: ['场内商品', 'Its items'],
  activity_members_caption: ['场内商品，按展示顺序', 'Its items, in the order in which they are shown'],
  activity_not_loaded: ['未装载', 'not loaded'],
  activity_edit: ['编辑', 'Edit'],
  activity_save: ['保存', 'Save'],
  activity_create: ['创建', 'Create'],
  activity_saved: ['已保存，现在是第 {version} 版。一分钟内页面上可见。', 'Saved: it is at version {version} now. Pages have it within a minute.'],
  activity_same: ['没有需要改动的。', 'There was nothing to change.'],
  activity_exists: ['编号 {id} 已经有了：{title}。', 'There is an activity {id} already: {title}.'],
  activity_title_hint: ['一行，最多 {most} 个字，买家在商品上方看到。', 'One line of at most {most} characters. Shoppers see it over the items.'],
  activity_items_hint: ['最多 {most} 件；一件商品只能在一个场次里，销售时间要在场次之内。', 'At most {most}. An item is in one activity, and sells within its window.'],
  activity_copy: ['复制到新的时间', 'Copy to a new start'],
  activity_copy_text: ['场次和每件商品都得到新编号，时间整体移动；库存、限购、价格、验证、问题和详情照现在的样子复制，包括已卖出的件数。复制出来的都没有停售。', 'The activity and each item get new ids, and all windows move as much. Stock, limit, prices, checks, questions and descriptions are those of now, sold units included. No copy is stopped.'],
  activity_copy_start: ['新的开始时间', 'New start'],
  activity_copied: ['已复制，共 {n} 件商品。这是新场次。', 'Copied, with {n} items. This is the new activity.'],
  activity_copy_there: ['以前已复制到这个时间，就是这个场次。', 'It was copied to that start before: this is the copy.'],
  activity_future: ['应晚于现在。', 'This should be in the future.'],
  activity_offline: ['下线', 'Take offline'],
  activity_offline_happens: ['停止其中还没结束的商品，共 {n} 件；最多再过 2 秒，不再落单。已有订单仍可付款。', 'It stops the sale of those of its {n} items that have not ended: nothing is placed later than 2 seconds after that. Existing orders can still be paid.'],
  activity_offline_partly: ['如果有商品没停下来，会说是哪些：请再做一次，直到成功。', 'If an item could not be stopped, it is named: do it again until it succeeds.'],
  activity_online: ['上线', 'Put online'],
  activity_online_happens: ['恢复下线时停售的 {n} 件商品：{items}。', 'It resumes the {n} items that going offline stopped: {items}.'],
  activity_online_none: ['没有要恢复的商品：下线时没有停售任何商品。', 'No item is resumed: going offline stopped none.'],
  activity_online_stay: ['下线前已停售的商品不恢复；下线后单独恢复又停售的也会恢复。', 'Items that were stopped before stay stopped. One that somebody resumed and stopped again since then is resumed, too.'],
  activity_online_all: ['旧版本下线时没有记录停售了哪些商品：全部 {n} 件都恢复。', 'An older release took it offline and did not note which items it stopped: all {n} are resumed.'],
  activity_stays: ['仍停售：{items}。', 'Still stopped: {items}.'],
  activity_switched: ['已{what}，{n} 件商品。', 'Done: {what}, {n} items.'],
  activity_delete: ['删除场次', 'Delete the activity'],
  activity_delete_happens: ['商品都保留，可以放进别的场次。随时可以恢复。', 'Its items stay, and may go to others. It can be undeleted at any time.'],
  activity_deleted: ['场次已删除。', 'The activity is deleted.'],
  activity_undelete: ['恢复场次', 'Undelete the activity'],
  activity_undelete_happens: ['它会带着原来的商品回来；如果有商品已在别的场次里，会被拒绝。', 'It comes back with its items. This is refused if one of them is in another activity by now.'],
  activity_undeleted: ['场次已恢复。', 'The activity is back.'],
});

const PAGE = 50;
const MAX_TITLE = 100; // characters, as the shop has it
const MAX_ITEMS = 99;
const WEEK = 7 * 24 * 3_600_000; // ms

const stateOf = (a) => (a.deleted ? 'deleted' : a.state);
const pill = (state) => el('span', { class: `pill ${{ online: 'good', offline: 'bad', deleted: 'bad', waiting: 'wait' }[state] || ''}` }, tOr(`activities_state_${state}`, state));

const columns = () => [
  { name: 'id', title: t('activities_id'), cell: (a) => el('a', { href: placeOf('activity', a.id) }, a.id) },
  { name: 'name', title: t('activities_name'), long: true, cell: (a) => a.title, by: (a) => a.title },
  { name: 'state', title: t('activities_state'), cell: (a) => pill(stateOf(a)), by: stateOf },
  { name: 'start', title: t('field_start_time'), cell: (a) => when(a.start_time), by: (a) => Date.parse(a.start_time) },
  { name: 'end', title: t('field_end_time'), minor: true, cell: (a) => when(a.end_time), by: (a) => Date.parse(a.end_time) },
  { name: 'items', title: t('activities_items'), figure: true, cell: (a) => String(a.items.length), by: (a) => a.items.length },
  { name: 'who', title: t('activities_who'), minor: true, long: true, cell: (a) => a.made_by, by: (a) => a.made_by },
];

export const activities = {
  name: 'activities',
  title: 'activities_title',
  needs: ['activities'],
  menu: true,
  async show(page) {
    const got = await command('activities', { limit: PAGE, all: page.query.has('all') || undefined, cursor: page.query.get('after') || undefined });
    if (page.signal.aborted) return;
    const filter = form({ name: 'activities-filter', filter: true, submit: t('show_these'), fields: [{ name: 'all', label: t('activities_all'), kind: 'check', value: page.query.has('all') }], send: async (v) => page.go({ ...v, after: '' }) });
    put(
      page.node,
      el('section', { class: 'panel' }, filter, page.may('save-activity') && el('div', { class: 'row-actions' }, el('a', { class: 'button', href: placeOf('activity'), id: 'activity-new' }, t('activities_new')))),
      got.unreadable?.length > 0 && el('p', { class: 'notification', role: 'alert' }, t('activities_unreadable', { n: got.unreadable.length })),
      listing(page, { caption: t('activities_caption'), columns: columns(), rows: got.activities, next: got.next }),
    );
  },
};

export const activity = {
  name: 'activity',
  title: 'activity_title',
  parent: 'activities',
  needs: ['activity'],
  menu: false,
  async show(page) {
    const edits = page.may('save-activity');
    const [a, all] = await Promise.all([page.id ? command('activity', { activity: page.id }) : null, allItems()]);
    if (page.signal.aborted) return;
    const known = new Map(all.items.map((it) => [it.id, it]));
    if (!a) return void put(page.node, part('activities_new', editor(page, null, known)));
    const live = !a.deleted;
    put(
      page.node,
      facts(a),
      members(page, a, known),
      edits && live && part('activity_edit', editor(page, a, known)),
      page.may('offline') && live && a.state !== 'ended' && switchPart(page, a),
      page.may('copy-activity') && live && part('activity_copy', el('p', { class: 'soft' }, t('activity_copy_text')), copier(page, a)),
      page.may('delete-activity') && deletePart(page, a),
    );
  },
};

const part = (title, ...nodes) => el('section', { class: 'panel' }, el('h2', {}, t(title)), ...nodes);

function facts(a) {
  const fact = (name, value) => [el('dt', {}, t(name)), el('dd', {}, value)];
  const made = t('activity_made_text', { who: a.made_by, from: tOr(`activity_from_${a.made_from}`, a.made_from), time: when(a.made, true) });
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, `${a.id} · ${a.title}`),
    el('dl', { class: 'facts' }, fact('activities_state', pill(stateOf(a))), fact('field_start_time', when(a.start_time, true)), fact('field_end_time', when(a.end_time, true)), fact('activity_made', made), fact('activity_version', String(a.version))),
  );
}

function members(page, a, known) {
  if (!a.members.length) return part('activity_members', el('p', { class: 'soft' }, t('members_none')));
  const cells = [
    { name: 'id', title: t('items_id'), cell: (it) => el('a', { href: placeOf('item', it.id) }, it.id) },
    { name: 'name', title: t('items_name'), long: true, cell: (it) => fullTitle(known.get(it.id) || it) },
    { name: 'state', title: t('items_state'), cell: (it) => t(`items_state_${it.state}`) },
    { name: 'left', title: t('items_left'), figure: true, cell: (it) => (it.installed ? String(it.left) : t('activity_not_loaded')) },
    { name: 'stock', title: t('items_stock'), figure: true, cell: (it) => String(it.stock) },
  ];
  return table(page, t('activity_members_caption'), cells, a.members);
}

// The texts of the form's fields for an activity.
const textsOf = (a) => ({ title: a.title, start_time: localTime(a.start_time), end_time: localTime(a.end_time), items: a.items.join(' ') });

function editor(page, a, known) {
  const fields = [
    { name: 'title', label: t('field_title'), hint: t('activity_title_hint', { most: MAX_TITLE }), value: a?.title, required: true, check: checks.line(MAX_TITLE) },
    ...windowFields('activity-edit', a),
    { name: 'items', label: t('activity_members'), hint: t('activity_items_hint', { most: MAX_ITEMS }), value: a?.items.join(' '), make: itemsControl(known), show: (text) => text.split(' ').join(', ') },
    { name: 'version', kind: 'hidden', value: String(a?.version || 0) },
  ];
  return form({
    name: 'activity-edit',
    about: page.id,
    fields: a ? ruled(fields, a.rules) : [idField(), ...fields],
    submit: t(a ? 'activity_save' : 'activity_create'),
    drop: page.again,
    stored: textsOf,
    async send(v) {
      const save = { id: a?.id || v.id, title: v.title, start_time: wireTime(v.start_time, a?.start_time), end_time: wireTime(v.end_time, a?.end_time), items: v.items.split(' ').filter(Boolean), version: Number(v.version) || undefined };
      let done;
      try {
        done = await command('save-activity', { save, via: 'page' });
      } catch (problem) {
        const [there] = problem.conflicts || [];
        if (there && !there.from) problem.faults = [{ field: 'id', what: t('activity_exists', { id: there.id, title: there.now.title }) }];
        throw problem;
      }
      page.said(t(done.changed ? 'activity_saved' : 'activity_same', { version: done.version }));
      if (a) page.again();
      else location.hash = placeOf('activity', done.id);
    },
  });
}

function copier(page, a) {
  let start = Date.parse(a.start_time) + WEEK;
  while (start <= page.now()) start += WEEK;
  return form({
    name: 'activity-copy',
    about: page.id,
    submit: t('activity_copy'),
    fields: [timeField('start', start, { label: t('activity_copy_start'), check: (text) => (Date.parse(text) > page.now() ? '' : t('activity_future')) })],
    async send(v) {
      const done = await command('copy-activity', { activity: a.id, start: wireTime(v.start, new Date(start).toISOString()), via: 'page' });
      page.said(t(done.changed ? 'activity_copied' : 'activity_copy_there', { n: done.affects || 0 }));
      location.hash = placeOf('activity', done.id);
    },
  });
}

function switchPart(page, a) {
  const verb = a.offline ? 'online' : 'offline';
  const title = t(`activity_${verb}`);
  const resumes = a.resumes?.length ? t('activity_online_happens', { n: a.resumes.length, items: a.resumes.join(', ') }) : t('activity_online_none');
  const online = a.resumes ? [resumes, t('activity_online_stay')] : [t('activity_online_all', { n: a.items.length })];
  const happens = a.offline ? online : [t('activity_offline_happens', { n: a.items.length }), t('activity_offline_partly')];
  return part(
    `activity_${verb}`,
    happens.map((p) => el('p', { class: 'soft' }, p)),
    form({
      name: 'activity-switch',
      danger: !a.offline,
      submit: title,
      fields: [],
      sure: () => confirm({ title: `${title}: ${a.id}`, happens, yes: title, word: a.id }),
      async send() {
        const done = await command(verb, { activity: a.id });
        const told = done.changed ? t('activity_switched', { what: title, n: done.affects || 0 }) : t('activity_same');
        page.said([told, done.stays && t('activity_stays', { items: done.stays.join(', ') })].filter(Boolean).join(' '));
        page.again();
      },
    }),
  );
}

function deletePart(page, a) {
  const verb = a.deleted ? 'undelete' : 'delete';
  const title = t(`activity_${verb}`);
  const happens = [t(`activity_${verb}_happens`)];
  return part(
    `activity_${verb}`,
    happens.map((p) => el('p', { class: 'soft' }, p)),
    form({
      name: 'activity-delete',
      danger: !a.deleted,
      submit: title,
      fields: [],
      sure: () => confirm({ title: `${title}: ${a.id}`, happens, yes: title }),
      async send() {
        const done = await command('delete-activity', { activity: a.id, undo: Boolean(a.deleted) || undefined });
        page.said(t(done.changed ? `activity_${verb}d` : 'activity_same'));
        page.again();
      },
    }),
  );
}
