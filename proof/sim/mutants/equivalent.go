package main

// Reasons that several equivalent mutants share.
const (
	driftHeals = "the drift pass gives each number to the owner of its unit row, or frees it, and each user the " +
		"entries of the quota row: within two minutes"
	resent   = "the reservation stays awaited: repair sends its message again, and consume finishes by the row"
	collides = "numbers that look free and are sold collide when they are placed: one redraw each; the drift pass " +
		"finds the rest"
)

// equivalent maps mutants to the reason why no world can reveal them: mostly because two mechanisms guard the same
// thing and one suffices. Each must survive: one that is caught does not belong here.
var equivalent = map[string]string{
	"ack-before-confirm":          resent,
	"placed-and-forgotten":        resent + "; the sweep closes without a message, too",
	"confirm-not-installed-acked": "the ledger has decided, and the rebuild reads the ledger",
	"missing-trade-is-over-early": "closing begins a minute after pay_by, when no cashier opens any more: clocks " +
		"are wrong by 2 s at most",
	"closing-at-pay-by": "the grace spares a shopper whose payment is under way; without it the provider " +
		"is asked earlier, and obeyed",
	"return-row-first":              driftHeals,
	"return-row-deleted-blindly":    "an order gives back once, so its return row never has other numbers",
	"return-charges-on":             driftHeals,
	"confirm-charges-on":            driftHeals,
	"not-installed-confirms-return": driftHeals,
	"empty-install-any-time":        collides,
	"build-unfenced": "install counts units, users and free numbers: a mixture of two builds is " +
		"dropped, or differs where drift corrects it",
	"build-mixes-old": "install counts units, users and free numbers; " + driftHeals,
	"build-taken-over": "the builder that lost its token gives up, and the other goes on: patience only " +
		"saves work",
	"install-mixes-old":       "a loss takes all keys of an item, which are in one slot and have no TTL",
	"confirmed-stays-awaited": "due.lua takes out what it finds decided, within a minute",
	"correct-user-awaited": "entries that are as seen are awaited only when a loss has brought a " +
		"reservation back: the quota row decides, and " + driftHeals,
	"correct-awaited": "scan.lua says who is awaited, and the flow passes over those; " + collides,

	"consume/consume.go:sendClosing:swap-min-max:2": "a closing message that comes early is sent again until it is due",
	"redraw.lua:drop-call:2":                        driftHeals,
	"confirm.lua:swap-min-max:1":                    driftHeals,
	"shop/order.go:prepare:negate-condition:3": "pay strings are forgotten too early, and signed again: the " +
		"same bytes",
	"erase/erase.go:eraseOrder:swallow-error:1": "no row has the empty id of an order that could not be read: " +
		"that is an error, too, and the operator asks again",
	"refund/refund.go:made:return-no-error:1": "only the error is not reported: the payment stays due, and the " +
		"next minute's sweep asks again",
	"refund/refund.go:made:return-no-error:2": "only the error is not reported: the payment stays due, and the " +
		"next minute's sweep asks again",
	"repair/repair.go:rebuild:return-no-error:5": "only the error is not reported: the next minute's run rebuilds",
	"repair/drift.go:drift:return-no-error:4": "only the error is not reported: the pass is not ended, so it " +
		"does not count",
	"repair/drift.go:drift:return-no-error:5": "only the error is not reported: the pass is not ended, so it " +
		"does not count",
	"repair/drift.go:drift:swallow-error:1": "a pass that did not begin is not remembered, so it does not count",
	"itemcache/itemcache.go:Get:boundary:1": "one item more or less in an instance's memory of 2,000 decides " +
		"nothing",
	"repair/drift.go:driftBucket:drop-call:1": "the second loop asks for corrections that the first has made: " +
		"they find the stock not as seen",
	"repair/repair.go:Run:negate-condition:1": "finished returns are finished twice, which changes nothing; " +
		"those of a lost stock wait for the next minute's run",
	"acts/tally.go:over:off-by-one:1": "each group has memory for one member more, which nobody uses",
	"correct.lua:off-by-one:6":        "only a metric counts the answer",
	"install.lua:off-by-one:3":        "numbers of drift passes are only compared with each other",
	"count/count.go:groupsOf:boundary:1": "two images of an order with histories of one length differ in nothing " +
		"that is counted",
}
