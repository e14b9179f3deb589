//go:build real

package account_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/e2e/account"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAnItemsReadIsOneUnit checks that a key with 30 units a second allows 30 reads of an item, however long its
// title and description. Every instance makes one a second.
func TestAnItemsReadIsOneUnit(t *testing.T) {
	t.Parallel()
	prefix := dynamotest.Create(t)
	made := dynamoledger.New(dynamotest.Config(t, nil), dynamoledger.Options{Prefix: prefix})
	it := seckill.Item{ID: "1", Commodity: seckill.Commodity{ID: "9", Title: strings.Repeat("😀", seckill.MaxTitle)},
		Price: 1,
		Start: begin, End: begin.Add(time.Hour), CreateTime: begin, Stock: 1, Limit: 1, Buckets: 16, Version: 1}
	// 80 kB: 20 units, or 10 for an eventually consistent read
	long := seckill.Description{Detail: strings.Repeat("😀", seckill.MaxDetail)}
	if err := made.Items().Put(t.Context(), it, &long); err != nil {
		t.Fatal(err)
	}
	clock := memory.NewClock(begin)
	_, cfg := open(t, account.Options{Limits: account.Limits{PartitionReads: 30, TableReads: plenty}, Clock: clock.Now,
		DynamoDB: os.Getenv(dynamotest.Variable)})
	items := dynamoledger.New(cfg, dynamoledger.Options{Prefix: prefix}).Items()
	hundred(t, clock, 30, time.Second/30, "ThrottlingException", func() error {
		_, err := items.Get(t.Context(), "1")
		return err
	})
	if _, err := items.Description(t.Context(), "1", 1); err != nil { // a key in another table
		t.Errorf("while nothing more is read of the item: %v", err)
	}
}
