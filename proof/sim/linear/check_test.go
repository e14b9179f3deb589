package linear

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/seckill"
)

// told returns a history of shopper 7 and item 1001 in which each operation begins after the previous answer.
func told(ops ...Op) []Op {
	for i := range ops {
		op := &ops[i]
		op.Call, op.Return = int64(10*i), int64(10*i+5)
		if op.Outcome.Kind == Unknown {
			op.Return = forever
		}
		if op.Shopper == "" {
			op.Shopper = "7"
		}
		if op.Item == "" {
			op.Item = "1001"
		}
	}
	return ops
}

func (op Op) answered(o Outcome) Op { op.Outcome = o; return op }

func refused(c seckill.Code, order string) Outcome {
	return Outcome{Kind: Refused, Code: c, Order: order}
}

func looks(order string, o Outcome) Op { return Op{Kind: Read, Order: order, Outcome: o} }

func cancels(order string, o Outcome) Op { return Op{Kind: Cancel, Order: order, Outcome: o} }

func newest(o Outcome) Op { return Op{Kind: Newest, Outcome: o} }

func lists(seen ...Seen) Op {
	return Op{Kind: List, Outcome: Outcome{Kind: Shown, Seen: seen}}
}

var missing = Outcome{Kind: Missing}

func TestPromises(t *testing.T) {
	const (
		queued, pending, closing = seckill.Queued, seckill.PendingPayment, seckill.Closing
		paid, cancelled, expired = seckill.Paid, seckill.Cancelled, seckill.Expired
	)
	other := func(op Op) Op { op.Shopper = "8"; return op }
	body := func(op Op, address string) Op { op.Address = address; return op }
	for _, c := range []struct {
		name   string
		ops    []Op
		losses []int64
		rule   string // "" means no contradiction
		shows  int    // operations in the contradiction, but for RuleLife
	}{
		{"bought, placed, paid", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", queued)),
			looks("a", row("a", pending, 4)),
			looks("a", row("a", paid, 4))), nil, "", 0},
		{"forgotten after it was acknowledged", told(buys("", 1).answered(accepted("a")), newest(shown("a", queued)),
			looks("a", missing)), nil, RuleLife, 0},
		{"hidden by a loss", told(buys("", 1).answered(accepted("a")), looks("a", missing),
			looks("a", row("a", pending, 4))), []int64{7}, "", 0},
		{"hidden, yet the ledger had it", told(buys("", 1).answered(accepted("a")), looks("a", row("a", pending, 4)),
			looks("a", missing)), []int64{7}, RuleLife, 0},
		{"back again after the repeat of a purchase", told(buys("k", 1).answered(accepted("a")),
			buys("k", 1).answered(accepted("a")), looks("a", missing)),
			[]int64{7}, RuleLife, 0},
		{"paid and then not", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", paid, 4)),
			newest(shown("a", pending))), nil, RuleLife, 0},
		{"an unanswered purchase that came to nothing", told(buys("k", 1), newest(missing), looks("a", missing)), nil,
			"", 0},
		{"an unanswered purchase that took effect late", told(buys("", 1), newest(missing), newest(shown("n", queued)),
			looks("n", row("n", paid, 4))), nil, "", 0},
		{"an unanswered purchase made two orders", told(buys("", 1), newest(shown("n", paid)),
			newest(shown("m", paid))), nil, RuleLife, 0},
		{"hidden by a loss at the time of the purchase", told(buys("", 1).answered(accepted("a")), looks("a", missing)),
			[]int64{0}, "", 0},
		{"hidden by a loss at the time of the answer", told(buys("", 1).answered(accepted("a")), looks("a", missing)),
			[]int64{15}, "", 0},
		{"a purchase with a key beside one without", told(buys("", 1).answered(accepted("a")),
			buys("k", 1).answered(accepted("b")),
			looks("a", row("a", queued)), looks("b", row("b", queued)), newest(shown("a", queued))), nil, "", 0},
		{"two without keys, the first lost for a while", told(buys("", 1).answered(accepted("a")),
			buys("", 1).answered(accepted("b")), newest(shown("b", queued)),
			newest(shown("a", queued)), buys("", 1).answered(accepted("a")), newest(shown("b", queued)),
			newest(shown("a", queued))), []int64{7}, "", 0},
		{"an unanswered purchase and its repeat both queued, across a loss",
			told(buys("", 1), buys("", 1).answered(accepted("b")),
				looks("n", row("n", queued)), looks("b", row("b", queued))), []int64{7}, "", 0},
		{"two without keys, the first known again", told(buys("", 1).answered(accepted("a")),
			newest(shown("a", queued)), buys("", 1).answered(accepted("b")),
			newest(shown("a", queued))), []int64{7}, RuleLife, 0},
		{"an unanswered purchase does not explain the order of a key", told(buys("", 1), newest(shown("a", queued)),
			buys("k", 1).answered(accepted("a"))), nil, RuleLife, 0},
		{"not enough of another count", told(buys("", 1).answered(accepted("a")),
			buys("", 2).answered(refused(seckill.CodeNotEnough, "")),
			buys("", 2).answered(accepted("b")), newest(shown("a", queued))), nil, "", 0},
		{"not enough while a repeat would do", told(buys("", 2).answered(accepted("a")),
			buys("", 2).answered(refused(seckill.CodeNotEnough, "")),
			newest(shown("a", queued))), nil, RuleLife, 0},
		{"a key with two counts", told(buys("k", 2), buys("k", 1), newest(shown("a", queued)),
			buys("", 2).answered(accepted("b")),
			newest(shown("a", queued)), buys("k", 2).answered(accepted("a"))), nil, "", 0},
		{"a fault is not an answer", told(buys("k", 1).answered(refused(seckill.CodeUnavailable, "")), newest(missing),
			newest(shown("a", queued)),
			buys("k", 1).answered(accepted("a"))), nil, "", 0},
		{"an order that nobody asked for", told(newest(shown("n", queued)), buys("", 1).answered(accepted("a"))), nil,
			RuleLife, 0},
		{"unconfirmed is made", told(buys("k", 1).answered(refused(seckill.CodeUnconfirmed, "a")), looks("a", missing)),
			nil, RuleLife, 0},
		{"a repeat without a key while queued is another order", told(buys("", 1).answered(accepted("a")),
			buys("", 1).answered(accepted("b")),
			looks("a", row("a", queued))), nil, RuleLife, 0},
		{"a repeat without a key once placed", told(buys("", 1).answered(accepted("a")),
			buys("", 1).answered(accepted("b")), looks("a", row("a", paid, 4)),
			looks("b", row("b", queued))), nil, "", 0},
		{"a repeat without a key across a loss", told(buys("", 1).answered(accepted("a")),
			buys("", 1).answered(accepted("b")), looks("a", row("a", queued))),
			[]int64{7}, "", 0},
		{"an unanswered purchase and its repeat both queued", told(buys("", 1), buys("", 1).answered(accepted("b")),
			newest(shown("n", queued)),
			looks("b", row("b", queued))), nil, "", 0}, // the count of n is unknown
		{"an unanswered purchase and its repeat both queued, with one count",
			told(buys("", 1), buys("", 1).answered(accepted("b")),
				looks("n", row("n", queued)), looks("b", row("b", queued))), nil, RuleLife, 0},
		{"limit_reached while a repeat would do", told(buys("", 2).answered(accepted("a")),
			buys("", 2).answered(refused(seckill.CodeLimitReached, "a")),
			newest(shown("a", queued))), nil, RuleLife, 0},
		{"a repeat with the key meets the limit", told(buys("k", 2).answered(accepted("a")),
			buys("k", 2).answered(refused(seckill.CodeLimitReached, "")),
			looks("a", row("a", pending, 4, 5))), nil, RuleLife, 0},
		{"a repeat with the key of an order that is over meets the limit", told(buys("k", 1).answered(accepted("a")),
			looks("a", row("a", expired)),
			buys("l", 2).answered(accepted("b")), buys("k", 1).answered(refused(seckill.CodeLimitReached, "b")),
			looks("a", row("a", expired))), nil, "", 0},
		{"the limit names the order that the key asks for", told(buys("k", 2).answered(accepted("a")),
			buys("k", 2).answered(refused(seckill.CodeLimitReached, "a"))),
			nil, RuleLife, 0},
		{"the limit names an order that does not exist", told(buys("", 1).answered(accepted("a")),
			buys("", 2).answered(refused(seckill.CodeLimitReached, "z"))), nil, RuleLife, 0},
		{"a cancel that was not done", told(buys("k", 1).answered(accepted("a")), cancels("a", shown("a", closing)),
			looks("a", row("a", pending, 4))), nil, RuleLife, 0},
		{"a cancel that lost against a payment", told(buys("k", 1).answered(accepted("a")),
			cancels("a", shown("a", closing)), looks("a", row("a", paid, 4))), nil, "", 0},
		{"still queued after it was placed", told(buys("k", 1).answered(accepted("a")),
			looks("a", row("a", pending, 4)),
			cancels("a", refused(seckill.CodeStillQueued, "a"))), nil, RuleLife, 0},
		{"not cancellable and then open", told(buys("k", 1).answered(accepted("a")),
			cancels("a", refused(seckill.CodeNotCancelable, "a")),
			looks("a", row("a", pending, 4))), nil, RuleLife, 0},
		{"cancel_limit to one who cancelled nothing", told(buys("k", 1).answered(accepted("a")),
			cancels("a", refused(seckill.CodeCancelLimit, "a"))), nil, RuleCancels, 1},
		{"cancel_limit after five other cancels, answered or not", told(buys("k", 1).answered(accepted("a")),
			cancels("b", Outcome{}), cancels("c", Outcome{}),
			cancels("d", Outcome{}), cancels("e", Outcome{}), cancels("f", Outcome{}),
			cancels("a", refused(seckill.CodeCancelLimit, "a")),
			looks("a", row("a", pending, 4))), nil, "", 0},
		{"cancel_limit of a paid order", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", paid, 4)),
			cancels("b", Outcome{}),
			cancels("c", Outcome{}), cancels("d", Outcome{}), cancels("e", Outcome{}), cancels("f", Outcome{}),
			cancels("a", refused(seckill.CodeCancelLimit, "a"))), nil, RuleLife, 0},
		{"cancelled by nobody", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", cancelled))), nil,
			RuleCancel, 1},
		{"cancelled before anybody tried", told(buys("k", 1).answered(accepted("a")), newest(shown("a", cancelled)),
			cancels("a", Outcome{})), nil, RuleCancel, 1},
		{"cancelled by a refused cancel", told(buys("k", 1).answered(accepted("a")),
			cancels("a", refused(seckill.CodeStillQueued, "a")),
			newest(shown("a", cancelled))), nil, RuleCancel, 1},
		{"cancelled by a cancel without an answer", told(buys("k", 1).answered(accepted("a")), cancels("a", Outcome{}),
			looks("a", row("a", cancelled))), nil, "", 0},
		{"a list lags", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", paid, 4)),
			lists(Seen{Order: "a", State: closing})), nil, "", 0},
		{"a list offers to pay what is paid", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", paid, 4)),
			lists(Seen{Order: "a", State: pending})), nil, RuleLife, 0},
		{"a list is ahead of a later read", told(buys("k", 1).answered(accepted("a")),
			lists(Seen{Order: "a", State: expired}), looks("a", row("a", paid, 4))), nil, RuleLife, 0},
		{"one key, two orders", told(buys("k", 1).answered(accepted("a")), buys("k", 1).answered(accepted("b"))),
			[]int64{7}, RuleKey, 2},
		{"two keys, one order", told(buys("k", 1).answered(accepted("a")), buys("l", 1).answered(accepted("a"))),
			[]int64{7}, RuleKey, 2},
		{"two shoppers, one order", told(buys("k", 1).answered(accepted("a")), other(newest(shown("a", paid)))), nil,
			RuleOwner, 2},
		{"two items, one order", told(buys("k", 1).answered(accepted("a")), Op{Item: "1002", Kind: Newest,
			Outcome: shown("a", paid)}), nil, RuleOwner, 2},
		{"a second body is accepted", told(buys("k", 1).answered(accepted("a")),
			body(buys("k", 1), "b").answered(accepted("a")),
			looks("a", row("a", pending, 4))), nil, RuleBody, 2},
		{"a second body is accepted once the order is over", told(buys("k", 1).answered(accepted("a")),
			looks("a", row("a", expired)),
			body(buys("k", 1), "b").answered(accepted("a")), looks("a", row("a", expired))), nil, "", 0},
		{"a second body is accepted across a loss", told(buys("k", 1).answered(accepted("a")),
			body(buys("k", 1), "b").answered(accepted("a"))), []int64{7}, "", 0},
		{"a second body is refused", told(buys("k", 1), buys("k", 2).answered(refused(seckill.CodeKeyReused, "a")),
			looks("a", row("a", paid, 4))), nil, "", 0},
		{"key_reused and no other body", told(buys("k", 1), buys("k", 1).answered(refused(seckill.CodeKeyReused, "a"))),
			nil, RuleBody, 1},
		{"key_reused, and the other body was refused", told(buys("k", 2).answered(refused(seckill.CodeItemUnknown, "")),
			buys("k", 1).answered(refused(seckill.CodeKeyReused, "a"))), nil, RuleBody, 1},
		{"another count than asked for", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", paid, 4, 5))),
			nil, RuleAsked, 1},
		{"the count of a placed order changes", told(buys("k", 1), buys("k", 2), looks("a", row("a", paid, 4)),
			looks("a", row("a", paid, 4, 5)),
			buys("k", 1).answered(accepted("a"))), []int64{7}, RuleAsked, 2},
		{"another address than asked for", told(body(buys("k", 1), "b").answered(accepted("a")),
			looks("a", row("a", paid, 4))), nil, RuleAsked, 1},
		{"the address of a placed order changes", told(buys("k", 1), body(buys("k", 1), "b"),
			looks("a", row("a", paid, 4)),
			looks("a", to("b", row("a", paid, 4))), buys("k", 1).answered(accepted("a"))), []int64{7}, RuleAsked, 2},
		{"a purchase to another address is taken for a repeat", told(buys("", 1).answered(accepted("a")),
			body(buys("", 1), "b").answered(accepted("a"))),
			nil, RuleRepeat, 2},
		{"a purchase to another address is taken for a repeat across a loss", told(buys("", 1).answered(accepted("a")),
			body(buys("", 1), "b").answered(accepted("a"))), []int64{7}, RuleRepeat, 2},
		{"a purchase of another count is taken for a repeat", told(buys("", 1).answered(accepted("a")),
			buys("", 2).answered(accepted("a"))),
			nil, RuleRepeat, 2},
		{"a purchase without a key and one with, to another address, are one",
			told(buys("k", 1).answered(accepted("a")),
				body(buys("", 1), "b").answered(accepted("a"))), nil, RuleRepeat, 2},
		{"a purchase without a key repeats one with a key", told(buys("k", 1).answered(accepted("a")),
			buys("", 1).answered(accepted("a"))), nil, "", 0},
		{"a purchase without a key repeats one with a key and no answer", told(buys("k", 1), body(buys("k", 1), "b"),
			body(buys("", 1), "b").answered(accepted("a")), newest(shown("a", queued)),
			buys("k", 1).answered(accepted("a"))), []int64{7}, "", 0},
		{"two without keys to two addresses, both queued", told(buys("", 1).answered(accepted("a")),
			body(buys("", 1), "b").answered(accepted("b")),
			looks("a", row("a", queued)), looks("b", to("b", row("b", queued)))), nil, "", 0},
		{"not enough for another address", told(buys("", 2).answered(accepted("a")),
			body(buys("", 2), "b").answered(refused(seckill.CodeNotEnough, "")),
			newest(shown("a", queued))), nil, "", 0},
		{"limit_reached for another address", told(buys("", 2).answered(accepted("a")),
			body(buys("", 2), "b").answered(refused(seckill.CodeLimitReached, "a")), newest(shown("a", queued))), nil,
			"", 0},
		{"the count of a queued order changes across a loss", told(buys("k", 1).answered(accepted("a")),
			looks("a", row("a", queued)), buys("k", 2).answered(accepted("a")),
			looks("a", row("a", paid, 4, 5))), []int64{17}, "", 0},
		{"units change", told(buys("k", 1).answered(accepted("a")), looks("a", row("a", pending, 4)),
			looks("a", row("a", paid, 5))), nil, RuleUnits, 2},
		{"units stay after they were given back", told(buys("k", 1).answered(accepted("a")),
			looks("a", row("a", expired, 4))), nil, RuleUnits, 1},
		{"more at once than the limit", told(buys("k", 2).answered(accepted("a")), buys("l", 2).answered(accepted("b")),
			looks("a", row("a", pending, 4, 5)),
			looks("b", row("b", pending, 6, 7)), looks("a", row("a", paid, 4, 5))), []int64{7}, RuleLimit, 3},
		{"more than the limit, one after the other", told(buys("k", 2).answered(accepted("a")),
			looks("a", row("a", pending, 4, 5)), buys("l", 2).answered(accepted("b")),
			looks("b", row("b", pending, 6, 7)), newest(shown("a", expired))), nil, "", 0},
		{"no more than the limit, by a list that lags", told(buys("k", 2).answered(accepted("a")),
			looks("a", row("a", pending, 4, 5)), buys("l", 2).answered(accepted("b")),
			looks("b", row("b", pending, 6, 7)), lists(Seen{Order: "a", State: paid})), nil, "", 0},
		{"no more than the limit, by the smaller of two counts",
			told(buys("k", 1), buys("l", 1).answered(accepted("b")), newest(shown("b", pending)),
				newest(shown("a", queued)), newest(shown("b", paid)), buys("k", 2).answered(accepted("a"))),
			[]int64{45},
			"", 0},
		{"reservations beyond the limit", told(buys("k", 2).answered(accepted("a")),
			buys("l", 2).answered(accepted("b")), newest(shown("b", queued)),
			newest(shown("a", queued))), nil, RuleLimit, 4},
		{"reservations beyond the limit across a loss", told(buys("k", 2).answered(accepted("a")),
			buys("l", 2).answered(accepted("b")), newest(shown("b", queued)),
			newest(shown("a", queued))), []int64{7}, "", 0},
		{"one unit in two orders", told(buys("k", 1).answered(accepted("a")),
			other(buys("k", 1).answered(accepted("b"))), looks("a", row("a", pending, 4)),
			other(looks("b", row("b", paid, 4))), looks("a", row("a", paid, 4))), nil, RuleUnit, 3},
		{"one unit in two orders, the first seen once", told(buys("k", 1).answered(accepted("a")),
			other(buys("k", 1).answered(accepted("b"))),
			other(looks("b", row("b", pending, 4))), looks("a", row("a", pending, 4)),
			other(looks("b", row("b", paid, 4)))), nil, RuleUnit, 3},
		{"one unit, one order after the other", told(buys("k", 1).answered(accepted("a")),
			looks("a", row("a", pending, 4)), looks("a", row("a", expired)),
			other(buys("k", 1).answered(accepted("b"))), other(looks("b", row("b", paid, 4)))), nil, "", 0},
		{"limit_reached by one who bought nothing", told(buys("", 1).answered(refused(seckill.CodeLimitReached, ""))),
			nil, RuleReachable, 1},
		{"limit_reached by one purchase and its repeat", told(buys("k", 1).answered(accepted("a")),
			buys("k", 1).answered(accepted("a")),
			buys("", 1).answered(refused(seckill.CodeLimitReached, "a"))), nil, RuleReachable, 3},
		{"limit_reached by the larger of two counts", told(buys("k", 1).answered(accepted("a")), buys("k", 2),
			buys("", 1).answered(refused(seckill.CodeLimitReached, "a"))),
			[]int64{7}, "", 0},
		{"limit_reached by the larger count of a key whose order a purchase without a key has met first",
			told(buys("", 1).answered(accepted("a")),
				buys("k", 1).answered(accepted("a")), buys("k", 2).answered(accepted("a")),
				buys("", 1).answered(refused(seckill.CodeLimitReached, "a"))),
			[]int64{7}, "", 0},
		{"limit_reached by an order whose return takes long", told(buys("", 2).answered(accepted("a")),
			looks("a", row("a", paid, 4, 5)),
			buys("", 1).answered(refused(seckill.CodeLimitReached, "a"))), nil, "", 0},
		{"limit_reached by a purchase without an answer",
			told(buys("k", 2), buys("", 1).answered(refused(seckill.CodeLimitReached, ""))), nil, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			truth := &Truth{Limit: 2}
			truth.Note(Moment{Installed: true, Left: 1})
			_, err := Check(c.ops, Options{Losses: c.losses, Truth: map[string]*Truth{"1001": truth}})
			var got *Contradiction
			switch errors.As(err, &got); {
			case c.rule == "" && err != nil:
				t.Fatalf("got %v, want no error", err)
			case c.rule != "" && (got == nil || got.Rule != c.rule || c.shows > 0 && len(got.Ops) != c.shows):
				t.Fatalf("got %v, want %q shown by %d operations", err, c.rule, c.shows)
			}
		})
	}
}

