// Package operator is the operator's face of a system. Desk is about items: import and export, stop, resume, more stock, and a look at clock and Redis.
// MoneyDesk is about money: what is due back, refused or unknown, an order's case, a refund, and what is asked for again. BillDesk is about the payment
// provider's bills: it matches a day's against the ledger, and lists what came of it before. UserDesk is about a user: it erases addresses. An operator's machine reaches neither Redis nor tables, so a
// deployed system's functions do it, stage for items, refund for money, reconcile for bills and repair for users: Client, MoneyClient, BillClient and UserClient make an event of a
// command, a desk's Handler carries it out and answers. Both halves and their limits are here, so that they cannot drift apart; the routes of a local
// system use the same desks. In: commands. Out: results, or refusals in the words of package httpapi; of a fault an operator is told
// what it came of, as a shopper never is. A desk touches what its flow touches.
//
// A command is a line of its desk's list (itemCommands, moneyCommands, billCommands, userCommands), which says what arguments it takes, and a case of its desk's do.
// Every command may be repeated: the second time there is nothing left to do; a day that is matched again is kept beside the first time. ADR 9 says why it
// is done so.
package operator
