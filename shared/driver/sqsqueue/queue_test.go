package sqsqueue_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// message returns an order message.
func message(n int) seckill.Message {
	return seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{
		Request: seckill.Request{Order: seckill.RandomOrderID("1001", [17]byte{15: byte(n)}), Item: "1001", User: "7",
			Count: 1, Given: seckill.Given{Address: "杭州市西湖区"},
			Created: time.UnixMilli(1_794_398_400_123).UTC(), Trace: "Root=1-abc"},
		Units: []int{n + 1}}}
}

func TestTimesAreRoundedUpToSeconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want float64 // as in JSON
	}{
		{0, 0}, {time.Nanosecond, 1}, {time.Second, 1}, {1001 * time.Millisecond, 2}, {seckill.MaxDelay, 900},
	} {
		f := &fakeSQS{}
		q := f.queue()
		must.OK(t, q.Send(t.Context(), message(1), c.d))
		must.OK(t, q.Delay(t.Context(), delivery, c.d))
		// Send omits a zero: the queue's own delay is 0.
		sent, _ := f.calls[0].in["DelaySeconds"].(float64)
		hidden, present := f.calls[1].in["VisibilityTimeout"].(float64)
		if sent != c.want || hidden != c.want || !present {
			t.Errorf("%v was sent as a delay of %v s and a visibility timeout of %v s (present %v), want %v", c.d, sent,
				hidden, present, c.want)
		}
	}
}

