// Both sides of Alipay's protocol, played by Alipay's own SDK: the app's (what a merchant uses it for), and Alipay's, for
// which the SDK has the parts too, because it must compose the text that Alipay signed.
import { AlipaySdk } from 'alipay-sdk';
// The package does not export its signing functions; a path into it reaches them.
import { signatureV3 } from './node_modules/alipay-sdk/dist/esm/util.js';

// app makes an SDK as a shop configures it: the app's private key, Alipay's public key. An empty gateway is Alipay's.
export function app(keys, appId, gateway) {
  return new AlipaySdk({ appId, privateKey: keys.appPrivate.trim(), keyType: 'PKCS8', alipayPublicKey: keys.alipayPublic.trim(),
    camelcase: false, ...(gateway && { gateway }) });
}

// certApp makes one in certificate mode.
export function certApp(keys, certs, appId) {
  return new AlipaySdk({ appId, privateKey: keys.appPrivate.trim(), keyType: 'PKCS8', appCertContent: certs.app,
    alipayPublicCertContent: certs.alipay, alipayRootCertContent: certs.root, camelcase: false });
}

// alipay makes an SDK that checks what the app signed.
export function alipay(keys, appId) {
  return new AlipaySdk({ appId, privateKey: keys.alipayPrivate.trim(), keyType: 'PKCS8', alipayPublicKey: keys.appPublic.trim() });
}

// orderString is what a shop's server hands to its app: sdkExecute's result, unchanged.
export function orderString(sdk, { notifyUrl, timestamp, content }) {
  return sdk.sdkExecute('alipay.trade.app.pay', { format: 'JSON', timestamp, notifyUrl, bizContent: content });
}

// pageAddress and pageForm are what a shop's server hands to a browser: an address to go to, and a form to be posted.
const pageParams = ({ notifyUrl, returnUrl, timestamp, content }) => ({ format: 'JSON', timestamp, notifyUrl,
  ...(returnUrl && { returnUrl }), bizContent: content });
export const pageAddress = (sdk, page) => sdk.pageExecute(page.method, 'GET', pageParams(page));
export const pageForm = (sdk, page) => sdk.pageExecute(page.method, 'POST', pageParams(page));

// signedText is the text that the SDK checks a notify's signature against.
function signedText(sdk, form) {
  let text;
  const listener = Object.create(sdk, { rsaCheck: { value: content => { text = content; return true; } } });
  listener.notifyRSACheck(form, '', 'RSA2', true);
  return text;
}

// signNotify gives the form with its signature. withType signs sign_type as well, as notifications of the service windows are.
export function signNotify(sdk, privateKey, form, withType = false) {
  const { sign_type: _, ...signed } = form;
  return { ...form, sign: signatureV3(signedText(sdk, withType ? form : signed), privateKey) };
}

// signAnswer appends the signature over the node of a method to a body that ends with the node.
export function signAnswer(sdk, privateKey, method, body) {
  const signed = sign => body.replace(/}\s*$/, () => `,"sign":"${sign}"}`);
  // The SDK cuts the node out by lengths that hold for a signature of true length only: 344 characters of base64.
  const text = sdk.getSignStr(signed('A'.repeat(344)), `${method.replaceAll('.', '_')}_response`);
  return signed(signatureV3(text, privateKey));
}

// verdicts has what the SDK's two checks of a notify say; undefined for one that throws.
export function verdicts(sdk, form) {
  const attempt = check => {
    try {
      return check();
    } catch {
      return undefined;
    }
  };
  return { v1: attempt(() => sdk.checkNotifySign(form)), v2: attempt(() => sdk.checkNotifySignV2(form)) };
}

// answerAccepted says whether the SDK takes a body for one that Alipay signed.
export function answerAccepted(sdk, method, body) {
  const key = `${method.replaceAll('.', '_')}_response`;
  try {
    sdk.checkResponseSign(body, key, JSON.parse(body).sign);
    return true;
  } catch {
    return false;
  }
}
