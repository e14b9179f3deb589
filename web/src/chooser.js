// The chooser of a product's variants, a part of the page that is loaded for such products only. It imports nothing: what
// it uses of the page comes as io.

/** The variant with this value of option i that is most like the chosen one; of equals, one that is not sold out. */
export function pickVariant(items, chosen, i, value) {
  const like = ({ variant, stock }) => 2 * variant.options.filter((o, n) => o.value === chosen.variant.options[n].value).length + (stock > 0);
  return items.filter((item) => item.variant.options[i].value === value).reduce((best, item) => (like(item) > like(best) ? item : best));
}

/** Radio buttons, a group for each option. onChoose(item) is called when another variant is chosen. */
export function chooser({ el, put, setText, t }, onChoose) {
  const node = el('div', { class: 'variants' });
  let items = [];
  let chosen;
  let values = [];
  let built = '';

  function group(option, i) {
    const one = (value) => {
      const choose = () => onChoose(pickVariant(items, chosen, i, value));
      const input = el('input', { type: 'radio', name: `option-${chosen.variant.family}-${i}`, onchange: choose });
      const text = el('span', {});
      values.push({ i, value, input, text });
      return el('label', {}, input, text);
    };
    return el('fieldset', {}, el('legend', { class: 'soft' }, option.name), [...new Set(items.map((item) => item.variant.options[i].value))].map(one));
  }

  // The buttons stay as long as the variants do: one that is made anew would lose the focus.
  function update(family, item) {
    items = family;
    chosen = item;
    const key = JSON.stringify(family.map((one) => one.variant));
    if (key !== built) {
      values = [];
      put(node, item.variant.options.map(group));
    }
    built = key;
    for (const { i, value, input, text } of values) {
      const sold = pickVariant(items, chosen, i, value).stock <= 0;
      input.checked = chosen.variant.options[i].value === value;
      setText(text, sold ? `${value} · ${t('sold_out')}` : value);
      text.className = sold ? 'soft' : '';
    }
  }
  return { node, update };
}
