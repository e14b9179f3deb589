//go:build real

package dynamoledger_test

import (
	"flag"
	"os"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/seckill"
)

// TestMain runs fewer random histories than the embedded rows do (-rapid.checks): each takes half a second here.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(m.Run())
}

func TestRowsConform(t *testing.T) {
	drivertest.Ledger(t, func(t *testing.T) drivertest.LedgerEnv {
		rows := dynamotest.Open(t)
		return drivertest.LedgerEnv{Ledger: ledger.New(rows), Rows: rows, CatchUp: func() {}}
	})
}

func TestItemsConform(t *testing.T) {
	drivertest.Items(t, func(t *testing.T) seckill.Items { return dynamotest.Open(t).Items() })
}
