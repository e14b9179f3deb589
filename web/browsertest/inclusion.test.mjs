// Tests of the browser's check that an order is in a report, with proofs that Go made (proof/report/browser_test.go). Run:
// node --test
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { Refused, included, leaf, rootOf } from '../src/inclusion.js';

const { verifier, proofs } = JSON.parse(readFileSync(new URL('inclusion.json', import.meta.url)));

test('every order is in its report', async () => {
  assert.ok(proofs.length >= 14);
  for (const { proof, mine } of proofs) {
    const order = await included(proof, mine, verifier);
    assert.equal(order.order, mine.order);
  }
});

const changed = (text, at) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

for (const [what, why, edit] of [
  ['another user', 'buyer', (p, m) => (m.user += '1')],
  ['another salt', 'buyer', (p, m) => (m.salt = m.salt.replace(/./, (c) => (c === '0' ? '1' : '0')))],
  ['not a salt', 'salt', (p, m) => (m.salt = 'x')],
  ['another order', 'line', (p, m) => (m.order += 'x')],
  ['a line that is not JSON', 'line', (p) => (p.line = p.line.slice(1))],
  ['another amount', 'root', (p) => (p.line = p.line.replace('"amount_fen":', '"amount_fen":9'))],
  ['another place', 'line', (p) => (p.n += 1)],
  ['another place, also in the line', 'root', (p) => (p.line = p.line.replace(`"n":${p.n}`, `"n":${(p.n += 1)}`))],
  ['a place behind the end', 'place', (p) => (p.line = p.line.replace(`"n":${p.n}`, `"n":${(p.n = p.size)}`))],
  ['another size', 'size', (p) => (p.size += 1)],
  ['a shorter path', 'path', (p) => p.path.pop()],
  ['a longer path', 'path', (p) => p.path.push(p.path[0])],
  ['a changed path', 'root', (p) => (p.path[1] = changed(p.path[1], 5))],
  ['a changed note', 'signature', (p) => (p.note = p.note.replace('items 2002', 'items 2003'))],
  ['a changed signature', 'signature', (p) => (p.note = changed(p.note, p.note.length - 20))],
  ['no note', 'note', (p) => (p.note = '')],
  ['two signatures', 'note', (p) => (p.note += p.note.slice(p.note.indexOf('—')))],
]) {
  test(`${what} is refused`, async () => {
    const { proof, mine } = structuredClone(proofs[3]);
    edit(proof, mine);
    await assert.rejects(included(proof, mine, verifier), (e) => e instanceof Refused && e.message === why);
  });
}

test("another shop's verifier is refused", async () => {
  const { proof, mine } = proofs[0];
  for (const [other, why] of [[verifier.replace('test', 'rest'), 'verifier'], [verifier.slice(0, -4), 'verifier'], ['x', 'verifier']]) {
    await assert.rejects(included(proof, mine, other), (e) => e instanceof Refused && e.message === why);
  }
});

test('a tree of one leaf has no path', async () => {
  const only = await leaf('x');
  assert.deepEqual(await rootOf(only, 0, 1, []), only);
  await assert.rejects(rootOf(only, 0, 1, [only]), Refused);
});
