package suite

import "testing"

// TestShop has the cases that make many calls. On a deployed stack they run one after the other; the last changes it.
func TestShop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  func(*testing.T, *stack)
	}{
		{"Contract", testContract}, {"BuyPayPaid", testBuyPayPaid}, {"Live", testLive}, {"Checks", testChecks},
		{"Hoarders", testHoarders},
		{"Push", testPush}, {"Staff", testStaff}, {"Refund", testRefund}, {"Ways", testWays}, {"Bill", testBill},
		{"Duplicates", testDuplicates}, {"Poison", testPoison}, {"Stacks", testStacks}, {"Erase", testErase},
		{"Flush", testFlush},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, at(t)) })
	}
	onlyDeployed(t)
}

// TestExpiry waits most of the time. Each of its cases disables in a stack what the other needs, so with one stack
// they run one after the other.
func TestExpiry(t *testing.T) {
	t.Parallel()
	t.Run("ByMessage", func(t *testing.T) { beside(t); testExpiryByMessage(t, at(t)) })
	t.Run("BySchedule", func(t *testing.T) { beside(t); testExpiryBySchedule(t, other(t)) })
}

// TestEvents kills tell, while others buy.
func TestEvents(t *testing.T) {
	t.Parallel()
	testEvents(t, other(t))
}
