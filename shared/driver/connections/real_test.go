//go:build real

package connections_test

import (
	"testing"

	"github.com/your-org/seckill/shared/driver/connections"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
)

func TestRealStoreConforms(t *testing.T) {
	conforms(t, func(t *testing.T) ledger.Rows { return dynamotest.Open(t, connections.Table) })
}
