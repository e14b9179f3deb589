// What the pages say about an item that is one of a product's variants.
import { t } from '../i18n.js';
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
  variant_spans: ['限购怎么算', 'The limit counts'],
  variant_alone: ['只算这一款', 'this variant alone'],
  variant_together: ['同组各款合计', 'all variants of the family together'],
});

/** What an item's variant is, in words. */
export const variantText = (it) => (it.family ? t('variant_of', it) : t('variant_none'));

/** The limit, and what it counts. */
export const limitOf = (it) => (it.limit_spans ? t('variant_limit', { n: it.limit }) : String(it.limit));

/** What is wrong with options as an editor writes them, or ''. */
export const optionsWrong = (text) => (text.split('|').every((part) => /[^=\s].*=.*\S/.test(part)) ? '' : t('variant_options_wrong'));

/** What a limit counts: 'true' is all variants. */
export const spansText = (spans) => t(spans ? 'variant_together' : 'variant_alone');
