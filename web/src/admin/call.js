// What the pages ask of the back office. Everything a page does is a command, as the command line tool sends it
// (package operator has their names, arguments and answers). Addresses are relative, so that stages work.
import { retryAfterHeader, retryWait } from '../core.js';
import { language, t, tOr } from '../i18n.js';
import { refusalText } from './shopsays.js';

const TIMEOUT = 30_000; // ms; API Gateway gives up after 29 s
const SECOND = 1_000; // ms; what the header Date leaves out
const TRIES = 4; // of a call that is refused because there are too many
const LONG_TRIES = 5; // of a call that is one of a long row
const FIRST_WAIT = 1_000; // ms before the second of these; it doubles

/** Why a call did not succeed. status 0: no answer, so it may have been carried out. `field`: the argument that is wrong. */
export class Problem extends Error {
  constructor(status, body = {}, retryAfter = 0) {
    super(`${status} ${body.code || ''}`);
    this.status = status;
    this.code = body.code || codeOf(status);
    this.detail = typeof body.detail === 'string' ? body.detail : '';
    this.field = body.field || '';
    this.faults = body.faults || []; // what is wrong with fields: [{field, what}]
    this.conflicts = body.conflicts || []; // what somebody else has saved: [{id, from, version, fields, now}]
    this.lines = body.lines || []; // what is wrong in a file of items: [{n, where, what}], and how many there are
    this.wrong = body.wrong || 0;
    this.signIn = Boolean(body.sign_in);
    this.retryAfter = body.retry_after_ms || retryAfter;
  }
}

// What is said about an answer that is not a problem document, such as API Gateway's own.
function codeOf(status) {
  if (!status) return 'network';
  if (status === 429) return 'too_many_requests';
  if (status === 413) return 'body_too_large';
  return status < 500 ? '' : 'unavailable';
}

let ahead = 0; // ms that the shop's clock is ahead of this computer's

/** The time by the shop's clock, ms: as the last answer had it, to the second. */
export const now = () => Date.now() + ahead;

function setClock(date) {
  const shop = Date.parse(date || '');
  if (shop && Math.abs(shop - now()) > SECOND) ahead = shop - Date.now();
}

// A few people share the throttle of the back office, and a page asks for several things at once. What was refused for
// that reason was not carried out, so the page asks again.
async function ask(...call) {
  for (let n = 1; ; n++) {
    try {
      return await once(...call);
    } catch (problem) {
      if (problem.status !== 429 || n === TRIES) throw problem;
      await new Promise((resolve) => setTimeout(resolve, retryWait(n, problem.retryAfter)));
    }
  }
}

async function once(method, path, body, sent = body && JSON.stringify(body)) {
  const headers = { Accept: 'application/json', 'Accept-Language': language() };
  if (method === 'POST') headers['X-Seckill-Staff'] = '1'; // no form of another site can send it
  if (sent) headers['Content-Type'] = 'application/json';
  let response;
  let answer;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: sent,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (path.startsWith('admin/')) setClock(response.headers.get('Date')); // others may come from a cache
    answer = response.status === 204 ? {} : await response.json();
  } catch {
    throw new Problem(response && !response.ok ? response.status : 0, {}, retryAfterHeader(response?.headers.get('Retry-After')));
  }
  if (!response.ok) throw new Problem(response.status, answer || {}, retryAfterHeader(response.headers.get('Retry-After')));
  if (answer?.problem) throw new Problem(answer.problem.status || 400, answer.problem);
  return answer;
}

/** Who is signed in: {who, roles, may, ends_at, sign_in}. A Problem with status 401 says whether there is a sign-in. */
export const session = () => ask('GET', 'admin/session');

/** Ends the session at once. */
export const signOut = () => ask('POST', 'admin/signout', {});

let signInAgain = async () => false;

/** Sets what is asked when the session has ended, or is too old for money: whether the same person is signed in again. */
export const signInBy = (f) => (signInAgain = f);

/**
 * Gives a command, and returns its result. If the session has ended, it waits until the same person is signed in again,
 * and gives it again: every command may be repeated.
 * @param {string} [items]  the argument `items` as JSON text, which is sent as it is: long numbers stay exact
 */
export async function command(name, args = {}, items = '') {
  const text = JSON.stringify({ operator: { command: name, ...args } });
  const sent = items ? `${text.slice(0, -2)},"items":${items}}}` : text;
  const give = async () => (await ask('POST', 'admin/commands', null, sent)).result;
  try {
    return await give();
  } catch (problem) {
    if ((problem.status !== 401 && problem.code !== 'sign_in_again') || !(await signInAgain(problem))) throw problem;
    return await give();
  }
}

/** Signs in again after a Problem with status 401; resolves with whether the same person did. */
export const signedInAgain = (problem) => signInAgain(problem);

/**
 * Gives a command that a page gives by itself, again and again: once, so that it takes no call from what a person does,
 * and nobody is asked to sign in.
 */
export const look = async (name, args) => (await once('POST', 'admin/commands', { operator: { command: name, ...args } })).result;

/** Whether a call that failed may succeed when it is made again. */
export const passing = (problem) => problem instanceof Problem && (problem.status === 0 || problem.status === 429 || problem.status >= 500);

/** Makes a call of a long row of them; what fails for a moment is repeated, until the page is left. */
export async function patiently(signal, call, first = FIRST_WAIT) {
  for (let n = 1, wait = first; ; n++, wait *= 2) {
    try {
      return await call();
    } catch (problem) {
      if (n === LONG_TRIES || !passing(problem)) throw problem;
      await new Promise((resolve) => setTimeout(resolve, wait));
      signal.throwIfAborted();
    }
  }
}

/** What everybody sees of an item's sale: {state, left}; null if that cannot be told now. */
export const itemStatus = (item) => ask('GET', `seckill/status/${item}`).catch(() => null);

/** What went wrong, and what to do, in plain words. Staff also read the system's own detail, which is in English. */
export function words(problem) {
  if (!(problem instanceof Problem)) return String(problem?.message || problem);
  const code = problem.code === 'invalid_request' && !problem.field ? 'other' : problem.code || 'other';
  const text = tOr(`wrong_${code}`, t('wrong_other'), { field: problem.field && tOr(`field_${problem.field}`, problem.field) });
  const known = ['network', 'session_ended', 'sign_in_again', 'order_unknown', 'item_unknown', 'activity_unknown'];
  return problem.detail && !known.includes(code) ? `${text} ${refusalText(problem.detail)}` : text;
}
