package crowd

import (
	"strings"
	"testing"

	"seckill/audit"
)

// MoneyOf adds up a dump.
func MoneyOf(t *testing.T, dump string) Money {
	t.Helper()
	b := books{trades: map[string]*twoSides{}}
	if err := audit.Lines(strings.NewReader(dump), b.take); err != nil {
		t.Fatal(err)
	}
	return b.close()
}
