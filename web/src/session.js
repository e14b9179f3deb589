// What this tab knows of its shopper: who it is, the last address, and purchases that were never answered. It lies in
// sessionStorage: another tab may be another shopper, and nothing outlives the tab.
import { intentFor } from './core.js';

const SHOPPER = 'seckill.shopper';
const ADDRESS = 'seckill.address.';
const INTENT = 'seckill.intent.';

const memory = new Map(); // stands in where storage is forbidden
const listeners = new Set();

/** {name, user, token} or null. */
export const shopper = () => read(SHOPPER);
export const token = () => shopper()?.token || '';

/** Becomes another shopper, or nobody (null), and tells those who listen. */
export function become(who) {
  write(SHOPPER, who);
  for (const f of listeners) f();
}

export function onShopper(f) {
  listeners.add(f);
}

export const lastAddress = () => read(ADDRESS + shopper()?.user) || '';
export const keepAddress = (address) => write(ADDRESS + shopper()?.user, address);

/** The purchase of this item that this shopper means, with its idempotency key; kept until forgetIntent. */
export function intent(item, body) {
  const name = INTENT + shopper()?.user + '.' + item;
  const now = intentFor(read(name), body, mintKey);
  write(name, now);
  return now;
}

/** The purchase has its answer; the next one is another. */
export const forgetIntent = (item) => write(INTENT + shopper()?.user + '.' + item, null);

// 128 random bits. crypto.randomUUID is missing on plain-HTTP pages other than localhost.
function mintKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}

function read(name) {
  try {
    const stored = sessionStorage.getItem(name);
    return stored === null ? null : JSON.parse(stored);
  } catch {
    return memory.get(name) ?? null;
  }
}

function write(name, value) {
  memory.set(name, value);
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    return; // memory has it
  }
}
