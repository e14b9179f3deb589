//go:build e2e

package suite

import "testing"

// other returns the second stack, or the only one.
func other() *stack {
	if second != nil {
		return second
	}
	return first
}

// TestShop has the cases that make many calls. They run one after the other; the last changes the stack.
func TestShop(t *testing.T) {
	t.Parallel()
	t.Run("Contract", func(t *testing.T) { testContract(t, first) })
	t.Run("BuyPayPaid", func(t *testing.T) { testBuyPayPaid(t, first) })
	t.Run("Live", func(t *testing.T) { testLive(t, first) })
	t.Run("Checks", func(t *testing.T) { testChecks(t, first) })
	t.Run("Push", func(t *testing.T) { testPush(t, first) })
	t.Run("Page", func(t *testing.T) { testPage(t, first) })
	t.Run("Staff", func(t *testing.T) { testStaff(t, first) })
	t.Run("Refund", func(t *testing.T) { testRefund(t, first) })
	t.Run("Bill", func(t *testing.T) { testBill(t, first) })
	t.Run("Duplicates", func(t *testing.T) { testDuplicates(t, first) })
	t.Run("Poison", func(t *testing.T) { testPoison(t, first) })
	t.Run("Stacks", func(t *testing.T) { testStacks(t, first, second) })
	t.Run("Flush", func(t *testing.T) { testFlush(t, first) })
	t.Run("Edge", func(t *testing.T) { testEdge(t, other()) })
	t.Run("Update", func(t *testing.T) { testUpdate(t, first) })
}

// TestExpiry waits most of the time. Each of its cases disables in a stack what the other needs, so with one stack
// they run one after the other.
func TestExpiry(t *testing.T) {
	t.Parallel()
	beside := func(t *testing.T) {
		if second != nil {
			t.Parallel()
		}
	}
	t.Run("ByMessage", func(t *testing.T) { beside(t); testExpiryByMessage(t, first) })
	t.Run("BySchedule", func(t *testing.T) { beside(t); testExpiryBySchedule(t, other()) })
}

// TestEvents kills tell, while others buy.
func TestEvents(t *testing.T) {
	t.Parallel()
	testEvents(t, other())
}

// TestKill waits until others have finished what was killed.
func TestKill(t *testing.T) {
	t.Parallel()
	testKill(t, other())
}
