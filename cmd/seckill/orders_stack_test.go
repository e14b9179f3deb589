package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/cmd/seckill/office/officetest"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// TestLargeFilesOfAStack: orders come from a stack, and go back to it as a file that is larger than what Lambda takes,
// in parts. Each way breaks off once, and the same command goes on where it was.
func TestLargeFilesOfAStack(t *testing.T) {
	defer func(d time.Duration) { batchPause = d }(batchPause)
	batchPause = time.Millisecond
	const n = 17_000
	s := newOrderShop(t)
	for range n {
		s.order(true)
	}
	function, _ := executes(operator.NewOrderHandler(fulfil.New(fulfil.Deps{Ledger: s.ledger, Clock: s.clock})))
	calls, down, largest := 0, 0, 0 // how many came, from which one on none is answered, bytes of the largest
	c := &cloud{outputs: anAPI, function: func(event []byte) ([]byte, string) {
		if calls++; down > 0 && calls >= down {
			return nil, "Task timed out"
		}
		out, failed := function(event)
		largest = max(largest, operator.TextSize(event), operator.TextSize(out))
		return out, failed
	}}
	account(t, served(t, c).URL)
	file := filepath.Join(t.TempDir(), "orders.csv")
	run := func(downAt, code int, want string, args ...string) {
		t.Helper()
		calls, down = 0, downAt
		got, stdout, stderr := command(t, append(args, "--stack", "sale", "--region", "eu-central-1")...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Fatalf("exit %d after %d calls\n%s%s", got, calls, stdout, stderr)
		}
	}
	export := []string{"orders", "export", "--item", "2002", "--csv", file}
	run(21, exitFault, "broken off with 10000 so far", export...)
	run(0, exitOK, "Exported 17000 orders", export...)
	if most := (n-10_000)/fulfil.MaxPage + 1; calls > most {
		t.Errorf("%d calls for the rest of an export, want at most %d", calls, most)
	}
	text, err := os.ReadFile(file)
	if err != nil || bytes.Count(text, []byte("\n")) != n+1 {
		t.Fatalf("%d lines, %v", bytes.Count(text, []byte("\n")), err)
	}
	text = bytes.ReplaceAll(text, []byte(",,,paid,"), []byte(
		","+strings.Repeat("顺", fulfil.MaxParcel)+","+strings.Repeat("9", fulfil.MaxParcel)+",paid,"))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if len(text) <= officetest.MaxPayload {
		t.Fatalf("the file has %d bytes, which would fit one call", len(text))
	}
	ship := []string{"orders", "ship", "--confirm", "--csv", file}
	run(n/fulfil.MaxParcels+101, exitFault, "with 10000 shipped", ship...)
	run(0, exitOK, "Shipped: 7000 orders; 10000 were shipped so already.", ship...)
	if got := s.states(); got[seckill.Shipped] != n {
		t.Errorf("%v", got)
	}
	t.Logf("a file of %d bytes, the largest call %d", len(text), largest)
}
