// What the samples are about. Amounts, times and texts are written out, so that nothing of them comes from the code under
// test; want is what shared/driver/alipay has to make of a sample.

export const appId = '2021000000000001';
export const sellerId = '2088000000000001';
export const notifyUrl = 'https://shop.example/seckill/alipay/notify';
export const quitUrl = 'https://shop.example/quit?a=1&b=2';

const orderId = 'oabcdefghijklmnopqrstuvwxyz';
const tradeNo = '2026010122001000000000000001';

// order is one order string: title is the order's, subject what may be sent of it.
function order(name, { title, subject = title, fen = 8880, yuan = '88.80', placed = '2026-01-01T12:00:00Z', payBy = '2026-01-01T12:15:00Z',
  timestamp = '2026-01-01 20:00:00', timeExpire = '2026-01-01 20:15:00' }) {
  return { name, order: { id: orderId, fen, title, placed, pay_by: payBy }, timestamp,
    content: { outTradeNo: orderId, totalAmount: yuan, subject, productCode: 'QUICK_MSECURITY_PAY', timeExpire, sellerId } };
}

export const orders = [
  order('Latin', { title: 'Red coat' }),
  order('Chinese', { title: '红色外套，限量 100 件' }),
  order('traditional characters, kana, Hangul', { title: '龍井茶 おちゃ 녹차' }),
  order('outside the basic plane', { title: '𠮷野家 🎧 耳机 👨‍👩‍👧' }),
  order('quotes and backslashes', { title: '“云听” "Pro" \\ \'耳机\'' }),
  order('characters that URLs escape', { title: '50% off + 1 free? #1; a:b@c!*()~', subject: '50% off + 1 free? #1; a:b@c!*()~' }),
  order('HTML', { title: '<b>1 < 2</b>', subject: '<b>1 < 2<b>' }),
  order('forbidden characters', { title: 'a/b=c&d', subject: 'abcd' }),
  order('blanks around, tab and line break within', { title: ' 外套\t大\n码 ', subject: '外套大码' }),
  order('line separator', { title: '外套\u2028大码' }),
  order('256 characters', { title: '秒'.repeat(300), subject: '秒'.repeat(256) }),
  order('smallest amount', { title: '一分钱', fen: 1, yuan: '0.01' }),
  order('largest amount', { title: '一个亿', fen: 10000000000, yuan: '100000000.00' }),
  order('placed on New Year\'s Eve in UTC, next year in China', { title: '新年', placed: '2026-12-31T15:59:59Z', payBy: '2026-12-31T16:14:59Z',
    timestamp: '2026-12-31 23:59:59', timeExpire: '2027-01-01 00:14:59' }),
  order('held for a day over a leap day', { title: '闰日', placed: '2028-02-28T16:00:00Z', payBy: '2028-02-29T16:00:00Z',
    timestamp: '2028-02-29 00:00:00', timeExpire: '2028-03-01 00:00:00' }),
];

const paid = {
  gmt_create: '2026-01-01 20:00:05', charset: 'utf-8', seller_email: 'seller@shop.example', subject: 'Red coat', buyer_id: '2088000000000002',
  buyer_logon_id: '138****0000', invoice_amount: '88.80', notify_id: '2026010100222200000000000000000001',
  fund_bill_list: '[{"amount":"88.80","fundChannel":"ALIPAYACCOUNT"}]', notify_type: 'trade_status_sync', trade_status: 'TRADE_SUCCESS',
  receipt_amount: '88.80', buyer_pay_amount: '88.80', app_id: appId, auth_app_id: appId, sign_type: 'RSA2', seller_id: sellerId,
  gmt_payment: '2026-01-01 20:00:12', notify_time: '2026-01-01 20:00:13', version: '1.0', out_trade_no: orderId, total_amount: '88.80',
  trade_no: tradeNo, point_amount: '0.00',
};
const notification = { id: paid.notify_id, order: orderId, trade_no: tradeNo, fen: 8880, paid: true };
const forged = { code: 'notify_forged' };
const notOurs = { code: 'notify_not_ours' };

const without = name => form => Object.fromEntries(Object.entries(form).filter(([k]) => k !== name));
const changed = change => form => ({ ...form, ...change });

