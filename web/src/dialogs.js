// Dialogs: a sheet from below on a phone, a box on a desktop. The browser's own <dialog> keeps the focus inside.
import { el, icon, put, setText } from './dom.js';
import { t } from './i18n.js';

// Sheets belong to history: Back closes the topmost sheet and stays on the page. A sheet that closes by itself takes
// its entry back; what comes after that (a link, another sheet) waits until the browser has done so.
const sheets = [];
let leaving = Promise.resolve();

window.addEventListener('popstate', () => {
  const top = sheets.at(-1);
  if (top && (history.state?.sheets || 0) < sheets.length) top.close();
});

function back() {
  leaving = leaving.then(
    () =>
      new Promise((resolve) => {
        window.addEventListener('popstate', resolve, { once: true });
        history.back();
        setTimeout(resolve, 500); // a browser that forbids it must not block the page
      }),
  );
  return leaving;
}

/** A page that was reloaded with a sheet open drops the sheet's entry. */
export function dropSheetEntry() {
  if (history.state?.sheets) back();
}

/** What the open sheets are about, e.g. {item: '2002'}. */
export const sheetsAbout = () => Object.assign({}, ...sheets.map((s) => s.about));

/**
 * Opens a dialog. `onClose` runs once, however it closes; `about` is for sheetsAbout. Answers {body, title, close}:
 * title(text) changes the heading, close(then) runs `then` when the sheet has left history. Links in a sheet close it
 * first.
 */
export function openSheet(title, onClose = () => {}, about = {}) {
  const body = el('div', { class: 'sheet-body' });
  const heading = el('h2', { id: 'sheet-title', tabindex: -1 }, title);
  const dialog = el(
    'dialog',
    { class: 'sheet', 'aria-labelledby': 'sheet-title' },
    el(
      'div',
      { class: 'sheet-head' },
      heading,
      el('button', { class: 'round', type: 'button', 'aria-label': t('close'), onclick: () => dialog.close() }, icon('close')),
    ),
    body,
    el('p', { class: 'unseen live', 'aria-live': 'polite' }),
  );
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  dialog.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    close(() => (location.hash = link.getAttribute('href')));
  });
  const entry = {
    about,
    close() {
      if (dialog.open) dialog.close();
    },
  };
  let after = () => {};
  const close = (then = () => {}) => {
    after = typeof then === 'function' ? then : () => {};
    entry.close();
  };
  dialog.addEventListener('close', () => {
    sheets.splice(sheets.indexOf(entry), 1);
    dialog.remove();
    onClose();
    const inHistory = (history.state?.sheets || 0) > sheets.length;
    (inHistory ? back() : leaving).then(() => after());
  });
  document.body.append(dialog);
  dialog.showModal();
  heading.focus();
  sheets.push(entry);
  leaving = leaving.then(() => {
    if (sheets.includes(entry)) history.pushState({ sheets: sheets.indexOf(entry) + 1 }, '');
  });
  return { body, close, title: (text) => setText(heading, text) };
}

/** Asks a yes-or-no question; resolves with whether it was confirmed. */
export function confirmSheet(title, text, yes, no) {
  return new Promise((resolve) => {
    let confirmed = false;
    const sheet = openSheet(title, () => resolve(confirmed));
    const confirm = () => {
      confirmed = true;
      sheet.close();
    };
    put(
      sheet.body,
      el('p', { class: 'soft' }, text),
      el(
        'div',
        { class: 'actions' },
        el('button', { class: 'button plain', type: 'button', onclick: () => sheet.close() }, no),
        el('button', { class: 'button danger', type: 'button', onclick: confirm }, yes),
      ),
    );
  });
}
