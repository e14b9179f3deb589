package audit_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	item      = "7007"
	stock     = 40
	limit     = 2
	shoppers  = 60
	firstUser = 50_001
	patience  = time.Minute
	address   = "浙江省杭州市西湖区文三路 1 号"
)

// testSale is a sale's rows, keys and journal, for tests to change.
type testSale struct {
	now     int64
	tables  map[string][]ledger.Row
	keys    map[string]map[string]string
	queues  map[string]record.Depth
	missing map[string]string
	cut     map[string]bool // parts without End
	entries []record.Entry  // of the journal; nil if there is none
	bytes   []byte          // the journal, if not made of entries
}

func (w *testSale) clone() *testSale {
	c := &testSale{now: w.now, tables: map[string][]ledger.Row{}, keys: map[string]map[string]string{},
		queues: maps.Clone(w.queues), missing: map[string]string{},
		cut: map[string]bool{}, entries: slices.Clone(w.entries)}
	for table, rows := range w.tables {
		for _, row := range rows {
			c.tables[table] = append(c.tables[table], copyRow(row))
		}
	}
	for key, fields := range w.keys {
		c.keys[key] = maps.Clone(fields)
	}
	return c
}

func copyRow(row ledger.Row) ledger.Row {
	out := maps.Clone(row)
	for attr, v := range out {
		switch v := v.(type) {
		case []string:
			out[attr] = slices.Clone(v)
		case ledger.Set:
			out[attr] = slices.Clone(v)
		}
	}
	return out
}

// take adds a line of a dump.
func (w *testSale) take(l *record.Line) error {
	switch {
	case l.Table != "":
		w.add(l.Table, copyRow(l.Row))
	case l.Key != "":
		if w.keys[l.Key] == nil {
			w.keys[l.Key] = map[string]string{}
		}
		w.keys[l.Key][l.Field] = l.Value
	case l.Queue != "":
		w.queues[l.Queue] = l.Depth
	case l.Now != 0:
		w.now = l.Now
	}
	return nil
}

