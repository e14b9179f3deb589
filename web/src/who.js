// Who the shopper is: signing in at an issuer, or by a token where the shop has none, and signing out.
import { demoShoppers, endSession, exchange, issuers, signIns } from './api.js';
import { knownNow } from './clock.js';
import { patiently, tokenUser } from './core.js';
import { openSheet } from './dialogs.js';
import { announce, el, pause, put } from './dom.js';
import { TEXTS, t, tOr, when } from './i18n.js';
import { statePanel } from './panel.js';
import { become, forget, keepSignIn, shopper, takeSignIn } from './session.js';

const protocol = () => import('./signin.js'); // loaded, with its library, when it is needed
const isLocal = () => document.documentElement.dataset.local !== undefined;

/** Where an issuer sends shoppers back to: the page's own address without what a page adds to it. */
const base = () => location.origin + location.pathname;

/** Whether somebody is signed in whose sign-in holds or can be renewed. */
export function signedIn() {
  const who = shopper();
  return Boolean(who) && (!who.expires || Boolean(who.refresh) || (knownNow() ?? 0) < who.expires);
}

/** A shopper as an exchange gives them; `kept` names the issuer. */
export function shopperOf(answer, { issuer = '', client = '', end = '' } = {}) {
  const name = t('who_user', { user: `…${answer.user.slice(-4)}` });
  const times = { since: knownNow() ?? 0, expires: Date.parse(answer.expires_at) };
  return { name, user: answer.user, token: answer.token, session: answer.session || '', refresh: answer.refresh_token || '', ...times, issuer, client, end };
}

// What happens in a sheet in which somebody signs in: it shows one thing after another, until it is closed.
function signInSheet(onClose) {
  const left = new AbortController();
  const sheet = openSheet(t('sign_in'), () => {
    left.abort();
    onClose();
  });
  sheet.body.closest('dialog').dataset.signin = '';
  const show = ({ look, title, text, busy }, ...actions) => {
    if (left.signal.aborted) return;
    put(sheet.body, statePanel({ look, title, text, busy }, el('div', { class: 'actions' }, actions)).node);
    announce(`${title} ${text}`);
  };
  return {
    ...sheet,
    signal: left.signal,
    busy: (name) => show({ look: 'wait', title: t(name), text: tOr(`${name}_text`, t('signin_wait')), busy: true }),
    // Why nobody is signed in: "refused", "cancelled", "mismatch", "insecure", or "away", which one may try again.
    // `text` is the server's, if it has one.
    trouble(why, again, text) {
      const button = el('button', { class: 'button', type: 'button', onclick: again }, t(why === 'away' ? 'retry' : 'signin_again'));
      show({ look: 'bad', title: t(`signin_${why}`), text: text || t(`signin_${why}_text`) }, why !== 'insecure' && button, closeButton(sheet));
    },
    patiently: (send) => patiently(send, (ms) => pause(ms, left.signal), () => show({ look: 'wait', title: t('signin_busy'), text: t('signin_busy_text'), busy: true })),
  };
}

const closeButton = (sheet) => el('button', { class: 'button plain', type: 'button', onclick: () => sheet.close() }, t('close'));

/**
 * Asks the shopper to sign in; resolves with whether somebody is. At an issuer the page is left, and finishSignIn goes on
 * with `place`: {item} opens its purchase, `sent` sends one again that had no answer.
 */
export function signIn(place = {}) {
  return new Promise((resolve) => {
    let done = false;
    const sheet = signInSheet(() => done || resolve(false));
    const choose = (who) => {
      done = true;
      become(who);
      sheet.close(() => resolve(true)); // another sheet may open then
    };
    const ask = async () => {
      sheet.busy('signin_going');
      try {
        const list = await sheet.patiently(issuers);
        if (sheet.signal.aborted) return;
        if (list.length === 1) await leaveFor(sheet, list[0], place);
        else if (list.length > 1) choices(sheet, list, place);
        else await byToken(sheet, choose);
      } catch {
        sheet.trouble('away', ask);
      }
    };
    ask();
  });
}

async function leaveFor(sheet, issuer, place) {
  sheet.busy('signin_going');
  if (!isSecureContext) return sheet.trouble('insecure'); // the browser hashes nothing there
  const { begin } = await protocol();
  const { kept, address } = await begin(issuer, base(), document.documentElement.lang);
  if (sheet.signal.aborted) return;
  keepSignIn({ ...kept, place: { ...place, hash: location.hash } });
  // Back leads to the page without the sheet, also when the browser had kept the page as it was.
  window.addEventListener('pageshow', () => sheet.close(), { once: true });
  location.replace(address);
}

