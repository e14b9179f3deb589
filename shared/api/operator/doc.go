// Package operator has the commands of staff. Each is a type: its fields are its arguments, Spec says who may give it,
// which function executes it and what the tool calls it, and Do executes it. How an event is read and bounded, the
// roles, the audit log's fields, the table of roles in the docs, and the tool's help come from that.
//
// To add a command, write its type in a file of its own, and its line in registry.go. Every command may be repeated: a
// repetition finds nothing left to do, except that each comparison of a bill is kept. ADR 9 has the reasons.
//
// An operator's machine reaches neither Redis nor the tables. So Client turns a command into an event, and Serve
// handles such events: in a stack its functions, in a local system the route POST /_local/operator. Both halves and
// their limits are in this package, so that they cannot diverge. The result of a command is JSON, or a refusal as a
// problem document of package httpapi. Only operators see the cause of a fault; shoppers do not. A handler changes only
// what its flow changes.
//
// Office is the entry of the back office: it takes commands from callers whom API Gateway has verified, checks the
// caller's role, and signs the commands for ServeSigned (ADR 40). BrowserHandler is its entry for browsers: it signs
// staff in and out, and passes on the commands of the person whom a cookie names. The function admin runs both.
// Recorder records commands in the audit log.
package operator