// Read implements audit.Source.
func (w *testSale) Read(_ context.Context, each func(*record.Line) error) error {
	lines := []record.Line{{Now: w.now}}
	for _, table := range slices.Concat([]string{record.PartItems, record.PartTrades}, record.Tables) {
		if w.missing[table] != "" {
			lines = append(lines, record.Line{Missing: table, Why: w.missing[table]})
			continue
		}
		for _, row := range w.tables[table] {
			lines = append(lines, record.Line{Table: table, Row: row})
		}
		if !w.cut[table] {
			lines = append(lines, record.Line{End: table, Count: len(w.tables[table])})
		}
	}
	for _, key := range audit.Keys(item) {
		for _, field := range slices.Sorted(maps.Keys(w.keys[key])) {
			lines = append(lines, record.Line{Key: key, Field: field, Value: w.keys[key][field]})
		}
	}
	if w.missing[record.PartRedis] != "" {
		lines = append(lines, record.Line{Missing: record.PartRedis, Why: w.missing[record.PartRedis]})
	} else if !w.cut[record.PartRedis] {
		lines = append(lines, record.Line{End: record.PartRedis})
	}
	for _, name := range slices.Sorted(maps.Keys(w.queues)) {
		lines = append(lines, record.Line{Queue: name, Depth: w.queues[name]})
	}
	for i := range lines {
		if err := each(&lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// journal writes the entries as a valid journal, numbered anew.
func (w *testSale) journal() []byte {
	if w.bytes != nil {
		return w.bytes
	}
	var out bytes.Buffer
	number, requests, answers := map[uint64]uint64{}, uint64(0), uint64(0)
	for i, e := range w.entries {
		number[e.N] = uint64(i + 1)
		e.N = uint64(i + 1)
		switch e.Kind {
		case record.KindRequest:
			requests++
		case record.KindAnswer:
			answers++
			if e.Request = number[e.Request]; e.Request == 0 {
				e.Request = 1 // its request was removed
			}
		case record.KindEnd:
			e.End = &record.End{Requests: requests, Answers: answers}
		}
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

func (w *testSale) audit(t testing.TB) *audit.Report {
	t.Helper()
	o := audit.Options{Item: item}
	if w.entries != nil || w.bytes != nil {
		o.Journal = bytes.NewReader(w.journal())
	}
	r, err := audit.Run(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// row returns the n-th row of a table that fits.
func (w *testSale) row(table string, n int, fits func(ledger.Row) bool) ledger.Row {
	for _, row := range w.tables[table] {
		if fits(row) {
			if n--; n < 0 {
				return row
			}
		}
	}
	panic(fmt.Sprintf("the sale has no such row in %s", table))
}

// order returns the n-th order in a state.
func (w *testSale) order(state seckill.State, n int) ledger.Row {
	return w.row(ledger.TableOrders, n, func(r ledger.Row) bool { return r["state"] == string(state) })
}

func (w *testSale) paid() ledger.Row { return w.order(seckill.Paid, 0) }

func (w *testSale) expired() ledger.Row { return w.order(seckill.Expired, 0) }

func (w *testSale) refunded() ledger.Row { return w.order(seckill.Refunded, 0) }

func (w *testSale) add(table string, row ledger.Row) { w.tables[table] = append(w.tables[table], row) }

func (w *testSale) of(table string, order ledger.Row) ledger.Row {
	return w.row(table, 0, func(r ledger.Row) bool { return r["order"] == order["id"] })
}

func (w *testSale) quota(order ledger.Row) ledger.Row {
	return w.row(ledger.TableQuotas, 0, func(r ledger.Row) bool { return r["user"] == order["user"] })
}

func (w *testSale) trade(order ledger.Row) ledger.Row {
	return w.row(record.PartTrades, 0, func(r ledger.Row) bool { return r["out_trade_no"] == order["id"] })
}

// remove deletes a row.
func (w *testSale) remove(table string, row ledger.Row) {
	w.tables[table] = slices.DeleteFunc(w.tables[table], func(r ledger.Row) bool {
		return maps.EqualFunc(r, row, equal)
	})
}

func equal(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// fields returns the fields of one of the item's keys.
func (w *testSale) fields(name string) map[string]string {
	if w.keys[key(name)] == nil {
		w.keys[key(name)] = map[string]string{}
	}
	return w.keys[key(name)]
}

func key(name string) string { return "{" + item + "}:" + name }

// sales returns a sale at rest, and the same sale before its unpaid orders expired. Both are played once.
var sales = sync.OnceValue(func() [2]*testSale {
	rest, before, err := play()
	if err != nil {
		panic(err)
	}
	return [2]*testSale{rest, before}
})

func atRest() *testSale { return sales()[0].clone() }

func underWay() *testSale { return sales()[1].clone() }

// crowd is a sequence of shoppers with a journal.
type crowd struct {
	*local.System
	client contracttest.Client
	log    *record.Writer
}

func play() (rest, before *testSale, err error) {
	it := local.DemoItems(time.Now(), stock, limit)[1]
	it.ID, it.Start = item, it.Start.Add(-time.Hour)
	it.Checks = seckill.ChecksStandard
	sys, err := local.New(local.Options{Addr: ":0", Items: []seckill.Listing{it},
		Work: seckill.Work{Cost: 1, Tries: 2}})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	defer cancel()
	if err := sys.Start(ctx); err != nil {
		return nil, nil, err
	}
	defer func() { err = cmp.Or(err, sys.Close(context.Background())) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var log bytes.Buffer
	c := &crowd{sys, contracttest.Client{URL: sys.URL(), HTTP: &http.Client{Transport: transport, Timeout: patience}},
		record.CreateJournal(&log, record.Start{Item: item, Shoppers: shoppers, FirstUser: firstUser,
			LastUser: firstUser + shoppers - 1})}
	if err := c.late(ctx, it.Start); err != nil {
		return nil, nil, err
	}
	for i := range shoppers {
		if err := c.shop(ctx, i); err != nil {
			return nil, nil, fmt.Errorf("shopper %d: %w", i, err)
		}
	}
	if err := sys.Ledger.PutBlock(ctx, seckill.Block{Subject: seckill.UserSubject(fmt.Sprint(firstUser)), Item: item,
		Reason: "bought before", By: "ann", Made: sys.Clock.Now()}); err != nil {
		return nil, nil, err
	}
	if err := c.log.Close(record.End{}); err != nil {
		return nil, nil, err
	}
	entries := []record.Entry{}
	if _, err := record.ReadJournal(&log, func(e *record.Entry) error {
		entries = append(entries, *e)
		return nil
	}); err != nil {
		return nil, nil, err
	}
	if before, err = c.look(ctx, entries); err != nil {
		return nil, nil, err
	}
	sys.Clock.Advance(seckill.DefaultHold + 5*time.Minute)
	rest, err = c.look(ctx, entries)
	return rest, before, err
}

// look waits until the sale is idle and reads it.
func (c *crowd) look(ctx context.Context, entries []record.Entry) (*testSale, error) {
	if err := c.WaitIdle(ctx); err != nil {
		return nil, err
	}
	w := &testSale{tables: map[string][]ledger.Row{}, keys: map[string]map[string]string{},
		queues: map[string]record.Depth{}, entries: entries}
	it, err := c.Items.Get(ctx, item)
	if err != nil {
		return nil, err
	}
	return w, c.Dump(ctx, &it, w.take)
}

// late sends a message that is an hour old, whose order is rejected.
func (c *crowd) late(ctx context.Context, sent time.Time) error {
	user := fmt.Sprint(firstUser + shoppers - 1)
	r := seckill.Reservation{Request: seckill.Request{Order: seckill.KeyedOrderID(item, user, "late"), Item: item,
		User: user, Count: 1, Given: seckill.Given{Address: address}, Created: sent}, Units: []int{stock}}
	n := c.log.Request(record.Entry{User: user, Act: record.ActBuy, Item: item, Key: "late", Count: 1,
		Address: record.Hash([]byte(address))})
	c.log.Answer(record.Entry{Request: n, User: user, Act: record.ActBuy, Error: "the answer was lost"})
	if err := c.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageOrder, Reservation: r}, 0); err != nil {
		return err
	}
	return c.WaitIdle(ctx)
}

// shop buys 1 or 2 units, for even i twice with a key. Then half of the shoppers pay, a quarter cancel.
func (c *crowd) shop(ctx context.Context, i int) error {
	user := fmt.Sprint(firstUser + i)
	token, err := c.Token(user, time.Hour)
	if err != nil {
		return err
	}
	idempotency := ""
	if i%2 == 0 {
		idempotency = "key-" + user
	}
	a, err := c.buy(ctx, user, token, idempotency, 1+i%2)
	if err != nil {
		return err
	}
	if idempotency != "" {
		if again, err := c.buy(ctx, user, token, idempotency, 1+i%2); err != nil || again.Status != a.Status ||
			again.Text("order_id") != a.Text("order_id") {
			return fmt.Errorf("a repeat was answered %v, the purchase %v: %w", again, a, err)
		}
	}
	if a.Status == http.StatusConflict {
		return nil // sold out, or too few units left
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("buy: %v", a)
	}
	if err := c.WaitIdle(ctx); err != nil {
		return err
	}
	id := a.Text("order_id")
	switch i % 4 {
	case 0, 1:
		o, err := c.Ledger.Order(ctx, id)
		if err != nil {
			return err
		}
		return c.pay(o)
	case 2:
		o, err := c.Ledger.Order(ctx, id)
		if err != nil {
			return err
		}
		if a, err := c.client.Call(ctx, token, http.MethodPost, "/order/"+id+"/cancel", nil); err != nil ||
			a.Status != http.StatusOK {
			return fmt.Errorf("cancel: %v: %w", a, err)
		}
		if err := c.WaitIdle(ctx); err != nil {
			return err
		}
		if i%8 == 2 { // late money, which is refunded
			return c.pay(o)
		}
	}
	return c.WaitIdle(ctx)
}

// pay pays an order directly at the gateway, because the shop's answers may ask for a retry.
func (c *crowd) pay(o seckill.Order) error {
	pay, err := c.Payments.Prepare(o)
	if err != nil {
		return err
	}
	if _, err := c.Gateway.Open(pay); err != nil {
		return fmt.Errorf("cashier: %w", err)
	}
	return c.Gateway.Pay(o.ID)
}

// ticket gets a shopper a ticket.
func (c *crowd) ticket(ctx context.Context, token string) (string, error) {
	a, err := c.client.Call(ctx, token, http.MethodPost, "/seckill/challenge", map[string]any{"seckill_id": item})
	if err != nil {
		return "", err
	}
	var asked struct{ Proof json.RawMessage }
	if err := json.Unmarshal([]byte(a.Raw), &asked); err != nil {
		return "", err
	}
	proof, _, err := altcha.Solve(asked.Proof)
	if err != nil {
		return "", err
	}
	a, err = c.client.Call(ctx, token, http.MethodPost, "/seckill/ticket", map[string]any{"seckill_id": item,
		"proof": base64.StdEncoding.EncodeToString(proof)})
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("ticket: %v", a)
	}
	return a.Text("ticket"), err
}

func (c *crowd) buy(ctx context.Context, user, token, idempotency string, count int) (contracttest.Answer, error) {
	ticket, err := c.ticket(ctx, token)
	if err != nil {
		return contracttest.Answer{}, err
	}
	headers := []string{"Ticket", ticket}
	if idempotency != "" {
		headers = append(headers, "Idempotency-Key", idempotency)
	}
	n := c.log.Request(record.Entry{User: user, Act: record.ActBuy, Item: item, Key: idempotency, Count: count,
		Address: record.Hash([]byte(address)), Ticket: record.Hash([]byte(ticket))})
	a, err := c.client.Call(ctx, token, http.MethodPost, "/seckill/buy", map[string]any{"seckill_id": item,
		"count": count, "address": address}, headers...)
	c.log.Answer(record.Entry{Request: n, User: user, Act: record.ActBuy, Status: a.Status, Code: a.Text("code"),
		Order: a.Text("order_id")})
	return a, err
}
