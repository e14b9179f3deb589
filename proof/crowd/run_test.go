package crowd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// TestShoppersHear: shoppers whom a shop pushes the outcome of their purchase, also when it came before they were
// connected, do not ask.
func TestShoppersHear(t *testing.T) {
	t.Parallel()
	for _, rush := range []bool{false, true} {
		items := local.DemoItems(time.Now(), 100, 1)
		if rush {
			items[1].Start = time.Now().Add(-time.Second).Truncate(time.Second)
		}
		sys := localtest.Start(t, local.Options{Items: items})
		o := options(sys.URL())
		o.Shoppers, o.Ramp, o.Secret, o.Pay, o.Abandon = 150, 100*time.Millisecond, local.DefaultSecret, 0.5, 0.5
		p := visit(t, o).Push
		if p.Connected != 100 || p.Refused != 0 || p.Followed != 100 || p.Outcomes != 100 || p.Polls > 5 {
			t.Errorf("rush: %v; %+v: want 100 connected, who hear and do not ask", rush, p)
		}
	}
}

// TestAWholeSale: after a sale of a whole system, report, journal and ledger agree.
func TestAWholeSale(t *testing.T) {
	t.Parallel()
	const shoppers, units = 300, 100
	sys := localtest.Start(t, local.Options{Items: local.DemoItems(time.Now(), units, 1), Version: "v1"})
	var file bytes.Buffer
	var told []crowd.Progress
	var notes []string
	o := options(sys.URL())
	o.Shoppers, o.Ramp, o.Lead, o.Secret, o.Journal, o.Flood = shoppers, 300*time.Millisecond, 300*time.Millisecond,
		local.DefaultSecret, &file, 200*time.Millisecond
	o.Pay, o.Cancel, o.Abandon, o.Repeat, o.Key, o.Think = 0.5, 0.1, 0.1, 0.2, 0.5, 10*time.Millisecond
	o.Watch, o.Note = func(p crowd.Progress) { told = append(told, p) }, func(s string) { notes = append(notes, s) }
	rep := visit(t, o)

	if rep.Arrived != shoppers || rep.Count("failed") != 0 || rep.Count("placed") < units ||
		rep.Count("placed")+rep.Count("sold_out") != shoppers {
		t.Errorf("%d came: %+v", rep.Arrived, rep.Outcomes)
	}
	// polls may be throttled
	if buy := rep.Requests.Acts[1]; buy.Name != record.ActBuy || buy.Later != 0 || rep.Requests.Lost != 0 {
		t.Errorf("%+v", rep.Requests)
	}
	if !rep.Server.Known || rep.Server.PeakRSS == 0 || rep.Rates.FirstOrders != units || rep.Rates.Placed <= 0 ||
		rep.Rates.SellOutSeconds <= 0 {
		t.Errorf("%+v, %+v", rep.Server, rep.Rates)
	}
	if !rep.Idle.Known || rep.Idle.Open != 0 || rep.Idle.AdvancedSeconds == 0 {
		t.Errorf("not idle: %+v", rep.Idle)
	}
	if u := rep.Units; !u.Known || u.Stock != units || u.Sold != rep.Orders.Paid || u.Held != 0 ||
		u.Free != units-u.Sold || u.BackOnSale < u.Free {
		t.Errorf("%+v; %d paid", u, rep.Orders.Paid)
	}
	if m := rep.Money; !m.Known || m.Kept != rep.Price*seckill.Fen(rep.Orders.Paid) || m.Captured != m.Kept ||
		m.DueBack != 0 || !m.Balanced || m.Gateway != (crowd.GatewayMoney{Captured: m.Captured, Left: m.Kept}) {
		t.Errorf("%+v; %d paid at %v", m, rep.Orders.Paid, rep.Price)
	}
	if f := rep.Flood; f == nil || f.NotRun != "" || f.Answers["sold_out"] == 0 || f.Answered == 0 || f.PerSecond <= 0 {
		t.Errorf("flood %+v", f)
	}
	if last := told[len(told)-1]; last.Decided != shoppers || last.Came != shoppers || len(notes) == 0 {
		t.Errorf("last progress %+v; notes %q", last, notes)
	}
	localtest.Invariants(t, sys, true)
	journalTells(t, &file, sys, rep)
	shows(t, rep)
}