// page is a way to the cashier in a browser.
const page = (name, method, content, title = '红色外套，限量 100 件', returnUrl) => ({ ...order(name, { title }), method, returnUrl,
  content: { outTradeNo: orderId, totalAmount: '88.80', subject: title, ...content } });
const timeExpire = '2026-01-01 20:15:00';
const pagePay = (name, ...rest) => page(name, 'alipay.trade.page.pay', { productCode: 'FAST_INSTANT_TRADE_PAY', timeExpire }, ...rest);
const wapPay = (name, ...rest) => page(name, 'alipay.trade.wap.pay', { productCode: 'QUICK_WAP_WAY', timeExpire, sellerId, quitUrl }, ...rest);
const oddTitle = '50% off + 1 "free" <b>? #1; a:b@c!*()~\'龍井茶 🎧';
const back = 'https://shop.example/back?order=x&y=%E7%BA%A2#top';

export const pages = [
  pagePay('on a computer'),
  pagePay('on a computer, back to the shop', undefined, back),
  pagePay('on a computer, odd characters', oddTitle, back),
  wapPay('on a telephone'),
  wapPay('on a telephone, back to the shop', undefined, back),
  wapPay('on a telephone, odd characters', oddTitle, back),
];

export const notifications = [
  { name: 'paid', form: paid, want: notification },
  { name: 'Chinese subject', form: { ...paid, subject: '红色外套，限量 100 件', body: '商品描述：红色' }, want: notification },
  { name: 'emoji and quotes', form: { ...paid, subject: '🎧 “云听” "Pro"' }, want: notification },
  { name: 'characters that forms escape', form: { ...paid, subject: '50% off + 1 free', body: 'a=b&c=d%20e+f %zz' }, want: notification },
  { name: 'passback_params escaped by the shop', form: { ...paid, passback_params: 'merchantBizType%3d3C%26merchantBizNo%3d2016010101111' },
    want: notification },
  { name: 'empty value', form: { ...paid, body: '' }, want: notification },
  { name: 'value of blanks', form: { ...paid, body: '  ' }, want: notification },
  { name: 'line breaks', form: { ...paid, body: 'a\nb\r\nc\td' }, want: notification },
  { name: 'long text', form: { ...paid, body: '描'.repeat(1200) }, want: notification },
  { name: 'vouchers', form: { ...paid, voucher_detail_list: '[{"amount":"8.00","merchantContribute":"0.00","name":"满减券","otherContribute":"8.00",' +
    '"type":"ALIPAY_DISCOUNT_VOUCHER","voucherId":"2026010100073002586200003BQ4"}]' }, want: notification },
  { name: 'voucher with a parameter', form: { ...paid, voucher_detail_list: '[{"amount":"8.00","name":"Buy 1&get=1"}]' }, want: notification },
  { name: 'voucher with an amount', form: { ...paid, voucher_detail_list: '[{"amount":"8.00","name":"Buy 1&total_amount=1"}]' }, want: forged,
    differs: 'the same signature has another form with two amounts' },
  { name: 'finished', form: { ...paid, trade_status: 'TRADE_FINISHED' }, want: notification },
  { name: 'refunded in part', form: { ...paid, refund_fee: '8.80', gmt_refund: '2026-01-02 10:00:00.123', out_biz_no: 'HZRF001' },
    want: { ...notification, back: 880 } },
  { name: 'refunded in full', form: { ...paid, trade_status: 'TRADE_CLOSED', refund_fee: '88.80', gmt_refund: '2026-01-02 10:00:00.123',
    gmt_close: '2026-01-02 10:00:00' }, want: { ...notification, paid: false, back: 8880 } },
  { name: 'waiting', form: without('gmt_payment')({ ...paid, trade_status: 'WAIT_BUYER_PAY' }), want: { ...notification, paid: false } },
  { name: 'smallest amount', form: { ...paid, total_amount: '0.01' }, want: { ...notification, fen: 1 } },
  { name: 'largest amount', form: { ...paid, total_amount: '100000000.00' }, want: { ...notification, fen: 10000000000 } },
  { name: 'charset in capitals', form: { ...paid, charset: 'UTF-8' }, want: notification },
  { name: 'another app', form: { ...paid, app_id: '2021000000000009' }, want: notOurs },
  { name: 'another seller', form: { ...paid, seller_id: '2088000000000009' }, want: notOurs },
  { name: 'another shop\'s order', form: { ...paid, out_trade_no: '20260101-0001' }, want: notOurs },
  { name: 'amount changed', form: paid, signed: { then: changed({ total_amount: '0.01' }) }, want: forged },
  { name: 'status changed', form: { ...paid, trade_status: 'WAIT_BUYER_PAY' }, signed: { then: changed({ trade_status: 'TRADE_SUCCESS' }) },
    want: forged },
  { name: 'parameter added', form: paid, signed: { then: changed({ refund_fee: '1.00' }) }, want: forged },
  { name: 'parameter taken away', form: paid, signed: { then: without('gmt_payment') }, want: forged },
  { name: 'signed by a stranger', form: paid, signed: { by: 'stranger' }, want: forged },
  { name: 'no signature', form: paid, signed: { then: without('sign') }, want: forged },
  { name: 'sign_type signed too', form: paid, signed: { withType: true }, want: forged,
    differs: 'the SDK takes notifications of service windows as well, which sign sign_type; payments never come so' },
  { name: 'no sign_type', form: paid, signed: { then: without('sign_type') }, want: forged,
    differs: 'the SDK falls back to its configured type; a notification of a payment always names it' },
];

