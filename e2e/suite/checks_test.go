package suite

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

// testChecks sells an item with checks: to whoever solved its challenge, with their own ticket. Nothing is placed for a
// shopper who is blocked, also with a ticket from before.
func testChecks(t *testing.T, s *stack) {
	report.timed(t, nil)
	now := time.Now()
	it := contracttest.Item(newItemID(), now.Add(-time.Minute), now.Add(6*time.Hour), 3, 1)
	it.Checks = seckill.ChecksStandard
	sale := s.sellItem(t, it)
	id := newShoppers(2)
	p, blocked := sale.shopper(t, id), sale.shopper(t, id+1)
	refused := func(what string, a contracttest.Answer, err error, code string) {
		t.Helper()
		if err != nil || a.Status != 403 || a.Text("code") != code {
			t.Errorf("%s: %v, %v; want 403 %s", what, a, err, code)
		}
	}
	a, err := p.buy(t.Context(), 1, "without")
	refused("without a ticket", a, err, "ticket_required")
	a, err = p.Call(t.Context(), p.token, "POST", "/seckill/ticket",
		map[string]any{"seckill_id": it.ID, "proof": "e30="})
	refused("without a proof", a, err, "check_failed")

	tickets := map[*shopper]string{p: p.ticket(t), blocked: blocked.ticket(t)}
	a, err = p.buy(t.Context(), 1, "another's", "Ticket", tickets[blocked])
	refused("with another's ticket", a, err, "ticket_required")
	p.reserved(t, 1, "own", "Ticket", tickets[p])
	p.await(t, seckill.PendingPayment)

	if done, err := operator.Give[block.Done](t.Context(), &s.operator,
		&operator.PutBlocks{Blocks: []operator.Block{{Subject: strconv.FormatInt(blocked.id, 10),
			Item: it.ID, Reason: "tried by the suite"}}}); err != nil || done.Made != 1 {
		t.Fatalf("block: %+v, %v", done, err)
	}
	a, err = blocked.Call(t.Context(), blocked.token, "POST", "/seckill/challenge", map[string]any{"seckill_id": it.ID})
	refused("who is blocked", a, err, "blocked")
	a, err = blocked.buy(t.Context(), 1, "before", "Ticket", tickets[blocked])
	refused("who is blocked, with a ticket from before", a, err, "blocked")
	if !strings.Contains(a.Text("detail"), "您的账号暂时无法购买") {
		t.Errorf("a blocked shopper hears %v", a)
	}
	sale.awaitLeft(t, "2")
	sale.converged(t)
}

// ticket solves the item's challenge, as a page does.
func (p *shopper) ticket(t *testing.T) (ticket string) {
	t.Helper()
	eventually(t, "ticket", func() string {
		a, err := p.Call(t.Context(), p.token, "POST", "/seckill/challenge", map[string]any{"seckill_id": p.item.ID})
		if err != nil || a.Status != 200 && !later(a, false) {
			t.Fatalf("challenge: %v, %v", a, err)
		}
		if a.Status != 200 {
			return a.String()
		}
		var challenge struct{ Proof json.RawMessage }
		if err := json.Unmarshal([]byte(a.Raw), &challenge); err != nil {
			t.Fatal(err)
		}
		solution, _, err := altcha.Solve(challenge.Proof)
		if err != nil {
			t.Fatal(err)
		}
		a, err = p.Call(t.Context(), p.token, "POST", "/seckill/ticket", map[string]any{"seckill_id": p.item.ID,
			"proof": base64.StdEncoding.EncodeToString(solution)})
		if err != nil || a.Status != 200 && !later(a, false) {
			t.Fatalf("ticket: %v, %v", a, err)
		}
		if ticket = a.Text("ticket"); ticket == "" {
			return a.String()
		}
		return ""
	})
	return ticket
}
