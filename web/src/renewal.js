// Keeps a sign-in alive: it renews the token before it ends, and before a sale opens that it would end around. Where the
// issuer gave no refresh token, it says so in time and offers to sign in again. A tab out of sight does nothing; it
// looks when it comes back.
import { exchange, renewBy } from './api.js';
import { at, knownNow, now, onSecond } from './clock.js';
import { decide, renewalDue, retryWait } from './core.js';
import { sheetsAbout } from './dialogs.js';
import { announce, el, setText } from './dom.js';
import { t, when } from './i18n.js';
import { onShopper, renewed, shopper, signInEnded } from './session.js';
import { shopperOf, signIn } from './who.js';

const CLOCK_WAIT = 1000; // ms until the server's time is looked for again

const spread = Math.random(); // this tab's share of the spread
const openings = new Set();
let stop = () => {};
let running = null;
let failures = 0;

/** Takes note of when items open. */
export function noteOpenings(items) {
  const before = openings.size;
  for (const item of items) openings.add(Date.parse(item.start_time));
  if (openings.size > before) plan();
}

/** Begins to look after the shopper's sign-in. */
export function startRenewal() {
  renewBy(async (acts) => {
    const fresh = await renew();
    if (acts && !fresh && shopper()) {
      warning.hide();
      warning.show(0); // the server says so, whatever the clock
    }
    return fresh;
  });
  onShopper(() => {
    warning.hide();
    plan();
  });
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && plan());
  plan();
}

function plan(wait = 0) {
  stop();
  const who = shopper();
  if (who?.expires) stop = at(Math.max(renewalDue(who, openings, spread), now() + wait), look);
}

async function look() {
  if (document.visibilityState === 'hidden') return;
  const who = shopper();
  if (!who?.expires) return;
  if (knownNow() === undefined) return plan(CLOCK_WAIT); // a device's clock may be hours off
  if (!who.refresh) return warning.show(who.expires);
  try {
    await renew();
  } catch (problem) {
    plan(retryWait(failures++, problem.retryAfter)); // renewal is tried until there is an answer, also after the token's end
  }
}

/**
 * Gets a new token by the refresh token: once, however many ask. Says whether there is a new one; throws a Problem when
 * nobody could say.
 */
export function renew() {
  running ||= exchangeToken().finally(() => (running = null));
  return running;
}

async function exchangeToken() {
  const who = shopper();
  if (!who?.refresh) return false;
  let answer;
  try {
    answer = await exchange({ grant: 'refresh', issuer: who.issuer, client_id: who.client, refresh_token: who.refresh, ...(who.session && { session: who.session }) });
  } catch (problem) {
    if (decide(problem) === 'retry') throw problem;
  }
  const same = shopper()?.user === who.user && shopper().refresh === who.refresh;
  if (!same) return false; // they signed out meanwhile, or in again
  failures = 0;
  const accepted = answer?.user === who.user;
  if (accepted) warning.hide();
  renewed(accepted ? { ...shopperOf(answer, who), name: who.name, refresh: answer.refresh_token || who.refresh } : { ...who, refresh: '' });
  plan();
  return accepted;
}

// The warning stands on the page, or in the sheet that covers it.
const warning = {
  ticking: () => {},
  node: null,
  hide() {
    this.ticking();
    this.ticking = () => {};
    this.node?.remove();
    this.node = null;
  },
  show(end) {
    if (this.node) return;
    const words = el('p', {});
    const again = () => signIn(sheetsAbout());
    this.node = el('div', { class: 'notification renew' }, words, el('button', { class: 'button', type: 'button', onclick: again }, t('signin_again')));
    const text = () => (now() < end ? t('signin_ends', { time: when(end) }) : t('signin_ended'));
    this.ticking = onSecond(() => {
      const place = document.querySelector('dialog:not([data-signin]) .sheet-body') || document.getElementById('renew');
      if (this.node.parentNode !== place) place.prepend(this.node);
      if (words.textContent !== text()) {
        announce(text());
        if (now() >= end) signInEnded();
      }
      setText(words, text());
    });
  },
};
