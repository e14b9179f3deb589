package local_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAdmission: an item with checks sells with a ticket only, and the ticket is its shopper's.
func TestAdmission(t *testing.T) {
	t.Parallel()
	items := local.DemoItems(time.Now(), 5, 2)
	local.SetChecks(items, seckill.ChecksStrict)
	sys := start(t, local.Options{Items: items})
	post := func(user, path, ticket string, body map[string]any) (status int, answer map[string]any) {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sys.URL()+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		token, err := sys.Token(user, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if ticket != "" {
			r.Header.Set("Ticket", ticket)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, answer
	}
	buy := func(user, ticket string) (int, any) {
		status, answer := post(user, "/seckill/buy", ticket, map[string]any{"seckill_id": local.DemoLive, "count": 1,
			"address": "x"})
		return status, answer["code"]
	}
	if status, code := buy("1001", ""); status != http.StatusForbidden || code != "ticket_required" {
		t.Errorf("without a ticket: %d %v", status, code)
	}
	status, challenge := post("1001", "/seckill/challenge", "", map[string]any{"seckill_id": local.DemoLive})
	if status != http.StatusOK || challenge["checks"] != "strict" {
		t.Fatalf("challenge: %d %v", status, challenge)
	}
	proof, err := json.Marshal(challenge["proof"])
	if err != nil {
		t.Fatal(err)
	}
	solution, _, err := altcha.Solve(proof)
	if err != nil {
		t.Fatal(err)
	}
	right := map[string]any{"seckill_id": local.DemoLive, "proof": base64.StdEncoding.EncodeToString(solution)}
	right["answer"] = "wrong"
	status, answer := post("1001", "/seckill/ticket", "", right)
	if next, _ := answer["challenge"].(map[string]any); status != http.StatusForbidden || next["question"] == nil {
		t.Errorf("a wrong answer: %d %v", status, answer)
	}
	for _, q := range items[1].Questions {
		if q.Text == challenge["question"] {
			right["answer"] = q.Answers[0]
		}
	}
	status, answer = post("1001", "/seckill/ticket", "", right)
	ticket, _ := answer["ticket"].(string)
	if status != http.StatusOK || ticket == "" {
		t.Fatalf("ticket: %d %v", status, answer)
	}
	if status, code := buy("1002", ticket); status != http.StatusForbidden || code != "ticket_required" {
		t.Errorf("another's ticket: %d %v", status, code)
	}
	for range 2 { // it serves until the sale ends
		if status, code := buy("1001", ticket); status != http.StatusOK {
			t.Errorf("with a ticket: %d %v", status, code)
		}
	}
}
