//go:build e2e

package suite

import (
	"testing"
	"time"

	"seckill/e2e/contract"
)

// ownRefusals names targets whose gateway is no API Gateway where it refuses something itself.
var ownRefusals = map[string]string{
	"ministack": "MiniStack has neither gateway responses nor the any method",
}

func testContract(t *testing.T, s *stack) {
	report.timed(t, nil)
	shop := &contract.Shop{Client: s.Client, Secret: s.secret, Items: contract.NewCatalog(time.Now(), newItemID), Shoppers: newShoppers(100), Patience: patience}
	s.load(t, shop.Items.All()...)
	if _, err := s.desk.SetStopped(t.Context(), shop.Items.Stopped.ID, true); err != nil {
		t.Fatalf("stop: %v", err)
	}
	t.Run("lists", shop.Lists)
	t.Run("refusals", shop.Refusals)
	t.Run("routes", func(t *testing.T) {
		s.needs(t, ownRefusals[s.Target] == "", ownRefusals[s.Target])
		shop.Routes(t)
	})
	t.Run("orders", func(t *testing.T) {
		shop.Orders(t)
	})
	for _, it := range shop.Items.All() {
		s.sound(t, it, nil)
	}
}
