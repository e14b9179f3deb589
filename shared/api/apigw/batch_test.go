package apigw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/seckill"
)

var quiet = slog.New(slog.DiscardHandler)

// event returns a batch of n wake messages, m0 to m(n-1).
func event(n int) []byte {
	var records []string
	for i := range n {
		records = append(records,
			fmt.Sprintf(
				`{"messageId":"m%d","receiptHandle":"r%d","body":"{\"v\":1,\"kind\":\"wake\",\"item\":\"%d\"}"}`, i, i,
				i+1))
	}
	return []byte(`{"Records":[` + strings.Join(records, ",") + `]}`)
}

func TestRecordedBatch(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]string{}
	h := apigw.Batch(func(ctx context.Context, d seckill.Delivery) error {
		m, err := seckill.DecodeMessage(d.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got[d.ID] = fmt.Sprint(m.Kind, " ", d.Receipt, " ", d.Receives, " ", seckill.Trace(ctx))
		return nil
	}, quiet)
	out, err := h(context.Background(), recorded(t, "sqs.json"))
	if err != nil || string(out) != `{"batchItemFailures":[]}` {
		t.Errorf("%s, %v", out, err)
	}
	want := map[string]string{
		"059f36b4-87a3-44ab-83d2-661975830a7d": "order AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a== 3 Root=1-69120f5e",
		"2e1424d4-f796-459a-8184-9c92662be6da": "return AQEBzWwaftRI0KuVm4tP+/7q1rGgNqicHq== 1 Root=1-69120f5f",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func failures(t *testing.T, out []byte) []string {
	t.Helper()
	var r struct {
		BatchItemFailures []struct {
			ItemIdentifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(out, &r); err != nil || r.BatchItemFailures == nil {
		t.Fatalf("%s, %v: want a list, though empty", out, err)
	}
	ids := []string{}
	for _, f := range r.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

func TestWhatFailedIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		want []string
	}{
		{0, []string{}},
		{1, []string{"m0"}},
		{10, []string{"m0", "m3", "m6", "m9"}},
		{25, []string{"m0", "m3", "m6", "m9", "m12", "m15", "m18", "m21", "m24"}},
	} {
		var log bytes.Buffer
		h := apigw.Batch(func(_ context.Context, d seckill.Delivery) error {
			var i int
			_, _ = fmt.Sscanf(d.ID, "m%d", &i)
			switch {
			case i%3 != 0:
				return nil
			case i%2 == 0:
				panic("the message's address")
			}
			return errors.New("no answer")
		}, slog.New(slog.NewTextHandler(&log, nil)))
		out, err := h(context.Background(), event(c.n))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, failures(t, out)); d != "" {
			t.Errorf("%d messages: %s", c.n, d)
		}
		if n := strings.Count(log.String(), "message comes back"); n != len(c.want) ||
			strings.Contains(log.String(), "address") {
			t.Errorf("%d messages, %d lines: %s", c.n, n, log.String())
		}
	}
}

func TestABatchIsHandledAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := apigw.Batch(func(context.Context, seckill.Delivery) error {
			time.Sleep(time.Second) // on the synctest clock
			return nil
		}, quiet)
		for _, c := range []struct {
			n    int
			want time.Duration
		}{{10, time.Second}, {11, 2 * time.Second}, {30, 3 * time.Second}} {
			start := time.Now()
			if out, err := h(t.Context(), event(c.n)); err != nil || len(failures(t, out)) != 0 {
				t.Errorf("%s, %v", out, err)
			}
			if took := time.Since(start); took != c.want {
				t.Errorf("%d messages of a second took %v, want %v", c.n, took, c.want)
			}
		}
	})
}

func TestABatchEndsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deaf bool // ignores the end of its context
		took time.Duration
	}{
		"handler obeys": {false, 8 * time.Second},
		"handler hangs": {true, 9 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var mu sync.Mutex
			begun := 0
			h := apigw.Batch(func(ctx context.Context, d seckill.Delivery) error {
				mu.Lock()
				begun++
				mu.Unlock()
				switch {
				case d.ID == "m1":
					return nil
				case c.deaf:
					time.Sleep(time.Minute)
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}, quiet)
			start := time.Now()
			out, err := h(ctx, event(12))
			if took := time.Since(start); err != nil || took != c.took {
				t.Errorf("%s: %v after %v, want %v", name, err, took, c.took)
			}
			if d := cmp.Diff([]string{"m0", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11"},
				failures(t, out)); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			mu.Lock()
			defer mu.Unlock()
			if begun != 11 {
				t.Errorf("%s: %d messages begun, want 11: ten at once and one for the one that ended", name, begun)
			}
			time.Sleep(time.Hour) // on the synctest clock: those that hang end as well
		})
	}
}