func TestOverlappingAnswersAreTrueInSomeOrder(t *testing.T) {
	ops := told(buys("k", 1).answered(accepted("a")), looks("a", row("a", seckill.Paid, 4)),
		looks("a", row("a", seckill.Queued)))
	if _, err := Check(ops, Options{}); err == nil {
		t.Fatal("an order that is queued after it was paid: no error")
	}
	ops[1].Return = ops[2].Return // the order was read before it was paid, but the later answer came first
	if r, err := Check(ops, Options{}); err != nil || r.Operations != 3 {
		t.Fatalf("got %+v, %v; want 3 operations and no error", r, err)
	}
}

func TestContradictionReadsLikeAStory(t *testing.T) {
	ops := told(buys("k", 1).answered(accepted("a")), newest(shown("a", seckill.Queued)), lists(),
		looks("a", row("a", seckill.Paid, 4)),
		buys("k", 1), looks("a", row("a", seckill.PendingPayment, 4)))
	_, err := Check(ops, Options{})
	want :=
		`shopper 7, item 1001: life of an order: order a can only be paid, confirmed, shipped, received, completed, refund_due, refunded by then
  0s–5ns shopper 7 buys 1 of 1001 to "a" with key "k": order a
  30ns–35ns shopper 7 reads order a: order a paid count 1 to "a" units [4]
  50ns–55ns shopper 7 reads order a: order a pending_payment count 1 to "a" units [4]`
	if got := fmt.Sprint(err); got != want {
		t.Fatal(cmp.Diff(want, got))
	}
	_, err = Check(told(newest(shown("n", seckill.Paid))), Options{})
	want = `shopper 7, item 1001: life of an order: order n does not exist by then: no purchase made it
  0s–5ns shopper 7 asks for the newest order: order n paid`
	if got := fmt.Sprint(err); got != want {
		t.Fatal(cmp.Diff(want, got))
	}
}

