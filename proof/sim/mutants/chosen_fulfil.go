package main

const (
	fulfilGo    = "shared/flow/office/fulfil/fulfil.go"
	shipGo      = "shared/flow/office/fulfil/ship.go"
	paidGo      = "shared/flow/front/shop/paid.go"
	sentGo      = "shared/flow/sale/expire/sent.go"
	fulfilledGo = "shared/driver/ledger/fulfil.go"
	stateGo     = "shared/seckill/state.go"
)

// chosenFulfil change what happens to orders after they are paid.
var chosenFulfil = []choice{
	{"shipped-and-refunded", "a shipment does not look at the state that it leaves", fulfilledGo,
		`If: []Cond{Eq("state", string(o.State)), Eq("units", encodeUnits(o.Units))}}`, `If: nil}`},
	{"note-on-any-state", "a note or a hiding does not look at the state that it was meant for", fulfilledGo,
		`If: []Cond{Eq("state", string(o.State))}}`, `If: nil}`},
	{"shipped-without-parcel", "the ledger forgets carrier and number", fulfilledGo,
		`w.Set["carrier"], w.Set["number"] = o.Carrier, o.Number`, `_ = ships`},
	{"corrected-over-another", "a correction does not look at the parcel that it was meant for", fulfilledGo,
		`w.If = append(w.If, Eq("carrier", o.Carrier), Eq("number", o.Number))`, `_ = w.If`},
	{"sent-unscheduled", "nobody looks again at an order that is on its way", fulfilledGo,
		`if next.IsZero() {`, `if !next.IsZero() {`},
	{"received-goods-restocked", "goods that the shopper has received are sold again after a refund", stateGo,
		`return s == Shipped || s == Received || s == Completed`, `return s == Shipped || s == Completed`},
	{"received-for-ever", "an order that was received is never completed", sentGo,
		`case o.State == seckill.Received &&`, `case o.State == seckill.Completed &&`},
	{"another-parcel-is-the-same", "staff hear that an order is shipped with this number; it went with another", shipGo,
		`case o.Carrier == p.Carrier && o.Number == p.Number && o.State.Left():`, `case o.State.Left():`},
	{"parcels-beside-a-wrong-one", "parcels are written though one beside them is wrong", shipGo,
		`if dry || len(done.Faults) > 0 {`, `if dry {`},
	{"hidden-with-work-left", "staff hide orders for which something is left to do", fulfilGo,
		`if hidden && !o.State.Over() {`, `if hidden && o.State == "" {`},
	{"received-by-anybody", "a shopper says that another's order came", paidGo,
		`o, err := f.placed(ctx, user, id)`, `o, err := f.Ledger.Order(ctx, id)`},
	{"received-before-sent", "a shopper hears yes to the receipt of what never left", paidGo,
		`case o.State == seckill.Received || o.State == seckill.Completed:`, `case o.State != seckill.Shipped:`},
}
