package fakegateway_test

import (
	"testing"

	"github.com/your-org/seckill/shared/fake/fakegateway"
)

func TestMemoryConforms(t *testing.T) {
	testStore(t, func(*testing.T) fakegateway.Store { return fakegateway.NewMemory(&clock{now: start}, 200) })
}
