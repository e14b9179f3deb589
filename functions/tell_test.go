package functions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
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
	must.Equal(t, want, strings.Join(told, ", "), "told")
	if !f.Says(`"changes_told":2`) {
		t.Errorf("no metric: %s", f.Output())
	}
	// The bus's fault did not keep the changes from being counted.
	marks, err := ledger.New(w.rows).Counted(t.Context(), []string{id})
	if err != nil || marks[id].Sequence != 2 || !f.Says(`"changes_counted":1`) {
		t.Errorf("counted up to %+v, %v\n%s", marks, err, f.Output())
	}
}
