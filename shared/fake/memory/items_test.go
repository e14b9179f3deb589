package memory_test

import (
	"testing"

	"github.com/your-org/seckill/shared/drivertest/itemstest"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

func TestItemsConform(t *testing.T) {
	itemstest.Run(t, func(*testing.T) seckill.Items { return memory.NewItems() })
}
