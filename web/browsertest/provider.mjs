// The certified issuer of issuer.mjs, as a process of the test: ISSUER_PORT is where it listens. Its clock goes with the
// system's.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { advance, base, close, open } from './harness.mjs';

const NODE = `node_modules/node-linux-${process.arch}/bin/node`; // one that oidc-provider supports
const port = process.env.ISSUER_PORT;
export const host = `localhost:${port}`;
export const issuer = `http://${host}`;
export const shop = new URL('/', base).href;
export const PASSWORDS = { ada: 'correct horse', 小明: '电池 staple' };

let provider;
let ahead = 0; // ms that the system's clock was moved

export async function startIssuer() {
  provider = spawn(NODE, ['issuer.mjs', port, shop], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve, reject) => {
    provider.stdout.once('data', resolve);
    provider.once('exit', (code) => reject(new Error(`the issuer ended with ${code}`)));
  });
  await control({});
}

export const stopIssuer = () =>
  new Promise((resolve) => {
    provider.removeAllListeners('exit');
    provider.once('exit', resolve);
    provider.kill();
  });
process.on('exit', () => provider?.kill());

/** Changes the issuer; its clock goes with the system's, and `clock` more. */
export async function control({ clock = 0, life = 3600, refresh = true, idToken = '', ...more }) {
  const answer = await fetch(`${issuer}/control`, { method: 'POST', body: JSON.stringify({ clock: ahead + clock, life, refresh, idToken, ...more }) });
  return answer.json();
}

/** Moves the clocks of the system and of the issuer, if it runs. */
export async function move(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds <= 0) return;
  await advance(seconds);
  ahead += seconds * 1000;
  if (provider.exitCode === null && provider.signalCode === null) await control({});
}

/** Types a password at the issuer. */
export async function type(page, name, password = PASSWORDS[name]) {
  await page.locator('[name=name]').fill(name);
  await page.locator('[name=password]').fill(password);
  await page.locator('button').click();
}

/** An ID token that the issuer made for another shop. */
export async function tokenOfAnotherShop() {
  const page = await open({ size: 'desktop', lang: 'en' });
  const verifier = randomUUID() + randomUUID();
  const query = { response_type: 'code', client_id: 'another-shop', redirect_uri: shop, scope: 'openid', state: 's', code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' };
  const returned = page.waitForRequest((r) => r.url().startsWith(`${shop}?code=`));
  await page.goto(`${issuer}/auth?${new URLSearchParams(query)}`);
  await type(page, 'ada');
  const code = new URL((await returned).url()).searchParams.get('code');
  const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: 'another-shop', code, code_verifier: verifier, redirect_uri: shop });
  const answer = await (await fetch(`${issuer}/token`, { method: 'POST', body })).json();
  await close(page);
  return answer.id_token;
}
