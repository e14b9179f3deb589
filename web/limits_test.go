package web

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/flow/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPageKnowsTheLimits checks the numbers of after.js against those of the shop.
func TestPageKnowsTheLimits(t *testing.T) {
	script, err := os.ReadFile("src/after.js")
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	for name, want := range map[string]int{"RECEIVED_DAYS": int(seckill.ReceivedAfter / day),
		"COMPLETED_DAYS": int(seckill.CompletedAfter / day), "MAX_REASON": shop.MaxReason} {
		m := regexp.MustCompile(`(?m)^const ` + name + ` = (\d+);`).FindSubmatch(script)
		if m == nil {
			t.Errorf("after.js has no %s", name)
			continue
		}
		if got, err := strconv.Atoi(string(m[1])); err != nil || got != want {
			t.Errorf("after.js has %s %d, the shop %d", name, got, want)
		}
	}
}
