// Package fakegateway stands in for Alipay's open platform in local runs and tests, of this shop or of any other: real
// RSA2 signatures with keys of its own, Alipay's answer codes, a cashier page, notifications that are repeated in
// Alipay's rhythm on the caller's clock, refunds, a daily bill, and on demand all that goes wrong with a payment
// provider (Faults). No money moves. In: order strings, calls to /gateway.do, a shopper's click. Out: signed answers,
// notifications, bills.
//
// To use it, make one with New, mount it as an http.Handler, point the shop's SDK at its /gateway.do with its
// PublicKey, and call Tick when Next says so or Ready speaks. The example shows all of it.
//
//	/gateway.do       alipay.trade.query, .close, .refund, .fastpay.refund.query,
//	                  alipay.data.dataservice.bill.downloadurl.query;
//	                  alipay.trade.page.pay and .wap.pay open the cashier
//	/cashier          the cashier's page: the query is an order string of alipay.trade.app.pay
//	/cashier/pay      the click on "pay"
//	/bill             a bill's ZIP; its address comes from the bill call, is beside Options.URL, and is good for 30 s
//	/faults /trades   only with Options.Control: GET and PUT of the fault plan, all trades as lines of JSON
//
// # Life of a trade
//
// A trade exists only once its cashier was opened, as with the real one.
//
//	WAIT_BUYER_PAY → TRADE_SUCCESS    paid: a notification
//	WAIT_BUYER_PAY → TRADE_CLOSED     closed by the shop, or its time is over: no notification
//	TRADE_SUCCESS  → TRADE_SUCCESS    a part of the money went back: a notification with refund_fee, gmt_refund
//	                                  and out_biz_no
//	TRADE_SUCCESS  → TRADE_CLOSED     all of it went back: a notification like that
//	TRADE_SUCCESS  → TRADE_FINISHED   Options.FinishAfter after the payment: no notification, and no refund from
//	                                  then on
//
// An order has one trade, unless the fault TwoTrades makes another. A call that names a trade by out_trade_no then
// means, as with the real one, the trade that has money: the one paid first that is not refunded in full; without one,
// that which waits; without that, the newest. A close by out_trade_no closes every trade of the order that waits. A
// call with trade_no means that trade.
//
// Trades are in a Store: the process's memory, or a table that any number of gateways share. Nothing runs by itself:
// the gateway's owner calls Tick, or, with a shared store, Repeat each minute.
//
// A notification goes to the address that its order string names, whichever that is: the string is signed, so only who
// has the shop's private key can name one. Redirects are not followed, because they are not signed.
//
// Rules are from Alipay's documentation: "app支付接口2.0", "统一收单交易查询", "统一收单交易关闭接口", "统一收单交易退款接口", "统一收单交易退款查询",
// "查询对账单下载地址" and "异步通知说明".
package fakegateway
