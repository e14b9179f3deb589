// One item as a form: its texts, prices, window, stock, checks and pictures. A save is an import of this item, made from
// the version that was read.
import { pictureAddress } from '../cover.js';
import { el, put, setText } from '../dom.js';
import { t, when } from '../i18n.js';
import { Problem, command } from './call.js';
import { confirm } from './confirm.js';
import { idField, localTime, ruled, windowFields, wireTime } from './editor.js';
import { checks, form } from './form.js';
import { MAX_STOCK } from './items.js';
import { allItems, oneItem, questionsOf, writtenQuestions } from './itemlist.js';
import { placeOf } from './place.js';
import { addTexts } from './texts.js';

addTexts({
  edit_title: ['编辑商品', 'Edit the item'],
  edit_new: ['新建商品', 'New item'],
  edit_save: ['保存', 'Save'],
  edit_create: ['创建', 'Create'],
  edit_saved: ['已保存。一分钟内页面上可见。', 'Saved. Pages have it within a minute.'],
  edit_same: ['没有需要改动的。', 'There was nothing to change.'],
  edit_removed: ['已保存，但详情里不允许的内容已去掉：{what}。', 'Saved, without what a description must not have: {what}.'],
  edit_sure_over: ['结束时间 {time} 已过：没有人能买到。', 'Its end, {time}, is over: nobody can buy it.'],
  edit_sure_now: ['开始时间 {time} 已过：保存后马上开卖，价格、时间和限购从此不能改。', 'Its start, {time}, is over: it is on sale at once, and its prices, times and limit stay as they are for good.'],
  edit_sure_soon: ['{time} 就要开始：保存后马上装载待售，价格、时间和限购从此不能改。', 'It starts soon, {time}: it is loaded for sale at once, and its prices, times and limit stay as they are for good.'],
  edit_sure_dear: ['秒杀价 ¥{sk_price} 高于原价 ¥{price}。', 'The sale price, ¥{sk_price}, is above the price, ¥{price}.'],
  edit_exists: ['编号 {id} 已经有了：{title}。', 'There is an item {id} already: {title}.'],
  edit_title_hint: ['最多 {most} 个字。', 'At most {most} characters.'],
  edit_price_hint: ['元，最多两位小数。', 'Yuan, with at most two decimals.'],
  edit_price_wrong: ['请填写金额，例如 88.80。', 'Please give an amount such as 88.80.'],
  edit_stock_hint: ['1 至 1000000。', '1 to 1000000.'],
  edit_limit_hint: ['每个买家最多持有几件，含未付款的，1 至 1000。', 'Units that one shopper may hold, unpaid ones included: 1 to 1000.'],
  edit_spans: ['限购计算', 'What the limit counts'],
  edit_spans_no: ['只算这件商品', 'this item alone'],
  edit_spans_yes: ['同组各款合计', 'all variants of the family together'],
  edit_family: ['款式组', 'Family'],
  edit_family_hint: ['同一商品的各款填同一个编号，不同场次用不同编号。不填：没有款式。', 'The same id for all variants of a product, another one for each sale. Empty: it has no variants.'],
  edit_options: ['规格', 'Options'],
  edit_options_hint: ['例如：颜色=黑 | 容量=256 GB。最多三项，同组各款名称相同。', 'Such as 颜色=黑 | 容量=256 GB: up to three, with the same names in the whole family.'],
  edit_options_wrong: ['请写成：名称=值，多项用 | 隔开。', 'Write name=value, with | between several.'],
  edit_questions: ['问题（严格验证时问）', 'Questions (asked by strict checks)'],
  edit_questions_hint: ['每行一个：问题 = 答案 | 另一个答案。', 'One on a line: question = answer | another answer.'],
  edit_questions_wrong: ['第 {n} 行：应为 问题 = 答案。', 'Line {n}: this should be question = answer.'],
  edit_covers: ['图片', 'Pictures'],
  edit_covers_hint: ['每行一个地址，最多 {most} 个，第一个显示在列表里。', 'One address on a line, at most {most}. Lists show the first.'],
  edit_covers_many: ['最多 {most} 个，现在有 {n} 个。', 'At most {most}. There are {n}.'],
  edit_shopper: ['买家看到的样子', 'As shoppers see it'],
  edit_upload: ['上传图片', 'Upload a picture'],
  edit_upload_text: ['上传后地址会加到下面的“图片”里，保存商品后才会显示给买家。图片重新编码，拍摄地点等信息会去掉。', 'Its address is added to “Pictures” below; shoppers see it once the item is saved. It is encoded anew, without what the camera wrote, such as the place.'],
  edit_file: ['文件', 'File'],
  edit_file_hint: ['JPEG 或 PNG，最大 3.5 MiB、800 万像素，每边最多 8000 像素。', 'JPEG or PNG, at most 3.5 MiB, 8 million pixels, and 8000 a side.'],
  edit_file_large: ['文件有 {n} MiB，最大 3.5 MiB。', 'The file has {n} MiB: at most 3.5.'],
  edit_uploaded: ['已上传：{width} × {height}，{kib} KiB。', 'Uploaded: {width} by {height}, {kib} KiB.'],
  edit_preview: ['预览', 'Preview'],
  edit_detail: ['详情（文字或 HTML）', 'Description (text or HTML)'],
  edit_detail_hint: ['最多 {most} 个字。没有标签的文字，每行成一段。脚本、表单、样式等会去掉，保存后会告诉您去掉了什么。', 'At most {most} characters. Of text without tags each line becomes a paragraph. Scripts, forms, styles and the like are taken out, and you are told what went.'],
  edit_commodity: ['货号', 'Id of the goods'],
  edit_commodity_hint: ['不填就与商品编号相同。', 'Empty: the same as the item’s.'],
  edit_checks_standard: ['标准', 'standard'],
  edit_checks_strict: ['严格', 'strict'],
});

