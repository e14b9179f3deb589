//go:build real

package local_test

import (
	"os"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/fake/redistest"
)

// BenchmarkRealPlaced is BenchmarkPlaced for 5,000 units on a real Redis and a DynamoDB-compatible server
// ($SECKILL_TEST_DYNAMODB).
func BenchmarkRealPlaced(b *testing.B) {
	redis := redistest.Start(b)
	benchmarkPlaced(b, 5000, local.Servers{Redis: []string{redis.Addr}, DynamoDB: os.Getenv("SECKILL_TEST_DYNAMODB")})
}
