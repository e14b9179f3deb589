package local_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/altcha"
	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/adapter/system"
	"github.com/your-org/seckill/shared/flow/admit"
	"github.com/your-org/seckill/shared/flow/buy"
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
	listing := live("7", 1, 1)
	listing.Checks = checks
	d := &door{item: listing.Item}
	var stop func()
	d.sys, stop = startBench(b, local.Options{Items: []seckill.Listing{listing},
		Questions: local.DemoQuestions([]seckill.Listing{listing}, checks)})
	b.Cleanup(stop)
	var err error
	if d.auth, err = jwtauth.New(jwtauth.Keys{Current: local.DefaultSecret}, d.sys.Clock); err != nil {
		b.Fatal(err)
	}
	if d.proofs, err = altcha.New([][]byte{[]byte("a secret of proofs")}, d.sys.Clock); err != nil {
		b.Fatal(err)
	}
	d.tickets, err = jwtauth.NewTickets(map[string]string{"1": "a secret of tickets"}, d.sys.Clock)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// request is one of a user's, from a network address of their own.
func (d *door) request(b *testing.B, n int, path, body string) *http.Request {
	b.Helper()
	token, err := d.sys.Token(user(n), time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = fmt.Sprintf("198.%d.%d.%d:1", n>>16&255, n>>8&255, n&255)
	return r
}

// BenchmarkTicket answers challenges at POST /seckill/ticket, each for another user: token, limits, item, blocks,
// count, proof, and for strict the question. Solving is no part of it.
func BenchmarkTicket(b *testing.B) {
	for _, checks := range []seckill.Checks{seckill.ChecksStandard, seckill.ChecksStrict} {
		b.Run(string(checks), func(b *testing.B) {
			d := startDoor(b, checks)
			flow := admit.New(admit.Deps{Ledger: d.sys.Ledger, Items: d.sys.Items, Questions: d.sys.Ledger,
				Proofs: d.proofs, Picker: d.proofs, Tickets: d.tickets, Clock: d.sys.Clock, Meter: d.sys.Meter,
				Work: cheapWork})
			handler := httpapi.NewAdmit(flow, d.auth, httpapi.Options{Limits: httpapi.NewLimits(d.sys.Clock)})
			pool, err := d.sys.Ledger.Questions(b.Context(), d.item.ID)
			if err != nil {
				b.Fatal(err)
			}
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
				if err != nil {
					b.Fatal(err)
				}
				answer := ""
				if c.Question != "" {
					answer = fmt.Sprintf(`,"answer":%q`, answers[c.Question])
				}
				requests[i] = d.request(b, i, "/seckill/ticket", fmt.Sprintf(`{"seckill_id":%q,"proof":%q%s}`,
					d.item.ID, base64.StdEncoding.EncodeToString(solution), answer))
			}
			var next atomic.Int64
			before := system.Used().CPUSeconds
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
			cpu := system.Used().CPUSeconds - before // on a machine that is busy with others, time says little
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tickets/s")
			b.ReportMetric(cpu*1e6/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkSoldOutTicket purchases a sold-out item at POST /seckill/buy: as before there were tickets, with an item
// without checks, and with a ticket.
func BenchmarkSoldOutTicket(b *testing.B) {
	for _, c := range []struct {
		name    string
		checks  seckill.Checks
		checker bool
	}{{"before", seckill.ChecksOff, false}, {"off", seckill.ChecksOff, true}, {"ticket", seckill.ChecksStandard, true}} {
		b.Run(c.name, func(b *testing.B) {
			d := startDoor(b, c.checks)
			deps := d.sys.Buy.Deps
			deps.Tickets = nil
			if c.checker {
				deps.Tickets = d.tickets
			}
			handler := httpapi.NewBuy(buy.New(deps), d.auth, httpapi.Options{})
			body := `{"seckill_id":"7","count":1,"address":` + strconv.Quote(address) + `}`
			buyOne := func(r *http.Request) int {
				r.Body = readCloser{strings.NewReader(body)}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				return w.Code
			}
			requests := make([]*http.Request, benchShoppers)
			for i := range requests {
				requests[i] = d.request(b, i, "/seckill/buy", body)
				if c.checks != seckill.ChecksOff {
					ticket, err := d.tickets.Make(user(i), d.item.ID, d.item.End)
					if err != nil {
						b.Fatal(err)
					}
					requests[i].Header.Set("Ticket", ticket)
				}
			}
			if got := buyOne(requests[0]); got != http.StatusOK {
				b.Fatalf("the only unit: %d", got)
			}
			before := system.Used().CPUSeconds
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if got := buyOne(requests[1+i%(len(requests)-1)]); got != http.StatusConflict {
					b.Fatalf("purchase %d: %d", i, got)
				}
			}
			b.ReportMetric((system.Used().CPUSeconds-before)*1e6/float64(b.N), "cpu-µs/op")
		})
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
