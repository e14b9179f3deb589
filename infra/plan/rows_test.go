package plan

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

// units counts a ledger's write units by table and index, as DynamoDB's developer guide defines them ("Read and write
// operations"): a transaction's row costs two units per KB (rounded up) of the larger of its old and its new
// size; an index costs one unit per KB (rounded up) of every entry that is put, changed or deleted.
type units map[string]float64

// row counts a row that a transaction replaced (see memory.RowsOptions.Watch).
func (u units) row(table string, before, after ledger.Row) {
	u[table] += 2 * max(kilobytes(before, nil), kilobytes(after, nil))
	for _, t := range ledger.Schema {
		if t.Name != table {
			continue
		}
		for _, x := range t.Indexes {
			u.index(t, x, before, after)
		}
	}
}

func (u units) index(t ledger.Table, x ledger.Index, before, after ledger.Row) {
	entry := func(row ledger.Row) (keys string, content string, kb float64) {
		if row[x.PK] == nil || row[x.SK] == nil {
			return "", "", 0
		}
		var only []string
		if x.KeysOnly {
			only = []string{x.PK, x.SK, t.PK, t.SK}
		}
		keys = fmt.Sprint(row[x.PK], row[x.SK])
		content = keys
		if !x.KeysOnly {
			content = fmt.Sprint(row)
		}
		return keys, content, kilobytes(row, only)
	}
	name := x.Name
	oldKeys, oldContent, oldKB := entry(before)
	newKeys, newContent, newKB := entry(after)
	switch {
	case oldKeys == newKeys && oldContent != newContent:
		u[name] += max(oldKB, newKB)
	case oldKeys != newKeys:
		u[name] += oldKB + newKB // the old entry is deleted, the new entry put
	}
}

// kilobytes returns the size of a row's attributes, names included; only those in `only` if it is not nil.
func kilobytes(row ledger.Row, only []string) float64 {
	size := 0
	for name, v := range row {
		if only != nil && !strings.Contains(" "+strings.Join(only, " ")+" ", " "+name+" ") {
			continue
		}
		size += len(name)
		switch v := v.(type) {
		case string:
			size += len(v)
		case int64:
			size += 1 + (len(fmt.Sprint(v))+1)/2
		case []string:
			size += 3
			for _, s := range v {
				size += 1 + len(s)
			}
		case ledger.Set:
			size += 3
			for _, s := range v {
				size += 1 + len(s)
			}
		}
	}
	return float64((size + 1023) / 1024)
}

// TestWritesAreTheLedgers compares the plan's write units of an order with the ledger's writes.
func TestWritesAreTheLedgers(t *testing.T) {
	now := time.Date(2026, 12, 12, 2, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		count int
		span  string
	}{{1, ""}, {2, ""}, {50, ""}, {1, "70"}, {48, "70"}} {
		count, s := c.count, Sale{Spans: c.span != ""}
		used := units{}
		l, ctx := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(now), Watch: used.row})),
			context.Background()
		o := seckill.Order{ID: seckill.KeyedOrderID("1001", "1", "k"), Item: "1001", User: "1234567890123456789",
			Count: count, Price: 199900, Amount: seckill.Fen(199900 * count),
			Given: seckill.Given{Address: "浙江省杭州市西湖区文三路 398 号东信大厦 1 号楼 1203 室"}, Title: "手机 Pro 256 GB 星空黑",
			Created: now, Placed: now, PayBy: now.Add(15 * time.Minute), Buckets: 2000, Span: c.span}
		for n := range count {
			o.Units = append(o.Units, 900_000+n)
		}
		compare := func(when string, want func(rowWrites) float64) {
			t.Helper()
			for _, w := range s.writes() {
				name := w.Table
				if w.Index != "" {
					name = w.Index
				}
				if got := used[name]; got != want(w) {
					t.Errorf("%d units, %s: %s takes %v write units, the plan says %v", count, when, name, got, want(w))
				}
				delete(used, name)
			}
			if len(used) > 0 {
				t.Errorf("%d units, %s: the plan lacks %v", count, when, used)
			}
			clear(used)
		}
		if err := l.Place(ctx, o, 50); err != nil {
			t.Fatal(err)
		}
		compare("placed", func(w rowWrites) float64 { return w.Place + w.Each*float64(count) })
		p := seckill.Payment{Order: o.ID, TradeNo: "2026121222001400001", Amount: o.Amount, State: seckill.Captured,
			At: now, Cause: "notify"}
		if err := l.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid); err != nil {
			t.Fatal(err)
		}
		n := seckill.KeptNotification{Order: o.ID, ID: strings.Repeat("n", 34), TradeNo: p.TradeNo, Amount: o.Amount,
			At: now, Outcome: seckill.NotificationRecorded, Raw: strings.Repeat("x", 2<<10)}
		if err := l.KeepNotification(ctx, n); err != nil {
			t.Fatal(err)
		}
		compare("paid", func(w rowWrites) float64 { return w.Pay })
	}
}