const query = 'alipay.trade.query';
const close = 'alipay.trade.close';
const refund = 'alipay.trade.refund';
const refundQuery = 'alipay.trade.fastpay.refund.query';
const bill = 'alipay.data.dataservice.bill.downloadurl.query';
const answer = (method, node, before = '') => `{${before}"${method.replaceAll('.', '_')}_response":${typeof node === 'string' ? node : JSON.stringify(node)}}`;
const ok = { code: '10000', msg: 'Success', buyer_logon_id: '138****0000', buyer_pay_amount: '88.80', buyer_user_id: '2088000000000002',
  invoice_amount: '88.80', out_trade_no: orderId, point_amount: '0.00', receipt_amount: '88.80', send_pay_date: '2026-01-01 20:00:12',
  total_amount: '88.80', trade_no: tradeNo, trade_status: 'TRADE_SUCCESS' };
const refusal = (code, sub_code, sub_msg, more) => ({ code, msg: code === '40004' ? 'Business Failed' : 'Service Currently Unavailable', sub_code,
  sub_msg, ...more });
const trade = { state: 'paid', trade_no: tradeNo, fen: 8880 };
const closed = { code: '10000', msg: 'Success', out_trade_no: orderId, trade_no: tradeNo };
const refunded = { code: '10000', msg: 'Success', buyer_logon_id: '138****0000', buyer_user_id: '2088000000000002', fund_change: 'Y',
  gmt_refund_pay: '2026-01-01 20:30:00', out_trade_no: orderId, refund_fee: '88.80', send_back_fee: '88.80', trade_no: tradeNo };
const known = { code: '10000', msg: 'Success', out_request_no: 'rtpfspnv5xhurwlnk47cpeik32e', out_trade_no: orderId, refund_amount: '88.80',
  refund_status: 'REFUND_SUCCESS', total_amount: '88.80', trade_no: tradeNo };
const billUrl = 'https://dwbillcenter.alipay.com/downloadBillFile.resource?bizType=trade&userId=20880000000000010156&fileType=csv.zip&' +
  'bizDates=20260101&downloadFileName=20880000000000010156_20260101.csv.zip&fileId=%2Ftrade%2F20880000000000010156%2F20260101.csv.zip&token=0123456789abcdef';
const fault = { fault: true };
const replaced = (from, to) => body => body.replace(from, () => to);

