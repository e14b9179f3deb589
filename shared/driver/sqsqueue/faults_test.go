package sqsqueue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// longest is how long a call may take, including retries, time limits and backoffs.
const longest = 3300 * time.Millisecond

var operations = []struct {
	name string
	sent string // the operation that is executed
	run  func(ctx context.Context, q seckill.Queue) error
}{
	{"Send", "SendMessage orders", func(ctx context.Context, q seckill.Queue) error {
		return q.Send(ctx, message(1), 0)
	}},
	{"Delete", "DeleteMessage orders", func(ctx context.Context, q seckill.Queue) error {
		return q.Delete(ctx, delivery)
	}},
	{"Delay", "ChangeMessageVisibility orders", func(ctx context.Context, q seckill.Queue) error {
		return q.Delay(ctx, delivery, time.Second)
	}},
	{"Park", "SendMessage orders-dead", func(ctx context.Context, q seckill.Queue) error {
		return q.Park(ctx, delivery, "unreadable")
	}},
	{"Receive", "ReceiveMessage orders", func(ctx context.Context, q seckill.Queue) error {
		_, err := q.Receive(ctx, 10)
		return err
	}},
}

var delivery = seckill.Delivery{ID: "m-9", Receipt: "r-9", Body: []byte("body"), Receives: 3}

// TestFaults is the table of faults of SQS and the network. For each it checks that the error is nil only if SQS has
// executed the call and said so, and that tries and time are limited.
func TestFaults(t *testing.T) {
	tests := []struct {
		faults []fault
		always bool
		ok     bool
		tries  int
		done   int    // how often it was executed, so how many messages exist
		only   string // only for these operations
	}{
		{ok: true, tries: 1, done: 1},
		{faults: []fault{throttled}, ok: true, tries: 2, done: 1},
		{faults: []fault{throttled2, throttled}, ok: true, tries: 3, done: 1},
		{faults: []fault{throttled}, always: true, tries: 3},
		{faults: []fault{internal}, ok: true, tries: 2, done: 1},
		{faults: []fault{busy, internal}, ok: true, tries: 3, done: 1},
		{faults: []fault{internal}, always: true, tries: 3},
		{faults: []fault{busy}, always: true, tries: 3},
		{faults: []fault{refused}, ok: true, tries: 2, done: 1},
		{faults: []fault{refused}, always: true, tries: 3},
		{faults: []fault{lost}, ok: true, tries: 2, done: 2},
		{faults: []fault{lost}, always: true, tries: 3, done: 3},
		{faults: []fault{lost, internal}, always: true, tries: 3, done: 1}, // an error, although it was executed
		{faults: []fault{halfAnswer}, ok: true, tries: 2, done: 2, only: "Send Park Receive"},
		{faults: []fault{halfAnswer}, always: true, tries: 3, done: 3, only: "Send Park Receive"},
		{faults: []fault{slow}, always: true, ok: true, tries: 1, done: 1},
		{faults: []fault{silent}, ok: true, tries: 2, done: 1},
		{faults: []fault{silent}, always: true, tries: 3},
		{faults: []fault{silentDone}, ok: true, tries: 2, done: 2},
		{faults: []fault{silentDone}, always: true, tries: 3, done: 3},
		{faults: []fault{halfOpen}, ok: true, tries: 2, done: 2, only: "Send Park Receive"},
		{faults: []fault{halfOpen}, always: true, tries: 3, done: 3, only: "Send Park Receive"},
		{faults: []fault{stranger}, tries: 1, only: "Send Park"},
		{faults: []fault{noQueue}, tries: 1},
		{faults: []fault{denied}, tries: 1},
		{faults: []fault{badBody}, tries: 1, only: "Send Park"},
		{faults: []fault{badReceipt}, tries: 1, only: "Delete Delay"},
		{faults: []fault{notInFlight}, tries: 1, only: "Delay"},
	}
	for _, tt := range tests {
		for _, op := range operations {
			if tt.only != "" && !strings.Contains(tt.only, op.name) {
				continue
			}
			t.Run(op.name+"/"+named(tt.faults, tt.always), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &fakeSQS{faults: tt.faults, always: tt.always}
					q := f.queue()
					start := time.Now()
					err := op.run(t.Context(), q)
					if took := time.Since(start); took > longest {
						t.Errorf("took %v, want at most %v", took, longest)
					}
					if (err == nil) != tt.ok {
						t.Errorf("error %v, want success %v", err, tt.ok)
					}
					if len(f.calls) != tt.tries || len(f.done) != tt.done {
						t.Errorf("%d tries, carried out %d times; want %d and %d", len(f.calls), len(f.done), tt.tries,
							tt.done)
					}
					for _, d := range f.done {
						if d != op.sent {
							t.Errorf("carried out %q, want %q", d, op.sent)
						}
					}
					if err != nil && strings.Contains(err.Error(), message(1).Reservation.Address) {
						t.Errorf("error with an address: %v", err)
					}
				})
			})
		}
	}
}

