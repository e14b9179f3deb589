package functions_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAdmit gets a ticket through the function admit, with which buy sells and without which it does not. A wrong
// answer and a block get none.
func TestAdmit(t *testing.T) {
	w := newDeployment(t)
	ctx := context.Background()
	it := live("2002", 10)
	it.Checks = seckill.ChecksStrict
	rows := ledger.New(w.rows)
	must.OK(t, w.items.Put(ctx, it, nil),
		rows.PutQuestion(ctx, it.ID, seckill.Question{ID: "1", Text: "2 + 2?", Answers: []string{"4"}}),
		rows.PutBlock(ctx, seckill.Block{Subject: seckill.UserSubject("1003"), Item: seckill.Everywhere, Reason: "r",
			By: "b", Made: time.Now()}))
	run(t, w.start(t, "repair"), recorded(t, "schedule.json"), "null")
	admit, buy := w.start(t, "admit"), w.start(t, "buy")
	w.aws.Calls()
	ticket, refused := ticketOf(t, admit, it.ID, "1001", "4"), ticketOf(t, admit, it.ID, "1002", "5")
	if ticket.Status != 200 || ticket.text("ticket") == "" || ticket.Headers["Cache-Control"] != "no-store" ||
		ticket.Headers["Access-Control-Allow-Origin"] != storefront {
		t.Fatalf("a right answer: %+v", ticket)
	}
	next, _ := refused.Fields["challenge"].(map[string]any)
	if refused.Status != 403 || refused.text("code") != "check_failed" || next["question"] != "2 + 2?" {
		t.Errorf("a wrong answer: %+v", refused)
	}
	if r := ask(t, admit, call(t, "POST", "/seckill/challenge", `{"seckill_id":"2002"}`, "1003")); r.Status != 403 ||
		r.text("code") != "blocked" {
		t.Errorf("a blocked shopper: %+v", r)
	}
	// buy has only read its secret. An item is read again after a second.
	calls := slices.Compact(slices.Sorted(slices.Values(w.aws.Calls())))
	must.Equal(t, []string{"BatchGetItem", "GetItem items", "GetSecretValue", "Query office", "UpdateItem passing"},
		calls, "admit calls")
	with := func(user, ticket string) response {
		event := purchase(t, it.ID, user)
		var e map[string]any
		must.OK(t, json.Unmarshal(event, &e))
		e["multiValueHeaders"].(map[string]any)["ticket"] = []string{ticket} //nolint:forcetypeassert // as recorded
		event = must.Get(json.Marshal(e))
		return ask(t, buy, event)
	}
	if r := ask(t, buy, purchase(t, it.ID, "1001")); r.Status != 403 || r.text("code") != "ticket_required" {
		t.Errorf("a purchase without a ticket: %+v", r)
	}
	if r := with("1002", ticket.text("ticket")); r.Status != 403 || r.text("code") != "ticket_required" ||
		!buy.Says(`"reason":"ticket_foreign"`) {
		t.Errorf("another's ticket: %+v", r)
	}
	if r := with("1001", ticket.text("ticket")); r.Status != 200 {
		t.Errorf("a purchase with its ticket: %+v", r)
	}
	for name, f := range map[string]*lambdatest.Function{"admit": admit, "buy": buy} {
		for _, secret := range []string{ticket.text("ticket"), "a-secret-of-tickets", "eyJ"} {
			if strings.Contains(f.Output(), secret) {
				t.Errorf("%s shows %s", name, secret)
			}
		}
	}
	if !admit.Says(`"tickets_given":1`) || !admit.Says(`"reason":"check_question"`) {
		t.Errorf("admit counts:\n%s", admit.Output())
	}
}

// ticketOf asks for a challenge, solves it and answers the question.
func ticketOf(t *testing.T, admit *lambdatest.Function, item, user, text string) response {
	t.Helper()
	r := ask(t, admit, call(t, "POST", "/seckill/challenge", fmt.Sprintf(`{"seckill_id":%q}`, item), user))
	proof, err := json.Marshal(r.Fields["proof"])
	if err != nil || r.Status != 200 {
		t.Fatalf("challenge: %+v, %v", r, err)
	}
	solution, _, err := altcha.Solve(proof)
	must.OK(t, err)
	return ask(t, admit, call(t, "POST", "/seckill/ticket", fmt.Sprintf(`{"seckill_id":%q,"proof":%q,"answer":%q}`,
		item, base64.StdEncoding.EncodeToString(solution), text), user))
}
