// The delivery address as a form of four fields; the API takes one text.
import { ADDRESS_FIELDS, addressFaults } from './core.js';
import { el, put } from './dom.js';
import { t } from './i18n.js';
import { isKept, keepAddress, lastAddress } from './session.js';

const AUTOCOMPLETE = { name: 'name', phone: 'tel', region: 'address-level1', street: 'street-address' };

/**
 * The form's part for the address, filled with the last one. Answers {node, parts, check, onChange}: parts() reads the
 * fields, check() shows what is wrong, focuses the first fault and says whether all is well.
 */
export function addressForm() {
  const stored = lastAddress();
  const inputs = {};
  const faults = {};
  let changed = () => {};
  const field = (name) => {
    faults[name] = el('p', { class: 'fault', id: `fault-${name}` });
    inputs[name] = el('input', { id: `address-${name}`, type: name === 'phone' ? 'tel' : 'text', autocomplete: AUTOCOMPLETE[name], required: true, maxlength: 400, placeholder: t(`hint_${name}`), 'aria-describedby': `fault-${name}` });
    inputs[name].value = stored[name] || '';
    return el('div', { class: `field ${name}` }, el('label', { for: `address-${name}` }, t(`address_${name}`)), inputs[name], faults[name]);
  };
  const keep = el('input', { type: 'checkbox', id: 'address-keep' });
  keep.checked = isKept();
  const node = el('fieldset', { class: 'address' }, el('legend', {}, t('address')), ADDRESS_FIELDS.map(field), el('label', { class: 'keep', for: 'address-keep' }, keep, t('address_keep')));
  const parts = () => Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, inputs[name].value]));

  function show(found) {
    for (const name of ADDRESS_FIELDS) {
      put(faults[name], found[name] ? t(`fault_${name}_${found[name]}`) : '');
      if (found[name]) inputs[name].setAttribute('aria-invalid', 'true');
      else inputs[name].removeAttribute('aria-invalid');
    }
  }

  node.addEventListener('input', () => {
    keepAddress(parts(), keep.checked);
    show({});
    changed();
  });
  const check = () => {
    const found = addressFaults(parts());
    show(found);
    const first = ADDRESS_FIELDS.find((name) => found[name]);
    if (first) inputs[first].focus();
    return !first;
  };
  return { node, parts, check, onChange: (f) => (changed = f) };
}
