//go:build real

package fakegateway_test

import (
	"testing"

	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

func TestRealStoreConforms(t *testing.T) {
	testStore(t, func(t *testing.T) fakegateway.Store {
		return fakegateway.NewTable(dynamotest.Open(t, fakegateway.Table))
	})
}
