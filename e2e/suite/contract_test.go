package suite

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// Capabilities that some targets' gateways lack, by target.
var (
	noGatewayResponses = map[string]string{
		"ministack":  "MiniStack refuses unknown paths in its own words",
		"localstack": "LocalStack refuses unknown paths in its own words",
		"samlocal":   "sam local refuses unknown paths in its own words",
	}
	noAnyMethod = map[string]string{"ministack": "MiniStack knows only the methods that are named"}
)

func testContract(t *testing.T, s *stack) {
	report.timed(t, nil)
	shop := &contracttest.Shop{Client: s.Client, Secret: s.secret, Items: contracttest.NewCatalog(time.Now(),
		newItemID), Shoppers: newShoppers(100), Patience: patience}
	s.load(t, shop.Items.All()...)
	if _, err := operator.Give[operator.ItemChange](t.Context(), &s.operator,
		&operator.Stop{Item: shop.Items.Stopped.ID}); err != nil {
		t.Fatalf("stop: %v", err)
	}
	t.Run("lists", shop.Lists)
	t.Run("refusals", shop.Refusals)
	t.Run("paths", func(t *testing.T) {
		s.needs(t, noGatewayResponses[s.Target] == "", noGatewayResponses[s.Target])
		shop.Paths(t)
	})
	t.Run("methods", func(t *testing.T) {
		s.needs(t, noAnyMethod[s.Target] == "", noAnyMethod[s.Target])
		shop.Methods(t)
	})
	t.Run("orders", func(t *testing.T) {
		shop.Orders(t)
	})
	for _, it := range shop.Items.All() {
		s.sound(t, it.Item, nil)
	}
}
