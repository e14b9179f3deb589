// Tests of the proof of work: against Node's own key derivation, in a page and in a worker that the test plays.
// Run: node --test
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import test from 'node:test';
import { HURRY, PAUSED, PEACE, able, find, solve } from '../src/proof.js';

const NONCE = '000102030405060708090a0b0c0d0eff';
const SALT = 'ff0e0d0c0b0a09080706050403020100';

/** A challenge whose solution is this counter, with the whole key that proves it. */
function challengeOf(counter, cost = 3) {
  const password = Buffer.concat([Buffer.from(NONCE, 'hex'), Buffer.alloc(4)]);
  password.writeUInt32BE(counter, 16);
  const key = pbkdf2Sync(password, Buffer.from(SALT, 'hex'), cost, 32, 'sha256').toString('hex');
  return { key, challenge: { parameters: { algorithm: 'PBKDF2/SHA-256', cost, keyLength: 32, keyPrefix: key.slice(0, 32), nonce: NONCE, salt: SALT }, signature: 'of the shop' } };
}

const read = (proof) => JSON.parse(atob(proof));
const quiet = () => {};

for (const [name, pace] of [['in peace', PEACE], ['in a hurry', HURRY]]) {
  for (const counter of [0, 1, 300]) {
    test(`the key of counter ${counter} is found ${name}`, async () => {
      const { challenge, key } = challengeOf(counter);
      const got = await find(challenge, async () => pace, quiet);
      assert.deepEqual(got.challenge, challenge);
      assert.equal(got.solution.counter, counter);
      assert.equal(got.solution.derivedKey, key);
      assert.ok(got.solution.time >= 0);
    });
  }
}

test('it gives up when it is told so', async () => {
  assert.equal(await find(challengeOf(5).challenge, async () => -1, quiet), undefined);
});

test('it says how many keys it tried, and no more than four times a second', async () => {
  const told = [];
  const began = performance.now();
  await find(challengeOf(3000, 1000).challenge, async () => HURRY, (n) => told.push(n));
  assert.ok(told.length > 0 && told.length <= (performance.now() - began) / 250, `${told}`);
  assert.deepEqual(told, [...new Set(told)].sort((a, b) => a - b));
});

test('in the page it is paused, goes on, and is stopped', async () => {
  const { challenge } = challengeOf(200);
  const work = solve(challenge, { pace: PAUSED, tell: quiet, page: {} });
  let done = false;
  work.result.then(() => (done = true));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(done, false);
  work.pace(HURRY);
  assert.equal(read(await work.result).solution.counter, 200);
  const other = solve(challenge, { pace: PAUSED, tell: quiet, page: {} });
  other.stop();
  assert.equal(await other.result, undefined);
});

/** A worker that notes what it gets; `plays` answers it. */
function workers(plays) {
  const all = [];
  class Worker {
    constructor(script, options) {
      Object.assign(this, { script, options, got: [], ended: false });
      all.push(this);
      plays.made?.();
    }
    postMessage(message) {
      this.got.push(message);
      plays.got?.(this, message);
    }
    terminate() {
      this.ended = true;
    }
  }
  return { all, page: { Worker } };
}

test('a worker gets the challenge and each pace, and ends with its answer', async () => {
  const { challenge } = challengeOf(7);
  const told = [];
  const { all, page } = workers({});
  const work = solve(challenge, { pace: PEACE, tell: (n) => told.push(n), page, script: '/assets/proof.js' });
  const [worker] = all;
  assert.deepEqual([worker.script, worker.options], ['/assets/proof.js', { type: 'module' }]);
  work.pace(HURRY);
  assert.deepEqual(worker.got, [{ challenge, pace: PEACE }, { pace: HURRY }]);
  worker.onmessage({ data: { tried: 5 } });
  worker.onmessage({ data: { solution: { challenge, solution: { counter: 7 } } } });
  assert.equal(read(await work.result).solution.counter, 7);
  assert.deepEqual(told, [5]);
  assert.equal(worker.ended, true);
});

test('a worker that is stopped ends without an answer', async () => {
  const { all, page } = workers({});
  const work = solve(challengeOf(7).challenge, { pace: PEACE, tell: quiet, page, script: '' });
  work.stop();
  assert.equal(await work.result, undefined);
  assert.equal(all[0].ended, true);
});

for (const [name, plays] of [
  ['that is forbidden', { made: () => { throw new Error('policy'); } }],
  ['that does not start', { got: (worker) => setTimeout(() => worker.onerror({})) }],
]) {
  test(`a worker ${name}: the page does it`, async () => {
    const { page } = workers(plays);
    const work = solve(challengeOf(40).challenge, { pace: PEACE, tell: quiet, page, script: '' });
    assert.equal(read(await work.result).solution.counter, 40);
  });
}

test('a challenge that makes no sense is refused', async () => {
  await assert.rejects(solve({ parameters: {} }, { pace: HURRY, tell: quiet, page: {} }).result);
});

test('it needs cryptography, which insecure addresses have not', () => {
  assert.equal(able(), true);
  assert.equal(able({ crypto: {} }), false);
  assert.equal(able({}), false);
});
