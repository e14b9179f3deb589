// Package operator executes operators' commands. ItemHandler has the commands about items: import, export, stop,
// resume, add stock, and a health check of clock and Redis. PaymentHandler has those about money: list what is due
// for refund, refused or unknown, show an order's payments, refund, and ask the provider again. BillHandler compares
// the payment provider's bill of a day with the ledger and lists earlier results. UserHandler erases a user's
// addresses. OrderHandler lists, confirms, ships and hides orders. BlockHandler keeps shoppers from buying. ActHandler
// lists suspicious acts, and records who handled them. EventHandler tells changes of orders again, and says where
// to ship an order. CountHandler shows how many units of an item were placed, paid and given back, and counts them
// anew. WebhookHandler has webhooks posted again that were given up. AuditHandler reads the audit log, in which
// Recorder records commands. SessionHandler lists and ends the sessions of staff in browsers. LiveHandler shows a
// running sale. PictureHandler makes pictures safe to show, and keeps them.
//
// An operator's machine reaches neither Redis nor the tables. So Client turns a command into an event, and Serve
// handles such events: in a stack its functions (stage for items, refund for money, reconcile for bills, repair for
// users, blocks and orders, tell for events and counts, deliver for webhooks, acts for suspicious acts), in a local
// system the route POST /_local/operator. Both halves and their limits are in this package, so that they cannot
// diverge. The result of a command is JSON, or a refusal as a problem document of package httpapi. Only operators see
// the cause of a fault; shoppers do not. A handler changes only what its flow changes.
//
// Office is the door of the back office: it takes commands from callers whom API Gateway has verified, checks the
// caller's role, and signs them for ServeSigned (ADR 40). The function admin runs it.
//
// To add a command, add a row with its arguments to its handler's list in commands.go, a case to the handler's do, and
// its roles to the table of package seckill. Every command may be repeated: a repetition finds nothing left to do,
// except that each comparison of a bill is kept. ADR 9 has the reasons.
package operator