// TestWritesOfAChange: a change that comes alone costs as many write units in tell, and in deliver, as the plan says.
func TestWritesOfAChange(t *testing.T) {
	ctx, used := t.Context(), units{}
	clock := memory.NewClock(time.Date(2026, 12, 12, 2, 0, 0, 0, time.UTC))
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock, Watch: used.row}))
	o := seckill.Order{ID: seckill.KeyedOrderID("1001", "1", "k"), Item: "1001", User: "1", Count: 1, Units: []int{1},
		Price: 1, Amount: 1, Given: seckill.Given{Address: "a"}, Title: "t", Created: clock.Now(), Placed: clock.Now(),
		PayBy: clock.Now().Add(time.Minute), Buckets: 1}
	if err := l.Place(ctx, o, 1); err != nil {
		t.Fatal(err)
	}
	o, err := l.Order(ctx, o.ID)
	if err != nil {
		t.Fatal(err)
	}
	clear(used)
	changes := []seckill.OrderChange{{Order: o}}
	if n, err := count.New(count.Deps{Ledger: l, Clock: clock, Meter: nobody{}}).Changes(ctx, changes); n != 1 {
		t.Fatal(n, err)
	}
	if got := used[ledger.TableCounts] + used[ledger.TableCounted]; got != changeWrites || len(used) != 2 {
		t.Errorf("tell takes %v, the plan says %v", used, changeWrites)
	}
	clear(used)
	flow := deliver.New(deliver.Deps{Ledger: l, Endpoint: nobody{}, Clock: clock, Meter: nobody{},
		Each: func(n int, do func(int)) {
			for i := range n {
				do(i)
			}
		}})
	if n, err := flow.Changes(ctx, changes); n != 1 {
		t.Fatal(n, err)
	}
	// no transaction: half of what row counts
	if got := used[ledger.TableDeliveries]/2 + used["deliveries_due"]; got != changeWrites || len(used) != 2 {
		t.Errorf("deliver takes %v, the plan says %v", used, changeWrites)
	}
}

// nobody is a meter that counts nothing, and an endpoint that acknowledges everything.
type nobody struct{}

func (nobody) Count(seckill.Event, int)                        {}
func (nobody) Post(context.Context, *seckill.OrderEvent) error { return nil }

// first is a shopper's first sign-in: the issuer, the signer, and the calls of the ledger that only read.
type first struct {
	nobody
	*ledger.Ledger
	clock seckill.Clock
	reads int
}

func (*first) List(context.Context) ([]seckill.Issuer, error) { return nil, nil }
func (f *first) Redeem(context.Context, seckill.Grant) (seckill.Proof, error) {
	return seckill.Proof{Identity: seckill.Identity{Issuer: "https://id.example.com", Subject: "1"},
		Checked: f.clock.Now(), Expires: f.clock.Now().Add(time.Hour)}, nil
}
func (*first) UserID() string                           { return "1" }
func (*first) Token() string                            { return strings.Repeat("0", 32) }
func (*first) SignToken(seckill.Claims) (string, error) { return "", nil }
func (f *first) UserOf(ctx context.Context, id seckill.Identity) (string, error) {
	f.reads++
	return f.Ledger.UserOf(ctx, id)
}

func (f *first) Session(ctx context.Context, user, id string) (seckill.Session, error) {
	f.reads++
	return f.Ledger.Session(ctx, user, id)
}

func (f *first) ListSessions(ctx context.Context, user string, limit int) ([]seckill.Session, error) {
	f.reads++
	return f.Ledger.ListSessions(ctx, user, limit)
}

// TestUnitsOfASignIn: a shopper's first sign-in costs as many units as the plan says.
func TestUnitsOfASignIn(t *testing.T) {
	used, clock := units{}, memory.NewClock(time.Date(2026, 12, 12, 2, 0, 0, 0, time.UTC))
	f := &first{clock: clock, Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock, Watch: used.row}))}
	flow := signin.New(signin.Deps{Issuers: f, Identities: f, Sessions: f, IDs: f, Signer: f, Clock: clock, Meter: f})
	if _, err := flow.SignIn(t.Context(), seckill.Grant{Kind: seckill.GrantToken, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	writes := used[ledger.TableIdentities] + used[ledger.TableLogins]
	if writes != signinWrites || f.reads != signinReads || len(used) != 2 {
		t.Errorf("it takes %d reads and %v, the plan says %v and %v", f.reads, used, signinReads, signinWrites)
	}
}
