// Package operator is the operator's face of a system. ItemHandler is about items: import and export, stop, resume,
// more stock, and a look at clock and Redis. PaymentHandler is about money: what is due back, refused or unknown, an
// order's case, a refund, and what is asked for again. BillHandler is about the payment provider's bills: it matches a
// day's against the ledger, and lists what came of it before. UserHandler is about a user: it erases addresses. An
// operator's machine reaches neither Redis nor tables, so a deployed system's functions do it, stage for items, refund
// for money, reconcile for bills and repair for users: Client, PaymentClient, BillClient and UserClient make an event
// of a command, a handler's Handler carries it out and answers. Both halves and their limits are here, so that they
// cannot drift apart; the routes of a local system use the same handlers. In: commands. Out: results, or refusals in
// the words of package httpapi; of a fault an operator is told what it came of, as a shopper never is. A handler
// touches what its flow touches.
//
// A command is a line of its handler's list (itemCommands, moneyCommands, billCommands, userCommands), which says what
// arguments it takes, and a case of its handler's do. Every command may be repeated: the second time there is nothing
// left to do; a day that is matched again is kept beside the first time. ADR 9 says why it is done so.
package operator
