// Forms: each field with its label, its hint and what is wrong with it. What was typed is kept until it is sent.
import { announce, el, put, setText } from '../dom.js';
import { t } from '../i18n.js';
import { words } from './call.js';
import { refusalText } from './shopsays.js';
import { addTexts } from './texts.js';
import { keep, typed } from './typed.js';

const LINE = /[\p{Cc}\u2028\u2029]/u;

addTexts({
  form_typed: ['这里有您上次填写、还没保存的内容。', 'This has what you typed before and did not save.'],
  form_drop: ['放弃，显示已保存的', 'Drop it, and show what is stored'],
  form_conflict: ['没有保存：您编辑期间，别人存了第 {version} 版。不同的地方写在各栏下面。再按一次“{submit}”，就以您的为准。', 'Nothing was saved: somebody saved version {version} while you were editing. What differs is said below the fields. Press “{submit}” again, and what you have here replaces it.'],
  form_stored: ['现在存的是：{stored}。您的是：{mine}。', 'Stored now: {stored}. Yours: {mine}.'],
  form_take: ['用现在存的', 'Take the stored one'],
  form_empty: ['（空）', '(empty)'],
});

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
 * @param {object[]} fields  {name, label, kind: 'text' | 'area' | 'select' | 'check' | 'file' | 'hidden' | an input's
 *   type, hint, required, value, options: [[value, text]], check(text) => what is wrong or '', accept, input: attributes,
 *   fixed: it only shows its value, show(text) => how people read it, make: see field}
 * @param {string} submit  the button's text
 * @param {(values) => Promise} send  texts by field, booleans of checks, a File; what it throws is shown: beside the field
 *   that a problem names, else below
 * @param {(values) => Promise<boolean>} [sure]  asks whether it is meant so, before it is sent
 * @param {string} [about]  what the form is about, such as an order: what was typed for one is not shown for another
 * @param {boolean} [danger]  the button's look
 * @param {() => void} [drop]  draws what is stored in place of what was typed before and not sent
 * @param {(now) => object} [stored]  texts by field of what somebody else has saved, as a conflict has it: each field
 *   that differs shows both, and the field "version" becomes that of the conflict
 * @param {boolean} [filter]  it only chooses what is shown: nothing is kept
 */
export function form({ name, fields, submit, send, sure, about = '', danger = false, drop, stored, filter = false }) {
  const key = `${name} ${about}`;
  const old = filter ? {} : typed(key);
  const made = fields.map((f) => field(name, f, old[f.name], !filter));
  const fault = el('p', { class: 'fault', role: 'alert' });
  const button = el('button', { class: `button${danger ? ' danger' : ''}`, type: 'submit', id: `${name}-send` }, submit);
  const values = () => Object.fromEntries(made.map((f) => [f.name, f.value()]));
  const node = el('form', { class: filter ? 'office-form filter' : 'office-form', novalidate: true, id: name, onsubmit: go }, made.map((f) => f.node), el('div', { class: 'form-end' }, fault, button));
  const keepAll = () => keep(key, Object.fromEntries(made.filter((f) => f.kept).map((f) => [f.name, f.value()])));
  if (!filter) node.addEventListener('input', keepAll);
  if (drop && Object.keys(old).length) node.prepend(dropPart());

  function dropPart() {
    const forget = () => {
      keep(key, null);
      drop();
    };
    return el('div', { class: 'notification' }, el('p', {}, t('form_typed')), el('button', { class: 'button plain small', type: 'button', id: `${name}-drop`, onclick: forget }, t('form_drop')));
  }

  // Somebody else was faster: both values stand beside each field that differs.
  function differ(conflict) {
    const theirs = stored(conflict.now);
    const read = (f, text) => (text === '' ? t('form_empty') : (f.show ?? String)(text));
    const differing = made.filter((f) => conflict.fields.includes(f.name));
    for (const f of differing) {
      const take = () => {
        f.set(theirs[f.name]);
        f.say('');
        f.focus();
        keepAll();
      };
      const text = t('form_stored', { stored: read(f, theirs[f.name]), mine: read(f, f.value()) });
      f.say(text, el('button', { class: 'button plain small', type: 'button', id: `${name}-${f.name}-take`, onclick: take }, t('form_take')));
    }
    made.find((f) => f.name === 'version').set(String(conflict.version));
    keepAll();
    setText(fault, t('form_conflict', { version: conflict.version, submit }));
    differing[0]?.focus();
  }

  function tell(problem) {
    const faults = problem.faults?.length ? problem.faults : [{ field: problem.field }];
    const rest = [];
    let first;
    for (const f of faults) {
      const text = f.what ? t('wrong_field', { what: refusalText(f.what) }) : words(problem);
      const at = made.find((m) => m.name === f.field && m.node);
      if (at) at.say(text);
      else rest.push(text);
      first ||= at;
    }
    setText(fault, rest.join(' '));
    first?.focus();
  }

  async function go(event) {
    event.preventDefault();
    if (button.getAttribute('aria-disabled')) return; // on its way
    setText(fault, '');
    const said = document.querySelector('.said');
    if (said) said.hidden = true; // it is about what was sent before
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
      const [conflict] = problem.conflicts || [];
      if (stored && conflict?.from) differ(conflict);
      else tell(problem);
    }
    button.removeAttribute('aria-disabled');
    setText(button, submit);
  }
  return node;
}