func TestCallsOutOfLimitsAskNobody(t *testing.T) {
	wide := message(1)
	wide.Reservation.Address = strings.Repeat("x", seckill.MaxMessage)
	f := &fakeSQS{}
	q := f.queue()
	sender := sqsqueue.New(f.client(), sqsqueue.Options{URL: queueURL})
	for name, call := range map[string]func() error{
		"negative delay":        func() error { return q.Send(t.Context(), message(1), -1) },
		"long delay":            func() error { return q.Send(t.Context(), message(1), seckill.MaxDelay+1) },
		"large message":         func() error { return q.Send(t.Context(), wide, 0) },
		"receive of none":       func() error { _, err := q.Receive(t.Context(), 0); return err },
		"receive of many":       func() error { _, err := q.Receive(t.Context(), seckill.MaxBatch+1); return err },
		"negative wait":         func() error { return q.Delay(t.Context(), delivery, -1) },
		"long wait":             func() error { return q.Delay(t.Context(), delivery, 12*time.Hour+1) },
		"park without a target": func() error { return sender.Park(t.Context(), delivery, "test") },
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if len(f.calls) != 0 {
		t.Errorf("SQS was asked: %v", f.calls)
	}
}

func TestReceiveReadsWhatSQSGives(t *testing.T) {
	f := &fakeSQS{}
	opt := sqsqueue.Options{URL: queueURL, Wait: 1500 * time.Millisecond}
	ds, err := sqsqueue.New(f.client(), opt).Receive(t.Context(), 3)
	want := []seckill.Delivery{{ID: "m-1", Receipt: "r-1", Body: []byte("body"), Receives: 7}}
	if err != nil || !reflect.DeepEqual(ds, want) {
		t.Errorf("received %+v, error %v, want %+v", ds, err, want)
	}
	in := f.calls[0].in
	if in["MaxNumberOfMessages"] != 3.0 || in["WaitTimeSeconds"] != 2.0 ||
		!reflect.DeepEqual(in["MessageSystemAttributeNames"], []any{"ApproximateReceiveCount"}) {
		t.Errorf("asked for %v", in)
	}
}

// TestReceivesIsNeverBelowOne: the step consume computes its backoff from it.
func TestReceivesIsNeverBelowOne(t *testing.T) {
	for _, count := range []string{"", "0", "-3", "many"} {
		f := &fakeSQS{receives: &count}
		ds, err := f.queue().Receive(t.Context(), 1)
		if err != nil || len(ds) != 1 || ds[0].Receives != 1 {
			t.Errorf("receive count %q: %+v, error %v, want 1", count, ds, err)
		}
	}
}

func TestParkSaysWhy(t *testing.T) {
	text := func(s string) map[string]any { return map[string]any{"DataType": "String", "StringValue": s} }
	receives := map[string]any{"DataType": "Number", "StringValue": "3"}
	for _, c := range []struct {
		name, reason, id string
		want             map[string]any
	}{
		{"plain", "not a message", "m-9", map[string]any{"reason": text("not a message"), "source_id": text("m-9"),
			"receives": receives}},
		{"cut within a character", strings.Repeat("x", 999) + "长", "m-9",
			map[string]any{"reason": text(strings.Repeat("x", 999)), "source_id": text("m-9"), "receives": receives}},
		{"not sendable", "a\x00\tb\xff\ufffec\uffff", "m-9", map[string]any{"reason": text("a\tbc"),
			"source_id": text("m-9"), "receives": receives}},
		{"empty", "\x01", "", map[string]any{"receives": receives}},
	} {
		f := &fakeSQS{}
		d := delivery
		d.ID = c.id
		must.OK(t, f.queue().Park(t.Context(), d, c.reason))
		in := f.calls[0].in
		if in["QueueUrl"] != deadURL || in["MessageBody"] != string(d.Body) ||
			!reflect.DeepEqual(in["MessageAttributes"], c.want) {
			t.Errorf("%s: sent %v, want attributes %v", c.name, in, c.want)
		}
	}
}

func TestDepthAddsUpWhatIsParked(t *testing.T) {
	f := &fakeSQS{}
	got, err := f.queue().Depth(t.Context())
	if want := (seckill.Depth{Visible: 4, InFlight: 5, Delayed: 6, Parked: 15}); err != nil || got != want {
		t.Errorf("depth %+v, error %v, want %+v", got, err, want)
	}
	// Missing figures are an error, not zero.
	f = &fakeSQS{faults: []fault{stranger}, always: true}
	if got, err := f.queue().Depth(t.Context()); err == nil {
		t.Errorf("depth without figures: %+v and no error", got)
	}
}

// TestRedrive: SQS is told where from and where to; that it does so already is not an error, any other refusal is.
func TestRedrive(t *testing.T) {
	t.Parallel()
	running := refusal(400, "UnsupportedOperation")
	for _, c := range []struct {
		name   string
		faults []fault
		task   string
		ok     bool
	}{{"begun", nil, "", true}, {"runs already", []fault{fine, fine, fine, running}, "RUNNING", true},
		{"is not a dead-letter queue", []fault{fine, fine, fine, running}, "COMPLETED", false},
		{"denied", []fault{fine, fine, fine, denied}, "", false}, {"unknown", []fault{noQueue}, "", false}} {
		sqs := &fakeSQS{faults: c.faults, task: c.task}
		n, err := sqs.queue().Redrive(t.Context())
		if (err == nil) != c.ok || c.ok && n != 4 {
			t.Errorf("%s: %d messages, error %v", c.name, n, err)
		}
		if err != nil && !strings.Contains(err.Error(), "orders-dead") {
			t.Errorf("%s: %v names no queue", c.name, err)
		}
		if at := 3; c.ok && (sqs.calls[at].op != "StartMessageMoveTask" ||
			sqs.calls[at].in["SourceArn"] != "arn:"+deadURL || sqs.calls[at].in["DestinationArn"] != "arn:"+queueURL) {
			t.Errorf("%s: asked for %+v", c.name, sqs.calls)
		}
	}
}

func TestNewRefusesOptionsOutOfRange(t *testing.T) {
	for _, opt := range []sqsqueue.Options{{}, {DeadLetterURL: deadURL}, {URL: queueURL, Wait: -1},
		{URL: queueURL, Wait: 20*time.Second + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", opt)
				}
			}()
			sqsqueue.New((&fakeSQS{}).client(), opt)
		}()
	}
}
