// Package suite tries a deployed stack from outside: over HTTP as shoppers do, and through AWS's own calls as its
// operator may. In: a JSON file named by SECKILL_E2E_STACK that says where the stack is and what its target can do, and
// a second one by SECKILL_E2E_STACK2 for two stacks side by side; e2e/target writes both. Out: failed tests. Every case
// sells items of its own and ends with a judgement of their rows, read from the tables.
//
//	go test -tags e2e -v ./e2e/suite
//
// What the file's "limits" say: full, the whole with 32 clients; small, what a slow target bears, with 8.
package suite