func TestNotABatch(t *testing.T) {
	t.Parallel()
	h := apigw.Batch(func(context.Context, seckill.Delivery) error { return nil }, quiet)
	for name, e := range map[string]string{"not JSON": "{", "no id": `{"Records":[{"body":"x"}]}`,
		"another shape": `{"Records":"x"}`} {
		if out, err := h(context.Background(), []byte(e)); err == nil || out != nil {
			t.Errorf("%s: %s, %v; want an error", name, out, err)
		}
	}
}

func TestBatchOrSchedule(t *testing.T) {
	t.Parallel()
	var got string
	note := func(name string) apigw.Handler {
		return func(context.Context, []byte) ([]byte, error) {
			got = name
			return nil, nil
		}
	}
	h := apigw.BatchOr(note("batch"), note("schedule"))
	for file, want := range map[string]string{"sqs.json": "batch", "schedule.json": "schedule"} {
		if _, err := h.Invoke(context.Background(), recorded(t, file)); err != nil || got != want {
			t.Errorf("%s: went to %s, %v", file, got, err)
		}
	}
	if _, err := h(context.Background(), []byte("{")); err == nil {
		t.Error("no error for what is not JSON")
	}
}

func TestHTTPOrSchedule(t *testing.T) {
	t.Parallel()
	var got string
	note := func(name string) apigw.Handler {
		return func(context.Context, []byte) ([]byte, error) {
			got = name
			return nil, nil
		}
	}
	h := apigw.HTTPOr(note("http"), note("schedule"))
	for file, want := range map[string]string{"apigateway.json": "http", "schedule.json": "schedule"} {
		if _, err := h.Invoke(context.Background(), recorded(t, file)); err != nil || got != want {
			t.Errorf("%s: went to %s, %v", file, got, err)
		}
	}
	if _, err := h(context.Background(), []byte("{")); err == nil {
		t.Error("no error for what is not JSON")
	}
}

func TestAScheduleHasLambdasRequestID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ctx  context.Context
		want string
	}{
		"on Lambda": {lambdacontext.NewContext(t.Context(),
			&lambdacontext.LambdaContext{AwsRequestID: "5a8a6f0e-52b0"}), "5a8a6f0e-52b0"},
		"elsewhere": {t.Context(), ""},
	} {
		got := "nothing ran"
		h := apigw.Schedule(func(ctx context.Context) error { got = seckill.Trace(ctx); return nil })
		if _, err := h(c.ctx, recorded(t, "schedule.json")); err != nil || got != c.want {
			t.Errorf("%s: request id %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestScheduleOrOperator(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, want string }{
		"recorded":           {string(recorded(t, "schedule.json")), "schedule"},
		"an operator's":      {`{"operator":{}}`, "operator"},
		"nothing":            {"", "operator"},
		"no JSON":            {"{", "operator"},
		"an empty object":    {"{}", "operator"},
		"a queue's":          {string(recorded(t, "sqs.json")), "operator"},
		"another detail":     {`{"detail-type":"Object Created","source":"aws.events"}`, "operator"},
		"from somebody else": {`{"detail-type":"Scheduled Event","source":"mine"}`, "operator"},
	} {
		ctx, cancel := context.WithDeadline(lambdacontext.NewContext(t.Context(),
			&lambdacontext.LambdaContext{AwsRequestID: "5a8a6f0e"}), time.Now().Add(time.Hour))
		deadline, _ := ctx.Deadline()
		var got string
		h := apigw.ScheduleOr(apigw.Schedule(func(context.Context) error { got = "schedule"; return nil }),
			func(ctx context.Context, event []byte) ([]byte, error) {
				got = "operator"
				if at, ok := ctx.Deadline(); !ok || !at.Equal(deadline.Add(-2*time.Second)) ||
					seckill.Trace(ctx) != "5a8a6f0e" || string(event) != c.event {
					t.Errorf("%s: deadline %v, request id %q, event %s; want 2 s before %v", name, at,
						seckill.Trace(ctx), event, deadline)
				}
				return []byte("answer"), nil
			})
		out, err := h(ctx, []byte(c.event))
		if err != nil || got != c.want || (string(out) == "answer") != (c.want == "operator") {
			t.Errorf("%s: went to %s, %s, %v; want %s", name, got, out, err, c.want)
		}
		cancel()
	}
}

func TestScheduleReportsItsError(t *testing.T) {
	t.Parallel()
	want := errors.New("item 7: no answer")
	out, err := apigw.Schedule(func(context.Context) error {
		return want
	})(context.Background(), recorded(t, "schedule.json"))
	if out != nil || !errors.Is(err, want) {
		t.Errorf("%s, %v", out, err)
	}
	out, err = apigw.Schedule(func(context.Context) error {
		return nil
	})(context.Background(), recorded(t, "schedule.json"))
	if string(out) != "null" || err != nil {
		t.Errorf("%s, %v", out, err)
	}
}
