// What the forms of items and of activities share: an id, a window in the editor's time zone, and what each field may
// become now.
import { t, tOr, when } from '../i18n.js';
import { checks } from './form.js';
import { addTexts } from './texts.js';

addTexts({
  field_id_new: ['编号', 'Id'],
  field_id_new_hint: ['1 至 19 位数字，由您决定，之后不能改。', '1 to 19 digits. You choose it, and it stays.'],
  field_title: ['名称', 'Title'],
  field_start_time: ['开始', 'Start'],
  field_end_time: ['结束', 'End'],
  field_zone: ['按这台电脑的时区（{zone}）。', 'In this computer’s time zone ({zone}).'],
  field_after_start: ['应晚于开始时间。', 'This should be after the start.'],

  rule_free: ['{until} 前可以改。', 'May change until {until}.'],
  rule_only_grows: ['{until} 前可以改，只能增加。', 'May grow until {until}, and never shrinks.'],
  rule_items_inside: ['{until} 前可以改，但每件商品的销售时间要在里面。', 'May change until {until}, while each item’s sale stays inside.'],
  rule_on_sale_stays: ['{until} 前可以改，但正在卖的商品不能移出。', 'May change until {until}, but an item that is on sale stays.'],
  rule_ended: ['不能改：已于 {since} 结束。', 'Fixed: it ended at {since}.'],
  rule_tickets_given: ['不能改：{since} 起买家已在做验证。', 'Fixed since {since}, when shoppers began to pass the checks.'],
  rule_loaded: ['不能改：{since} 已装载待售。', 'Fixed since {since}, when it was loaded for sale.'],
});

const ruleText = (rule) => tOr(rule.why ? `rule_${rule.why}` : 'rule_free', '', { until: when(rule.until, true), since: when(rule.since, true) });

/** The fields, each with what its rule allows; what is fixed cannot be typed into. */
export const ruled = (fields, rules) =>
  fields.map((f) => {
    const rule = rules.find((r) => r.field === f.name);
    return rule ? { ...f, fixed: rule.may === 'fixed', hint: [f.hint, ruleText(rule)].filter(Boolean).join(' ') } : f;
  });

const MINUTE = 60_000; // ms

/** A time for a field of kind datetime-local, in the editor's zone: to the second. */
export function localTime(time) {
  const ms = typeof time === 'number' ? time : Date.parse(time);
  return ms ? new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE).toISOString().slice(0, 19) : '';
}

/** What such a field says, as RFC 3339; a time that was not changed keeps its milliseconds. */
export const wireTime = (text, before) => (before && localTime(before) === localTime(Date.parse(text)) ? before : new Date(text).toISOString());

/** A field for a time. */
export const timeField = (name, value, more = {}) => ({
  name,
  label: t(`field_${name}`),
  kind: 'datetime-local',
  value: localTime(value),
  required: true,
  hint: t('field_zone', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
  show: (text) => when(Date.parse(text), true),
  input: { step: 1 },
  ...more,
});

/** The two fields of a window, of a form of this name: of a thing with start_time and end_time, or of a new one. */
export const windowFields = (form, of) => [
  timeField('start_time', of?.start_time),
  timeField('end_time', of?.end_time, { check: (text) => (text > document.getElementById(`${form}-start_time`).value ? '' : t('field_after_start')) }),
];

/** The field of a new thing's id. */
export const idField = (value) => ({ name: 'id', value, label: t('field_id_new'), hint: t('field_id_new_hint'), required: true, check: checks.id, input: { inputmode: 'numeric' } });
