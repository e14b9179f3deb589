// The door: what an item with checks wants of its shopper before a purchase. Its part of the page (admission.js) is loaded
// for such items only.
import { admit } from './api.js';
import { at, knownNow, now, onSecond } from './clock.js';
import { decide, retryWait } from './core.js';
import { el, pause, put, setText } from './dom.js';
import { TEXTS, t, tOr } from './i18n.js';
import { keepTicket, onShopper, shopper, tickets } from './session.js';

/** What parts of the page get that are loaded later. */
export const io = { admit, at, knownNow, now, onSecond, decide, retryWait, el, pause, put, setText, TEXTS, t, tOr, keepTicket, onShopper, shopper, tickets };

/** Calls f with what admission.js gives, for an item with checks; undefined when it could not be loaded. */
export const door = (item, f) => item.checks && import('./admission.js').then((part) => f(part.admission(io)), () => undefined);
