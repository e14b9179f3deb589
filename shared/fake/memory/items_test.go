package memory_test

import (
	"testing"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

func TestItemsConform(t *testing.T) {
	drivertest.Items(t, func(*testing.T) seckill.Items { return memory.NewItems() })
}
