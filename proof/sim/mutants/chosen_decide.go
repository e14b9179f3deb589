package main

const (
	decideGo   = "shared/flow/money/refund/decide.go"
	personGo   = "shared/seckill/proposal.go"
	proposalGo = "shared/driver/ledger/proposal.go"
)

// chosenDecide change who may have money go back.
var chosenDecide = []choice{
	{"approved-by-oneself", "a person approves the refund that they want themselves", decideGo,
		`case first != nil && seckill.Person(first.Who) == seckill.Person(w.who):`,
		`case first != nil && first.Who == w.who && first.Why == w.why && first.Restock != w.restock:`},
	{"approved-in-another-role", "a person who takes on another role is somebody else", personGo,
		`	return who[strings.LastIndex(who, "/")+1:]`, `	return who`},
	{"alone-above-the-amount", "one person refunds any amount", decideGo,
		`case f.Alone.Amount > 0 && amount > f.Alone.Amount:`, `case f.Alone.Amount < 0 && amount > f.Alone.Amount:`},
	{"alone-any-number", "one person refunds any number a day", decideGo,
		"case f.Alone.PerDay > 0:\n\t\tby.Person", "case f.Alone.PerDay < 0:\n\t\tby.Person"},
	{"alone-one-too-many", "one person refunds one more a day", proposalGo,
		`AtMost("n", int64(d.PerDay)-1)`, `AtMost("n", int64(d.PerDay))`},
	{"alone-uncounted", "refunds of a person are not counted", proposalGo,
		`Add: map[string]int64{"n": 1},
			If: []Cond{AtMost`, `Add: map[string]int64{"n": 0},
			If: []Cond{AtMost`},
	{"refund-waits-untold", "staff hear that money goes back; it waits for a second person", decideGo,
		`return Decided{Waiting: &first}, f.Ledger.Propose(ctx, first, p.TradeNo)`,
		`return Decided{Started: true}, f.Ledger.Propose(ctx, first, p.TradeNo)`},
}
