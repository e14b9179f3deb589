//go:build real

package connections_test

import (
	"testing"

	"github.com/your-org/seckill/shared/adapter/connections"
	"github.com/your-org/seckill/shared/adapter/dynamoledger/dynamotest"
	"github.com/your-org/seckill/shared/adapter/ledger"
)

func TestRealStoreConforms(t *testing.T) {
	conforms(t, func(t *testing.T) ledger.Rows { return dynamotest.Open(t, connections.Table) })
}
