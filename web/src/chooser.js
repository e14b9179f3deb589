// The chooser of a product's variants, a part of the page that is loaded for such products only. It imports nothing: what
// it uses of the page comes as io.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  variant_other: ['“{wanted}”现在没有，已改选“{chosen}”。', '{wanted} is not offered. {chosen} is chosen instead.'],
};

const PAGE = 50; // items asked for at once
const PAGES = 4; // pages of each list among which the variants of an item are looked for

/** The variants of an item's family that are on sale or coming up, and the item itself. */
export async function familyOf({ liveItems, upcomingItems }, item) {
  const found = new Map();
  for (const list of [liveItems, upcomingItems]) {
    for (let page = 1, last = PAGE; page <= PAGES && last === PAGE; page++) {
      const items = await list(page, PAGE);
      last = items.length;
      for (const one of items) if (one.variant?.family === item.variant.family) found.set(one.id, one);
    }
  }
  return [...found.set(item.id, item).values()];
}

/** The variant with this value of option i that is most like the chosen one; of equals, one that is not sold out. */
export function pickVariant(items, chosen, i, value) {
  const like = ({ variant, stock }) => 2 * variant.options.filter((o, n) => o.value === chosen.variant.options[n].value).length + (stock > 0);
  return items.filter((item) => item.variant.options[i].value === value).reduce((best, item) => (like(item) > like(best) ? item : best));
}

/** Radio buttons that look like chips, a group for each option, in the order of the items' ids. onChoose(item) is called when another variant is chosen. */
export function chooser(io, onChoose) {
  const { el, put, setText, t } = io;
  Object.assign(io.TEXTS, TEXTS);
  const node = el('div', { class: 'variants' });
  const note = el('p', { class: 'soft', role: 'status' }); // what else the choice changed
  let items = [];
  let chosen;
  let values = [];
  let built = '';

  function group(option, i) {
    const one = (value) => {
      const choose = () => {
        const wanted = chosen.variant.options.map((o, n) => (n === i ? value : o.value)).join(' · ');
        onChoose(pickVariant(items, chosen, i, value));
        const got = chosen.variant.options.map((o) => o.value).join(' · ');
        setText(note, got === wanted ? '' : t('variant_other', { wanted, chosen: got }));
      };
      const input = el('input', { type: 'radio', name: `option-${chosen.variant.family}-${i}`, onchange: choose });
      const text = el('span', {});
      values.push({ i, value, input, text });
      return el('label', {}, input, text);
    };
    return el('fieldset', {}, el('legend', { class: 'soft' }, option.name), [...new Set(items.map((item) => item.variant.options[i].value))].map(one));
  }

  // The buttons stay as long as the variants do: a button that is made anew would lose the focus.
  function update(family, item) {
    items = [...family].sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
    chosen = item;
    const key = JSON.stringify(items.map((one) => one.variant));
    if (key !== built) {
      values = [];
      put(node, item.variant.options.map(group), note);
    }
    built = key;
    for (const { i, value, input, text } of values) {
      const sold = items.every((one) => one.stock <= 0 || one.variant.options[i].value !== value);
      input.checked = chosen.variant.options[i].value === value;
      put(text, sold ? [el('s', {}, value), ` · ${t('sold_out')}`] : value);
    }
  }
  return { node, update };
}
