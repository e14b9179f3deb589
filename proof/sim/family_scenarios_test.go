package sim

import (
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// boughtOther makes the user buy of the second item of a family.
func boughtOther(user string, count int) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		_, err := i.PurchaseOf(buy.Purchase{Item: w.More[0].ID, User: user, Count: count,
			Given: seckill.Given{Address: addresses[0]}, Key: "k"})
		return err
	}
}

// other makes a step about the user's order of the second item, by the steps that are about the first.
func other(step func(*World, *Instance) error) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		w.Item, w.More[0] = w.More[0], w.Item
		defer func() { w.Item, w.More[0] = w.More[0], w.Item }()
		return step(w, i)
	}
}

// heldOver checks how many units of the family's items the user holds.
func heldOver(user string, want int) func(*World, *Instance) error {
	return func(w *World, _ *Instance) error {
		if got := w.truth.held[holder{user, w.spanOf(w.Item.ID)}]; got != want {
			return fmt.Errorf("user %s holds %d units of the family, want %d", user, got, want)
		}
		return nil
	}
}

// Scenarios of two variants of which a user may hold two together.
var familyScenarios = spanning([]scenario{
	{flow: "buy", name: "a variant", prepare: install, step: bought("1", 2, "k"), retry: true, atLeast: 4},
	{flow: "buy", name: "a variant after another one", prepare: steps(install, boughtOther("1", 1), next),
		step: bought("1", 1, "k"), atLeast: 4},
	{flow: "buy", name: "a variant after others have used up the limit", prepare: steps(install, boughtOther("1", 2),
		next), step: bought("1", 1, "k"), atLeast: 2, want: "limit_reached"},
	{flow: "consume", name: "an order of a variant", prepare: steps(install, bought("1", 2, "k")), step: next,
		atLeast: 6},
	{flow: "consume", name: "another variant has used up the limit", prepare: steps(install, boughtOther("1", 2),
		bought("1", 1, "k"), next), step: next, atLeast: 5, ends: map[string]seckill.State{"1": seckill.Rejected}},
	{flow: "consume", name: "two variants at once", prepare: steps(install, boughtOther("1", 2), bought("1", 2, "k"),
		reverse), step: next, atLeast: 6},
	{flow: "consume", name: "a variant after another one gave back", prepare: steps(install, boughtOther("1", 2), next,
		other(cancelled("1")), expired, heldOver("1", 0), bought("1", 2, "k")), step: next, atLeast: 3},
	{flow: "expire", name: "a variant", prepare: steps(install, bought("1", 2, "k"), next, due, heldOver("1", 2)),
		step: expired, atLeast: 8, ends: map[string]seckill.State{"1": seckill.Expired}},
	{flow: "refund", name: "a variant, with restock", prepare: steps(placed("1", 2), paid("1"), notified),
		step: refundedOrder("1", true), atLeast: 4, ends: map[string]seckill.State{"1": seckill.Refunded}},
})

func spanning(all []scenario) []scenario {
	all = slices.Clone(all)
	for i := range all {
		all[i].spans = true
	}
	return all
}