// Limits, as the shop has them.
const MAX_TITLE = 100; // characters
const MAX_DETAIL = 20_000; // characters
const MAX_LIMIT = 1_000;
const MAX_COVERS = 10;
const MAX_FILE = 3_670_016; // bytes of a picture
const LEAD = 600_000; // ms before its start, when an item is loaded for sale

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
const amount = (text) => (/^\d{1,9}([.]\d{1,2})?$/.test(text) ? '' : t('edit_price_wrong'));
const checksText = (name) => t(name ? `edit_checks_${name}` : 'items_checks_off');

const spansText = (spans) => t(spans ? 'edit_spans_yes' : 'edit_spans_no');
const optionsWrong = (text) => (text.split('|').every((part) => /[^=\s].*=.*\S/.test(part)) ? '' : t('edit_options_wrong'));

// The texts of the form's fields for an item.
const textsOf = (it) => ({
  title: it.title,
  price: it.price.toFixed(2), // without grouped thousands
  sk_price: it.sk_price.toFixed(2),
  start_time: localTime(it.start_time),
  end_time: localTime(it.end_time),
  stock: String(it.stock),
  limit: String(it.limit),
  limit_spans: it.limit_spans ? 'true' : '',
  family: it.family || '',
  options: it.options || '',
  checks: it.checks === 'off' ? '' : it.checks || '',
  questions: writtenQuestions(it.questions),
  covers: it.covers.join('\n'),
  detail: it.detail,
  commodity_id: it.commodity_id,
});

export const edit = {
  name: 'edit',
  title: 'edit_title',
  titleNew: 'edit_new',
  parent: 'items',
  needs: ['import'],
  menu: false,
  async show(page) {
    const like = page.id ? '' : page.query.get('like') || ''; // a new item begins with the values of this one
    const found = page.id || like ? await oneItem(page.id || like) : null;
    if (page.signal.aborted) return;
    if ((page.id || like) && !found) return void put(page.node, el('p', { class: 'panel' }, t('item_none')));
    const it = like ? null : found;
    const free = it ? '' : await freeId();
    if (page.signal.aborted) return;
    const over = it?.rules.every((r) => r.may === 'fixed');
    const fields = editor(page, it, found, free);
    if (over) fields.querySelector('.form-end').remove();
    const links = it && el('p', {}, el('a', { class: 'text-link', href: placeOf('item', it.id) }, t('item_title')), ' · ', el('a', { class: 'text-link', href: `./#/item/${it.id}`, target: '_blank', rel: 'noopener' }, t('edit_shopper')));
    put(page.node, page.may('picture') && !over && el('section', { class: 'panel' }, el('h2', {}, t('edit_upload')), el('p', { class: 'soft' }, t('edit_upload_text')), uploader()), el('section', { class: 'panel' }, it && el('h2', {}, `${it.id} · ${it.title}`), links, fields));
    previews();
  },
};

