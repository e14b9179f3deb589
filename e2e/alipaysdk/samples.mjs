// Writes the samples that `go test ./shared/driver/alipay` reads: node samples.mjs FOLDER. Everything signed in them is
// signed by Alipay's SDK, with keys that are made for it when the folder has none. The same keys give the same bytes.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alipay, answerAccepted, app, orderString, pageAddress, signAnswer, signNotify, verdicts } from './sdk.mjs';
import { answers, appId, notifications, notifyUrl, orders, pages, quitUrl } from './cases.mjs';

const folder = process.argv[2];
if (!folder) {
  console.error('usage: node samples.mjs FOLDER');
  process.exit(2);
}

// key reads one half of a pair; the pair is made when it is missing.
function pair(name) {
  const files = ['private', 'public'].map(half => join(folder, `test-only-${name}-${half}.pem`));
  if (!files.every(existsSync)) {
    const made = generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' } });
    writeFileSync(files[0], made.privateKey);
    writeFileSync(files[1], made.publicKey);
  }
  return files.map(f => readFileSync(f, 'utf8'));
}

function write(name, samples) {
  writeFileSync(join(folder, name), JSON.stringify(samples, null, 1) + '\n');
}

const [appPrivate, appPublic] = pair('app');
const [alipayPrivate, alipayPublic] = pair('alipay');
const [strangerPrivate] = pair('stranger');
const keys = { appPrivate, appPublic, alipayPrivate, alipayPublic };
const shop = app(keys, appId);
const provider = alipay(keys, appId);

write('order_strings.json', orders.map(({ name, order, ...call }) => ({ name, order,
  order_string: orderString(shop, { notifyUrl, ...call }) })));

write('pages.json', pages.map(({ name, order, method, returnUrl, ...call }) => ({ name, order, method, quit_url: quitUrl, return_url: returnUrl,
  address: pageAddress(shop, { method, notifyUrl, returnUrl, ...call }) })));

write('notifications.json', notifications.map(({ name, form, signed, want, differs }) => {
  let sent = signNotify(provider, signed?.by === 'stranger' ? strangerPrivate : alipayPrivate, form, signed?.withType);
  sent = signed?.then ? signed.then(sent) : sent;
  return { name, body: new URLSearchParams(sent).toString(), sdk: verdicts(shop, sent).v2, want, differs };
}));

write('answers.json', answers.map(({ name, method, body, signed, want, differs }) => {
  let sent = signAnswer(provider, signed?.by === 'stranger' ? strangerPrivate : alipayPrivate, method, body);
  sent = signed?.then ? signed.then(sent) : sent;
  return { name, method, body: sent, sdk: answerAccepted(shop, method, sent), want, differs };
}));
