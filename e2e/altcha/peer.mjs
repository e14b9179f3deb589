// ALTCHA's own code: one JSON object {do, ...} a line in, one JSON value a line out. Its library makes, solves and
// verifies; its widget's worker solves.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createContext, runInContext } from 'node:vm';
import { createChallenge, solveChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';

const worker = readFileSync(new URL('node_modules/altcha/dist/workers/pbkdf2.js', import.meta.url), 'utf8');

// inWorker does what the widget does with a challenge: it posts it to its worker, and takes what that one posts.
function inWorker(challenge) {
  return new Promise((resolve, reject) => {
    const postMessage = (said) => (said?.error ? reject(said.error) : resolve(said));
    const self = { postMessage };
    runInContext(worker, createContext({ self, crypto, performance, setTimeout, AbortController, TextEncoder }));
    self.onmessage({ data: { type: 'work', challenge, counterStart: 0, counterStep: 1 } });
  });
}

const jobs = {
  solve: async ({ challenge }) => ({ challenge, solution: await solveChallenge({ challenge, deriveKey }) }),
  work: async ({ challenge }) => ({ challenge, solution: await inWorker(challenge) }),
  verify: ({ payload, secret, keySecret }) =>
    verifySolution({ ...payload, deriveKey, hmacSignatureSecret: secret, hmacKeySignatureSecret: keySecret }),
  create: ({ counter, data, secret, keySecret }) =>
    createChallenge({ algorithm: 'PBKDF2/SHA-256', cost: 100, counter, data, deriveKey,
      expiresAt: new Date(Date.now() + 60_000), hmacSignatureSecret: secret, hmacKeySignatureSecret: keySecret }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  console.log(JSON.stringify(await jobs[job.do](job)));
}
