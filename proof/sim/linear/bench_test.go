package linear

import (
	"fmt"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// crowd returns the operations of 30 shoppers in an ordinary run: a purchase with a key that gets no answer, its
// repetition, reads of it, a cancel, and another purchase without a key; neighbours' answers overlap.
func crowd() []Op {
	const shoppers, gap = 30, 1000
	var ops []Op
	for s := range shoppers {
		who := fmt.Sprint(s)
		first, second := "o1x"+who, "o2x"+who
		at := int64(s)
		do := func(op Op, o Outcome) {
			op.Shopper, op.Item, op.Call, op.Return, op.Outcome = who, "1001", at, at+gap+gap/2, o
			if o.Kind == Unknown {
				op.Return = forever
			}
			ops = append(ops, op)
			at += gap
		}
		unit := []int{s + 1}
		do(buys("k", 1), Outcome{})
		do(buys("k", 1), accepted(first))
		do(Op{Kind: Newest}, shown(first, seckill.Queued))
		do(Op{Kind: Read, Order: first}, row(first, seckill.PendingPayment, unit...))
		do(Op{Kind: Cancel, Order: first}, shown(first, seckill.Closing))
		do(Op{Kind: Read, Order: first}, row(first, seckill.Cancelled))
		do(buys("", 1), Outcome{})
		do(buys("", 1), accepted(second))
		do(buys("", 2), Outcome{Kind: Refused, Code: seckill.CodeLimitReached, Order: second})
		do(Op{Kind: Read, Order: second}, row(second, seckill.Paid, 31+s))
		do(Op{Kind: List}, Outcome{Kind: Shown, Seen: []Seen{{Order: second, State: seckill.Paid},
			{Order: first, State: seckill.Cancelled}}})
	}
	return ops
}

func BenchmarkCheck(b *testing.B) {
	ops := crowd()
	opt := Options{Losses: []int64{2500, 6500}, Truth: map[string]*Truth{"1001": {Limit: 2}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Check(ops, opt); err != nil {
			b.Fatal(err)
		}
	}
}