function choices(sheet, list, place) {
  const go = (issuer) => leaveFor(sheet, issuer, place).catch(() => sheet.trouble('away', () => go(issuer)));
  const choice = (issuer) =>
    el('button', { class: 'person', type: 'button', onclick: () => go(issuer) }, el('span', {}, new URL(issuer.issuer).host), el('small', {}, issuer.client_id));
  sheet.title(t('signin_choose'));
  put(sheet.body, el('div', { class: 'people' }, list.map(choice)));
  announce(t('signin_choose'));
}

/** Takes an issuer's answer out of the address, before anything else is done; null when there is none. */
export function takeAnswer() {
  const query = new URLSearchParams(location.search);
  if (!query.has('code') && !query.has('error')) return null;
  const answer = new URLSearchParams(query);
  const kept = takeSignIn();
  for (const name of ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'session_state', 'scope']) query.delete(name);
  const rest = query.size > 0 ? `?${query}` : '';
  history.replaceState(null, '', location.pathname + rest + (kept?.place.hash ?? location.hash));
  return { answer, kept };
}

/** Goes on with a sign-in whose shopper came back; resolves with the place to go on at, or null. */
export function finishSignIn({ answer, kept }) {
  return new Promise((resolve) => {
    let place = null;
    const sheet = signInSheet(() => {});
    const again = () => sheet.close(async () => resolve((await signIn(kept?.place)) ? kept?.place : null));
    const accept = async () => {
      sheet.busy('signing_in');
      try {
        const { body, refused } = (await protocol()).finish(kept, answer, base());
        if (refused) return void sheet.trouble(refused, again);
        const got = await sheet.patiently(() => exchange(body));
        if (sheet.signal.aborted) return;
        become(shopperOf(got, kept));
        place = kept.place;
        sheet.close(() => resolve(place));
      } catch (problem) {
        if (/^(signin|invalid)_/.test(problem.code)) sheet.trouble('refused', again, problem.detail);
        else sheet.trouble('away', accept);
      }
    };
    accept();
  });
}

/** Shows who the shopper is, and lets them sign out. A run on one machine also offers its people, and tokens. */
export async function whoSheet() {
  if (!isLocal() && !signedIn()) return void signIn();
  const sheet = openSheet(t('who'));
  const choose = (who) => {
    become(who);
    sheet.close();
  };
  const toIssuer = () => sheet.close(() => signIn());
  // First what comes over the network: nothing may move under a finger that is about to press.
  const body = el('div', { class: 'by-token' });
  if (isLocal() || !shopper()?.issuer) await byToken({ body }, choose).catch(() => put(body, t('no_answer')));
  put(
    sheet.body,
    shopper() && el('p', { class: 'soft' }, t('shopper_now', { name: shopper().name })),
    !signedIn() && el('button', { class: 'button', type: 'button', onclick: toIssuer }, t('sign_in')),
    shopper()?.session && el('button', { class: 'button plain', type: 'button', onclick: () => sessions(sheet) }, t('who_sessions')),
    shopper() && el('button', { class: 'button plain', type: 'button', onclick: () => signOut(sheet, endSession) }, t('who_leave')),
    body,
  );
}

async function sessions(sheet) {
  try {
    const part = await import('./sessions.js');
    await part.sessionsIn({ TEXTS, el, put, t, when, announce, signIns, endSession }, sheet, () => signOut(sheet, async () => {}));
  } catch {
    put(sheet.body, el('p', { class: 'fault', role: 'alert' }, t('no_answer')));
  }
}

async function signOut(sheet, end) {
  const who = shopper();
  const ended = who.session && end(who.session).catch(() => {}); // sent with the token that is forgotten now
  forget();
  await ended;
  if (!who.end) return sheet.close();
  try {
    location.replace((await protocol()).signOutAddress(who, base()));
  } catch {
    sheet.close(); // this tab has forgotten them
  }
}

async function byToken(sheet, choose) {
  const part = await import('./bytoken.js');
  return part.byToken({ el, put, TEXTS, t, shopper, tokenUser, exchange, shopperOf, demoShoppers }, sheet, choose);
}