// A field. `make({id, value, fixed, described, changed})` makes its own control: {node, value(), set(text), focus()}; it
// calls changed() when it has another value.
function field(form, f, old, tells) {
  if (f.kind === 'hidden') return hidden(f, old);
  const id = `${form}-${f.name}`;
  const fault = el('p', { class: 'fault', id: `${id}-fault` });
  const hint = f.hint && el('small', { class: 'soft', id: `${id}-hint` }, f.hint);
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(' ');
  const attributes = { id, name: f.name, 'aria-describedby': described, 'aria-required': f.required ? 'true' : null, autocomplete: 'off', ...f.input };
  let input;
  if (f.kind === 'select') input = el('select', attributes, f.options.map(([value, text]) => el('option', { value }, text)));
  else if (f.kind === 'area') input = el('textarea', { rows: 3, ...attributes });
  else input = el('input', { type: f.kind === 'check' ? 'checkbox' : f.kind || 'text', accept: f.accept, ...attributes });
  const start = f.fixed ? f.value : (old ?? f.value);
  const own = f.make?.({ id, value: start, fixed: f.fixed, described, changed: () => own.node.dispatchEvent(new Event('input', { bubbles: true })) });
  if (own) input = own.node;
  else if (f.fixed) input[['select', 'check'].includes(f.kind) ? 'disabled' : 'readOnly'] = true;
  if (f.kind === 'check') input.checked = Boolean(start);
  else if (f.kind !== 'file' && !own && start !== undefined) input.value = start;
  const label = el(own ? 'p' : 'label', own ? { class: 'label', id: `${id}-label` } : { for: id }, f.label, tells && !f.required && !f.fixed && !['check', 'select'].includes(f.kind) && el('small', { class: 'soft' }, ` · ${t('field_optional')}`));
  const value = () => (own ? own.value() : f.kind === 'check' ? input.checked : f.kind === 'file' ? input.files[0] : input.value.trim());
  const say = (text, ...more) => {
    setText(fault, text);
    fault.append(...more);
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
  const set = (text) => (own ? own.set(text) : f.kind === 'check' ? (input.checked = text) : (input.value = text));
  return { name: f.name, show: f.show, kept: f.kind !== 'file', value, set, say, wrong, focus: () => (own || input).focus(), node: put(el('div', { class: `field ${f.kind || 'text'}` }), ...parts, hint, fault) };
}

function hidden(f, old) {
  let value = old ?? f.value;
  const none = () => '';
  return { name: f.name, kept: true, value: () => value, set: (text) => (value = text), say: none, wrong: none, focus: none, node: null };
}

/** What went wrong, in words, with a button to try again. */
export function problemNote(problem, again) {
  return el('div', { class: 'notification trouble', role: 'alert' }, el('p', {}, words(problem)), again && el('button', { class: 'button plain', type: 'button', onclick: again }, t('retry')));
}
