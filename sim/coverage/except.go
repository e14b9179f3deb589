package main

// exception is a block of a flow that no world of the simulator reaches.
type exception struct {
	file string
	text string // in one line; no other block of the file has it
	why  string
}

const few = "a bound of memory, thousands of entries above what a world has"

// unreachable is checked: an entry whose block is reached, or that no block has any more, makes the command fail.
var unreachable = []exception{
	{flows + "buy/buy.go", `"the stock answered " + string(res.Code)`, "reserve.lua has no other answer"},
	{flows + "capture/capture.go", `"capture: order %s changed state %d times"`, "no way through the state table is so long"},
	{flows + "consume/consume.go", `"consume: redraw answered %q"`, "redraw.lua has no other answer"},
	{flows + "itemcache/itemcache.go", "clear(c.entries)", few},
	{flows + "shop/order.go", "clear(f.prepared)", few},
	{flows + "shop/shop.go", "clear(f.levels)", few},
	{flows + "shop/shop.go", "if it.Buckets > countBuckets { return 0, err", "a world's items have two buckets"},
}
