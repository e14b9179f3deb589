// What the variants of a product, items of one family, are called.
import { t } from './i18n.js';

/** What sets an item apart, "黑 · 256 GB"; "" if it has no variants. */
export const optionsText = (item) => (item?.variant?.options || []).map((o) => o.value).join(' · ');

/** An item's name: its title, with its options. */
export const nameOf = (item) => [item?.commodity?.title, optionsText(item)].filter(Boolean).join(' · ');

/** What the limit is, and whether it counts all variants together. */
export const limitText = (item) => t(item.variant?.limit_spans ? 'limit_spans' : 'limit', { n: item.sk_per_max_count });
