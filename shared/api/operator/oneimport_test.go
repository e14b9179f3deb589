package operator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// instances plays a function of five instances, each of which hangs in an import.
type instances struct {
	busy    chan struct{}
	begun   chan struct{}
	release chan struct{}
	fail    error
}

func (i *instances) invoke(_ context.Context, _ string, event []byte) ([]byte, error) {
	select {
	case i.busy <- struct{}{}:
	default:
		return nil, errors.New("throttled")
	}
	defer func() { <-i.busy }()
	if strings.Contains(string(event), "import") {
		i.begun <- struct{}{}
		<-i.release
	}
	return []byte(`{"result":{}}`), i.fail
}

// TestImportsLeaveStageFree: while an import hangs, stage still loads items, however many more staff begin: those are
// told when to try again. An import whose end nobody hears of gives its place up when its function must have ended.
func TestImportsLeaveStageFree(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(officeNow)
	stage := &instances{make(chan struct{}, 5), make(chan struct{}, 100), make(chan struct{}), nil}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	office := &Office{Stack: officeStack, Clock: clock, Key: func() ed25519.PrivateKey { return key },
		Invoke: stage.invoke, Imports: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))}
	give := func(command string) (int, string) {
		status, body := office.Do(t.Context(), Caller{Who: officeARN, Roles: []seckill.Role{seckill.RoleEditor}},
			[]byte(Sample(command)))
		return status, string(body)
	}
	var wait sync.WaitGroup
	begin := func() {
		wait.Go(func() {
			if status, body := give("import"); status != http.StatusOK {
				t.Errorf("an import alone: %d %s", status, body)
			}
		})
		<-stage.begun
	}
	refused := func(when string) {
		t.Helper()
		if status, body := give("import"); status != http.StatusTooManyRequests ||
			!strings.Contains(body, `"code":"too_many_requests"`) || !strings.Contains(body, `"retry_after_ms":2000`) ||
			!strings.Contains(body, "Another import is being carried out") {
			t.Errorf("%s: %d %s", when, status, body)
		}
	}
	begin()
	for range 6 {
		refused("a second import")
	}
	must.Equal(t, 1, len(stage.busy), "instances that hang")
	if status, body := give("health"); status != http.StatusOK {
		t.Errorf("stage beside it: %d %s", status, body)
	}
	must.Get(stage.invoke(t.Context(), "stage", []byte(`{"source":"aws.events"}`)))

	clock.Advance(ImportTime) // the first was cut off
	begin()
	refused("a third import")
	close(stage.release)
	wait.Wait()
	begin() // the second has ended
	wait.Wait()

	stage.fail = errors.New("no answer")
	if status, _ := give("import"); status < http.StatusInternalServerError {
		t.Errorf("without an answer: %d", status)
	}
	refused("after an import without an answer")
}