// TestItSaysWhatItWaitsFor: when every notification is lost, shoppers wait for the shop to record their payment, and
// orders wait for the end of their hold.
func TestItSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{Items: local.DemoItems(time.Now(), 10, 1),
		GatewayFaults: fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.NotificationLost: 1}}})
	var heard, until int
	var notes []string
	o := options(sys.URL())
	o.Shoppers, o.Ramp, o.Lead, o.Secret, o.For = 20, 100*time.Millisecond, 0, local.DefaultSecret, 5*time.Second
	o.Pay, o.Cancel, o.Abandon, o.Think = 1, 0, 0, 10*time.Millisecond
	began := time.Now()
	o.Watch = func(p crowd.Progress) {
		heard = max(heard, p.Waits.Hear)
		if left := p.Until.Sub(began); left > 0 && left < time.Minute {
			until++
		}
	}
	o.Note = func(s string) { notes = append(notes, s) }
	visit(t, o)
	if heard != 10 || until == 0 {
		t.Errorf("%d waited for their payment to be recorded, want 10; %d reports said until when", heard, until)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all,
		"10 orders open (0 to be placed, 10 awaiting payment, 0 closing); 0 refunds due") {
		t.Errorf("notes %s", all)
	}
}

// journalTells compares the journal with ledger and report.
func journalTells(t *testing.T, file *bytes.Buffer, sys *local.System, rep *crowd.Report) {
	t.Helper()
	acts, orders := map[string]int{}, map[string]bool{}
	sum, err := record.ReadJournal(file, func(e *record.Entry) error {
		if e.Kind == record.KindRequest {
			acts[e.Act]++
		}
		if e.Kind == record.KindAnswer && e.Act == record.ActBuy && e.Status == http.StatusOK {
			orders[e.Order] = true
		}
		if e.Kind == record.KindAnswer && (e.User == "" || e.Shopper == 0 || e.Date == "" || e.Body == "") ||
			e.Act == record.ActBuy && e.Kind == record.KindRequest && (e.Item != local.DemoLive || e.Count != 1 ||
				len(e.Address) != 64) {
			t.Errorf("the entry is incomplete: %+v", e)
		}
		return nil
	})
	if err != nil || sum.End == nil || sum.End.Interrupted || sum.Requests != sum.Answers {
		t.Errorf("journal %+v, %v", sum, err)
	}
	if sum.Start.Item != local.DemoLive || sum.Start.Shoppers != 300 || sum.Start.LastUser-sum.Start.FirstUser != 299 {
		t.Errorf("start %+v", sum.Start)
	}
	for _, a := range rep.Requests.Acts {
		if a.Name == record.ActBuy {
			flood := rep.Flood.Answered + rep.Flood.Answers["no_answer"]
			if more := acts[a.Name] - a.Sent; more < flood { // and the orders before the flood
				t.Errorf("buy: %d in the journal, %d reported, and %d in the flood", acts[a.Name], a.Sent, flood)
			}
			continue
		}
		if acts[a.Name] != a.Sent {
			t.Errorf("%s: %d in the journal, %d reported", a.Name, acts[a.Name], a.Sent)
		}
	}
	if len(orders) < int(rep.Count("placed")) {
		t.Errorf("%d orders acknowledged, %d placed", len(orders), rep.Count("placed"))
	}
	for id := range orders {
		if _, found, err := sys.Rows.Get(t.Context(), ledger.Key{Table: ledger.TableOrders, PK: id}); !found ||
			err != nil {
			t.Errorf("order %s was acknowledged but has no row (%v)", id, err)
		}
	}
}

