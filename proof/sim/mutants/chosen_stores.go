package main

import "slices"

const (
	ledgerGo = "shared/driver/ledger/ledger.go"
	encodeGo = "shared/driver/ledger/encode.go"
	readsGo  = "shared/driver/ledger/reads.go"
	owedGo   = "shared/driver/ledger/refund.go"
	stockDir = "shared/driver/redisstock/"
)

// chosen lists all mutants.
var chosen = slices.Concat(chosenFlows, chosenFulfil, chosenDecide, chosenOutside, chosenSignIn, chosenKept, chosenDoor,
	chosenLedger, chosenSpans, chosenStream, chosenScripts, chosenDrawn)

// chosenLedger change the conditions of the ledger's transactions, and its sweeps.
var chosenLedger = []choice{
	{"cancels-unbounded", "a shopper may cancel as often as they like", ledgerGo,
		`, If: []Cond{AtMost("cancels", seckill.MaxCancels-1)}})`, `})`},
	{"cancels-uncounted", "a cancel is not counted", ledgerGo,
		`Add: map[string]int64{"cancels": 1}, If`, `If`},
	{"unreadable-hides-the-rest", "a row that cannot be read hides those behind it in its page", readsGo,
		`			out.Unreadable = append(out.Unreadable, err)`,
		`			out.Unreadable = append(out.Unreadable, err)
			return out`},
	{"unit-row-unconditional", "a unit row is put whether there is one or not", ledgerGo,
		`User: o.User}, 0), If: []Cond{Absent()}})`, `User: o.User}, 0)})`},
	{"order-row-unconditional", "placing overwrites an order row", ledgerGo,
		`		Write{Key: orderKey(o.ID), Op: OpPut, Row: encodeOrder(&o), If: []Cond{Absent()}},
		charge`,
		`		Write{Key: orderKey(o.ID), Op: OpPut, Row: encodeOrder(&o)},
		charge`},
	{"quota-unbounded", "placing does not look at the limit", ledgerGo,
		`If: []Cond{AtMost("units", int64(limit-o.Count))}`, `If: nil`},
	{"quota-off-by-one", "placing allows one unit above the limit", ledgerGo,
		`AtMost("units", int64(limit-o.Count))`, `AtMost("units", int64(limit-o.Count+1))`},
	{"quota-not-charged", "placing does not add to the quota", ledgerGo,
		`		Add:    map[string]int64{"units": int64(o.Count)},
`, ``},
	{"collision-names-itself", "a collision names the wrong owner of the number", ledgerGo,
		`return &seckill.Collision{Unit: n, Owner: owner.Order, User: owner.User}`,
		`return &seckill.Collision{Unit: n, Owner: o.ID, User: owner.User}`},
	{"rejected-overwrites", "a rejection overwrites an order row", ledgerGo,
		`		Write{Key: orderKey(o.ID), Op: OpPut, Row: encodeOrder(&o), If: []Cond{Absent()}},
		Write{Key: quotaKey`,
		`		Write{Key: orderKey(o.ID), Op: OpPut, Row: encodeOrder(&o)},
		Write{Key: quotaKey`},
	{"closing-from-any-state", "closing begins whatever state the order is in", ledgerGo,
		`		If:     []Cond{Eq("state", string(seckill.PendingPayment))},
`, ``},
	{"refund-of-kept-money", "an operator's refund leaves the payment captured: nobody gives it back", owedGo,
		`		Set: Row{"state": string(seckill.RefundDue), "refund_shard"`, `		Set: Row{"refund_shard"`},
	{"refund-in-no-index", "money that an operator refunds is in no list of what is due", owedGo,
		`, "refund_shard": shardKey(orderShard(p.Order)),
			"refund_at": timeKey(at)},
		If: []Cond{Eq("state", string(seckill.Captured)), stays`, `},
		If: []Cond{Eq("state", string(seckill.Captured)), stays`},
	{"restock-releases-nothing", "a refund with restock takes the units from the order and gives them to nobody",
		owedGo,
		`		writes = append(writes, release(&o)...)
	}
	c, err`, `	}
	c, err`},
	{"refunds-end-apart", "two refunds of one order that end at once leave it owing", owedGo,
		`Op: OpCheck,
			If: []Cond{Eq("state", string(seckill.RefundDue))}})`,
		`Op: OpCheck, If: []Cond{Eq("order", p.Order)}})`},
	{"refunded-stays-due", "a payment that was refunded stays in the list of what is due, and in its state", owedGo,
		`	return Row{"state": string(seckill.RefundDone), "back"`, `	return Row{"back"`},
	{"give-back-from-any-state", "units are given back whatever the order's row says: also twice", ledgerGo,
		`		If: []Cond{Eq("state", string(seckill.Closing)), Eq("close_to", string(o.CloseTo)),
			Eq("units", encodeUnits(o.Units))}}},`,
		`	}},`},
	{"give-back-when-paid", "units are given back though the order was paid meanwhile", ledgerGo,
		`		If: []Cond{Eq("state", string(seckill.Closing)), Eq("close_to", string(o.CloseTo)),
			Eq("units", encodeUnits(o.Units))}}},`,
		`		If: []Cond{Eq("units", encodeUnits(o.Units))}}},`},
	{"unit-row-kept", "an order that gives back keeps its last unit row", ledgerGo,
		`	for _, n := range o.Units {
		writes = append(writes, Write{Key: unitKey(o, n), Op: OpDelete`,
		`	for _, n := range o.Units[1:] {
		writes = append(writes, Write{Key: unitKey(o, n), Op: OpDelete`},
	{"quota-not-lowered", "an order that gives back keeps its quota", ledgerGo,
		`-int64(len(o.Units))`, `-int64(0*len(o.Units))`},
	{"quota-entry-kept", "an order that gives back stays listed in the quota row", ledgerGo,
		`		DelSet: map[string]Set{"orders": {entry}},
`, ``},
	{"return-row-missing", "giving back leaves no return row: a lost message loses the units", ledgerGo,
		`	writes = append(writes, Write{Key: returnKey(o.ID), Op: OpPut, Row: returnCodec.encode(&back, 0)})
`, `	_ = back
`},
	{"payment-row-unconditional", "a notification that comes twice is recorded twice", ledgerGo,
		`Row: encodePayment(&p), If: []Cond{Absent()}},`, `Row: encodePayment(&p)},`},
	{"paid-from-any-state", "money moves an order whatever state it is in by now", ledgerGo,
		`		order.Set = Row{"state": string(to)}
`, `		order.Set, order.If = Row{"state": string(to)}, nil
`},
	{"paid-order-stays", "money is recorded and the order does not move", ledgerGo,
		`	if to != from {
		order.Set`,
		`	if to == "" {
		order.Set`},
	{"unit-in-another-bucket", "unit rows lie in a bucket that no sweep reads under that number", encodeGo,
		`bucketKey(o.Item, unit%o.Buckets)`, `bucketKey(o.Item, (unit+1)%o.Buckets)`},
}

