package main

// exception is a block of a flow that no simulated world reaches.
type exception struct {
	file string
	text string // the beginning of the block on one line; unique in its file
	why  string
}

const signs = "payments of a world sign at once"
const counts = "all rows of counts of a world can be read"
const pages = "a world's item has fewer orders than a page"
const many = "a world's operator blocks one at a time"
const few = "a bound of memory, thousands of entries above what a world has"

// elsewhere has what no world plays, and the share leaves out: files, or functions of a file. How files of items and of
// shipments are read; activities in a list; what a page asks that only looks: no guarantee is about these. And stopping
// several items at once (SetAllStopped), which worlds should play. Their own tests cover them.
var elsewhere = map[string][]string{
	flows + "sale/stage/import.go":   nil,
	flows + "office/fulfil/ship.go":  nil,
	flows + "sale/stage/stage.go":    {"Error", "Unwrap", "SetAllStopped", "add", "each"},
	flows + "sale/stage/publish.go":  {"Publish", "titles", "sameTitle"},
	flows + "front/shop/shop.go":     {"Now", "Left"},
	flows + "front/shop/order.go":    {"Has"},
	flows + "front/signin/signin.go": {"List"},
	flows + "money/notify/notify.go": {"Unreadable"},
}

// unreachable is checked: an entry whose block is reached, or does not exist, makes the command fail.
var unreachable = []exception{
	{flows + "sale/buy/buy.go", `return seckill.AsError(errors.New("the stock answered "`,
		"reserve.lua has no other answer"},
	{flows + "sale/buy/admitted.go", "if f.Tickets == nil { return", "each world checks tickets"},
	{flows + "sale/admit/admit.go",
		"if err != nil { return seckill.Ticket{}, &seckill.Error{Code: seckill.CodeInternal",
		"a ticket of a valid item can be made"},
	{flows + "sale/admit/admit.go",
		"if c.Proof, err = f.Proofs.Make(by.User, it.ID, work, c.Expires); err != nil { return c",
		"a challenge for a valid item can be made"},
	{flows + "office/block/block.go", "if len(blocks) == 0 || len(blocks) > MaxPut { return", many},
	{flows + "office/block/block.go", "if seen[key(b)] { return", many},
	{flows + "office/block/block.go", `if after != "" && (err != nil || shard`,
		"a world's operator sends cursors back as they came"},
	{flows + "office/block/block.go", "if len(out.Rows) == limit { out.Next",
		"the embedded index adds a cursor to each full page"},
	{flows + "internal/payment/payment.go", `return fmt.Errorf("payment: order %s changed state %d times"`,
		"no way through the state table is so long"},
	{flows + "sale/consume/consume.go", `return m, true, fmt.Errorf("consume: redraw answered %q"`,
		"redraw.lua has no other answer"},
	{flows + "office/count/count.go", `return fmt.Errorf("count: the counts of item %s changed`,
		"so many others never write between two calls of a reader"},
	{flows + "office/count/count.go", "if len(known) >= seckill.MaxCountMinutes { continue",
		"a world has fewer minutes in which something happens"},
	{flows + "office/count/count.go", "if errors.Is(err, seckill.ErrUnreadable) { f.Meter", counts},
	{flows + "office/count/recount.go", `if w.after = page.Next; w.after != "" { step.Next`, pages},
	{flows + "office/count/recount.go", "return strconv.FormatInt(w.began", pages},
	{flows + "office/count/recount.go", "ms, err := strconv.ParseInt(began", pages},
	{flows + "internal/itemcache/itemcache.go", "if len(c.entries) >= maxEntries { clear", few},
	{flows + "front/shop/describe.go", "if f.describedSize+fresh.size() > maxDescribed { clear", few},
	{flows + "front/shop/order.go", "if len(f.prepared) >= maxPrepared { clear", few},
	{flows + "front/shop/order.go", "if errors.Is(err, seckill.ErrSignLater) { return", signs},
	{flows + "front/shop/order.go", `if s.PayString == "" { s.RetryAfter`, signs},
	{flows + "front/shop/order.go", "return Status{}, &seckill.Error{Code: seckill.CodeNotCancelable",
		"an order leaves pending_payment once: a cancel loses it once"},
	{flows + "front/shop/shop.go", "if len(f.levels) >= maxLevels { clear", few},
	{flows + "front/shop/shop.go", "if it.Buckets > countBuckets { return", "a world's items have two buckets"},
}