func named(faults []fault, always bool) string {
	names := []string{}
	for _, f := range faults {
		names = append(names, f.name)
	}
	switch {
	case len(names) == 0:
		return fine.name
	case always:
		return strings.Join(names, ", ") + ", always"
	}
	return strings.Join(names, ", ") + ", then fine"
}

// TestCallersEnd checks that the end of the caller's context ends the call at once, whatever the server does and in
// whichever try, and that it is distinguished from a try that took too long.
func TestCallersEnd(t *testing.T) {
	for _, op := range operations {
		for _, c := range []struct {
			fault    fault
			patience time.Duration
		}{
			{silent, 400 * time.Millisecond},
			{silentDone, 400 * time.Millisecond},
			{internal, 400 * time.Millisecond}, // the second try is silent
			{silent, 2500 * time.Millisecond},  // in the last try
		} {
			t.Run(op.name+"/"+c.fault.name+" "+c.patience.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &fakeSQS{faults: []fault{c.fault, silent}, always: true}
					ctx, cancel := context.WithTimeout(t.Context(), c.patience)
					defer cancel()
					start := time.Now()
					err := op.run(ctx, f.queue())
					if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != c.patience {
						t.Errorf("after %v error %v, want after %v the context's", took, err, c.patience)
					}
				})
			})
		}
	}
}

// TestRetryQuota checks that in a long outage of SQS calls fail on their first try instead of tripling the load.
func TestRetryQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSQS{faults: []fault{internal}, always: true}
		q := f.queue()
		const calls = 200
		for range calls {
			if err := q.Send(t.Context(), message(1), 0); err == nil {
				t.Fatal("sent")
			}
		}
		if most := calls + 100; len(f.calls) > most {
			t.Errorf("%d calls made %d tries, want at most %d", calls, len(f.calls), most)
		}
		f.always = false
		if err := q.Send(t.Context(), message(1), 0); err != nil {
			t.Errorf("SQS is back, and still: %v", err)
		}
	})
}

func TestErrorsNameCallAndQueue(t *testing.T) {
	for _, op := range operations {
		for _, f := range []fault{noQueue, internal} {
			synctest.Test(t, func(t *testing.T) {
				fake := &fakeSQS{faults: []fault{f}, always: true}
				err := op.run(t.Context(), fake.queue())
				want := "queue orders"
				if op.name == "Park" {
					want = "queue orders-dead"
				}
				if f.name == noQueue.name {
					want = "there is no queue https://"
				}
				if err == nil || !strings.HasPrefix(err.Error(), "sqsqueue: "+strings.ToLower(op.name)+": "+want) {
					t.Errorf("%s, %s: error %v, want it to begin with the call and %q", op.name, f.name, err, want)
				}
			})
		}
	}
}

// TestCreateQueueGoesOn checks that after an interruption at any of its calls, CreateQueue can be called again.
func TestCreateQueueGoesOn(t *testing.T) {
	want := sqsqueue.Options{URL: queueURL, DeadLetterURL: deadURL}
	for at := range 3 {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeSQS{faults: append(make([]fault, at), denied)}
			if opt, err := sqsqueue.CreateQueue(t.Context(), f.client(), "orders"); err == nil {
				t.Errorf("call %d failed: CreateQueue gave %+v and no error", at+1, opt)
			}
			must.Equal(t, want, must.Get(sqsqueue.CreateQueue(t.Context(), f.client(), "orders")), "after call", at+1,
				"had failed")
			must.Equal(t, at+1+3, len(f.calls), "call", at+1, "failed", "calls in all")
		})
	}
}
