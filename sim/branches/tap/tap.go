// Package tap is where a stock hands its runner of scripts over in a binary that sim/coverage builds, and in no other.
// It stands alone, so that package redisstock can import it there.
package tap

// Wrap is given each runner of a new stock, and gives the one to use. To be set before the first stock is made.
var Wrap = func(runner any) any { return runner }
