// Answers calls of the Go tests here: one JSON object a line in, {"result": …} or {"error": "…"} a line out.
import { createInterface } from 'node:readline';
import { alipay, app, certApp, orderString, pageAddress, pageForm, signNotify, verdicts } from './sdk.mjs';
import { getSN } from './node_modules/alipay-sdk/dist/esm/antcertutil.js';

let keys, shop, provider;

const decoded = text => Object.fromEntries(new URLSearchParams(text));
// escaped leaves the values as they came: the SDK's older check unescapes them itself, but not the signature.
const escaped = text => ({ ...Object.fromEntries(text.split('&').map(p => p.split(/=(.*)/s, 2))), sign: decoded(text).sign });

const calls = {
  configure({ app_id, gateway, ...rest }) {
    keys = rest;
    shop = app(keys, app_id, gateway);
    provider = alipay(keys, app_id);
    return true;
  },
  order_strings: ({ list }) => list.map(call => orderString(shop, call)),
  // An order string is checked as Alipay would: sign_type is signed too, which checkNotifySign tries first.
  check_order_strings: ({ list }) => list.map(s => ({ v1: provider.checkNotifySign(escaped(s)), v2: provider.checkNotifySignV2(decoded(s)) })),
  pages: ({ list }) => list.map(page => ({ address: pageAddress(shop, page), form: pageForm(shop, page) })),
  cert_numbers: ({ app_cert, alipay_cert, root_cert }) => ({ app: getSN(app_cert), alipay: getSN(alipay_cert), root: getSN(root_cert, true) }),
  cert_order_string: ({ certs, app_id, order }) => orderString(certApp(keys, certs, app_id), order),
  sign_notifications: ({ list }) => list.map(form => new URLSearchParams(signNotify(provider, keys.alipayPrivate, form)).toString()),
  check_notifications: ({ list }) => list.map(body => verdicts(shop, decoded(body))),
  exec: ({ method, order }) => shop.exec(method, { bizContent: { out_trade_no: order } }, { validateSign: true }),
  exec_content: ({ method, content }) => shop.exec(method, { bizContent: content }, { validateSign: true }),
};

for await (const line of createInterface({ input: process.stdin })) {
  let out;
  try {
    const { call, ...args } = JSON.parse(line);
    out = { result: await calls[call](args) };
  } catch (err) {
    out = { error: String(err?.message ?? err) };
  }
  process.stdout.write(JSON.stringify(out) + '\n');
}
