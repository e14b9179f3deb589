// Sign-in by OpenID Connect, the page's half: the authorization code flow with PKCE (RFC 7636, RFC 9700). The page sends
// the shopper to the issuer and checks what comes back; the shop's own step `signin` exchanges the code, so no token of
// an issuer gets here. It is loaded when somebody signs in. No document, no network, no storage of its own, and it
// imports nothing that app.js has.
import { AuthorizationResponseError, calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomNonce, generateRandomState, validateAuthResponse } from '../vendor/oauth4webapi/index.js';

/**
 * Begins a sign-in at an issuer, as GET /signin lists it. Answers {kept, address}: what finish needs, and where to go.
 * `base` is where the issuer sends the shopper back to.
 */
export async function begin(issuer, base, language) {
  const kept = {
    issuer: issuer.issuer,
    client: issuer.client_id,
    end: issuer.end_session_endpoint || '',
    verifier: generateRandomCodeVerifier(),
    state: generateRandomState(),
    nonce: generateRandomNonce(),
  };
  const address = new URL(issuer.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: kept.client,
    redirect_uri: base,
    scope: issuer.scope || 'openid',
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: await calculatePKCECodeChallenge(kept.verifier),
    code_challenge_method: 'S256',
    ui_locales: language,
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return { kept, address: address.href };
}

/**
 * Checks what an issuer sent back (URLSearchParams) against what this tab kept, or null. Answers {body}, for POST
 * /signin, or {refused}: "mismatch" (not an answer to what this tab asked), "cancelled" by the shopper, "away" (the
 * issuer has no time) or "refused".
 */
export function finish(kept, answer, base) {
  if (!kept) return { refused: 'mismatch' };
  let checked;
  try {
    checked = validateAuthResponse({ issuer: kept.issuer }, { client_id: kept.client }, answer, kept.state);
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) return { refused: 'mismatch' };
    return { refused: { access_denied: 'cancelled', temporarily_unavailable: 'away', server_error: 'away' }[error.error] || 'refused' };
  }
  const code = checked.get('code');
  if (!code) return { refused: 'mismatch' };
  return { body: { grant: 'code', issuer: kept.issuer, client_id: kept.client, code, code_verifier: kept.verifier, nonce: kept.nonce, redirect_uri: base } };
}

/** Where the shopper signs out at the issuer. Cognito calls the way back logout_uri; others do not look at that. */
export function signOutAddress({ end, client }, base) {
  const address = new URL(end);
  for (const [name, value] of Object.entries({ client_id: client, post_logout_redirect_uri: base, logout_uri: base })) address.searchParams.set(name, value);
  return address.href;
}
