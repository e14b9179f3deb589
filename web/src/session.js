// What this tab knows of its shopper: who it is, the address, purchases that were never answered, orders that are open,
// what was typed and not sent.
// It lies in sessionStorage: another tab may be another shopper, and nothing outlives the tab, except an address that
// the shopper wants kept on the device (localStorage).
import { intentFor } from './core.js';

const SHOPPER = 'seckill.shopper';
const ADDRESS = 'seckill.address.';
const INTENTS = 'seckill.intents.';
const OPEN = 'seckill.open.';
const READY = 'seckill.ready.';
const TICKETS = 'seckill.tickets.';
const DRAFTS = 'seckill.drafts.';
const SIGNING_IN = 'seckill.signin';

const memory = new Map(); // stands in where storage is forbidden
const listeners = new Set();
const watchers = new Set();
const enders = new Set();

/**
 * {name, user, token} or null. One who signed in at an issuer also has `issuer`, `client`, `end` (where to sign out, or
 * ""), `refresh` (a refresh token, or ""), and the times between which the token holds, `since` and `expires` (ms).
 */
export const shopper = () => read(SHOPPER);
export const token = () => shopper()?.token || '';

/** Becomes another shopper, or nobody (null), and tells those who listen. */
export function become(who) {
  renewed(who);
  for (const f of listeners) f();
}

/** The same shopper has a new token: nothing on the page changes. */
export function renewed(who) {
  write(SHOPPER, who);
  for (const f of watchers) f();
}

/** Signs out: this tab forgets its shopper, and what it knows of them. What they wanted kept on the device stays. */
export function forget() {
  for (const prefix of [ADDRESS, INTENTS, OPEN, READY, TICKETS, DRAFTS]) write(mine(prefix), null);
  become(null);
}

/**
 * The sign-in has ended by time: this tab forgets the address, and those who listen take away what they show of the
 * shopper. What a purchase or a form needs to go on stays.
 */
export function signInEnded() {
  write(mine(ADDRESS), null);
  for (const f of enders) f();
}

/** Keeps what a sign-in needs when the shopper comes back from the issuer; it is taken once. */
export const keepSignIn = (kept) => write(SIGNING_IN, kept);
export function takeSignIn() {
  const kept = read(SIGNING_IN);
  write(SIGNING_IN, null);
  return kept;
}

export function onShopper(f) {
  listeners.add(f);
}

export function onSignInEnded(f) {
  enders.add(f);
}

/** Calls f whenever there is another token, or none; the answer ends it. */
export function onToken(f) {
  watchers.add(f);
  return () => watchers.delete(f);
}

const mine = (prefix) => prefix + shopper()?.user;

/** The address as it was last typed, by its parts; {} when there is none. */
export const lastAddress = () => read(mine(ADDRESS)) || read(mine(ADDRESS), device) || {};
export const isKept = () => read(mine(ADDRESS), device) !== null;

/** Remembers the address for this tab, and on the device if it is wanted; if not, the device forgets it. */
export function keepAddress(parts, onDevice) {
  write(mine(ADDRESS), parts);
  write(mine(ADDRESS), onDevice ? parts : null, device);
}

// A map that this tab keeps for the shopper.
const entries = (prefix) => read(mine(prefix)) || {};
function enter(prefix, name, value) {
  const { [name]: _, ...rest } = entries(prefix);
  write(mine(prefix), value === null ? rest : { ...rest, [name]: value });
}

/** The purchase of this item that this shopper means, with its idempotency key; kept until forgetIntent. */
export function intent(item, title, body) {
  const now = { ...intentFor(entries(INTENTS)[item], body, mintKey), title };
  enter(INTENTS, item, now);
  return now;
}

/** Purchases without an answer, by item. */
export const intents = () => entries(INTENTS);

/** The purchase has its answer; the next one is another. */
export const forgetIntent = (item) => enter(INTENTS, item, null);

/** Ids of orders that were open when last seen. */
export const openOrders = () => Object.keys(entries(OPEN));
export const rememberOpen = (order, open) => enter(OPEN, order, open ? 1 : null);

/** How many units the shopper is ready to buy at one press; 0 when they are not. */
export const readyFor = (item) => entries(READY)[item] || 0;
export const beReady = (item, count) => enter(READY, item, count || null);

/** The shopper's tickets for items with checks, {text, expires (ms)} by item; null forgets one. */
export const tickets = () => entries(TICKETS);
export const keepTicket = (item, ticket) => enter(TICKETS, item, ticket);

/** Reasons for a refund that were typed and not sent, by order; "" forgets one. */
export const drafts = () => entries(DRAFTS);
export const keepDraft = (order, reason) => enter(DRAFTS, order, reason || null);

// 128 random bits. crypto.randomUUID is missing on plain-HTTP pages other than localhost.
function mintKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}

const tab = () => sessionStorage;
const device = () => localStorage;

function read(name, store = tab) {
  try {
    const stored = store().getItem(name);
    return stored === null ? null : JSON.parse(stored);
  } catch {
    return store === tab ? (memory.get(name) ?? null) : null;
  }
}

function write(name, value, store = tab) {
  if (store === tab) memory.set(name, value);
  try {
    if (value === null) store().removeItem(name);
    else store().setItem(name, JSON.stringify(value));
  } catch {
    return; // memory has it
  }
}
