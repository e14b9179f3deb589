package functions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// streamed returns the recorded event of the orders table's stream: an order is placed and paid.
func streamed(t *testing.T) []byte { return recorded(t, "dynamodb.json") }

// TestTellFunction checks that changes are published, and that Lambda keeps them while the bus refuses.
func TestTellFunction(t *testing.T) {
	w := newDeployment(t)
	f := w.start(t, "tell")
	w.aws.BusAway(true)
	run(t, f, streamed(t), `{"batchItemFailures":[{"itemIdentifier":"111"}]}`)
	w.aws.BusAway(false)
	run(t, f, streamed(t), done)
	var told []string
	var id string
	for _, detail := range w.aws.Events() {
		var e struct{ ID, Type, Source string }
		if err := json.Unmarshal([]byte(detail), &e); err != nil {
			t.Fatal(err)
		}
		id, _, _ = strings.Cut(e.ID, ".")
		told = append(told, e.ID[len(e.ID)-2:]+" "+e.Type+" "+e.Source)
		if strings.Contains(detail, "address") || strings.Contains(detail, "西湖") {
			t.Errorf("an event has the address: %s", detail)
		}
	}
	const want = ".1 order.placed /seckill/seckill, .2 order.paid /seckill/seckill"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if !f.Says(`"changes_told":2`) {
		t.Errorf("no metric: %s", f.Output())
	}
	// The bus's fault did not keep the changes from being counted.
	marks, err := ledger.New(w.rows).Counted(t.Context(), []string{id})
	if err != nil || marks[id].Sequence != 2 || !f.Says(`"changes_counted":1`) {
		t.Errorf("counted up to %+v, %v\n%s", marks, err, f.Output())
	}
}

// TestTellFunctionOfAnOperator checks that it tells an order again, says where to ship it, logs who asked but not the
// address, and refuses other events.
func TestTellFunctionOfAnOperator(t *testing.T) {
	w := newDeployment(t)
	_, o, _ := paidTrade(t, w)
	f := w.start(t, "tell", "LOG_LEVEL", "error")
	operators := staff(f)
	if told, err := operators.Tell(t.Context(), o.ID); err != nil || told.Changes != 1 || len(w.aws.Events()) != 1 {
		t.Errorf("tell: %+v, %v", told, err)
	}
	if told, err := operators.Replay(t.Context(), o.Item, seckill.Day(o.Placed), ""); err != nil || told.Changes != 1 {
		t.Errorf("replay: %+v, %v", told, err)
	}
	d, err := operators.Delivery(t.Context(), o.ID)
	if err != nil || d.Address != address || d.Count != 1 || d.State != seckill.PendingPayment {
		t.Errorf("delivery: %+v, %v", d, err)
	}
	// Says waits for the log's last line.
	if !f.Says(fmt.Sprintf(`"command":"delivery","order":%q,"result":"read"`, o.ID)) ||
		strings.Contains(f.Output(), address) {
		t.Errorf("log: %s", f.Output())
	}
	if _, err := f.Invoke([]byte(`{"Records":[{"eventSource":"aws:sqs","messageId":"1","body":"x"}]}`)); err == nil {
		t.Error("a queue's event is accepted")
	}
}
