// The proof of work of an item's checks, in ALTCHA's protocol: find the counter whose key begins as the challenge says.
// It runs in a worker, whose script is this file, or in the page where there is none. It imports nothing.

/** How it works: not at all, in peace (it rests as long as it works), or with all there is. */
export const PAUSED = 0;
export const PEACE = 1;
export const HURRY = 2;

const SLICE = 10; // ms of work between two rests, in peace
const ABREAST = 4; // keys at a time, in a hurry
const TELL = 250; // ms between two words of how far it is
const LONGEST = 2 ** 31; // counters

const bytes = (hex) => Uint8Array.from(hex.match(/../g) || [], (b) => parseInt(b, 16));
const hexOf = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, '0')).join('');
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether this browser has what it takes, which it hides from addresses that are not secure. */
export const able = (page = globalThis) => Boolean(page.crypto?.subtle);

/**
 * Finds the solution; undefined when it is given up.
 * @param {object} challenge  {parameters, signature}
 * @param {() => Promise<number>} pace  asked between keys: PEACE or HURRY; -1 gives up. While it is paused, it waits
 * @param {(tried: number) => void} tell  how many keys were tried, each TELL ms
 */
export async function find(challenge, pace, tell) {
  const { cost, keyLength, keyPrefix, nonce, salt } = challenge.parameters;
  const password = bytes(nonce + '00000000');
  const counterAt = new DataView(password.buffer, password.length - 4);
  const rule = { name: 'PBKDF2', hash: 'SHA-256', salt: bytes(salt), iterations: cost };
  const began = performance.now();
  const derive = async (counter) => {
    counterAt.setUint32(0, counter); // importKey copies the password before it returns
    const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
    return hexOf(await crypto.subtle.deriveBits(rule, key, keyLength * 8));
  };
  let rested = began;
  let told = began;
  for (let counter = 0; counter < LONGEST; ) {
    const now = await pace();
    if (now < 0) return undefined;
    const keys = await Promise.all(Array.from({ length: now === HURRY ? ABREAST : 1 }, (_, i) => derive(counter + i)));
    const found = keys.findIndex((key) => key.startsWith(keyPrefix));
    const time = performance.now();
    if (found >= 0) return { challenge, solution: { counter: counter + found, derivedKey: keys[found], time: Math.round(time - began) } };
    counter += keys.length;
    if (time - told >= TELL) tell(counter, (told = time));
    if (now === HURRY || time - rested < SLICE) continue;
    await after(SLICE);
    rested = performance.now();
  }
  throw new Error('no counter fits');
}

/** A pace that is set: `now` is asked, by find; it waits while it is paused. */
function paces(first) {
  let pace = first;
  let change = () => {};
  return {
    set(next) {
      pace = next;
      change();
    },
    async now() {
      while (pace === PAUSED) await new Promise((resolve) => (change = resolve));
      return pace;
    },
  };
}

/**
 * Begins to solve a challenge. Answers {result, pace(next), stop()}: `result` becomes the solution in base64, as the API
 * takes it, or undefined after stop; a challenge that cannot be solved rejects it.
 */
export function solve(challenge, { pace, tell, page = globalThis, script = import.meta.url }) {
  const text = (solution) => solution && btoa(JSON.stringify(solution));
  const here = paces(pace);
  let worker;
  let stop = () => {};
  const inPage = () => find(challenge, here.now, tell);
  const inWorker = () =>
    new Promise((resolve, reject) => {
      worker = new page.Worker(script, { type: 'module' });
      const over = (f, value) => {
        worker?.terminate();
        worker = undefined;
        f(value);
      };
      stop = () => over(resolve);
      worker.onmessage = ({ data: { tried, solution } }) => (solution ? over(resolve, solution) : tell(tried));
      worker.onerror = (event) => {
        event.preventDefault?.();
        over(reject, new Error('worker'));
      };
      worker.postMessage({ challenge, pace });
    });
  const result = (async () => {
    if (page.Worker) {
      try {
        return text(await inWorker());
      } catch {
        stop = () => {}; // the page does it, then
      }
    }
    return text(await inPage());
  })();
  return {
    result,
    pace(next) {
      here.set(next);
      worker?.postMessage({ pace: next });
    },
    stop() {
      here.set(-1);
      stop();
    },
  };
}

// In a worker: the first message has the challenge, and each later one has a new pace.
if (globalThis.WorkerGlobalScope) {
  let here;
  globalThis.onmessage = async ({ data: { challenge, pace } }) => {
    if (!challenge) return void here.set(pace);
    here = paces(pace);
    try {
      postMessage({ solution: await find(challenge, here.now, (tried) => postMessage({ tried })) });
    } catch (error) {
      setTimeout(() => { throw error; }); // the page hears of it, and tries by itself
    }
  };
}
