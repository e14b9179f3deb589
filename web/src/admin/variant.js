// A variant on its item's page: what it is, and a form that changes it.
import { el } from '../dom.js';
import { t } from '../i18n.js';
import { command } from './call.js';
import { confirm } from './confirm.js';
import { checks, form } from './form.js';
import { addTexts } from './texts.js';

addTexts({
  variant: ['款式', 'Variant'],
  variant_none: ['不是款式', 'it has no variants'],
  variant_of: ['{options}（款式组 {family}）', '{options}, of family {family}'],
  variant_limit: ['{n}（各款合计）', '{n}, all variants together'],
  variant_family: ['款式组', 'Family'],
  variant_family_hint: ['同一商品的各款填同一个编号；不同场次用不同编号。留空：不是款式。', 'The same id for all variants of a product, another one for each sale. Empty: it has no variants.'],
  variant_options: ['规格', 'Options'],
  variant_options_hint: ['例如：颜色=黑 | 容量=256 GB。最多三项，同组各款名称相同。', 'Such as 颜色=黑 | 容量=256 GB: up to three, with the same names in the whole family.'],
  variant_options_wrong: ['请写成：名称=值，多项用 | 隔开。', 'Write name=value, with | between several.'],
  variant_spans: ['限购按同组各款合计', 'The limit counts all variants of the family together'],
  variant_fixed: ['款式组和限购方式在装载后不能再改。', 'Since it was loaded for sale, its family and what the limit counts stay.'],
  variant_save: ['保存款式', 'Save the variant'],
  variant_happens: ['已有的订单不变。页面会在一分钟内更新。', 'Existing orders stay as they are. Pages follow within a minute.'],
  variant_saved: ['款式已保存。', 'The variant is saved.'],
});

/** What an item's variant is, in words. */
export const variantText = (it) => (it.family ? t('variant_of', it) : t('variant_none'));

/** The limit, and what it counts. */
export const limitOf = (it) => (it.limit_spans ? t('variant_limit', { n: it.limit }) : String(it.limit));

const options = (text) => (text.split('|').every((part) => /[^=\s].*=.*\S/.test(part)) ? '' : t('variant_options_wrong'));

/** The form, as far as the item's rules allow; null when they allow nothing. */
export function variantPart(page, it, rules) {
  const may = (field) => rules.find((r) => r.field === field)?.may !== 'fixed';
  if (!may('options') || (!may('family') && !it.family)) return null;
  const all = [
    { name: 'family', label: t('variant_family'), hint: t('variant_family_hint'), value: it.family, check: checks.id, input: { inputmode: 'numeric' } },
    { name: 'options', label: t('variant_options'), hint: t('variant_options_hint'), value: it.options, check: options },
    { name: 'limit_spans', label: t('variant_spans'), kind: 'check', value: it.limit_spans },
  ];
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, t('variant')),
    !may('family') && el('p', { class: 'soft' }, t('variant_fixed')),
    form({
      name: 'variant',
      about: page.id,
      submit: t('variant_save'),
      fields: all.filter((f) => may(f.name)),
      sure: () => confirm({ title: `${t('variant_save')}: ${page.id}`, happens: [t('variant_happens')], yes: t('variant_save') }),
      async send(given) {
        try {
          const done = await command('import', {}, JSON.stringify([{ ...it, ...given }]));
          page.said(t(done.changed.length ? 'variant_saved' : 'item_same'));
        } catch (problem) {
          const fault = problem.faults?.find((f) => f.field in given);
          if (fault) Object.assign(problem, { field: fault.field, detail: fault.what });
          throw problem;
        }
        page.again();
      },
    }),
  );
}
