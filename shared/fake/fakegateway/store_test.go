package fakegateway_test

import (
	"testing"

	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/fakegateway/storetest"
)

func TestMemoryConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) fakegateway.Store { return fakegateway.NewMemory(&clock{now: start}, 200) })
}
