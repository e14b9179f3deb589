package local_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// cheapWork costs its solver nothing; a check costs the same for every proof.
var cheapWork = seckill.Work{Cost: 1, Tries: 2}

// door is a system with an item with checks, and what makes and checks tokens, proofs and tickets for it. Nobody is
// connected: its handlers are called.
type door struct {
	sys     *local.System
	item    seckill.Item
	auth    *jwtauth.Verifier
	proofs  *altcha.Proofs
	tickets *jwtauth.Tickets
}

func startDoor(b *testing.B, checks seckill.Checks) *door {
	b.Helper()
	items := []seckill.Listing{live("7", 1, 1)}
	local.SetChecks(items, checks)
	d := &door{item: items[0].Item}
	var stop func()
	d.sys, stop = startBench(b, local.Options{Items: items})
	b.Cleanup(stop)
	var err error
	if d.auth, err = jwtauth.New(jwtauth.Keys{Current: local.DefaultSecret}, d.sys.Clock); err != nil {
		b.Fatal(err)
	}
	if d.proofs, err = altcha.New([][]byte{[]byte("a secret of proofs")}, d.sys.Clock); err != nil {
		b.Fatal(err)
	}
	d.tickets, err = jwtauth.NewTickets(map[string]string{"1": "a secret of tickets"}, d.sys.Clock)
	must.OK(b, err)
	return d
}

// request is a request of a user, from a network address of their own.
func (d *door) request(b *testing.B, n int, path, body string) *http.Request {
	b.Helper()
	token, err := d.sys.Token(user(n), time.Hour)
	must.OK(b, err)
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = fmt.Sprintf("198.%d.%d.%d:1", n>>16&255, n>>8&255, n&255)
	return r
}

// BenchmarkTicket answers challenges at POST /seckill/ticket, each for another user: token, limits, item, blocks,
// count, proof, and for strict the question. Solving is not part of it.
func BenchmarkTicket(b *testing.B) {
	for _, checks := range []seckill.Checks{seckill.ChecksStandard, seckill.ChecksStrict} {
		b.Run(string(checks), func(b *testing.B) {
			d := startDoor(b, checks)
			flow := admit.New(admit.Deps{Ledger: d.sys.Ledger, Items: d.sys.Items, Questions: d.sys.Ledger,
				Proofs: d.proofs, Picker: d.proofs, Tickets: d.tickets, Clock: d.sys.Clock, Meter: d.sys.Meter,
				Work: cheapWork})
			handler := httpapi.NewAdmit(flow, d.auth, httpapi.Options{Limits: httpapi.NewLimits(d.sys.Clock)})
			pool, err := d.sys.Ledger.Questions(b.Context(), d.item.ID)
			must.OK(b, err)
			answers := map[string]string{}
			for _, q := range pool {
				answers[q.Text] = q.Answers[0]
			}
			requests := make([]*http.Request, b.N)
			for i := range requests {
				c, err := flow.Challenge(b.Context(), admit.Caller{User: user(i)}, d.item.ID)
				if err != nil || (c.Question != "") != (checks == seckill.ChecksStrict) {
					b.Fatal(c.Question, err)
				}
				solution, _, err := altcha.Solve(c.Proof)
				must.OK(b, err)
				answer := ""
				if c.Question != "" {
					answer = fmt.Sprintf(`,"answer":%q`, answers[c.Question])
				}
				requests[i] = d.request(b, i, "/seckill/ticket", fmt.Sprintf(`{"seckill_id":%q,"proof":%q%s}`,
					d.item.ID, base64.StdEncoding.EncodeToString(solution), answer))
			}
			var next atomic.Int64
			before := record.Used().CPUSeconds
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, requests[next.Add(1)-1])
					if w.Code != http.StatusOK {
						b.Error(w.Code, w.Body)
						return
					}
				}
			})
			cpu := record.Used().CPUSeconds - before // on a machine that is busy with others, time says little
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tickets/s")
			b.ReportMetric(cpu*1e6/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkBuyTicket purchases at POST /seckill/buy what is sold out, which an instance remembers, and what a stock
// refuses that costs nothing: each as before there were tickets, of an item without checks, and with a ticket.
func BenchmarkBuyTicket(b *testing.B) {
	for name, stock := range map[string]seckill.Reserver{"sold_out": none{}, "limit": none{seckill.ReserveLimit}} {
		for _, c := range []struct {
			name    string
			checks  seckill.Checks
			checker bool
		}{{"before", seckill.ChecksOff, false}, {"off", seckill.ChecksOff, true},
			{"ticket", seckill.ChecksStandard, true}} {
			b.Run(name+"/"+c.name, func(b *testing.B) { benchmarkBuy(b, stock, c.checks, c.checker) })
		}
	}
}

func benchmarkBuy(b *testing.B, stock seckill.Reserver, checks seckill.Checks, checker bool) {
	b.Helper()
	d := startDoor(b, checks)
	deps := d.sys.Buy.Deps
	deps.Stock, deps.Tickets = stock, nil
	if checker {
		deps.Tickets = d.tickets
	}
	handler := httpapi.NewBuy(buy.New(deps), d.auth, httpapi.Options{})
	body := fmt.Sprintf(`{"seckill_id":"7","count":1,"address":%q}`, address)
	requests := make([]*http.Request, benchShoppers)
	for i := range requests {
		requests[i] = d.request(b, i, "/seckill/buy", body)
		if checks != seckill.ChecksOff {
			ticket, err := d.tickets.Make(user(i), d.item.ID, d.item.End)
			must.OK(b, err)
			requests[i].Header.Set("Ticket", ticket)
		}
	}
	before := record.Used().CPUSeconds
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		r, w := requests[i%len(requests)], httptest.NewRecorder()
		r.Body = io.NopCloser(strings.NewReader(body))
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusConflict {
			b.Fatalf("purchase %d: %d %s", i, w.Code, w.Body)
		}
	}
	b.ReportMetric((record.Used().CPUSeconds-before)*1e6/float64(b.N), "cpu-µs/op")
}

// none is a stock that has nothing for anybody.
type none struct{ code seckill.ReserveCode }

func (s none) Reserve(context.Context, time.Time, seckill.Request, bool, time.Duration) (seckill.ReserveResult, error) {
	return seckill.ReserveResult{Code: cmp.Or(s.code, seckill.ReserveNone), Limit: seckill.MaxCount}, nil
}