// An id for a new item: the one after the largest; '' where that is unknown or too long.
const freeId = async () => {
  const { items } = await allItems().catch(() => ({ items: [] }));
  const id = String(items.reduce((most, one) => (BigInt(one.id) > most ? BigInt(one.id) : most), 1000n) + 1n);
  return id.length < 20 ? id : '';
};

// A description without any tag is plain text, which may have been stored as HTML: each of its lines becomes a paragraph.
export const asHTML = (text) => (/<[a-z!/]/i.test(text) ? text : lines(text).map((line) => `<p>${line.replace(/&(?!#?\w+;)/g, '&amp;').replaceAll('<', '&lt;')}</p>`).join('\n'));

const covers = () => document.getElementById('item-edit-covers');

// The pictures of the form, as shoppers will see them.
function previews() {
  const title = document.getElementById('item-edit-title');
  const list = el('div', { class: 'previews', role: 'group', 'aria-label': t('edit_preview') });
  const draw = () => put(list, lines(covers().value).slice(0, MAX_COVERS).map((src, i) => el('img', { src: pictureAddress(src), alt: t('picture_of', { title: title.value, n: i + 1 }), loading: 'lazy', width: 96, height: 96 })));
  covers().addEventListener('input', draw);
  covers().after(list);
  draw();
}

const base64 = (file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result.slice(reader.result.indexOf(',') + 1)));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(file);
  });

function uploader() {
  const result = el('p', { class: 'soft', role: 'status', id: 'item-uploaded' });
  const large = (file) => (file.size > MAX_FILE ? t('edit_file_large', { n: (file.size / (1 << 20)).toFixed(1) }) : '');
  const upload = form({
    name: 'item-picture',
    filter: true,
    submit: t('edit_upload'),
    fields: [{ name: 'data', label: t('edit_file'), kind: 'file', accept: 'image/jpeg,image/png', required: true, hint: t('edit_file_hint'), check: large }],
    async send({ data }) {
      put(result);
      const made = await command('picture', { data: await base64(data) });
      if (!lines(covers().value).includes(made.path)) covers().value = [...lines(covers().value), made.path].join('\n');
      covers().dispatchEvent(new Event('input', { bubbles: true })); // it is kept, and shown
      setText(result, t('edit_uploaded', { ...made, kib: Math.ceil(made.bytes / 1024) }));
    },
  });
  return [upload, result];
}

