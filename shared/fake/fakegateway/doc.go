// Package fakegateway stands in for Alipay's open platform in local runs and tests, of this shop or of any other. It
// has real RSA2 signatures with its own keys, Alipay's answer codes, a cashier page, notifications repeated at
// Alipay's intervals on the caller's clock, refunds, a daily bill and, on demand, everything that can go wrong with a
// payment provider (Faults). No money moves. In: order strings, calls to /gateway.do, a shopper's click. Out: signed
// answers, notifications, bills.
//
// To use it, make one with New, mount it as an http.Handler, configure the shop's SDK with its /gateway.do and its
// PublicKey, and call Tick at the time that Next returns and whenever Ready receives. The example shows all of it.
//
//	/gateway.do       alipay.trade.query, .close, .refund, .fastpay.refund.query,
//	                  alipay.data.dataservice.bill.downloadurl.query;
//	                  alipay.trade.page.pay and .wap.pay, by GET or by a form, open the cashier, which leads back to
//	                  return_url with Alipay's signed parameters, or to quit_url
//	/cashier          the cashier's page: the query is an order string of alipay.trade.app.pay
//	/cashier/pay      the click on "pay"
//	/bill             a bill's ZIP; the bill call returns its URL, which is under Options.URL and works for 30 s
//	/faults /trades   only of Control: GET and PUT of the fault plan, all trades as lines of JSON
//
// # Life of a trade
//
// As with the real platform, a trade exists only after its cashier was opened.
//
//	WAIT_BUYER_PAY → TRADE_SUCCESS    paid: a notification
//	WAIT_BUYER_PAY → TRADE_CLOSED     closed by the shop, or expired: no notification
//	TRADE_SUCCESS  → TRADE_SUCCESS    partly refunded: a notification with refund_fee, gmt_refund and out_biz_no
//	TRADE_SUCCESS  → TRADE_CLOSED     fully refunded: a notification with the same fields
//	TRADE_SUCCESS  → TRADE_FINISHED   Options.FinishAfter after the payment: no notification, and no more refunds
//
// An order has one trade, unless the fault TwoTrades makes a second. As with the real platform, a call by
// out_trade_no then means the trade that has money: the first paid one that is not fully refunded; else the one that
// waits; else the newest. A close by out_trade_no closes every waiting trade of the order. A call with trade_no means
// that trade.
//
// A Store keeps the trades: the process's memory, or a table that any number of gateways share. The gateway starts
// nothing by itself: its owner calls Tick or, with a shared store, Repeat every minute.
//
// A notification goes to the URL in its order string, whichever that is: the string is signed, so only the owner of
// the shop's private key can set it. Redirects are not followed, because they are not signed.
//
// Rules are from Alipay's documentation: "app支付接口2.0", "统一收单交易查询", "统一收单交易关闭接口", "统一收单交易退款接口", "统一收单交易退款查询",
// "查询对账单下载地址" and "异步通知说明".
package fakegateway