// chosenSpans change what a limit that spans a family counts.
var chosenSpans = []choice{
	{"span-not-charged", "placing counts nothing over the family", ledgerGo,
		`		writes = append(writes, charge(spanKey(o.User, o.Span), &o, Row{"v": Version}, limit))
`, `		writes = append(writes, Write{Key: spanKey(o.User, o.Span), Op: OpCheck, If: []Cond{AtMost("units", 9)}})
`},
	{"span-unbounded", "placing counts over the family, and does not look at the limit", ledgerGo,
		`&o, Row{"v": Version}, limit))`, `&o, Row{"v": Version}, seckill.MaxLimit))`},
	{"span-off-by-one", "placing allows one unit above the limit over the family", ledgerGo,
		`&o, Row{"v": Version}, limit))`, `&o, Row{"v": Version}, limit+1))`},
	{"span-by-item", "each item of a family counts for itself", ledgerGo,
		`charge(spanKey(o.User, o.Span), &o`, `charge(spanKey(o.User, o.Span+o.Item), &o`},
	{"span-of-all-users", "a family counts the units of all users together", encodeGo,
		`return Key{TableQuotas, user, "family#" + family}`, `return Key{TableQuotas, "1", "family#" + family}`},
	{"span-refusal-is-a-fault", "a refusal by the limit over the family is tried again and again", ledgerGo,
		`case c.failed(1), o.Span != "" && c.failed(4):`, `case c.failed(1):`},
	{"span-not-lowered", "an order that gives back still counts over the family", ledgerGo,
		`		writes = append(writes, discharge(spanKey(o.User, o.Span), o))
`, `		writes = append(writes, Write{Key: spanKey(o.User, o.Span), Op: OpCheck, If: []Cond{AtMost("units", 9)}})
`},
	{"span-forgotten", "an order's row does not say that it counts over a family", encodeGo,
		`		row["v"] = SpanVersion
`, `		delete(row, "span")
`},
	{"span-of-every-family", "a limit counts the whole family, whether it spans it or not", consumeGo,
		`Span: it.Variant.Span(),`, `Span: it.Variant.Family,`},
	{"options-not-kept", "an order does not keep the options of its variant", consumeGo,
		`Options: it.Variant.Options, `, ``},
}

