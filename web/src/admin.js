// The back office in a browser: who is signed in, which screen is shown, in which language. Its screens are in admin/,
// listed in admin/screens.js. What a person may do is decided by the shop at each command; the pages only leave out what
// would be refused.
import { Problem, now, session, signInBy, signOut, words } from './admin/call.js';
import { removeFiles, removeOld } from './admin/file.js';
import { problemNote } from './admin/form.js';
import { placeOf, readPlace, changed } from './admin/place.js';
import { SCREENS } from './admin/screens.js';
import './admin/texts.js';
import { forgetTyped, typedBy } from './admin/typed.js';
import { dropSheetEntry, openSheet } from './dialogs.js';
import { announce, el, put, setText } from './dom.js';
import { TEXTS, startLanguage, switchLanguage, t, tOr, translate } from './i18n.js';
import { STATES } from './state-texts.js';

const PLACE = 'seckill.staff.place'; // where to go on after signing in, in this tab
const EVERY = 3_000; // ms between looks whether somebody has signed in elsewhere

Object.assign(TEXTS, STATES);

const main = document.getElementById('main');
const content = document.getElementById('content');
const menu = document.getElementById('menu');
const whoButton = document.getElementById('who');

let me = null; // {who, name, roles, may, ends_at, tool}
let left = new AbortController(); // aborts when what is shown is left
let saying = ''; // a result, for the next drawing

const rolesText = () => me.roles.map((r) => tOr(`role_${r}`, r)).join(t('office_comma'));
const may = (name) => me.may.includes(name);
const open = (screen) => screen.needs.length === 0 || screen.needs.some(may);

function remember(place) {
  try {
    if (place) sessionStorage.setItem(PLACE, place);
    else sessionStorage.removeItem(PLACE);
  } catch {
    return; // then the first screen is shown
  }
}

function recall() {
  try {
    return sessionStorage.getItem(PLACE) || '';
  } catch {
    return '';
  }
}

// Signing in

const issuerLink = (href) => el('a', { class: 'button', href, id: 'sign-in', onclick: () => remember(location.hash) }, t('office_to_issuer'));

/** What a person does to sign in. found(session) is called once somebody is signed in, here or in another tab. */
function signInPart(problem, found, signal) {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const look = async (loud) => {
    try {
      const got = await session();
      if (!signal.aborted) found(got);
    } catch (now) {
      if (loud) setText(fault, now.status === 401 ? t('office_not_yet') : t('wrong_network'));
    }
  };
  const quiet = () => document.visibilityState === 'visible' && look(false);
  document.addEventListener('visibilitychange', quiet, { signal });
  window.addEventListener('focus', quiet, { signal });
  const timer = setInterval(quiet, EVERY);
  signal.addEventListener('abort', () => clearInterval(timer));
  return problem.signIn
    ? [issuerLink('admin/signin'), fault]
    : [el('p', { class: 'soft' }, t('office_link')), el('button', { class: 'button', type: 'button', id: 'signed-in', onclick: () => look(true) }, t('office_look')), fault];
}

function signInPage(problem, text) {
  me = null;
  removeFiles();
  left.abort();
  left = new AbortController();
  showFrame();
  const found = (got) => {
    left.abort();
    begin(got);
  };
  put(content, el('section', { class: 'band' }, text && el('p', { class: 'notification', role: 'status' }, text), el('div', { class: 'empty' }, el('h1', { class: 'page-title' }, t('office_sign_in')), signInPart(problem, found, left.signal))));
}

/** The sign-in is too old for money: leads to the issuer, and back to this place. The command is given anew there. */
function provePerson(problem) {
  return new Promise((resolve) => {
    const sheet = openSheet(t('office_again'), () => resolve(false));
    put(sheet.body, el('p', { class: 'soft' }, words(problem)), issuerLink('admin/signin?fresh'));
  });
}

let asking = null; // the dialog that asks to sign in again, for all commands that wait for it

/** The session has ended, or is too old: asks to sign in again. Resolves with whether the same person did. */
function signInAgain(problem) {
  if (problem.status !== 401) return provePerson(problem);
  removeFiles();
  asking ||= new Promise((resolve) => {
    const gone = new AbortController();
    const before = me.who;
    let same = false;
    let other = null;
    const sheet = openSheet(t('office_ended'), () => {
      gone.abort();
      asking = null;
      if (other) begin(other, t('office_other', { who: other.who }));
      resolve(same);
    });
    const found = (got) => {
      same = got.who === before;
      if (same) {
        me = got; // with the roles of now
        showFrame();
      } else other = got;
      sheet.close();
    };
    put(sheet.body, el('p', { class: 'soft' }, t('office_ended_text')), signInPart(problem, found, gone.signal));
  });
  return asking;
}

function begin(got, text = '') {
  me = got;
  typedBy(me.who);
  const place = recall();
  remember('');
  if (place && place !== location.hash) history.replaceState(null, '', place);
  saying = text;
  showFrame();
  show();
}

