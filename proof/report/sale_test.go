package report_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/proof/report"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	item  = "2002"
	title = `=HYPERLINK("http://evil") <script>alert(1)</script> 手机`
)

var opens = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// outcome is how every tenth order of the sale ends: its history after placed, and its payments' states.
type outcome struct {
	states   []string
	payments []string
	reason   string
}

var outcomes = []outcome{{[]string{"pending_payment", "paid", "confirmed", "shipped"}, []string{"captured"}, ""},
	{[]string{"pending_payment", "closing", "expired"}, nil, ""},
	{[]string{"pending_payment", "paid"}, []string{"captured", "refunded"}, ""},
	{[]string{"pending_payment", "closing", "expired", "refund_due"}, []string{"refund_due"}, ""},
	{[]string{"rejected"}, nil, "sold_out"}, {[]string{"pending_payment"}, nil, ""}}

func orderID(i int) string { return fmt.Sprintf("oabcdefghijklmnopqrstuv%09d", i) }
func userID(i int) string  { return fmt.Sprint(7_000_000_000_000 + i%50) }
func tradeNo(i, k int) string {
	return fmt.Sprintf("20261111220014000%09d%d", i, k)
}

// write writes the dump of an item with n orders; every outcome in turn.
func write(of string, n int, to io.Writer) error {
	out := bufio.NewWriterSize(to, 256<<10)
	var buf []byte
	count := 0
	add := func(l record.Line) {
		buf = l.Append(buf[:0])
		out.Write(buf)
		count++
	}
	end := func(part string) {
		add(record.Line{End: part, Count: count})
		count = 0
	}
	ms := opens.UnixMilli()
	add(record.Line{Now: ms + 3_600_000})
	add(record.Line{Table: record.PartItems, Row: ledger.Row{"v": int64(1), "id": of, "title": title,
		"sk_price": int64(129_900), "start": ms, "end": ms + 600_000, "stock": int64(n + 5), "limit": int64(1),
		"buckets": int64(16), "version": int64(1), "stopped": int64(0)}})
	for i := range n {
		o, at := outcomes[i%len(outcomes)], opens.Add(time.Duration(i%60_000)*time.Millisecond)
		row := ledger.Row{"v": int64(1), "id": orderID(i), "item": of, "user": userID(i), "count": int64(1),
			"price": int64(129_900), "amount": int64(129_900), "address": "1 Main St", "title": "t",
			"state": o.states[len(o.states)-1], "created": at.UnixMilli(), "placed": at.UnixMilli() + 500,
			"pay_by": at.UnixMilli() + 900_000, "buckets": int64(16)}
		if o.reason != "" {
			row["reason"], row["price"], row["amount"], row["title"], row["buckets"] = o.reason, int64(0), int64(0), "",
				int64(0)
		}
		var history []string
		for k, s := range o.states {
			history = append(history, at.Add(500*time.Millisecond+time.Duration(k)*7*time.Minute).
				Format("2006-01-02T15:04:05.000Z07:00")+" "+s+" because of user "+userID(i))
		}
		row["history"] = history
		if last := o.states[len(o.states)-1]; slices.Contains([]string{"paid", "shipped",
			"pending_payment"}, last) {
			row["units"] = fmt.Sprint(i + 1)
		}
		add(record.Line{Table: ledger.TableOrders, Row: row})
	}
	add(record.Line{Table: ledger.TableOrders, Row: ledger.Row{"v": int64(1), "id": "oother", "item": "9"}})
	end(ledger.TableOrders)
	pay := func(order, no, state string) {
		row := ledger.Row{"v": int64(1), "order": order, "trade_no": no, "amount": int64(129_900), "state": state,
			"at": ms + 60_000, "cause": "notify"}
		if state == "refunded" {
			row["back"] = ms + 120_000
		}
		add(record.Line{Table: ledger.TablePayments, Row: row})
	}
	for i := range n {
		for k, state := range outcomes[i%len(outcomes)].payments {
			pay(orderID(i), tradeNo(i, k), state)
		}
	}
	pay("oother", "1", "captured")
	pay("ogone", "2", "captured")
	end(ledger.TablePayments)
	return out.Flush()
}

func source(n int) func(string) (audit.Source, error) {
	return func(of string) (audit.Source, error) {
		return audit.SourceFunc(func(_ context.Context, each func(*record.Line) error) error {
			r, w := io.Pipe()
			go func() { w.CloseWithError(write(of, n, w)) }()
			return record.Lines(r, each)
		}), nil
	}
}

func newKey(t testing.TB, name string) *report.Key {
	t.Helper()
	text, err := report.GenerateKey(name)
	if err != nil {
		t.Fatal(err)
	}
	key, err := report.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// refused counts what a shop refused during a sale.
func refused(_ context.Context, _ string, from, until time.Time) (report.Refusals, error) {
	return report.Refusals{Source: report.RefusedMetrics, From: from, Until: until,
		Requests: map[seckill.Reason]int{"sold_out": 70_000, "limit_reached": 31, "ticket": 0}}, nil
}

// made returns a report of n orders for each of two items.
func made(t testing.TB, key *report.Key, n int) string {
	t.Helper()
	var b strings.Builder
	m, err := report.Make(t.Context(), &b, source(n), report.Options{Items: []string{item, "2003"}, Key: key,
		Refused: refused})
	if err != nil {
		t.Fatal(err)
	}
	if m.Orders != 2*n || int(m.Lines)+1 != strings.Count(b.String(), "\n") {
		t.Errorf("%+v, but %d lines", m, strings.Count(b.String(), "\n"))
	}
	return b.String()
}

func verified(t testing.TB, text, verifier string) *report.Checked {
	t.Helper()
	c, err := report.Verify(strings.NewReader(text), verifier, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