// The form of an item, or of a new one: then `from`, if there is one, has the values to begin with.
function editor(page, it, from, free) {
  const texts = from ? textsOf(from) : {};
  const field = (name, label, more = {}) => ({ name, label: t(label), value: texts[name], ...more });
  const whole = { inputmode: 'numeric' };
  const money = { hint: t('edit_price_hint'), required: true, check: amount, input: { inputmode: 'decimal' } };
  const fields = [
    field('title', 'field_title', { hint: t('edit_title_hint', { most: MAX_TITLE }), required: true, check: checks.line(MAX_TITLE) }),
    field('sk_price', 'items_price', money),
    field('price', 'items_was', money),
    ...windowFields('item-edit', from),
    field('stock', 'items_stock', { hint: t('edit_stock_hint'), required: true, check: checks.whole(1, MAX_STOCK), input: whole }),
    field('limit', 'items_limit', { hint: t('edit_limit_hint'), required: true, check: checks.whole(1, MAX_LIMIT), input: whole }),
    field('limit_spans', 'edit_spans', { kind: 'select', options: ['', 'true'].map((spans) => [spans, spansText(spans)]), value: texts.limit_spans || '', show: spansText }),
    field('family', 'edit_family', { hint: t('edit_family_hint'), check: checks.id, input: whole }),
    field('options', 'edit_options', { hint: t('edit_options_hint'), check: optionsWrong }),
    field('checks', 'items_checks', { kind: 'select', options: ['', 'standard', 'strict'].map((name) => [name, checksText(name)]), value: texts.checks || '', show: checksText }),
    field('questions', 'edit_questions', { kind: 'area', hint: t('edit_questions_hint'), check: askedWrong }),
    field('covers', 'edit_covers', { kind: 'area', hint: t('edit_covers_hint', { most: MAX_COVERS }), check: (text) => (lines(text).length > MAX_COVERS ? t('edit_covers_many', { most: MAX_COVERS, n: lines(text).length }) : '') }),
    field('detail', 'edit_detail', { kind: 'area', hint: t('edit_detail_hint', { most: MAX_DETAIL }), check: (text) => ([...text].length > MAX_DETAIL ? t('field_long', { most: MAX_DETAIL, n: [...text].length }) : ''), input: { rows: 8 } }),
    field('commodity_id', 'edit_commodity', { hint: t('edit_commodity_hint'), check: checks.id, input: whole }),
    { name: 'version', kind: 'hidden', value: String(it?.version || '') },
  ];
  return form({
    name: 'item-edit',
    about: page.id || (from ? `like ${from.id}` : ''),
    fields: it ? ruled(fields, it.rules) : [idField(free), ...fields],
    submit: t(it ? 'edit_save' : 'edit_create'),
    drop: page.again,
    stored: textsOf,
    sure: (v) => sure(page, it, v),
    send: (v) => save(page, it, v),
  });
}

function askedWrong(text) {
  const at = questionsOf(text).findIndex((q) => !q.text || q.answers.some((a) => !a));
  return at < 0 ? '' : t('edit_questions_wrong', { n: at + 1 });
}

// Asks about what is new and may be a mistake: a sale that begins by this save, or never, and a price above the usual one.
function sure(page, it, v) {
  const before = it && textsOf(it);
  const changed = (name, read) => !it || read(v[name]) !== read(before[name]);
  const [start, end, now] = [Date.parse(v.start_time), Date.parse(v.end_time), page.now()];
  const over = end <= now;
  const happens = [
    over && changed('end_time', Date.parse) && t('edit_sure_over', { time: when(end, true) }),
    !over && start <= now + LEAD && changed('start_time', Date.parse) && t(start <= now ? 'edit_sure_now' : 'edit_sure_soon', { time: when(start, true) }),
    Number(v.sk_price) > Number(v.price) && (changed('sk_price', Number) || changed('price', Number)) && t('edit_sure_dear', v),
  ].filter(Boolean);
  const yes = t(it ? 'edit_save' : 'edit_create');
  return happens.length === 0 || confirm({ title: yes, happens, yes });
}

async function save(page, it, v) {
  if (!it) {
    const there = await oneItem(v.id);
    if (there) throw new Problem(422, { code: 'invalid_request', faults: [{ field: 'id', what: t('edit_exists', there) }] });
  }
  const { version, ...rest } = v;
  const row = { ...rest, id: it?.id || v.id, start_time: wireTime(v.start_time, it?.start_time), end_time: wireTime(v.end_time, it?.end_time), stock: Number(v.stock), limit: Number(v.limit), covers: lines(v.covers), questions: questionsOf(v.questions) };
  const shown = (html = '') => html.replace(/\r\n?/g, '\n').trim(); // as the form gives it back
  if (!it || shown(v.detail) !== shown(it.detail)) row.detail = asHTML(v.detail);
  if (version) row.version = Number(version);
  const done = await command('import', {}, JSON.stringify([row]));
  const removed = done.removed?.[row.id] || [];
  const text = removed.length ? 'edit_removed' : done.unchanged.length ? 'edit_same' : 'edit_saved';
  page.said(t(text, { what: removed.join(', ') }));
  if (it) page.again();
  else location.hash = placeOf('edit', row.id);
}
