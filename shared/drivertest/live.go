package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

var liveCases = []ledgerCase{
	{"one viewer at a time has the lease of a live row", func(s *suite) {
		read := func() seckill.LiveRow {
			r, err := s.Ledger.Live(s.ctx, "1")
			s.ok(err)
			return r
		}
		none := read()
		s.same("none", none, seckill.LiveRow{Live: seckill.Live{Item: "1"}})
		mine, err := s.Ledger.LeaseLive(s.ctx, none, now.Add(time.Second))
		s.ok(err)
		s.same("leased", read(), mine)
		s.refused("a second lease", isError(seckill.ErrLeased), func() error {
			_, err := s.Ledger.LeaseLive(s.ctx, none, now.Add(time.Minute))
			return err
		})
		mine.Money = seckill.Figures[seckill.LiveMoney]{At: now, Value: seckill.LiveMoney{Due: 3}}
		mine.Stock.Failed = seckill.CodeUnavailable
		s.ok(s.Ledger.KeepLive(s.ctx, mine, now))
		mine.Until = now
		s.same("kept", read(), mine)
		next, err := s.Ledger.LeaseLive(s.ctx, mine, now.Add(2*time.Second))
		s.ok(err)
		s.same("with the figures of before", read(), next)
		s.refused("a lease that has ended", isError(seckill.ErrLeased), func() error {
			return s.Ledger.KeepLive(s.ctx, mine, now)
		})
		other, err := s.Ledger.Live(s.ctx, "2")
		s.ok(err)
		s.same("another item", other, seckill.LiveRow{Live: seckill.Live{Item: "2"}})
	}},
}
