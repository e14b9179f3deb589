// The server's clock, as near as a browser gets to it, and everything that happens by it. One timer for the whole page.
import { bestOffset } from './core.js';
import { serverTime } from './api.js';

const GOOD_TRIP = 1_000; // ms of a round trip above which a second is made; the shorter of the two counts
const ASLEEP = 10 * 60_000; // ms out of sight after which the time is asked for again: performance.now may have slept
const SYNC_AGAIN = 5_000; // ms after a sync without an answer

// performance.now does not jump when somebody sets the machine's clock.
const local = () => performance.now();

let offset = Date.now() - local();
let timer = 0;
let synced = false;
const tickers = new Set();
const alarms = new Set();

/** Milliseconds since 1970 on the server's clock; before the first answer, on the device's. */
export const now = () => local() + offset;

/** The same, but undefined before the first answer: nothing may open or end by a device's clock. */
export const knownNow = () => (synced ? now() : undefined);

/** Calls f at once and at every full second of the server; the answer ends it. */
export function onSecond(f) {
  tickers.add(f);
  f();
  arm();
  return () => tickers.delete(f);
}

/** Calls f once when the server's clock reaches that time; the answer ends it. */
export function at(time, f) {
  const alarm = { time, f };
  alarms.add(alarm);
  arm();
  return () => alarms.delete(alarm);
}

function arm() {
  clearTimeout(timer);
  const current = now();
  let next = 1000 - (current % 1000);
  for (const a of alarms) next = Math.min(next, Math.max(0, a.time - current));
  timer = setTimeout(wake, Math.ceil(next));
}

function wake() {
  for (const a of [...alarms]) {
    if (a.time <= now()) {
      alarms.delete(a);
      a.f();
    }
  }
  for (const f of [...tickers]) f();
  arm();
}

/** Asks the server for the time; says whether it answered. */
export async function sync() {
  const samples = [];
  while (samples.length < 2) {
    const sent = local();
    try {
      const server = await serverTime();
      samples.push({ sent, received: local(), server });
    } catch {
      break; // what was measured so far still counts
    }
    if (local() - sent < GOOD_TRIP) break;
  }
  const best = bestOffset(samples);
  if (best === undefined) return false;
  offset = best;
  synced = true;
  wake();
  return true;
}

/**
 * Measures the clock once, and again after a long time out of sight: performance.now may stop in a sleeping device, and
 * a quartz clock drifts well under 100 ms in ten minutes.
 */
export function startClock() {
  let again = 0;
  let hiddenAt = 0;
  const run = async () => {
    clearTimeout(again);
    if (document.visibilityState === 'hidden' || !(await sync())) again = setTimeout(run, SYNC_AGAIN);
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenAt = Date.now();
    else if (!synced || Date.now() - hiddenAt > ASLEEP) run();
  });
  return run();
}
