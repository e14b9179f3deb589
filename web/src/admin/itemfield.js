// The items of an activity as a field: a list in the order in which shoppers see them, and a way to add one.
import { announce, el, put, setText } from '../dom.js';
import { t, when } from '../i18n.js';
import { fullTitle } from './itemlist.js';
import { addTexts } from './texts.js';

addTexts({
  members_none: ['还没有商品。', 'No items yet.'],
  members_add: ['加入商品', 'Add an item'],
  members_add_hint: ['编号，或从列表里选', 'Its id, or choose from the list'],
  members_up: ['把 {id} 往前移', 'Move {id} up'],
  members_down: ['把 {id} 往后移', 'Move {id} down'],
  members_out: ['移出 {id}', 'Take {id} out'],
  members_moved: ['{id} 现在排第 {n}，共 {all} 件。', '{id} is number {n} of {all} now.'],
  members_in: ['已加入 {id}，共 {all} 件。', '{id} is in: {all} now.'],
  members_gone: ['已移出 {id}，共 {all} 件。', '{id} is out: {all} now.'],
  members_unknown: ['没有编号为 {id} 的商品。', 'There is no item {id}.'],
  members_twice: ['{id} 已在里面。', '{id} is in it already.'],
});

const SHOWN = 1000; // items that the list offers, as many as a shop has

/** What form.js wants of a control; its value is the ids with blanks between them. `known`: items by id. */
export const itemsControl = (known) => ({ id, value, fixed, described, changed }) => {
  let ids = split(value);
  const list = el('ol', { class: 'members' });
  const none = el('p', { class: 'soft' }, t('members_none'));
  const fault = el('p', { class: 'fault', role: 'alert' });
  const add = el('input', { id, list: `${id}-known`, inputmode: 'numeric', autocomplete: 'off', 'aria-label': t('members_add'), placeholder: t('members_add_hint'), 'aria-describedby': described });
  const offered = el('datalist', { id: `${id}-known` });
  const node = el('div', { role: 'group', 'aria-labelledby': `${id}-label`, class: 'members-field' }, none, list, !fixed && [el('div', { class: 'members-add' }, add, offered, el('button', { class: 'button plain small', type: 'button', id: `${id}-add`, onclick: take }, t('members_add'))), fault]);
  add.addEventListener('input', (event) => event.stopPropagation()); // it is not a value yet
  add.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault(); // it would send the form
    take();
  });

  function take() {
    const one = add.value.trim();
    const wrong = !known.has(one) ? 'members_unknown' : ids.includes(one) ? 'members_twice' : '';
    setText(fault, wrong && one ? t(wrong, { id: one }) : '');
    if (wrong) return void add.focus();
    add.value = '';
    become([...ids, one], t('members_in', { id: one, all: ids.length + 1 }));
    add.focus();
  }

  function become(next, text) {
    ids = next;
    draw();
    changed();
    announce(text);
  }

  function move(one, by) {
    const at = ids.indexOf(one);
    become(ids.with(at, ids[at + by]).with(at + by, one), t('members_moved', { id: one, n: at + by + 1, all: ids.length }));
    const again = document.getElementById(`${id}-${by < 0 ? 'up' : 'down'}-${one}`);
    (again.disabled ? document.getElementById(`${id}-out-${one}`) : again).focus();
  }

  function out(one) {
    become(ids.filter((other) => other !== one), t('members_gone', { id: one, all: ids.length - 1 }));
    add.focus();
  }

  function draw() {
    const button = (verb, sign, one, off, press) => el('button', { class: 'button plain small', type: 'button', id: `${id}-${verb}-${one}`, 'aria-label': t(`members_${verb}`, { id: one }), disabled: off, onclick: press }, sign);
    const row = (one, i) => {
      const it = known.get(one);
      return el('li', {}, el('span', {}, `${one} · ${it ? `${fullTitle(it)} · ${when(it.start_time)} – ${when(it.end_time)}` : '?'}`), !fixed && el('span', { class: 'members-do' }, button('up', '↑', one, i === 0, () => move(one, -1)), button('down', '↓', one, i === ids.length - 1, () => move(one, 1)), button('out', '✕', one, false, () => out(one))));
    };
    put(list, ids.map(row));
    none.hidden = ids.length > 0;
    put(offered, [...known.values()].filter((it) => !ids.includes(it.id)).slice(0, SHOWN).map((it) => el('option', { value: it.id }, fullTitle(it))));
  }

  draw();
  return {
    node,
    value: () => ids.join(' '),
    set(text) {
      ids = split(text);
      draw();
    },
    focus: () => (fixed ? node : add).focus(),
  };
};

const split = (text) => (text || '').split(' ').filter(Boolean);
