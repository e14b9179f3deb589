package linear

import (
	"fmt"
	"math"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

const forever = math.MaxInt64

func buys(key string, count int) Op { return Op{Kind: Buy, Key: key, Count: count, Address: "a"} }

func accepted(order string) Outcome { return Outcome{Kind: Accepted, Order: order} }

func shown(order string, s seckill.State) Outcome {
	return Outcome{Kind: Shown, Seen: []Seen{{Order: order, State: s}}}
}

// row returns a view of a single order with these units, or with a count of one if there are none.
func row(order string, s seckill.State, units ...int) Outcome {
	return Outcome{Kind: Shown, Seen: []Seen{{Order: order, State: s, Count: max(1, len(units)), Address: "a",
		Units: units}}}
}

// to returns a view with another address.
func to(address string, o Outcome) Outcome {
	o.Seen[0].Address = address
	return o
}

// lines formats a history.
func lines(ops []Op) string {
	var b strings.Builder
	for i := range ops {
		fmt.Fprintln(&b, &ops[i])
	}
	return b.String()
}