// chosenScripts change the checks that the scripts make before they write. A condition that is meant to be constant
// tests call, a local of every script: gopher-lua compiles "if false" at the end of a loop incorrectly.
var chosenScripts = []choice{
	{"window-ends-late", "the window's end is part of it", stockDir + "reserve.lua",
		`now >= tonumber(it[2])`, `now > tonumber(it[2])`},
	{"window-start-ignored", "units are reserved before the sale begins", stockDir + "reserve.lua",
		`if now < tonumber(it[1]) then`, `if now < 0 then`},
	{"window-end-ignored", "units are reserved after the sale has ended", stockDir + "reserve.lua",
		`now >= tonumber(it[2])`, `now < 0`},
	{"stop-ignored", "units are reserved while the item is stopped", stockDir + "reserve.lua",
		`elseif it[6] == '1' then`, `elseif it[6] == '2' then`},
	{"stock-limit-ignored", "the stock refuses nobody above the limit: the ledger does, later", stockDir +
		"reserve.lua",
		`units + count > tonumber(it[3])`, `count > tonumber(it[3])`},
	{"one-too-many", "one number more than there is stock is handed out", stockDir + "reserve.lua",
		`if left <= 0 then`, `left = left + 1
if left <= 0 then`},
	{"nothing-awaited", "a reservation is not noted for sending again", stockDir + "reserve.lua",
		`call('ZADD', AWAITING, whole(now + tonumber(ARGV[8])), order)
`, ``},
	{"keyless-repeat-is-new", "a keyless repeat while the first is queued reserves again", stockDir + "reserve.lua",
		`if ARGV[5] == '0' then`, `if ARGV[5] == '2' then`},
	{"returned-kept", "the record of an order that gave its units back is kept", stockDir + "return.lua",
		`  call('HDEL', RES, ARGV[1])`, `  save(ARGV[1], r)`},
	{"rejected-kept", "the record of an order that holds nothing is kept", stockDir + "change_common.lua",
		`    call('HDEL', RES, order)`, `    save(order, r)`},
	{"displaced-forgotten", "the record of an order whose unit looks held by another is dropped", stockDir +
		"confirm.lua", `  keep(order, r, counts)`, `  keep(order, r)`},
	{"unlisted-waits", "each unit of a waiting order waits for it, not only those of its reservation", stockDir +
		"change_common.lua", `',' .. n .. ',', 1, true)`, `',', 1, true)`},
	{"unlisted-uncounts", "a unit that a waiting order loses without having reserved it counts less against its user",
		stockDir + "correct.lua", `  if r and r.state == 'c' then -- an`, `  if r then -- an`},
	{"uncounted-kept", "the record of an order that no longer counts against its user is kept", stockDir +
		"correct_user.lua", `    keep(o, r)`, `    save(o, r)`},
	{"keyless-repeat-by-count", "a keyless purchase to another address is taken for a repeat of the one that is queued",
		stockDir + "reserve.lua",
		`q.hash == ARGV[6] then`, `q.count == count then`},
	{"known-entry-reserved-again", "an order that the ledger knows is reserved again after a loss", stockDir +
		"reserve.lua",
		`    if o == order then
      return {'before', order}`,
		`    if o == '' then
      return {'before', order}`},
	{"release-anybodys", "a number is freed whoever holds it", stockDir + "change_common.lua",
		`if call('HGET', HELD, n) ~= order then`, `if not call('HGET', HELD, n) then`},
	{"claim-leaves-proof", "a drift pass proves that none is left though a unit went to an order meanwhile", stockDir +
		"change_common.lua", `  doubt()
  call('ZREM', FREE, n)`, `  call('ZREM', FREE, n)`},
	{"return-leaves-proof", "a drift pass proves that no unit is left though a unit came back from no holder meanwhile",
		stockDir + "return.lua", `    doubt()
`, ``},
	{"claim-leaves-gap", "numbers between high-water and a claimed one are in no list", stockDir + "change_common.lua",
		`for k = hw + 1, top do`, `for k = hw + 2, top do`},
	{"claimed-stays-free", "a number that becomes its owner's stays free, too", stockDir + "change_common.lua",
		`  call('ZREM', FREE, n)
`, ``},
	{"confirm-frees-nothing", "what the ledger did not give stays held", stockDir + "confirm.lua",
		`    if not given[tostring(n)] then`, `    if not call then`},
	{"confirmed-stays-queued", "a decided reservation's record stays queued", stockDir + "confirm.lua",
		`r.state, r.units, r.none, r.backoff, r.body = 'c', units, '', '', ''`, `r.units, r.none = units, ''`},
	{"redraw-gives-unasked", "a redraw claims a number that the reservation does not name", stockDir + "redraw.lua",
		`    if n == refused then`, `    if call then`},
	{"redraw-none-at-once", "\"no number left\" is believed before a drift pass began after it", stockDir +
		"redraw.lua",
		`elseif tonumber(it[4]) > tonumber(r.none) then`, `elseif call then`},
	{"redraw-none-same-pass", "a drift pass that had begun before counts", stockDir + "redraw.lua",
		`tonumber(it[4]) > tonumber(r.none)`, `tonumber(it[4]) >= tonumber(r.none)`},
	{"redraw-forgets-owner", "a redraw does not give the refused number to its owner", stockDir + "redraw.lua",
		`    claim(refused, ARGV[9], ARGV[10])`, `    call('HDEL', HELD, refused)`},
	{"redraw-takes-from-others", "a redraw gives its owner a number that somebody else holds by now", stockDir +
		"redraw.lua",
		`if refused > 0 and (not holder or holder == order) then`, `if refused > 0 then`},
	{"forgotten-not-awaited", "a reservation taken up from its message is not noted for sending again", stockDir +
		"redraw.lua",
		`  call('ZADD', AWAITING, whole(now + tonumber(ARGV[11])), order)
`, ``},
	{"confirmed-redrawn", "a decided order draws again", stockDir + "redraw.lua",
		`if r.state == 'c' then`, `if r.state == 'x' then`},
	{"return-anybodys", "a return frees its numbers whoever holds them", stockDir + "return.lua",
		`  release(n, ARGV[1])`, `  release(n, call('HGET', HELD, n) or ARGV[1])`},
	{"correct-blindly", "the drift pass corrects what has changed since it was seen", stockDir + "correct.lua",
		`if (call('HGET', HELD, n) or '') ~= holder or`, `if`},
	{"correct-user-blindly", "the drift pass corrects entries that have changed since they were seen", stockDir +
		"correct_user.lua",
		`if (call('HGET', USERS, ARGV[1]) or '') ~= ARGV[2] then`, `if not call then`},
	{"drift-end-forgotten-pass", "a drift pass counts that the stock does not remember", stockDir + "drift_end.lua",
		`p == ARGV[1] .. ':' .. ARGV[2] and`, `p and`},
	{"assert-older-version", "an older state of the item overwrites a newer one", stockDir + "assert.lua",
		`if tonumber(ARGV[1]) < tonumber(it[1]) then`, `if not call then`},
	{"stock-never-grows", "added stock does not reach the stock", stockDir + "assert.lua",
		`if tonumber(ARGV[7]) > tonumber(it[2]) then`, `if not call then`},
	{"install-over-live", "a build is installed over what is installed", stockDir + "install.lua",
		`call('EXISTS', KEYS[6]) == 1 or `, ``},
	{"install-incomplete", "a build is installed whether it is whole or not", stockDir + "install.lua",
		`if call('EXISTS', KEYS[6]) == 1 or call('HLEN', NHELD) ~= tonumber(ARGV[2]) or call('HLEN', NUSERS) ~= tonumber(ARGV[3])
  or call('ZCARD', NFREE) ~= tonumber(ARGV[4]) - tonumber(ARGV[2]) then`,
		`if call('EXISTS', KEYS[6]) == 1 then`},
}
