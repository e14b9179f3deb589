// An issuer of OpenID Connect for the browser tests: npm's oidc-provider, which is certified, with people who type a
// password. node issuer.mjs PORT SHOP, where SHOP is the shop's address; it needs Node 22. POST /control changes it, as
// JSON: `clock` (ms that its clock is ahead), `life` (s of its ID tokens), `refresh` (whether it gives refresh tokens),
// `idToken` (given instead of its own), `people` (more of them, with passwords), `groups` (of each person), `gone` (people
// whom it no longer knows), `rotate` (it signs with new keys). The answer has the last ID token of each client, and how
// many refresh tokens each has used. Its keys are new at each start. STAFF_CLIENT_SECRET is the secret of client
// `office`, at which staff sign in.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';

const [port, shop] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;
const PEOPLE = { ada: 'correct horse', 小明: '电池 staple' };
const set = { clock: 0, life: 3600, refresh: true, idToken: '', groups: {}, gone: [], people: {} };
const issued = {};
const refreshes = {};

const real = Date.now;
Date.now = () => real() + set.clock;

async function newKey() {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
  const key = { ...(await crypto.subtle.exportKey('jwk', privateKey)), kid: randomUUID(), use: 'sig', alg: 'ES256' };
  delete key.key_ops;
  return key;
}

const client = (client_id) => ({
  client_id,
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
  redirect_uris: [shop],
  post_logout_redirect_uris: [shop],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
});

const secret = process.env.STAFF_CLIENT_SECRET || randomUUID();
const office = { ...client('office'), client_secret: secret, token_endpoint_auth_method: 'client_secret_basic', require_auth_time: true, redirect_uris: [`${shop}admin/callback`] };

// The form has no button of its own.
function logoutSource(ctx, form) {
  ctx.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Yes, sign out</button>`;
}

const settings = {
  adapter: createMemoryAdapter(), // one for all providers of this process: codes and refresh tokens outlive a change of keys
  clients: [client('shop'), client('another-shop'), office],
  claims: { openid: ['sub', 'seckill_groups'] },
  conformIdTokenClaims: false, // groups are in the ID token
  cookies: { keys: ['only a test'] },
  features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
  pkce: { required: () => true },
  findAccount: (_, id) => (set.gone.includes(id) ? undefined : { accountId: id, claims: () => ({ sub: id, seckill_groups: set.groups[id] }) }),
  interactions: { url: (_, interaction) => `/typed/${interaction.uid}` },
  issueRefreshToken: () => set.refresh,
  // Who signed in has agreed.
  async loadExistingGrant(ctx) {
    const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
    grant.addOIDCScope('openid');
    await grant.save();
    return grant;
  },
  ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 86400, IdToken: () => set.life, Interaction: 3600, RefreshToken: 86400, Session: 86400 },
  renderError(ctx, out) {
    ctx.body = `the issuer refuses: ${out.error} ${out.error_description}`;
  },
};

async function start() {
  const provider = new Provider(issuer, { ...settings, jwks: { keys: [await newKey()] } });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.oidc?.route !== 'token' || !ctx.body.id_token) return;
    const { clientId } = ctx.oidc.client;
    if (ctx.oidc.params.grant_type === 'refresh_token') refreshes[clientId] = (refreshes[clientId] || 0) + 1;
    issued[clientId] = ctx.body.id_token;
    ctx.body.id_token = set.idToken || ctx.body.id_token;
  });
  return provider;
}
let provider = await start();

const form = (uid, fault) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in</title><h1>Sign in</h1>
<form method="post" action="/typed/${uid}"><p>${fault}</p><label>Name <input name="name" autofocus></label>
<label>Password <input name="password" type="password"></label><button>Sign in</button><a href="/typed/${uid}/cancel">Cancel</a></form>`;

async function text(request) {
  let body = '';
  for await (const part of request) body += part;
  return body;
}

const page = (response, body) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(body);

async function answer(request, response) {
  const [, what, uid, cancel] = new URL(request.url, issuer).pathname.split('/');
  if (what === 'control') {
    const { rotate, ...change } = JSON.parse(await text(request));
    Object.assign(set, change);
    if (rotate) provider = await start();
    return response.end(JSON.stringify({ ...issued, refreshes }));
  }
  if (what === 'favicon.ico') return response.writeHead(204).end();
  if (what !== 'typed') return provider.callback()(request, response);
  if (cancel) return provider.interactionFinished(request, response, { error: 'access_denied' });
  if (request.method === 'GET') return page(response, form(uid, ''));
  const typed = new URLSearchParams(await text(request));
  const name = typed.get('name');
  const people = { ...PEOPLE, ...set.people };
  if (!Object.hasOwn(people, name) || people[name] !== typed.get('password')) return page(response, form(uid, 'That is not right.'));
  return provider.interactionFinished(request, response, { login: { accountId: name } });
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    response.writeHead(error instanceof errors.OIDCProviderError ? 400 : 500).end(String(error.stack));
  });
}).listen(port, 'localhost', () => console.log(`issuer ${issuer}`));
