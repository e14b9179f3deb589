// The server's clock, as near as a browser gets to it, and everything that happens by it. One timer for the whole page.
import { bestOffset } from './core.js';
import { serverTime } from './api.js';

const SAMPLES = 4; // round trips per sync; the shortest counts
const SYNC_EVERY = 60_000; // ms; a quartz clock drifts well under 10 ms in that time
const SYNC_AGAIN = 5_000; // ms after a sync without an answer

// performance.now does not jump when somebody sets the machine's clock.
const local = () => performance.now();

let offset = Date.now() - local();
let timer = 0;
const tickers = new Set();
const alarms = new Set();

/** Milliseconds since 1970 on the server's clock. */
export const now = () => local() + offset;

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
  for (let i = 0; i < SAMPLES; i++) {
    const sent = local();
    try {
      const server = await serverTime();
      samples.push({ sent, received: local(), server });
    } catch {
      break; // what was measured so far still counts
    }
  }
  const best = bestOffset(samples);
  if (best === undefined) return false;
  offset = best;
  wake();
  return true;
}

/** Keeps the clock right: now, each minute, and whenever the page is looked at again (timers stop in a sleeping tab). */
export function startClock() {
  let again = 0;
  const run = async () => {
    clearTimeout(again);
    const ok = document.visibilityState === 'hidden' || (await sync());
    clearTimeout(again);
    again = setTimeout(run, ok ? SYNC_EVERY : SYNC_AGAIN);
  };
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && run());
  window.addEventListener('online', run);
  return run();
}
