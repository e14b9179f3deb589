// Package suite checks a deployed stack from outside: over HTTP as shoppers do, and through AWS's own calls as its
// operator may. In: a JSON file, named by SECKILL_E2E_STACK, that says where the stack is and what its target can do,
// and a second one, named by SECKILL_E2E_STACK2, for two stacks side by side; e2e/target writes both. Out: failed
// tests. Every case sells its own items and ends with an audit of their rows, read from the tables.
//
//	go test -tags e2e -v ./e2e/suite
//
// "limits" in the file: full runs everything with 32 clients; small runs what a slow target can handle, with 8.
package suite
