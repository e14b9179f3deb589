// Whether a shopper's order is in the report of a sale (docs/REPORT.md): the browser computes it, from the proof that
// `seckill report proof` prints and the salt of the order. It imports nothing, and asks no server.

const text = new TextEncoder();
const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const hexOf = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

/** Why an order is not shown to be in a report. */
export class Refused extends Error {}

const refuse = (why) => {
  throw new Refused(why);
};

async function hash(...parts) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

/** The leaf's hash of a line (RFC 6962, 2.1). */
export const leaf = (line) => hash([0], text.encode(line));

/**
 * The root to which a path leads from the leaf at place n of a tree of size leaves (RFC 9162, 2.1.3.2). Throws Refused
 * if no path of this length leads there.
 */
export async function rootOf(start, n, size, path) {
  if (!Number.isSafeInteger(n) || !Number.isSafeInteger(size) || n < 0 || n >= size) refuse('place');
  let [at, last, root] = [n, size - 1, start];
  for (const beside of path) {
    if (last === 0) refuse('path');
    if (at % 2 === 1 || at === last) {
      root = await hash([1], beside, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      root = await hash([1], root, beside);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  if (last !== 0) refuse('path');
  return root;
}

/** How an order's line names its user: HMAC-SHA256 with the order's salt. */
export async function buyer(salt, user) {
  if (!/^[0-9a-f]{32}$/.test(salt)) refuse('salt');
  const raw = Uint8Array.from(salt.match(/../g), (b) => parseInt(b, 16));
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hexOf(new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(`buyer\n${user}`))));
}

const SIGNATURE = /^([\s\S]*\n)\n— (\S+) (\S+)\n$/; // one signature
const ED25519 = 1; // the kind of key that a verifier names

/** What a note signs: {size, root}. Throws Refused unless the verifier's key signed it. */
export async function signed(note, verifier) {
  const [, body, name, signature] = SIGNATURE.exec(note) || refuse('note');
  const [who, id, ...rest] = verifier.split('+'); // base64 may have a plus, too
  const raw = bytesOf(rest.join('+'));
  const bytes = bytesOf(signature);
  if (raw[0] !== ED25519 || raw.length !== 33) refuse('verifier');
  const own = hexOf((await hash(text.encode(`${who}\n`), raw)).slice(0, 4));
  if (own !== id) refuse('verifier');
  if (name !== who || hexOf(bytes.slice(0, 4)) !== id) refuse('signer');
  const key = await crypto.subtle.importKey('raw', raw.slice(1), { name: 'Ed25519' }, false, ['verify']);
  const right = await crypto.subtle.verify({ name: 'Ed25519' }, key, bytes.slice(4), text.encode(body));
  if (!right) refuse('signature');
  const [origin, size, root] = body.split('\n');
  if (origin !== who || !/^\d{1,15}$/.test(size)) refuse('note');
  return { size: Number(size), root: bytesOf(root) };
}

/**
 * Returns the order's line, if it is the user's and in the report that the verifier's key signed. Throws Refused if not.
 * @param {{line: string, n: number, size: number, path: string[], note: string}} proof
 * @param {{order: string, user: string, salt: string}} mine  as the shopper's own page shows it
 * @param {string} verifier  the shop's, as it published it
 */
export async function included(proof, mine, verifier) {
  let order;
  try {
    order = JSON.parse(proof.line);
  } catch {
    refuse('line');
  }
  if (order.kind !== 'order' || order.order !== mine.order || order.n !== proof.n) refuse('line');
  if (order.buyer !== (await buyer(mine.salt, mine.user))) refuse('buyer');
  const { size, root } = await signed(proof.note, verifier);
  if (size !== proof.size) refuse('size');
  const found = await rootOf(await leaf(proof.line), proof.n, size, proof.path.map(bytesOf));
  if (!same(found, root)) refuse('root');
  return order;
}
