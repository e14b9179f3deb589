// Package storetest is the conformance suite of fakegateway.Store: every driver of the port runs it.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"seckill/shared/adapter/alipay/fakegateway"
)

// dueLag is how long a Due may lag behind a Save, in real time, before the suite calls a trade lost.
const dueLag = 10 * time.Second

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Run runs the suite. open gives an empty store with room for 200 trades for each test.
func Run(t *testing.T, open func(t *testing.T) fakegateway.Store) {
	tests := []struct {
		name string
		run  func(t *testing.T, s fakegateway.Store)
	}{
		{"what is saved is loaded, field by field", testRoundTrip},
		{"a trade that was never saved is not found", testUnknown},
		{"only the next version is written", testVersions},
		{"of concurrent savers of one version one wins", testConcurrentSave},
		{"due are those whose attempt is to come, the longest due first", testDue},
		{"more than a hundred are due in several calls", testManyDue},
		{"an ended context is a fault, never an answer", testEnded},
		{"gateways share a trade: one pays, one tells the shop", testShared},
		{"a shop that fails is told again, in Alipay's rhythm", testRhythm},
		{"an attempt that outlives its claim changes nothing", testClaim},
		{"a fault of the store is said as one", testFaults},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// sample is a new trade.
func sample(no string) fakegateway.Record {
	return fakegateway.Record{
		Trade: fakegateway.Trade{OutTradeNo: no, TradeNo: "2026010122001000000000000001", Subject: "红色外套 <Red> coat", Amount: 88_80,
			Status: fakegateway.StatusWait, Created: start.Add(time.Millisecond), Expires: start.Add(15 * time.Minute)},
		Lapses: start.Add(16 * time.Minute), NotifyURL: "https://shop.example/notify?a=b", Token: "token",
	}
}

// paid is a trade whose notify has an attempt to come; zero: none.
func paid(no string, next time.Time) fakegateway.Record {
	r := sample(no)
	r.Status, r.Paid = fakegateway.StatusSuccess, start.Add(time.Minute)
	r.Notify = fakegateway.Notify{ID: "n-" + no, Attempts: 2, Next: next}
	return r
}

func save(t *testing.T, s fakegateway.Store, r fakegateway.Record) fakegateway.Record {
	t.Helper()
	if err := s.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Version++
	return r
}

func loaded(t *testing.T, s fakegateway.Store, no string, want fakegateway.Record) {
	t.Helper()
	got, found, err := s.Load(t.Context(), no)
	if diff := cmp.Diff(want, got); err != nil || !found || diff != "" {
		t.Errorf("%s: %v, found %v (-want +got):\n%s", no, err, found, diff)
	}
}

func testRoundTrip(t *testing.T, s fakegateway.Store) {
	r := save(t, s, sample("a"))
	loaded(t, s, "a", r)
	next := paid("a", start.Add(time.Minute+time.Millisecond))
	next.Version = r.Version
	next = save(t, s, next)
	loaded(t, s, "a", next)
	next.Notify.Next = time.Time{} // confirmed
	loaded(t, s, "a", save(t, s, next))
	loaded(t, s, "b", save(t, s, sample("b")))
}

func testUnknown(t *testing.T, s fakegateway.Store) {
	save(t, s, sample("a"))
	for _, no := range []string{"b", "A", ""} {
		if r, found, err := s.Load(t.Context(), no); found || err != nil || r != (fakegateway.Record{}) {
			t.Errorf("%q: %+v, found %v, %v; want nothing", no, r, found, err)
		}
	}
}

func testVersions(t *testing.T, s fakegateway.Store) {
	r := save(t, s, sample("a"))
	r = save(t, s, r)
	for name, version := range map[string]int64{"new": 0, "older": r.Version - 1, "not there yet": r.Version + 1} {
		other := paid("a", start)
		other.Version = version
		if err := s.Save(t.Context(), other); !errors.Is(err, fakegateway.ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", name, err)
		}
	}
	other := sample("b")
	other.Version = 1
	if err := s.Save(t.Context(), other); !errors.Is(err, fakegateway.ErrChanged) {
		t.Errorf("a later version of what is not there: %v, want ErrChanged", err)
	}
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

// awaitDue reads what is due until it is what it should be.
func awaitDue(t *testing.T, s fakegateway.Store, by time.Time, want ...string) {
	t.Helper()
	for deadline := time.Now().Add(dueLag); ; {
		got, err := s.Due(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("due: %q, want %q", got, want)
		}
	}
}

func testDue(t *testing.T, s fakegateway.Store) {
	save(t, s, sample("waits"))
	late := save(t, s, paid("late", start.Add(time.Minute)))
	save(t, s, paid("first", start))
	save(t, s, paid("later", start.Add(time.Minute+time.Millisecond)))
	save(t, s, paid("confirmed", time.Time{}))
	awaitDue(t, s, start.Add(-time.Millisecond))
	awaitDue(t, s, start, "first")
	awaitDue(t, s, start.Add(time.Minute), "first", "late")
	awaitDue(t, s, start.Add(time.Hour), "first", "late", "later")
	late.Notify.Next = time.Time{}
	save(t, s, late)
	awaitDue(t, s, start.Add(time.Hour), "first", "later")
}

func testManyDue(t *testing.T, s fakegateway.Store) {
	const trades = 120
	for i := range trades {
		save(t, s, paid(fmt.Sprintf("n%03d", i), start.Add(time.Duration(i)*time.Second)))
	}
	seen := map[string]bool{}
	for deadline := time.Now().Add(dueLag); len(seen) < trades; {
		due, err := s.Due(t.Context(), start.Add(time.Hour))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%v; %d seen, want %d", err, len(seen), trades)
		}
		for _, no := range due {
			if seen[no] {
				continue // of an index that lags
			}
			seen[no] = true
			r, _, err := s.Load(t.Context(), no)
			if err != nil {
				t.Fatal(err)
			}
			r.Notify.Next = time.Time{}
			save(t, s, r)
		}
	}
}

func testEnded(t *testing.T, s fakegateway.Store) {
	save(t, s, paid("a", start))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, loadErr := s.Load(ctx, "a")
	_, dueErr := s.Due(ctx, start)
	for call, err := range map[string]error{"load": loadErr, "due": dueErr, "save": s.Save(ctx, sample("b"))} {
		if err == nil || errors.Is(err, fakegateway.ErrChanged) || errors.Is(err, fakegateway.ErrFull) {
			t.Errorf("%s: %v, want a fault", call, err)
		}
	}
}
