// Forms: each field with its label, its hint and what is wrong with it. What was typed is kept until it is sent.
import { announce, el, put, setText } from '../dom.js';
import { t } from '../i18n.js';
import { words } from './call.js';
import { keep, typed } from './typed.js';

const LINE = /[\p{Cc}\u2028\u2029]/u;

/** Checks of a field's text: each returns what is wrong, or ''. */
export const checks = {
  /** One line of at most `most` characters, as the shop counts them. */
  line: (most) => (text) => {
    const n = [...text].length;
    if (LINE.test(text)) return t('field_line');
    return n > most ? t('field_long', { most, n }) : '';
  },
  /** An id of an item or a user. */
  id: (text) => (/^[1-9]\d{0,18}$/.test(text) ? '' : t('field_id')),
  /** A whole number. */
  whole: (least, most) => (text) => (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? '' : t('field_whole', { least, most })),
};

/** A reason, which every change of money, notes and hiding want. */
export const whyField = (most = 500) => ({ name: 'why', label: t('field_why'), hint: t('field_why_hint', { most }), check: checks.line(most), required: true });

/**
 * Makes a form.
 * @param {string} name  of the form, unique on its screen
 * @param {object[]} fields  {name, label, kind: 'text' | 'area' | 'select' | 'check' | 'file' | an input's type,
 *   hint, required, value, options: [[value, text]], check(text) => what is wrong or '', accept, input: attributes}
 * @param {string} submit  the button's text
 * @param {(values) => Promise} send  texts by field, booleans of checks, a File; what it throws is shown: beside the field
 *   that a problem names, else below
 * @param {(values) => Promise<boolean>} [sure]  asks whether it is meant so, before it is sent
 * @param {string} [about]  what the form is about, such as an order: what was typed for one is not shown for another
 * @param {boolean} [danger]  the button's look
 * @param {boolean} [filter]  it only chooses what is shown: nothing is kept
 */
export function form({ name, fields, submit, send, sure, about = '', danger = false, filter = false }) {
  const key = `${name} ${about}`;
  const old = filter ? {} : typed(key);
  const made = fields.map((f) => field(name, f, old[f.name], !filter));
  const fault = el('p', { class: 'fault', role: 'alert' });
  const button = el('button', { class: `button${danger ? ' danger' : ''}`, type: 'submit', id: `${name}-send` }, submit);
  const values = () => Object.fromEntries(made.map((f) => [f.name, f.value()]));
  const node = el('form', { class: filter ? 'office-form filter' : 'office-form', novalidate: true, id: name, onsubmit: go }, made.map((f) => f.node), el('div', { class: 'form-end' }, fault, button));
  if (!filter) node.addEventListener('input', () => keep(key, Object.fromEntries(made.filter((f) => f.kept).map((f) => [f.name, f.value()]))));

  async function go(event) {
    event.preventDefault();
    if (button.getAttribute('aria-disabled')) return; // on its way
    setText(fault, '');
    const wrong = made.filter((f) => f.wrong());
    if (wrong.length) return void wrong[0].focus();
    const given = values();
    if (sure && !(await sure(given))) return;
    button.setAttribute('aria-disabled', 'true');
    setText(button, t('sending_now'));
    try {
      await send(given);
      if (!filter) keep(key, null);
    } catch (problem) {
      const at = made.find((f) => f.name === problem.field);
      const text = words(problem);
      if (at) {
        at.say(text);
        at.focus();
      } else setText(fault, text);
    }
    button.removeAttribute('aria-disabled');
    setText(button, submit);
  }
  return node;
}

function field(form, f, old, tells) {
  const id = `${form}-${f.name}`;
  const fault = el('p', { class: 'fault', id: `${id}-fault` });
  const hint = f.hint && el('small', { class: 'soft', id: `${id}-hint` }, f.hint);
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(' ');
  const attributes = { id, name: f.name, 'aria-describedby': described, 'aria-required': f.required ? 'true' : null, autocomplete: 'off', ...f.input };
  let input;
  if (f.kind === 'select') input = el('select', attributes, f.options.map(([value, text]) => el('option', { value }, text)));
  else if (f.kind === 'area') input = el('textarea', { rows: 3, ...attributes });
  else input = el('input', { type: f.kind === 'check' ? 'checkbox' : f.kind || 'text', accept: f.accept, ...attributes });
  const start = old ?? f.value;
  if (f.kind === 'check') input.checked = Boolean(start);
  else if (f.kind !== 'file' && start !== undefined) input.value = start;
  const label = el('label', { for: id }, f.label, tells && !f.required && !['check', 'select'].includes(f.kind) && el('small', { class: 'soft' }, ` · ${t('field_optional')}`));
  const value = () => (f.kind === 'check' ? input.checked : f.kind === 'file' ? input.files[0] : input.value.trim());
  const say = (text) => {
    setText(fault, text);
    if (text) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
    if (text) announce(text);
    return text;
  };
  input.addEventListener('input', () => say(''));
  const wrong = () => {
    const v = value();
    if (f.required && !v) return say(t(f.kind === 'file' ? 'field_file' : 'field_empty'));
    return say((v && f.check?.(v)) || '');
  };
  const parts = f.kind === 'check' ? [el('div', { class: 'keep' }, input, label)] : [label, input];
  return { name: f.name, kept: f.kind !== 'file', value, say, wrong, focus: () => input.focus(), node: put(el('div', { class: `field ${f.kind || 'text'}` }), ...parts, hint, fault) };
}

/** What went wrong, in words, with a button to try again. */
export function problemNote(problem, again) {
  return el('div', { class: 'notification trouble', role: 'alert' }, el('p', {}, words(problem)), again && el('button', { class: 'button plain', type: 'button', onclick: again }, t('retry')));
}
