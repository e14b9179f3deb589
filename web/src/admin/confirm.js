// Questions before something that cannot be taken back: what will happen is told first.
import { openSheet } from '../dialogs.js';
import { el, put } from '../dom.js';
import { t } from '../i18n.js';
import { form } from './form.js';
import { addTexts } from './texts.js';

addTexts({
  confirm_word: ['请输入 {word} 以确认', 'Type {word} to confirm'],
  confirm_other: ['应为 {word}。', 'This should be {word}.'],
});

// The sheet's entry has left history: who leads elsewhere then is not led back.
async function gone() {
  for (let n = 0; n < 25 && history.state?.sheets; n++) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Asks, and resolves with whether it was confirmed; with `do`, with what that resolves with, or null.
 * @param {string} title
 * @param {(string | Node)[]} happens  what will happen, a paragraph each
 * @param {string} yes  the button's text
 * @param {string} [word]  has to be typed, such as an item's id
 * @param {() => Promise} [do]  what is confirmed: while it fails the question stays, with what is wrong
 */
export function confirm({ title, happens, yes, word = '', do: run }) {
  return new Promise((resolve) => {
    let answer = run ? null : false;
    const sheet = openSheet(title, () => gone().then(() => resolve(answer)));
    const ask = form({
      name: 'confirm',
      filter: true,
      danger: true,
      submit: yes,
      fields: word ? [{ name: 'word', label: t('confirm_word', { word }), required: true, check: (text) => (text === word ? '' : t('confirm_other', { word })) }] : [],
      async send() {
        answer = run ? await run() : true;
        sheet.close();
      },
    });
    ask.querySelector('.form-end').prepend(el('button', { class: 'button plain', type: 'button', onclick: () => sheet.close() }, t('cancel')));
    put(sheet.body, happens.map((p) => el('p', {}, p)), ask);
  });
}