// TestManyOverlappingAnswersAreDecided covers many slow reads of one order, each overlapping all others, in an
// unhelpful order.
func TestManyOverlappingAnswersAreDecided(t *testing.T) {
	life := []seckill.State{seckill.Paid, seckill.Closing, seckill.Queued, seckill.PendingPayment}
	ops := []Op{buys("k", 1).answered(accepted("a"))}
	for i := range 60 {
		ops = append(ops, newest(shown("a", life[i%len(life)])))
	}
	told(ops...)
	for i := range ops[1:] {
		ops[i+1].Return = 10_000
	}
	if r, err := Check(ops, Options{}); err != nil {
		t.Fatalf("got %+v, %v; want no error", r, err)
	}
	first, last := newest(shown("a", seckill.Paid)), newest(shown("a", seckill.Queued))
	first.Call, first.Return = 7, 8
	last.Call, last.Return = 9_000, 10_000
	first.Shopper, first.Item, last.Shopper, last.Item = "7", "1001", "7", "1001"
	var c *Contradiction
	if _, err := Check(append(ops, first, last), Options{}); !errors.As(err, &c) || len(c.Ops) != 3 {
		t.Fatalf("got %v, want a contradiction of a purchase and two answers", err)
	}
}

// TestHopelessHistoryIsBounded checks that the search gives up on a history that no order explains if all its
// operations overlap.
func TestHopelessHistoryIsBounded(t *testing.T) {
	var ops []Op
	for i := range 24 {
		ops = append(ops, buys(fmt.Sprint(i), 1).answered(accepted(fmt.Sprint("a", i))))
	}
	ops = told(append(ops, newest(shown("z", seckill.Paid)))...)
	for i := range ops {
		ops[i].Call, ops[i].Return = int64(i), 1000
	}
	if r, err := Check(ops, Options{Steps: 1000}); !errors.Is(err, ErrUndecided) || r.Undecided != 1 {
		t.Fatalf("got %+v, %v, want one undecided", r, err)
	}
}

