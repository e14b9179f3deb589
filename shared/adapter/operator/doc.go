// Package operator carries out operators' commands. ItemHandler has those about items: import and export, stop, resume,
// more stock, and a look at clock and Redis. PaymentHandler has those about money: list what is due back, refused or
// unknown, show an order's payments, refund, and ask again. BillHandler matches the payment provider's bill of a day
// against the ledger, and lists earlier results. UserHandler erases a user's addresses.
//
// An operator's machine reaches neither Redis nor tables. So Client, PaymentClient, BillClient and UserClient make an
// event of a command, and functions of the stack carry it out: stage for items, refund for money, reconcile for bills,
// repair for users. Both halves and their limits are in this package, so that they cannot drift apart. The routes of a
// local system use the same handlers. In: commands. Out: results, or refusals in the words of package httpapi. An
// operator is told the cause of a fault; a shopper never is. A handler touches what its flow touches.
//
// A command is a line of its handler's list (itemCommands, moneyCommands, billCommands, userCommands), which says what
// arguments it takes, and a case of its handler's do. Every command may be repeated: the second time there is nothing
// left to do, except that each match of a day's bill is kept. ADR 9 says why it is done so.
package operator
