package upkeep_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/internal/upkeep"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCopiesEndWithTheSale: blocks are copied from when the item is loaded until its sale is over.
func TestCopiesEndWithTheSale(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	it := drivertest.Item("7", start)
	for at, want := range map[time.Duration]int{-seckill.StageLead - time.Second: 0, -seckill.StageLead: 1,
		time.Hour: 1, time.Hour + 2*seckill.SkewBound: 0} {
		clock, stock := memory.NewClock(start.Add(at)), redisstock.New(memory.NewRedis())
		l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
		must.OK(t, l.PutBlock(t.Context(), seckill.Block{Subject: seckill.UserSubject("1"), Item: "7", Reason: "r",
			By: "ada", Made: clock.Now()}),
			stock.BuildStart(t.Context(), start, "7", "t"), stock.Install(t.Context(), it, "t", 0, 0, 0, 0))
		c := upkeep.Copier{Stock: stock, Ledger: l, Clock: clock}
		must.OK(t, c.Copy(t.Context(), &it))
		copied, _, err := stock.CopiedBlocks(t.Context(), "7", 0)
		must.OK(t, err)
		must.Equal(t, want, len(copied), "copies at", at)
	}
}