// shows checks the report as text and JSON.
func shows(t *testing.T, rep *crowd.Report) {
	t.Helper()
	var text bytes.Buffer
	must.OK(t, rep.Text(&text))
	for _, want := range []string{"300 shoppers in 300ms", "  placed ", "  sold out ", "  failed ",
		"placed orders per second", "money", "kept", "open orders",
		"0, and 0 refunds due, after the run's clock was moved by", "they balance to the fen",
		"closed loop of 8 clients"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	data, err := json.Marshal(rep)
	must.OK(t, err)
	var back map[string]any
	if err := json.Unmarshal(data, &back); err != nil || back["price_yuan"] != 199.0 || back["arrived"] != 300.0 {
		t.Errorf("%v: %s", err, data)
	}
}

// TestBrokenOff: after an interrupt the report is complete, and the journal's end says so.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := &script{buy: answers{problem(503, "unavailable", `,"retry_after_ms":60000`)}}
	var file bytes.Buffer
	o := options(serve(t, s))
	o.Shoppers, o.Ramp, o.Journal, o.For = 1000, time.Hour, &file, 2*time.Hour
	o.Watch = func(p crowd.Progress) {
		if p.Requests > 0 {
			stop()
		}
	}
	rep, err := crowd.Run(ctx, o)
	must.OK(t, err)
	addsUp(t, rep)
	if !rep.Interrupted || rep.Arrived == 0 || rep.Arrived > 900 || rep.Count("broken_off") != int64(rep.Arrived) {
		t.Errorf("%d came: %+v", rep.Arrived, rep.Outcomes)
	}
	sum, err := record.ReadJournal(&file, func(*record.Entry) error { return nil })
	if err != nil || sum.End == nil || !sum.End.Interrupted {
		t.Errorf("%+v, %v", sum.End, err)
	}
	var text bytes.Buffer
	if err := rep.Text(&text); err != nil || !strings.Contains(text.String(), "BROKEN OFF") ||
		!strings.Contains(text.String(), "unknown: only a") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// TestTheTimeIsUp: shoppers who still wait when the time is up are sent home.
func TestTheTimeIsUp(t *testing.T) {
	t.Parallel()
	o := options(serve(t, &script{buy: answers{problem(503, "unavailable", `,"retry_after_ms":60000`)}}))
	o.For = time.Second
	if rep := visit(t, o); rep.Interrupted || ending(rep) != "broken off" {
		t.Errorf("%s, %+v", ending(rep), rep)
	}
}

func TestBadOptionsAreOneLine(t *testing.T) {
	t.Parallel()
	good := options("http://localhost:1")
	must.OK(t, good.Validate())
	for _, tt := range []struct {
		want   string
		change func(*crowd.Options)
	}{
		{"--url", func(o *crowd.Options) { o.URL = "localhost:8100" }},
		{"--item", func(o *crowd.Options) { o.Item = "x" }},
		{"--shoppers 0: want 1 to", func(o *crowd.Options) { o.Shoppers = 0 }},
		{"--pay 0.7, --cancel 0.2 and --abandon 0.2 are 1.1 together", func(o *crowd.Options) {
			o.Pay, o.Cancel, o.Abandon = 0.7, 0.2, 0.2
		}},
		{"--key -0.1: want a share", func(o *crowd.Options) { o.Key = -0.1 }},
		{"--repeat 70: want a share", func(o *crowd.Options) { o.Repeat = 70 }},
		{"--count 51", func(o *crowd.Options) { o.Count = 51 }},
		{"--connections 0", func(o *crowd.Options) { o.Connections = 0 }},
		{"--timeout 0s", func(o *crowd.Options) { o.Timeout = 0 }},
		{"--ramp -1s", func(o *crowd.Options) { o.Ramp = -time.Second }},
		{"--for 5m0s: want at least the ramp", func(o *crowd.Options) { o.Ramp = time.Hour }},
		{"no secret", func(o *crowd.Options) { o.Secret = "" }},
	} {
		o := good
		tt.change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want %q in one line", err, tt.want)
		}
	}
}
