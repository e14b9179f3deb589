// The form in which a shopper checks that their order is in the report of its sale (docs/REPORT.md). The file stays on the
// device, and no server is asked. It is loaded when the shopper opens it; what it needs comes in.
import { Refused, included } from './inclusion.js';

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  proof_text: [
    '商家可以给您一份证明，说明这笔订单在签过名的秒杀报告里。核对在您的浏览器里进行，不会上传任何内容。',
    'The shop can give you a proof that this order is in the report of the sale, which it signed. Your browser checks it, and sends nothing.',
  ],
  proof_filled: [
    '验证公钥和盐已由本页填好。请把验证公钥与商家公布的比对。',
    'This page has filled in the verifier and the salt. Compare the verifier with what the shop published.',
  ],
  proof_file: ['证明文件', 'Proof, a file'],
  proof_key: ['商家公布的验证公钥', 'Verifier, as the shop published it'],
  proof_salt: ['这笔订单的盐（只有您能看到）', 'Salt of this order, which only you see'],
  proof_check: ['核对', 'Check'],
  proof_no_file: ['请选择证明文件。', 'Please choose the file.'],
  proof_no_key: ['请填写验证公钥。', 'Please give the verifier.'],
  proof_no_salt: ['请填写盐。', 'Please give the salt.'],
  proof_in: ['这笔订单在 {name} 签名的报告里：共 {size} 行，第 {n} 行。', 'This order is in the report that {name} signed: line {n} of {size}.'],
  proof_says: ['报告中的记录：{state}，{count} 件，¥{amount}。', 'The report says: {state}, × {count}, ¥{amount}.'],
  proof_line: ['这个文件不是这笔订单的证明。', 'This file is not a proof of this order.'],
  proof_damaged: ['这个文件已损坏，或者不是证明。', 'This file is damaged, or no proof.'],
  proof_buyer: ['用这个盐核对，报告里的这笔订单不是您的：盐不对，或报告写的是别人。', 'By this salt the order in the report is not yours: the salt is wrong, or the report names somebody else.'],
  proof_note: ['文件里没有签名。', 'The file has no signature.'],
  proof_size: ['证明和签名不是同一份报告的。', 'The proof and the signature are of different reports.'],
  proof_signature: ['签名不对：签名之后有改动，或不是这个商家签的。', 'The signature is wrong: something changed after it was made, or another shop made it.'],
  proof_root: ['签过名的报告里没有这一行：这笔订单不在其中，或记录被改动过。', 'The signed report has no such line: this order is not in it, or what is said about it was changed.'],
  proof_verifier: ['这不是验证公钥。', 'This is not a verifier.'],
  proof_signer: ['报告是用另一把密钥签名的。', 'The report was signed with another key.'],
  proof_bad_salt: ['盐是 32 位十六进制数字。', 'A salt has 32 digits, 0 to 9 and a to f.'],
  proof_old: ['这个浏览器无法核对：需要较新的浏览器和 https 地址。', 'This browser cannot check it: that needs a newer one, and an address that begins with https.'],
};

const MAX_FILE = 64 << 10; // bytes; a proof has a few thousand

// What a refusal is about: the name of its field, and of its text.
const WHY = {
  line: ['file', 'line'],
  note: ['file', 'note'],
  size: ['file', 'size'],
  signature: ['file', 'signature'],
  place: ['file', 'root'],
  path: ['file', 'root'],
  root: ['file', 'root'],
  verifier: ['key', 'verifier'],
  signer: ['key', 'signer'],
  buyer: ['salt', 'buyer'],
  salt: ['salt', 'bad_salt'],
  old: ['file', 'old'],
  damaged: ['file', 'damaged'],
};

const typed = { key: '', salt: {} }; // kept while the page is; salts by order

export function show(io, node, order) {
  Object.assign(io.TEXTS, TEXTS);
  const { el, put, t, tOr, yuan, shopper } = io;
  const result = el('div', { role: 'status' });
  const fields = {
    file: entry(io, 'file', { type: 'file', accept: '.json,application/json' }),
    key: entry(io, 'key', {}),
    salt: entry(io, 'salt', {}),
  };
  const known = order.report || {};
  fields.key.input.value = typed.key || known.verifier || '';
  fields.salt.input.value = typed.salt[order.id] || known.salt || '';

  async function check(event) {
    event.preventDefault();
    put(result);
    for (const f of Object.values(fields)) f.blame('');
    const [file] = fields.file.input.files;
    const key = (typed.key = fields.key.input.value.trim());
    const salt = (typed.salt[order.id] = fields.salt.input.value.trim().toLowerCase());
    const missing = [!file && 'file', !key && 'key', !salt && 'salt'].filter(Boolean);
    for (const name of missing.reverse()) fields[name].blame(t(`proof_no_${name}`)); // the first gets the focus
    if (missing.length) return;
    try {
      const proof = await read(file);
      const line = await checked(proof, { order: order.id, user: shopper().user, salt }, key);
      const facts = { state: tOr(`state_${line.state}`, line.state), count: line.count, amount: yuan(line.amount_fen / 100) };
      put(result, el('p', { class: 'ready' }, t('proof_in', { name: key.split('+')[0], n: line.n + 1, size: proof.size })), el('p', { class: 'center' }, t('proof_says', facts)));
    } catch (error) {
      const [field, why] = WHY[error instanceof Refused ? error.message : 'damaged'];
      fields[field].blame(t(`proof_${why}`));
    }
  }

  const parts = Object.values(fields).map((f) => f.node);
  put(node, el('p', { class: 'soft' }, t('proof_text')), known.salt && el('p', { class: 'soft' }, t('proof_filled')), el('form', { class: 'token', onsubmit: check, novalidate: true }, parts, el('button', { class: 'button', type: 'submit' }, t('proof_check')), result));
}

// A field with its label and its fault.
function entry({ el, put, t }, name, properties) {
  const id = `proof-${name}`;
  const fault = el('p', { class: 'fault', id: `${id}-fault`, role: 'alert' });
  const input = el('input', { id, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', 'aria-describedby': `${id}-fault`, ...properties });
  const blame = (text) => {
    put(fault, text);
    if (text) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
    if (text) input.focus();
  };
  return { node: el('div', { class: 'field' }, el('label', { for: id }, t(`proof_${name}`)), input, fault), input, blame };
}

async function read(file) {
  if (file.size > MAX_FILE) throw new Refused('damaged');
  return JSON.parse(await file.text());
}

async function checked(proof, mine, key) {
  if (!globalThis.crypto?.subtle) throw new Refused('old');
  try {
    return await included(proof, mine, key);
  } catch (error) {
    if (error.name === 'NotSupportedError') throw new Refused('old'); // the browser has no Ed25519
    throw error;
  }
}