export const answers = [
  { name: 'paid', method: query, body: answer(query, ok), want: trade },
  { name: 'finished', method: query, body: answer(query, { ...ok, trade_status: 'TRADE_FINISHED' }), want: trade },
  { name: 'waiting', method: query, body: answer(query, { ...ok, trade_status: 'WAIT_BUYER_PAY' }), want: { ...trade, state: 'waiting' } },
  { name: 'closed', method: query, body: answer(query, { ...ok, trade_status: 'TRADE_CLOSED' }), want: { ...trade, state: 'closed' } },
  { name: 'no trade', method: query, body: answer(query, refusal('40004', 'ACQ.TRADE_NOT_EXIST', '交易不存在', { out_trade_no: orderId })),
    want: { state: 'unknown' } },
  { name: 'Chinese, nested lists', method: query, body: answer(query, { ...ok, store_name: '证大五道口店', fund_bill_list: [
    { amount: '80.00', fund_channel: 'ALIPAYACCOUNT' }, { amount: '8.80', fund_channel: 'COUPON' }] }), want: trade },
  { name: 'characters escaped as \\u', method: query, body: answer(query, JSON.stringify({ ...ok, store_name: '@' }).replace('@', '\\u8bc1\\u5927')),
    want: trade },
  { name: 'slashes escaped', method: query, body: answer(query, JSON.stringify({ ...ok, ext: 'https:@@shop.example@a' }).replaceAll('@', '\\/')),
    want: trade },
  { name: 'braces and "sign" in texts', method: query, body: answer(query, { ...ok, store_name: '}{ "sign" ","sign":"' }), want: trade },
  { name: 'in several lines', method: query, body: answer(query, JSON.stringify(ok, null, 2)), want: trade },
  { name: 'certificate number in front', method: query, body: answer(query, ok, '"alipay_cert_sn":"0123456789abcdef",'), want: trade },
  { name: 'amount a number', method: query, body: answer(query, JSON.stringify(ok).replace('"total_amount":"88.80"', '"total_amount":88.80')),
    want: trade },
  { name: 'system error', method: query, body: answer(query, refusal('20000', 'isp.unknow-error', '系统繁忙')), want: fault },
  { name: 'about another order', method: query, body: answer(query, { ...ok, out_trade_no: 'obbbbbbbbbbbbbbbbbbbbbbbbbb' }), want: fault,
    differs: 'the SDK checks the signature only; a genuine answer about another order could be replayed' },
  { name: 'status changed', method: query, body: answer(query, { ...ok, trade_status: 'TRADE_CLOSED' }),
    signed: { then: replaced('TRADE_CLOSED', 'TRADE_SUCCESS') }, want: fault },
  { name: 'amount changed', method: query, body: answer(query, ok), signed: { then: replaced('"total_amount":"88.80"', '"total_amount":"0.01"') },
    want: fault },
  { name: 'signed by a stranger', method: query, body: answer(query, ok), signed: { by: 'stranger' }, want: fault },
  { name: 'no signature', method: query, body: answer(query, ok), signed: { then: replaced(/,"sign":"[^"]*"/, '') }, want: fault },
  { name: 'slashes escaped after signing', method: query, body: answer(query, { ...ok, ext: 'https://shop.example/a' }),
    signed: { then: replaced('https://shop.example/a', 'https:\\/\\/shop.example\\/a') }, want: trade,
    differs: 'the SDK for Java allows for this, the one for Node.js does not' },
  { name: 'closed by us', method: close, body: answer(close, closed), want: { close: 'closed' } },
  { name: 'nothing to close', method: close, body: answer(close, refusal('40004', 'ACQ.TRADE_NOT_EXIST', '交易不存在')), want: { close: 'not_exist' } },
  { name: 'paid already', method: close, body: answer(close, refusal('40004', 'ACQ.REASON_TRADE_STATUS_INVALID', '交易状态异常',
    { out_trade_no: orderId })), want: { close: 'refused' } },
  { name: 'close fails', method: close, body: answer(close, refusal('40004', 'ACQ.SYSTEM_ERROR', '系统异常')), want: fault },
  { name: 'refunded', method: refund, body: answer(refund, refunded), want: { refund: 'made' } },
  { name: 'refunded, Chinese, nested lists', method: refund, body: answer(refund, { ...refunded, store_name: '望湘园联洋店',
    refund_detail_item_list: [{ amount: '88.80', fund_channel: 'ALIPAYACCOUNT' }] }), want: { refund: 'made' } },
  { name: 'refund asked before', method: refund, body: answer(refund, { ...refunded, fund_change: 'N' }), want: { refund: 'pending' } },
  { name: 'refund that does not say', method: refund, body: answer(refund, without('fund_change')(refunded)), want: { refund: 'pending' } },
  { name: 'refund of less', method: refund, body: answer(refund, { ...refunded, refund_fee: '8.88' }), want: fault },
  ...['ACQ.SELLER_BALANCE_NOT_ENOUGH', 'ACQ.TRADE_HAS_FINISHED', 'ACQ.DISCORDANT_REPEAT_REQUEST', 'ACQ.TRADE_NOT_EXIST'].map(code => (
    { name: `refund refused, ${code}`, method: refund, body: answer(refund, refusal('40004', code, '退款失败', { out_trade_no: orderId,
      refund_fee: '0.00', send_back_fee: '0.00' })), want: { refund: 'refused', refund_code: code } })),
  { name: 'refund fails', method: refund, body: answer(refund, refusal('40004', 'ACQ.SYSTEM_ERROR', '系统错误')), want: fault },
  { name: 'refund, gateway busy', method: refund, body: answer(refund, refusal('20000', 'aop.ACQ.SYSTEM_ERROR', '系统异常')), want: fault },
  { name: 'refund of another trade', method: refund, body: answer(refund, { ...refunded, trade_no: `${tradeNo}2` }), want: fault,
    differs: 'the SDK checks the signature only; a genuine answer about another trade could be replayed' },
  { name: 'refund changed', method: refund, body: answer(refund, { ...refunded, fund_change: 'N' }),
    signed: { then: replaced('"fund_change":"N"', '"fund_change":"Y"') }, want: fault },
  { name: 'refund signed by a stranger', method: refund, body: answer(refund, refunded), signed: { by: 'stranger' }, want: fault },
  { name: 'refund known', method: refundQuery, body: answer(refundQuery, known), want: { refund: 'made' } },
  { name: 'refund not known', method: refundQuery, body: answer(refundQuery, { code: '10000', msg: 'Success' }), want: { refund: 'missing' } },
  { name: 'refund not yet told', method: refundQuery, body: answer(refundQuery, without('refund_status')(known)), want: { refund: 'pending' } },
  { name: 'refund of no trade', method: refundQuery, body: answer(refundQuery, refusal('40004', 'ACQ.TRADE_NOT_EXIST', '交易不存在')),
    want: { refund: 'missing' } },
  { name: 'refund query fails', method: refundQuery, body: answer(refundQuery, refusal('40004', 'ACQ.SYSTEM_ERROR', '系统错误')), want: fault },
  { name: 'another refund', method: refundQuery, body: answer(refundQuery, { ...known, out_request_no: 'r2' }), want: fault,
    differs: 'the SDK checks the signature only; a genuine answer about another refund could be replayed' },
  { name: 'refund query changed', method: refundQuery, body: answer(refundQuery, without('refund_status')(known)),
    signed: { then: replaced('"refund_amount"', '"refund_status":"REFUND_SUCCESS","refund_amount"') }, want: fault },
  { name: 'refund query signed by a stranger', method: refundQuery, body: answer(refundQuery, known), signed: { by: 'stranger' }, want: fault },
  { name: 'bill', method: bill, body: answer(bill, { code: '10000', msg: 'Success', bill_download_url: billUrl }), want: { bill: billUrl } },
  { name: 'bill, slashes escaped', method: bill, body: answer(bill, JSON.stringify({ code: '10000', msg: 'Success',
    bill_download_url: billUrl }).replaceAll('/', '\\/')), want: { bill: billUrl } },
  { name: 'no bill', method: bill, body: answer(bill, refusal('40004', 'isp.bill_not_exist', '账单不存在')), want: { no_bill: true } },
  { name: 'bill of a day to come', method: bill, body: answer(bill, refusal('40004', 'invalid_arguments', '入参不合法')), want: fault },
  { name: 'bill elsewhere', method: bill, body: answer(bill, { code: '10000', msg: 'Success', bill_download_url: billUrl }),
    signed: { then: replaced('dwbillcenter', 'elsewhere') }, want: fault },
  { name: 'bill signed by a stranger', method: bill, body: answer(bill, { code: '10000', msg: 'Success', bill_download_url: billUrl }),
    signed: { by: 'stranger' }, want: fault },
  { name: 'close signed by a stranger', method: close, body: answer(close, closed), signed: { by: 'stranger' }, want: fault },
];
