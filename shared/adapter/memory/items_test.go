package memory_test

import (
	"testing"

	"seckill/shared/adapter/itemstest"
	"seckill/shared/adapter/memory"
	"seckill/shared/seckill"
)

func TestItemsConform(t *testing.T) {
	itemstest.Run(t, func(*testing.T) seckill.Items { return memory.NewItems() })
}
