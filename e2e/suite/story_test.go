//go:build e2e

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// TestStory has staff and shoppers make a sale in a browser at the stack's own address, from an item that does not
// exist to the sale's report. Meanwhile refunds are made every few seconds instead of each minute. It waits most of the
// time, for the end of the sale.
func TestStory(t *testing.T) {
	t.Parallel()
	s := first
	report.timed(t, nil)
	s.needs(t, s.Redis != "", "Redis is out of reach")
	s.shown.Lock()
	defer s.shown.Unlock()
	account := s.staffAccounts(t)
	drive(t, "story.mjs", strings.TrimSuffix(s.Base, "/"), func() []string {
		account("story-editor", seckill.RoleEditor)
		account("story-operator", seckill.RoleOperator)
		account("story-finance-1", seckill.RoleFinance, seckill.RoleViewer)
		account("story-finance-2", seckill.RoleFinance, seckill.RoleViewer)
		account("story-auditor", seckill.RoleAuditor, seckill.RoleViewer)
		var shoppers []map[string]string
		for range 4 {
			user := newShoppers(1)
			shoppers = append(shoppers, map[string]string{"name": "小红", "user": fmt.Sprint(user),
				"token": token(t, s, user)})
		}
		who, err := json.Marshal(shoppers)
		if err != nil {
			t.Fatal(err)
		}
		flags, err := json.Marshal([]string{"--dynamodb", s.Endpoint, "--prefix", s.Outputs["StackPrefix"],
			"--redis", s.Redis})
		if err != nil {
			t.Fatal(err)
		}
		s.often(t, "RefundFunction")
		return []string{"SECKILL=" + built(t, "../../cmd/seckill"), "SHOPPERS=" + string(who),
			"REPORT=" + string(flags), "PASSWORD=" + staffPassword,
			`STAFF={"editor":"story-editor","operator":"story-operator",` +
				`"finance":["story-finance-1","story-finance-2"],"auditor":"story-auditor"}`}
	})
}

// often runs a function of the schedule every five seconds, until the test ends.
func (s *stack) often(t *testing.T, output string) {
	ctx, end := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for tick := time.NewTicker(5 * time.Second); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := s.scheduled(ctx, output); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() {
		end()
		done.Wait()
	})
}
