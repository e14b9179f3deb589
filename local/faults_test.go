package local_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/seckill"
)

// Each of these tests removes one thing that the design relies on, and would fail without the design's answer to it.

func TestAStockThatForgotASaleSellsNoUnitTwice(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2, 1)}})
	w.earlyInAMinute()
	before := w.Redis.Snapshot()
	w.bought("1001", "5")
	w.Redis.Restore(before) // a failover to a replica that lags behind
	w.bought("1002", "5")   // gets unit 1 again, which the ledger refuses
	if n := w.Meter.Counts()[seckill.EventCollided]; n != 1 {
		t.Errorf("%d collisions, want 1", n)
	}
	w.pass(time.Minute)
	w.drained()
	w.soldOnce("5", 2)
}
