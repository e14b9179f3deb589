//go:build real

package wspush_test

import (
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
)

func TestRealStoreConforms(t *testing.T) {
	conforms(t, func(t *testing.T) ledger.Rows { return dynamotest.Open(t, wspush.Table) })
}
