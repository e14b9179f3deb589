// Package suite plays whole sales from outside: over HTTP as shoppers and staff do, and with an operator's commands. It
// runs in two ways, with the same cases. Every case sells its own items and ends with an audit of their rows.
//
//	go test ./e2e/suite                 package local, a system for each case: local_test.go
//	go test -tags e2e -v ./e2e/suite    a deployed stack: deployed_test.go
//
// A deployed stack is checked through AWS's own calls, as its operator may. In: a JSON file, named by
// SECKILL_E2E_STACK, that says where the stack is and what its target can do, and a second one, named by
// SECKILL_E2E_STACK2, for two stacks side by side; e2e/target writes both. "limits" in the file: full runs everything
// with 32 clients; small runs what a slow target can handle, with 8.
package suite
