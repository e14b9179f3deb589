package crowd

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/proof/record"
)

// MoneyOf adds up a dump.
func MoneyOf(t *testing.T, lines string) Money {
	t.Helper()
	b := balance{trades: map[string]*twoSides{}}
	if err := record.Lines(strings.NewReader(lines), b.take); err != nil {
		t.Fatal(err)
	}
	return b.close()
}
