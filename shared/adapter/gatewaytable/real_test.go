//go:build real

package gatewaytable_test

import (
	"testing"

	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/alipay/fakegateway/storetest"
	"seckill/shared/adapter/dynamoledger/dynamotest"
	"seckill/shared/adapter/gatewaytable"
)

func TestRealStoreConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) fakegateway.Store {
		return gatewaytable.New(dynamotest.Open(t, gatewaytable.Table))
	})
}