func TestMalformedHistoryIsRefused(t *testing.T) {
	for want, op := range map[string]Op{
		"returned before":     {Call: 2, Return: 1},
		"without a time":      {Return: forever, Kind: Read, Outcome: missing},
		"does not exist here": {Kind: Buy, Outcome: missing},
		"without an order":    {Kind: Buy, Outcome: Outcome{Kind: Accepted}},
		"shows 0 orders":      {Kind: Read, Outcome: Outcome{Kind: Shown}},
		"in state \"lost\"":   {Kind: Read, Outcome: shown("a", "lost")},
	} {
		_, err := Check([]Op{op}, Options{})
		var c *Contradiction
		if err == nil || errors.As(err, &c) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestRecorder(t *testing.T) {
	var r Recorder
	first := r.Begin(Op{Kind: Read, Shopper: "7", Item: "1001", Order: "a", Call: 1})
	second := r.Begin(Op{Kind: Newest, Shopper: "7", Item: "1001", Call: 2})
	third := r.Begin(buys("k", 1))
	r.End(second, 3, missing)
	r.End(third, 4, Outcome{})
	want := []Op{
		{Kind: Read, Shopper: "7", Item: "1001", Order: "a", Call: 1, Return: forever},
		{Kind: Newest, Shopper: "7", Item: "1001", Call: 2, Return: 3, Outcome: missing},
		{Kind: Buy, Key: "k", Count: 1, Address: "a", Return: forever},
	}
	if diff := cmp.Diff(want, r.Ops()); diff != "" {
		t.Fatal(diff)
	}
	r.End(first, 5, Answer(seckill.Refuse(seckill.CodeOrderUnknown)))
	if o := r.Ops()[0]; o.Outcome.Kind != Missing || o.Return != 5 {
		t.Fatalf("got %+v, want missing at 5", o)
	}
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{errors.New("timeout"), Outcome{}},
		{seckill.AsError(errors.New("timeout")), Outcome{}},
		{seckill.Refuse(seckill.CodeInternal), Outcome{}},
		{fmt.Errorf("shop: %w", seckill.Refuse(seckill.CodeOrderUnknown)), missing},
		{&seckill.Error{Code: seckill.CodeUnconfirmed, Order: "a"}, refused(seckill.CodeUnconfirmed, "a")},
		{seckill.Refuse(seckill.CodeSoldOut), refused(seckill.CodeSoldOut, "")},
	} {
		if diff := cmp.Diff(c.want, Answer(c.err)); diff != "" {
			t.Errorf("%v: %s", c.err, diff)
		}
	}
}
