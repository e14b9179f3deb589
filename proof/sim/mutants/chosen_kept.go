package main

const (
	holdbackGo = "shared/flow/sale/repair/holdback.go"
	confirmLua = "shared/driver/redisstock/confirm.lua"
	holdLua    = "shared/driver/redisstock/hold_back.lua"
)

// chosenKept break the promise to those whose orders were acknowledged before the stock was lost.
var chosenKept = []choice{
	{"rebuild-holds-nothing", "a rebuilt item sells the units of orders that wait in the queue", repairGo,
		`	back := it.Stock`, `	back := 0`},
	{"held-back-unread", "reserve does not look how many units are held back", "shared/driver/redisstock/reserve.lua",
		`if it[10] then`, `if it[10] == '' then`},
	{"old-count-believed", "a count of the queue is believed that may be a minute old", holdbackGo,
		`if err != nil || d.Delayed == 0 || d.InFlight == 0 {`, `if err != nil || d.InFlight == 0 {`},
	{"older-count-believed", "a count is believed that does not show the message being delivered", holdbackGo,
		`if err != nil || d.Delayed == 0 || d.InFlight == 0 {`, `if err != nil || d.Delayed == 0 {`},
	{"unsent-not-counted", "reservations without a message are not counted", holdbackGo,
		`max(queued, level.Awaiting)`, `queued`},
	{"lost-order-not-moved", "the stock leaves an order's unit to the one that it gave it to after a loss", confirmLua,
		`if call('HGET', HELD, n) ~= order then
      claim`, `if not call('HGET', HELD, n) then
      claim`},
	{"far-unit-lost", "confirm claims one unit far above high-water, and no more", confirmLua,
		`answer = 'more'`, `answer = 'ok'`},
	{"hidden-not-counted", "messages that are being delivered are not counted", holdbackGo,
		`d.Visible + d.InFlight - 1`, `d.Visible`},
	{"one-unit-a-message", "a message counts as one unit", holdbackGo,
		`orders * it.MaxPerOrder()`, `orders`},
	{"looks-at-once", "the queue is counted before the last acknowledged orders are in it", holdbackGo,
		`if look == 2 {
		return lookAfter`, `if look == 2 {
		return 0`},
	{"acknowledged-late", "an order is acknowledged however long it took", buyGo,
		`if f.Clock.Now().Sub(now) > seckill.AckWithin {`, `if f.Clock.Now().Sub(now) > 20*seckill.AckWithin {`},
	{"lost-order-not-restored", "the stock does not learn of the units of an order that it lost", confirmLua,
		`if call('HEXISTS', ITEM, 'back') == 1 then`, `if call('HEXISTS', ITEM, 'back') == 2 then`},
	{"memory-refuses-buyers", "an instance tells from memory that nothing is left, also who has bought", buyGo,
		` || r.buyers.May(p.User)`, ``},
	{"known-buyers-forgotten", "an instance forgets who has bought when nobody did since", buyGo,
		`		res.Buyers = known
`, ``},
	{"buyers-not-noted", "the stock does not note who buys", "shared/driver/redisstock/reserve.lua",
		`call('SETBIT', BUYERS, ARGV[9], 1)`, `call('SETBIT', BUYERS, ARGV[9], 0)`},
	{"buyers-not-built", "a rebuild forgets who has bought", "shared/driver/redisstock/build_units.lua",
		`call('SETBIT', NBUYERS, bit, 1)`, `call('SETBIT', NBUYERS, bit, 0)`},
	{"one-look", "one look lets go of what it did not count", holdLua,
		`math.max(tonumber(counted), tonumber(ARGV[3]))`, `tonumber(ARGV[3])`},
	{"looks-of-an-earlier-build", "a look that was asked for before another loss counts", holdLua,
		`if token ~= ARGV[1] or `, `if not token or `},
}
