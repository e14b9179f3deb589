//go:build real

package gatewaytable_test

import (
	"testing"

	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway/storetest"
	"github.com/your-org/seckill/shared/adapter/dynamoledger/dynamotest"
	"github.com/your-org/seckill/shared/adapter/gatewaytable"
)

func TestRealStoreConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) fakegateway.Store {
		return gatewaytable.New(dynamotest.Open(t, gatewaytable.Table))
	})
}
