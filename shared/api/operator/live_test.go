package operator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

// newLive returns a handler over an empty ledger and empty queues; items answers about the stock.
func newLive(clock seckill.Clock, items Client) *LiveHandler {
	var queues []LiveQueue
	for _, name := range Queues {
		queues = append(queues, LiveQueue{name, memory.NewQueue(clock, memory.QueueOptions{Name: name})})
	}
	rows := memory.NewRows(memory.RowsOptions{Clock: clock})
	return NewLiveHandler(livescreen.New(livescreen.Deps{Ledger: ledger.New(rows), Source: &LiveSource{Items: items},
		Clock: clock, MetricsAge: livescreen.MinuteAge, Each: system.Several(3)}), queues)
}

// answers returns a client whose commands all have this result.
func answers(result string) Client {
	return Client{Who: "a", Call: func(context.Context, []byte) ([]byte, error) {
		return []byte(`{"result":` + result + `}`), nil
	}}
}

// TestOfficeAsksForTheStock checks that the office asks the stage function with a command of its own, that a viewer
// may give, and that a refusal keeps its code.
func TestOfficeAsksForTheStock(t *testing.T) {
	clock, key := memory.NewClock(officeNow), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	made := &recording{of: []Handler{&ItemHandler{}}}
	var functions []string
	o := Office{Stack: officeStack, Clock: clock, Key: func() ed25519.PrivateKey { return key },
		Invoke: func(ctx context.Context, function string, event []byte) ([]byte, error) {
			functions = append(functions, function)
			public, _ := key.Public().(ed25519.PublicKey)
			return ServeSigned(slog.New(slog.DiscardHandler), &Verifier{Stack: officeStack, Function: "stage",
				Clock: clock, Keys: func() []ed25519.PublicKey { return []ed25519.PublicKey{public} }},
				made)(ctx, event)
		}}
	source := LiveSource{Items: o.Items()}
	if _, err := source.LiveStock(t.Context(), "7"); !errors.Is(err, ErrAnswer) { // true is not a stock
		t.Error(err)
	}
	level, ok := made.got[0].(*ReadLevel)
	if len(made.got) != 1 || !ok || level.Item != "7" || functions[0] != "stage" {
		t.Errorf("%v asked for %+v", functions, made.got)
	}
	source.Items = Client{Who: "a", Call: func(context.Context, []byte) ([]byte, error) {
		return marshal(answer{Problem: document(seckill.Refuse(seckill.CodeItemUnknown))})
	}}
	if _, err := source.LiveStock(t.Context(), "7"); seckill.CodeOf(err) != seckill.CodeItemUnknown {
		t.Errorf("an unknown item: %v", err)
	}
}

// TestViewersLeaveNoTrace checks that a viewer's requests are neither recorded nor logged.
func TestViewersLeaveNoTrace(t *testing.T) {
	o := newOffice(t)
	before := o.log.Len()
	status, text := o.post(t, "/operator/viewer", `{"operator":{"command":"live","item":"7"}}`)
	if status != 200 || !strings.Contains(text, `"title":"a"`) || o.log.Len() != before || len(o.trail.entries()) != 0 {
		t.Errorf("%d %s; log %s; audit log %v", status, text, &o.log, o.trail.entries())
	}
}

// TestProblemsOfServers names what is wrong with a server of the stock.
func TestProblemsOfServers(t *testing.T) {
	for want, n := range map[string]seckill.CacheNode{
		"no_answer": {Fault: "refused", Role: "slave"}, "replica": {Role: "slave"},
		"evicts": {Policy: "allkeys-lru", Limit: 100, Used: 99}, "full": {Policy: "noeviction", Limit: 100, Used: 81},
		"": {Policy: "volatile-lru", Limit: 100, Used: 80}} {
		if got := problemOf(&n); got != want {
			t.Errorf("%+v: %q, want %q", n, got, want)
		}
	}
}
