//go:build real

package gatewaytable_test

import (
	"testing"

	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/fakegateway/storetest"
	"github.com/your-org/seckill/shared/fake/gatewaytable"
)

func TestRealStoreConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) fakegateway.Store {
		return gatewaytable.New(dynamotest.Open(t, gatewaytable.Table))
	})
}
