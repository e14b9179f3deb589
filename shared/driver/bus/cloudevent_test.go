package bus_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const schemaFile = "../../../docs/events/order.v1.json"

var at = time.Date(2026, 11, 11, 2, 0, 0, 5e6, time.UTC)

// changed is the event of a change to the state.
func changed(from, to seckill.State) seckill.OrderEvent {
	e := seckill.OrderEvent{Order: seckill.KeyedOrderID("7", "1001", "k"), Sequence: 2, Item: "7", User: "1001",
		Count: 2, Price: 100, Amount: 200, Title: "手机", From: from, State: to, At: at, Cause: "notify",
		PayBy: at.Add(time.Hour)}
	if to == seckill.Rejected {
		e.PayBy, e.Reason = time.Time{}, seckill.CodeSoldOut
	}
	return e
}

// TestSchema checks every kind of event against the published schema, and that the schema names no others.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	kinds, states := []string{seckill.EventNoted}, []string{}
	for _, s := range seckill.States {
		if s.State == seckill.Queued {
			continue // no row has it
		}
		kinds, states = append(kinds, s.State.EventKind()), append(states, string(s.State))
		for _, from := range []seckill.State{"", seckill.PendingPayment, s.State} {
			e := changed(from, s.State)
			if err := valid(t, schema, bus.Encode("shop-1", &e)); err != nil {
				t.Errorf("from %q to %s: %v", from, s.State, err)
			}
		}
	}
	var file struct {
		Properties struct{ Type struct{ Enum []string } }
		Defs       struct{ State struct{ Enum []string } } `json:"$defs"`
	}
	b, err := os.ReadFile(schemaFile)
	if err == nil {
		err = json.Unmarshal(b, &file)
	}
	must.OK(t, err)
	for _, list := range []struct{ got, want []string }{{file.Properties.Type.Enum, kinds},
		{file.Defs.State.Enum, states}} {
		slices.Sort(list.got)
		slices.Sort(list.want)
		if !slices.Equal(list.got, list.want) {
			t.Errorf("the schema has %q, the code %q", list.got, list.want)
		}
	}
}

// TestSchemaRefuses checks that the schema is strict: an address or a missing field does not pass.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	for what, change := range map[string]func(map[string]any){
		"an address":    func(m map[string]any) { m["data"].(map[string]any)["address"] = "x" },
		"no sequence":   func(m map[string]any) { delete(m["data"].(map[string]any), "sequence") },
		"another kind":  func(m map[string]any) { m["type"] = "order.lost" },
		"a float":       func(m map[string]any) { m["data"].(map[string]any)["amount"] = 1.5 },
		"an old time":   func(m map[string]any) { m["time"] = "2026-11-11T02:00:00Z" },
		"not its id":    func(m map[string]any) { m["id"] = "1" },
		"other version": func(m map[string]any) { m["data"].(map[string]any)["version"] = 2 },
	} {
		e := changed(seckill.PendingPayment, seckill.Paid)
		var m map[string]any
		must.OK(t, json.Unmarshal(bus.Encode("s", &e), &m))
		change(m)
		b := must.Get(json.Marshal(m))
		if valid(t, schema, b) == nil {
			t.Errorf("%s passes", what)
		}
	}
}

// TestSequenceSorts checks that the CloudEvents sequence sorts as the number does.
func TestSequenceSorts(t *testing.T) {
	t.Parallel()
	last := ""
	for _, n := range []int{1, 9, 10, 99, 100, 12345} {
		e := changed("", seckill.PendingPayment)
		e.Sequence = n
		got := bus.Of("s", &e)
		if got.Sequence <= last || got.Data.Sequence != n {
			t.Errorf("%d: %q after %q", n, got.Sequence, last)
		}
		last = got.Sequence
		if order, sequence, err := seckill.ParseEventID(got.ID); order != e.Order || sequence != n || err != nil {
			t.Errorf("id %s: %s, %d, %v", got.ID, order, sequence, err)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	return must.Get(jsonschema.NewCompiler().Compile(schemaFile))
}

func valid(t *testing.T, s *jsonschema.Schema, b []byte) error {
	return s.Validate(must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(b))))
}
