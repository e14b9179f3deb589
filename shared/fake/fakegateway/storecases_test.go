package fakegateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// dueLag is how long, in real time, Due may lag behind a Save before the suite fails.
const dueLag = 10 * time.Second

// testStore is the conformance suite of fakegateway.Store: every store runs it. open returns an empty store with room
// for 200 trades for each test.
func testStore(t *testing.T, open func(t *testing.T) fakegateway.Store) {
	tests := []struct {
		name string
		run  func(t *testing.T, s fakegateway.Store)
	}{
		{"what is saved is loaded, field by field", testRoundTrip},
		{"a trade that was never saved is not found", testUnknown},
		{"an order's second trade stands beside the first", testSecond},
		{"a trade is found by its number", testFind},
		{"a day's movements of money are found", testMoved},
		{"only the next version is written", testVersions},
		{"of concurrent savers of one version one wins", testConcurrentSave},
		{"due are those whose attempt is to come, the longest due first", testDue},
		{"more than a hundred are due in several calls", testManyDue},
		{"an ended context is a fault, never an answer", testEnded},
		{"gateways share a trade: one pays, one tells the shop", testShared},
		{"a shop that fails is told again, in Alipay's rhythm", testRhythm},
		{"an attempt that outlives its claim changes nothing", testClaim},
		{"a fault of the store is said as one", testFaults},
		{"an order's two trades are paid, refunded and billed, each by itself", testTwoTrades},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// sample returns a new trade.
func sample(no string) fakegateway.Record {
	return fakegateway.Record{
		Trade: fakegateway.Trade{OutTradeNo: no, TradeNo: "2026010122001000000000000001", Subject: "红色外套 <Red> coat",
			Amount: 88_80,
			Status: fakegateway.StatusWait, Created: start.Add(time.Millisecond), Expires: start.Add(15 * time.Minute)},
		N: 1, Lapses: start.Add(16 * time.Minute), NotifyURL: "https://shop.example/notify?a=b", Token: "token",
	}
}

// paid returns a paid trade whose notification has its next attempt at next, or no next attempt if next is zero.
func paidRecord(no string, next time.Time) fakegateway.Record {
	r := sample(no)
	r.Status, r.Paid = fakegateway.StatusSuccess, start.Add(time.Minute)
	r.Notifications = []fakegateway.Notification{{ID: "n-" + no, Attempts: 2, Next: next}}
	return r
}

// refunded returns a partly refunded trade; the notification about the refund has its next attempt at next.
func refunded(r fakegateway.Record, amount seckill.Fen, at, next time.Time) fakegateway.Record {
	no := fmt.Sprintf("r%d", len(r.Refunds))
	r.Refunds = append(slices.Clone(r.Refunds), fakegateway.Refund{RequestNo: no, Amount: amount, At: at})
	r.Notifications = append(slices.Clone(r.Notifications), fakegateway.Notification{ID: "n-" + no, Next: next})
	return r
}

// trade returns the key of an order's first trade.
func trade(no string) fakegateway.Key { return fakegateway.Key{OutTradeNo: no, N: 1} }

func save(t *testing.T, s fakegateway.Store, r fakegateway.Record) fakegateway.Record {
	t.Helper()
	must.OK(t, s.Save(t.Context(), r))
	r.Version++
	return r
}

func loaded(t *testing.T, s fakegateway.Store, no string, want fakegateway.Record) {
	t.Helper()
	got, found, err := s.Load(t.Context(), fakegateway.Key{OutTradeNo: no, N: want.N})
	if diff := cmp.Diff(want, got); err != nil || !found || diff != "" {
		t.Errorf("%s: %v, found %v (-want +got):\n%s", no, err, found, diff)
	}
}

func testRoundTrip(t *testing.T, s fakegateway.Store) {
	r := save(t, s, sample("a"))
	loaded(t, s, "a", r)
	next := paidRecord("a", start.Add(time.Minute+time.Millisecond))
	next.Version = r.Version
	next = save(t, s, next)
	loaded(t, s, "a", next)
	next = save(t, s, refunded(next, 8_80, start.Add(2*time.Minute), start.Add(3*time.Minute)))
	loaded(t, s, "a", next)
	next.Notifications[0].Next = time.Time{} // confirmed
	next = save(t, s, refunded(next, 80_00, start.Add(3*time.Minute), time.Time{}))
	loaded(t, s, "a", next)
	next.Notifications[1].Next = time.Time{}
	loaded(t, s, "a", save(t, s, next))
	loaded(t, s, "b", save(t, s, sample("b")))
}

func testUnknown(t *testing.T, s fakegateway.Store) {
	save(t, s, sample("a"))
	for _, no := range []string{"b", "A", ""} {
		r, found, err := s.Load(t.Context(), trade(no))
		if diff := cmp.Diff(fakegateway.Record{}, r); found || err != nil || diff != "" {
			t.Errorf("%q: %+v, found %v, %v; want nothing", no, r, found, err)
		}
	}
	if _, found, err := s.Load(t.Context(), fakegateway.Key{OutTradeNo: "a", N: 2}); found || err != nil {
		t.Errorf("a second trade that is not there: found %v, %v", found, err)
	}
}

// second returns another, waiting trade of the same order.
func second(r fakegateway.Record) fakegateway.Record {
	r.N, r.TradeNo, r.Token = 2, "2026010122001000000000000002", "another"
	return r
}

func testSecond(t *testing.T, s fakegateway.Store) {
	first, other := save(t, s, sample("a")), save(t, s, second(sample("a")))
	loaded(t, s, "a", first)
	loaded(t, s, "a", other)
	must.Is(t, fakegateway.ErrChanged, s.Save(t.Context(), second(sample("a"))), "made twice")
	change := second(paidRecord("a", start))
	change.Version = other.Version
	change = save(t, s, change)
	loaded(t, s, "a", first)
	loaded(t, s, "a", change)
	awaitDue(t, s, start, change.Key())
}

func testFind(t *testing.T, s fakegateway.Store) {
	first, other := save(t, s, sample("a")), save(t, s, second(sample("a")))
	for _, r := range []fakegateway.Record{first, other} {
		if k, found, err := s.Find(t.Context(), r.TradeNo); k != r.Key() || !found || err != nil {
			t.Errorf("%s: %v, found %v, %v; want %v", r.TradeNo, k, found, err, r.Key())
		}
	}
	for _, no := range []string{"2026010122001000000000000003", "a"} {
		if k, found, err := s.Find(t.Context(), no); found || err != nil {
			t.Errorf("%s: %v, found %v, %v; want nothing", no, k, found, err)
		}
	}
}

func testMoved(t *testing.T, s fakegateway.Store) {
	noon := time.Date(2026, 1, 1, 4, 0, 0, 0, time.UTC) // noon in China
	midnight := noon.Add(12 * time.Hour)
	pay := func(r fakegateway.Record, at time.Time) fakegateway.Record {
		r.Status, r.Paid, r.Notifications = fakegateway.StatusSuccess, at,
			[]fakegateway.Notification{{ID: "n", Next: at}}
		return save(t, s, r)
	}
	both := pay(sample("both"), noon)
	both = save(t, s, refunded(both, 1, noon.Add(time.Hour), time.Time{}))
	save(t, s, refunded(both, 1, midnight, time.Time{}))
	pay(sample("first"), midnight.Add(-time.Millisecond))
	pay(second(sample("first")), midnight)
	save(t, s, sample("waits"))
	for day, want := range map[string][]fakegateway.Key{
		"2025-12-31": nil,
		"2026-01-01": {trade("both"), trade("first")},
		"2026-01-02": {trade("both"), {OutTradeNo: "first", N: 2}},
	} {
		var got []fakegateway.Key
		for deadline := time.Now().Add(dueLag); ; {
			var err error
			if got, err = s.Moved(t.Context(), day); err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(got, func(a, b fakegateway.Key) int { return strings.Compare(a.OutTradeNo, b.OutTradeNo) })
			if slices.Equal(got, want) || time.Now().After(deadline) {
				break
			}
		}
		must.Equal(t, want, got, day)
	}
}

func testVersions(t *testing.T, s fakegateway.Store) {
	r := save(t, s, sample("a"))
	r = save(t, s, r)
	for name, version := range map[string]int64{"new": 0, "older": r.Version - 1, "not there yet": r.Version + 1} {
		other := paidRecord("a", start)
		other.Version = version
		must.Is(t, fakegateway.ErrChanged, s.Save(t.Context(), other), name)
	}
	other := sample("b")
	other.Version = 1
	must.Is(t, fakegateway.ErrChanged, s.Save(t.Context(), other), "a later version of what is not there")
	loaded(t, s, "a", r)
}

func testConcurrentSave(t *testing.T, s fakegateway.Store) {
	const savers = 8
	for _, r := range []fakegateway.Record{sample("a"), save(t, s, sample("b"))} {
		errs := make([]error, savers)
		var wg sync.WaitGroup
		for i := range savers {
			wg.Go(func() {
				mine := r
				mine.Token = fmt.Sprint(i)
				errs[i] = s.Save(context.Background(), mine)
			})
		}
		wg.Wait()
		won := slices.Index(errs, nil)
		for i, err := range errs {
			if i != won && !errors.Is(err, fakegateway.ErrChanged) {
				t.Errorf("saver %d: %v, want ErrChanged", i, err)
			}
		}
		if won < 0 {
			t.Fatal("nobody won")
		}
		r.Token = fmt.Sprint(won)
		r.Version++
		loaded(t, s, r.OutTradeNo, r)
	}
}

// awaitDue reads the due keys until they are as expected.
func awaitDue(t *testing.T, s fakegateway.Store, by time.Time, want ...fakegateway.Key) {
	t.Helper()
	for deadline := time.Now().Add(dueLag); ; {
		got := must.Get(s.Due(t.Context(), by))
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("due: %v, want %v", got, want)
		}
	}
}

func testDue(t *testing.T, s fakegateway.Store) {
	save(t, s, sample("waits"))
	late := save(t, s, paidRecord("late", start.Add(time.Minute)))
	save(t, s, paidRecord("first", start))
	save(t, s, paidRecord("later", start.Add(time.Minute+time.Millisecond)))
	save(t, s, paidRecord("confirmed", time.Time{}))
	awaitDue(t, s, start.Add(-time.Millisecond))
	awaitDue(t, s, start, trade("first"))
	awaitDue(t, s, start.Add(time.Minute), trade("first"), trade("late"))
	awaitDue(t, s, start.Add(time.Hour), trade("first"), trade("late"), trade("later"))
	late.Notifications[0].Next = time.Time{}
	late = save(t, s, late)
	awaitDue(t, s, start.Add(time.Hour), trade("first"), trade("later"))
	// a second notification of the trade "late", whose first notification was confirmed
	save(t, s, refunded(late, 1, start, start.Add(2*time.Minute)))
	awaitDue(t, s, start.Add(2*time.Minute), trade("first"), trade("later"), trade("late"))
}

func testManyDue(t *testing.T, s fakegateway.Store) {
	const trades = 120
	for i := range trades {
		save(t, s, paidRecord(fmt.Sprintf("n%03d", i), start.Add(time.Duration(i)*time.Second)))
	}
	seen := map[fakegateway.Key]bool{}
	for deadline := time.Now().Add(dueLag); len(seen) < trades; {
		due, err := s.Due(t.Context(), start.Add(time.Hour))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%v; %d seen, want %d", err, len(seen), trades)
		}
		for _, k := range due {
			if seen[k] {
				continue // the index may lag
			}
			seen[k] = true
			r, _, err := s.Load(t.Context(), k)
			must.OK(t, err)
			r.Notifications[0].Next = time.Time{}
			save(t, s, r)
		}
	}
}

func testEnded(t *testing.T, s fakegateway.Store) {
	save(t, s, paidRecord("a", start))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, loadErr := s.Load(ctx, trade("a"))
	_, _, findErr := s.Find(ctx, "2026010122001000000000000001")
	_, dueErr := s.Due(ctx, start)
	_, movedErr := s.Moved(ctx, "2026-01-01")
	for call, err := range map[string]error{"load": loadErr, "find": findErr, "moved": movedErr, "due": dueErr,
		"save": s.Save(ctx, sample("b"))} {
		if err == nil || errors.Is(err, fakegateway.ErrChanged) || errors.Is(err, fakegateway.ErrFull) {
			t.Errorf("%s: %v, want a fault", call, err)
		}
	}
}
