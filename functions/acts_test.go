package functions_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// subscription returns the event of a log group's subscription with these lines, whose ids are "1", "2", …
func subscription(t *testing.T, kind string, lines ...string) []byte {
	t.Helper()
	data := events.CloudwatchLogsData{Owner: "123456789012", LogGroup: "/aws/lambda/seckill-admit",
		LogStream: "2026/11/11/[$LATEST]1", SubscriptionFilters: []string{"acts"}, MessageType: kind}
	for i, line := range lines {
		data.LogEvents = append(data.LogEvents, events.CloudwatchLogsLogEvent{ID: string(rune('1' + i)),
			Timestamp: time.Now().UnixMilli(), Message: line})
	}
	return packed(t, must.Get(json.Marshal(data)))
}

// packed gzips a text into an event; JSON writes bytes in base64.
func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	must.Get(z.Write(text))
	must.OK(t, z.Close())
	return raw(t, b.Bytes())
}

func raw(t *testing.T, data []byte) []byte {
	return must.Get(json.Marshal(map[string]any{"awslogs": map[string]any{"data": data}}))
}

// suspicious returns the line of a suspicious act, as admit writes it.
func suspicious(at time.Time, user string) string {
	var b bytes.Buffer
	log := actlog.New(&b, func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:8])
	})
	log.Take(&seckill.Act{At: at, Item: "2002", Action: seckill.ActTicket, Result: seckill.ActDone,
		Rules: seckill.RuleFast, Agent: "script/1.0"}, user, netip.MustParsePrefix("203.0.113.7/32"), "trace")
	return b.String()
}

// TestActsFunction runs the built function with events of a subscription. It keeps suspicious acts and marks their
// users, whatever stands between their lines, and refuses what it cannot read.
func TestActsFunction(t *testing.T) {
	w := newDeployment(t)
	rows := ledger.New(w.rows)
	f := w.start(t, "acts", "LOG_LEVEL", "error")
	at := time.Now().UTC().Truncate(time.Millisecond)
	kept := func(line, user string) {
		t.Helper()
		sum := sha256.Sum256([]byte(line))
		a, err := rows.Act(t.Context(), seckill.ActID(at, hex.EncodeToString(sum[:6])))
		if err != nil || a.User != user || a.Item != "2002" || a.Rules != seckill.RuleFast || !a.At.Equal(at) ||
			a.Status() != "suspicious" {
			t.Errorf("the act of user %s: %+v, %v", user, a, err)
		}
	}

	good := subscription(t, "DATA_MESSAGE", "START RequestId: 1 Version: 1\n", suspicious(at, "1001"),
		`{"msg":"act","timestamp":"soon","rules":"fast","user":"1009"}`, `{"msg":"act"`, "\x00\xff", "",
		`[1,2,3]`, suspicious(at, "1002"))
	run(t, f, good, "null")
	kept("2", "1001")
	kept("8", "1002")
	run(t, f, good, "null") // it comes again
	kept("2", "1001")

	run(t, f, subscription(t, "CONTROL_MESSAGE", "CWL CONTROL MESSAGE: Checking health"), "null")
	if out, err := f.Invoke(raw(t, []byte("no gzip"))); err == nil {
		t.Errorf("what is no event is answered %s", out)
	}
}