async function leave() {
  try {
    await signOut();
  } catch (problem) {
    if (problem.status !== 401) return void announce(t('wrong_network'));
  }
  forgetTyped();
  const problem = await session().catch((p) => p);
  signInPage(problem instanceof Problem ? problem : new Problem(401), t('office_left'));
}

function whoSheet() {
  const sheet = openSheet(me.name || me.who);
  put(
    sheet.body,
    el('p', {}, t('office_who', { who: me.who, roles: rolesText() })),
    el('p', { class: 'soft' }, t('office_until')),
    el('button', { class: 'button', type: 'button', id: 'sign-out', onclick: () => sheet.close(leave) }, t('office_leave')),
  );
}

// What is shown

function showFrame() {
  translate(document);
  whoButton.hidden = !me;
  if (me) {
    const name = me.name || me.who;
    const says = t('office_who', { who: me.who, roles: rolesText() });
    setText(whoButton, name);
    whoButton.setAttribute('aria-label', says.includes(name) ? says : `${name}: ${says}`); // what is seen can be said
  }
  const links = me ? SCREENS.filter((s) => s.menu && open(s)) : [];
  put(menu, links.map((s) => el('a', { href: placeOf(s.name), 'data-screen': s.name }, t(s.title))));
  document.title = t('office');
}

let shown = ''; // the screen, and what it is about: not its query

async function show() {
  if (!me) return;
  left.abort();
  const round = (left = new AbortController());
  const place = readPlace(location.hash);
  const first = SCREENS.find((s) => s.menu && open(s));
  const screen = place.name ? SCREENS.find((s) => s.name === place.name) : first;
  const same = shown === `${place.name}/${place.id}`;
  shown = `${place.name}/${place.id}`;
  for (const link of menu.children) {
    if (link.dataset.screen === (screen?.parent || screen?.name)) {
      link.setAttribute('aria-current', 'page');
      link.scrollIntoView({ block: 'nearest', inline: 'nearest' }); // on a phone the menu is wider than the page
    } else link.removeAttribute('aria-current');
  }
  if (!screen || !open(screen)) {
    const text = !place.name ? 'office_none' : screen ? 'office_not' : 'office_unknown';
    return void put(content, el('div', { class: 'empty' }, el('h1', { class: 'page-title' }, t('office')), el('p', {}, t(text, { roles: rolesText() }))));
  }
  const title = t((!place.id && screen.titleNew) || screen.title);
  document.title = `${title} · ${t('office')}`;
  const said = el('p', { class: 'notification said', role: 'status', hidden: !saying }, saying);
  if (saying) announce(saying);
  saying = '';
  const node = el('div', { class: 'screen' });
  // What is drawn anew stays until it is whole, so that nothing jumps, and the focus finds its place again.
  const draw = () => put(content, el('div', { class: 'page-head' }, el('h1', {}, title)), said, node);
  content.setAttribute('aria-busy', 'true');
  if (!same) draw();
  const say = (text) => {
    saying = text;
  };
  const page = {
    ...place,
    name: screen.name,
    node,
    may,
    who: me.who,
    tool: me.tool || '', // what the command line tool needs to find this shop
    now,
    signal: round.signal,
    go(changes) {
      const next = placeOf(screen.name, place.id, changed(place.query, changes));
      if (next === location.hash) page.again();
      else location.hash = next;
    },
    again: () => setTimeout(() => round.signal.aborted || show()), // once a form has forgotten what it sent
    said: say,
  };
  try {
    await screen.show(page);
  } catch (problem) {
    if (round.signal.aborted) return;
    if (!(problem instanceof Problem)) console.error(problem); // a mistake in the page
    node.querySelector('.trouble')?.remove();
    node.append(problemNote(problem, page.again));
  }
  if (round.signal.aborted) return;
  content.removeAttribute('aria-busy');
  if (!same) return;
  const focus = document.activeElement?.id;
  draw();
  if (document.activeElement === document.body) (document.getElementById(focus) || main).focus({ preventScroll: true });
}

// A new screen begins at its top, for eyes and screen readers alike; another page of a list stays where it is.
function moved() {
  const place = readPlace(location.hash);
  const other = shown !== `${place.name}/${place.id}`;
  show();
  if (!other) return;
  window.scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

async function start() {
  try {
    begin(await session());
  } catch (problem) {
    if (problem.status === 401) return signInPage(problem);
    put(content, problemNote(problem, start));
  }
}

startLanguage();
translate(document);
signInBy(signInAgain);
document.getElementById('language').addEventListener('click', () => {
  switchLanguage();
  if (!me) return location.reload(); // the sign-in page, or trouble
  showFrame();
  show();
});
whoButton.addEventListener('click', whoSheet);
window.addEventListener('hashchange', moved);
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
dropSheetEntry();
removeOld();
start();
