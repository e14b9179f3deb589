// Package tap lets the binary that proof/sim/coverage builds replace the stock's runner of scripts; no other binary
// uses it. It imports nothing, so that package redisstock can import it in that binary.
package tap

// Wrap receives the runner of each new stock and returns the one to use. Set it before making the first stock.
var Wrap = func(runner any) any { return runner }
