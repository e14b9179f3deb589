//go:build real

package local_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/redistest"
)

// TestABlockAmidPurchasesOnRealServers runs blockAmid on Redis and on the DynamoDB-compatible server.
func TestABlockAmidPurchasesOnRealServers(t *testing.T) {
	dynamo := os.Getenv(dynamotest.Variable)
	if dynamo == "" {
		t.Fatal("no servers: run this by e2e/servers/with.sh")
	}
	item := strconv.FormatInt(time.Now().UnixNano(), 10) // the tables survive the test
	blockAmid(t, local.Options{Servers: local.Servers{Redis: []string{redistest.Start(t).Addr}, DynamoDB: dynamo}},
		item)
}
