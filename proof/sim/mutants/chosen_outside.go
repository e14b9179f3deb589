package main

const (
	outsideGo     = "shared/driver/ledger/outside.go"
	outsideFlowGo = "shared/flow/internal/payment/outside.go"
	orderNounGo   = "shared/seckill/order.go"
	refundRowsGo  = "shared/driver/ledger/refund.go"
)

// chosenOutside change what happens to money that went back outside the shop.
var chosenOutside = []choice{
	{"part-refund-is-whole", "a part that went back counts as all of it", outsideFlowGo,
		`was, now := p.Outside, min(total, p.Amount)`, `was, now := p.Outside, p.Amount`},
	{"refused-is-elsewhere", "a refund that is refused counts as made by somebody else", refundGo,
		`case err != nil || t.State != seckill.TradeClosed:`, `case err != nil || t.State == "":`},
	{"held-order-shipped", "an order is shipped before somebody has decided about its money", fulfilledGo,
		`w.If = append(w.If, AtMost("undecided", 0))`, `_ = ships`},
	{"outside-holds-nothing", "an order of which a part went back does not wait", outsideGo,
		`order.Set = Row{"undecided": int64(1)}`, `_ = order`},
	{"foreign-refund-forgotten", "a notification of a refund in the console is forgotten", notifyGo,
		`if err == nil && back > 0 {`, `if err == nil && back < 0 {`},
	{"foreign-refund-on-a-bill-forgotten", "a refund in the console that only the bill has is forgotten", reconcileGo,
		`if sum <= known {`, `if sum <= f.p.Amount {`},
	{"earlier-bills-forgotten", "only the refunds of a day's bill count", reconcileGo,
		`if day.Format(time.DateOnly) < seckill.Day(o.Placed) {`,
		`if day.Format(time.DateOnly) < seckill.Day(o.Placed) || l != nil {`},
	{"own-refund-is-foreign", "the shop's own refund counts as somebody else's", outsideFlowGo,
		`case p.State == seckill.RefundDone || now <= was || again:`, `case p.State == seckill.RefundDone || now <= was:`},
	{"older-notification-counts", "a notification that comes late undoes a later one", outsideFlowGo,
		`now <= was || again:`, `now == was || again:`},
	{"whole-is-refunded-again", "what went back is refunded once more", orderNounGo,
		`func (p *Payment) Rest() Fen { return p.Amount - p.Outside }`, `func (p *Payment) Rest() Fen { return p.Amount }`},
	{"whole-never-queried", "nobody asks whether all went back", outsideGo,
		`if !kept || p.Rest() == 0 {`, `if !kept {`},
	{"accepted-unseen", "a decision counts for what went back after it", outsideGo,
		`order.If = append(order.If, stays("outside", o.Outside))`, `_ = order.If`},
	{"stale-refund-refused", "a refusal of the whole counts for the rest", refundRowsGo,
		`Add: map[string]int64{"tries": 1},
		If:  []Cond{Eq("state", string(is)), AtMost("outside", int64(p.Outside))}}`,
		`Add: map[string]int64{"tries": 1},
		If:  []Cond{Eq("state", string(is))}}`},
	{"unsaid-sum-forgotten", "a refund whose sum is not told is forgotten", notifyGo,
		`back = n.Amount`, `back = 0`},
	{"gone-by-one", "one person says of any sum that it went back", decideGo,
		`return cmp.Or(p.Rest(), p.Amount)`, `return p.Rest()`},
	{"gone-unsaid", "a refund of the rest says that all went back", decideGo,
		`case whole && !w.gone:`, `case whole && !w.gone && w.who == "":`},
	{"less-unasked", "less went back, although the provider says all did", decideGo,
		`if t.State != seckill.TradePaid {`, `if t.State == "" {`},
	{"lowered-sum-swept", "a sweep that read the larger sum defers what a person has decided", refundRowsGo,
		`w.If[1] = stays("outside", p.Outside)`, `w.If[1] = AtMost("outside", int64(p.Outside))`},
	{"restocked-twice", "units of a refunded order are sold twice", refundRowsGo,
		`order.If = append(order.If, Eq("units", encodeUnits(o.Units)))
	c, err := l.transact(ctx, "restock "`, `c, err := l.transact(ctx, "restock "`},
	{"restocked-after-leaving", "goods that left are sold again once their order is refunded", orderNounGo,
		`return o.State.Left() || slices`, `return o.State.Left() || o.ID == "" && slices`},
	{"proposal-survives", "a refund waits for a second person after all went back", refundRowsGo,
		`if kept { // nobody`, `if kept && was < 0 { // nobody`},
	{"owing-sum-forgotten", "an order that owes does not say what went back outside", refundRowsGo,
		`if p.Outside > was && (kept || from == seckill.RefundOwed) {`, `if p.Outside > was && kept {`},
}
