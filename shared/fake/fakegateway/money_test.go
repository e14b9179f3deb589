package fakegateway_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// TestMoneyIsConserved checks that whatever goes wrong, what buyers paid equals what was refunded plus what the
// seller keeps, and that the bill agrees.
func TestMoneyIsConserved(t *testing.T) {
	landed := map[fakegateway.Fault]int{}
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &market{t: t, rand: rand.New(rand.NewPCG(seed, 1))}
			plan := fakegateway.Faults{Seed: seed, Shares: map[fakegateway.Fault]float64{}}
			for _, f := range fakegateway.FaultNames {
				plan.Shares[f] = w.rand.Float64() * 0.5
			}
			w.g, w.s, w.c = system(t, func(o *fakegateway.Options) { o.Faults, o.LateGrace = plan, time.Minute })
			for range 70 {
				w.step()
			}
			for f, n := range w.g.Faults().Landed {
				landed[f] += n
			}
			w.check()
		})
	}
	for _, f := range fakegateway.FaultNames {
		if landed[f] == 0 {
			t.Errorf("%s never landed", f)
		}
	}
}

// market is a dozen orders on which random operations run in random order.
type market struct {
	t    *testing.T
	rand *rand.Rand
	g    *fakegateway.Gateway
	s    *shop
	c    *clock

	paid  seckill.Fen // total of the payments that the test made
	asked int         // refunds requested
}

func (w *market) step() {
	trades := w.g.Trades()
	what := w.rand.IntN(10)
	if len(trades) == 0 {
		what = 0
	}
	some := func() fakegateway.Trade { return trades[w.rand.IntN(len(trades))] }
	switch what {
	case 0, 1, 2:
		id := 1 + w.rand.IntN(16)
		o := order(id)
		o.Placed, o.PayBy = start, start.Add(time.Duration(id)*20*time.Minute)
		_, err := w.g.Open(prepare(w.t, w.s, o))
		w.expect(err, fakegateway.ErrPaid, fakegateway.ErrClosed, fakegateway.ErrExpired)
	case 3, 4:
		tr := some()
		err := w.g.PayTrade(tr.TradeNo)
		w.expect(err, fakegateway.ErrPaid, fakegateway.ErrClosed, fakegateway.ErrExpired)
		if err == nil {
			w.paid += tr.Amount
		}
	case 5, 6:
		call(w.t, w.g, alipay.MethodClose, map[string]any{"out_trade_no": some().OutTradeNo})
	case 7, 8:
		w.refund(some())
	case 9:
		w.c.set(w.c.Now().Add(time.Duration(w.rand.IntN(90)) * time.Minute))
		w.s.answer = []string{"success", "success", "fail"}[w.rand.IntN(3)]
		w.g.Tick(w.t.Context())
	}
}

// refund requests a part or all, and repeats the request with the same number if the answer is inconclusive.
func (w *market) refund(tr fakegateway.Trade) {
	amount := tr.Amount
	if w.rand.IntN(2) == 0 {
		amount = seckill.Fen(1 + w.rand.Int64N(int64(tr.Amount)))
	}
	w.asked++
	no := fmt.Sprintf("r%d", w.asked)
	biz := map[string]any{"trade_no": tr.TradeNo, "refund_amount": amount.Yuan(), "out_request_no": no}
	for range 3 {
		got, _ := call(w.t, w.g, alipay.MethodRefund, biz)
		made := seckill.Fen(0)
		for _, now := range w.g.Trades() {
			for _, b := range now.Refunds {
				if now.TradeNo == tr.TradeNo && b.RequestNo == no {
					made += b.Amount
				}
			}
		}
		if made != 0 && made != amount || code(got) == "Y" && made == 0 {
			w.t.Errorf("refund of %s: %v, yet %s went back", amount.Yuan(), got, made.Yuan())
		}
	}
}

func (w *market) expect(err error, some ...error) {
	w.t.Helper()
	for _, e := range some {
		if errors.Is(err, e) {
			return
		}
	}
	if err != nil {
		w.t.Error(err)
	}
}

// check compares the payments with the trades, the bills and the notifications.
func (w *market) check() {
	paid, kept, back := w.paid, seckill.Fen(0), seckill.Fen(0)
	for _, tr := range w.g.Trades() {
		if tr.Refunded() > tr.Amount || len(tr.Refunds) > 0 && tr.Paid.IsZero() ||
			(tr.Status == fakegateway.StatusSuccess) != (tr.Kept() > 0) {
			w.t.Errorf("%+v", tr)
		}
		kept += tr.Kept()
		back += tr.Refunded()
	}
	r := w.g.Faults()
	paid += order(1).Amount * seckill.Fen(r.Landed[fakegateway.ClosePaid]+r.Landed[fakegateway.CloseFailsPaid])
	if paid != back+kept {
		w.t.Errorf("paid %s, went back %s, kept %s", paid.Yuan(), back.Yuan(), kept.Yuan())
	}

	if err := w.g.SetFaults(fakegateway.Faults{}); err != nil {
		w.t.Fatal(err)
	}
	last := w.c.Now()
	w.c.set(last.Add(24 * time.Hour))
	client := w.s.clientOf(w.t, w.g, w.c)
	billed, returned := seckill.Fen(0), seckill.Fen(0)
	for day := start; !day.After(last.Add(24 * time.Hour)); day = day.Add(24 * time.Hour) {
		bill, err := client.Bill(w.t.Context(), seckill.Day(day))
		if err != nil && !errors.Is(err, seckill.ErrNoBill) {
			w.t.Fatal(err)
		}
		for _, l := range bill.Lines {
			if l.Refund {
				returned += l.Amount
			} else {
				billed += l.Amount
			}
		}
	}
	if billed != paid || returned != back {
		w.t.Errorf("the bills say %s paid and %s returned, want %s and %s", billed.Yuan(), returned.Yuan(), paid.Yuan(),
			back.Yuan())
	}

	w.s.answer = "success"
	for next, due := w.g.Next(); due; next, due = w.g.Next() {
		w.c.set(next)
		w.g.Tick(w.t.Context())
	}
	told := map[string]bool{}
	for _, form := range w.s.got {
		if n, err := w.s.client.Verify(form); err == nil && n.Paid && n.Amount == order(1).Amount {
			told[n.TradeNo] = true
		}
	}
	for _, tr := range w.g.Trades() {
		if tr.Kept() > 0 && !told[tr.TradeNo] {
			w.t.Errorf("the shop never heard of %+v", tr)
		}
	}
}
