package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

var given = seckill.Challenge{Item: itemID, Checks: seckill.ChecksStrict, Question: "1 + 2 \"?\"",
	Proof: []byte(`{"parameters":{"cost":1},"signature":"ab"}`), Expires: now.Add(time.Hour)}

const givenJSON = `{"seckill_id":"` + itemID + `","checks":"strict",` +
	`"proof":{"parameters":{"cost":1},"signature":"ab"},"question":"1 + 2 \"?\"",` +
	`"expires_at":"2026-11-11T01:00:00Z"}`

func TestChallenge(t *testing.T) {
	h, s := newStubs()
	s.given = given
	w := do(t, h, "POST", "/seckill/challenge", `{"seckill_id":`+itemID+`,"other":1}`)
	if w.Code != http.StatusOK || w.Body.String() != givenJSON || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %s, Cache-Control %q", w.Code, w.Body, w.Header().Get("Cache-Control"))
	}
	want := admit.Caller{User: alice, Networks: seckill.NetworkSubjects(netip.MustParseAddr("192.0.2.1"))} // httptest's
	if diff := cmp.Diff(want, s.asked); diff != "" || s.id != itemID {
		t.Errorf("asked for %q by:\n%s", s.id, diff)
	}
}

// TestPicture: a sum is a picture, and words in the caller's language.
func TestPicture(t *testing.T) {
	h, s := newStubs()
	s.given = given
	s.given.Question, s.given.Picture, s.given.Alternative = "", []byte{0x89, 'P'}, "七加四等于几？"
	w := do(t, h, "POST", "/seckill/challenge", `{"seckill_id":`+itemID+`}`, "Accept-Language", "en-GB, zh;q=0.5")
	want := strings.Replace(givenJSON, `"question":"1 + 2 \"?\""`,
		`"picture":"data:image/png;base64,iVA=","alternative":"七加四等于几？"`, 1)
	if w.Code != http.StatusOK || w.Body.String() != want || !s.asked.English {
		t.Errorf("got %d %s, want %s; English %v", w.Code, w.Body, want, s.asked.English)
	}
}

// TestTicketRequest: what is sent reaches the flow as it is, and a wrong answer gets the next challenge.
func TestTicketRequest(t *testing.T) {
	h, s := newStubs()
	body := `{"seckill_id":"` + itemID + `","proof":"eyJhIjoxfQ==","answer":" ４ "}`
	w := do(t, h, "POST", "/seckill/ticket", body)
	if w.Code != http.StatusOK || w.Body.String() != `{"ticket":"a.b.c","expires_at":"2026-11-11T01:00:00Z"}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	want := seckill.Answer{Item: itemID, Proof: []byte(`{"a":1}`), Answer: " ４ "}
	if diff := cmp.Diff(want, s.solved); diff != "" {
		t.Error(diff)
	}
	s.err = &seckill.Error{Code: seckill.CodeCheck, Token: seckill.CheckQuestion, Challenge: &given}
	w = do(t, h, "POST", "/seckill/ticket", body)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), `"challenge":`+givenJSON) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// TestBadAnswers never reach the flow.
func TestBadAnswers(t *testing.T) {
	for what, c := range map[string]struct {
		body   string
		status int
		field  string
	}{
		"no item":             {`{"proof":"e30="}`, 422, "seckill_id"},
		"no digits":           {`{"seckill_id":"x","proof":"e30="}`, 422, "seckill_id"},
		"proof not base64":    {`{"seckill_id":"1","proof":"{}"}`, 422, "proof"},
		"proof twice":         {`{"seckill_id":"1","proof":"e30=","proof":"e30="}`, 422, "body"},
		"answer a number":     {`{"seckill_id":"1","proof":"e30=","answer":4}`, 422, "body"},
		"no JSON":             {`seckill_id=1`, 422, "body"},
		"nothing":             {``, 422, "body"},
		"10 MB":               {`{"answer":"` + strings.Repeat("4", 10<<20) + `"}`, 422, ""},
		"an item of 20 digit": {`{"seckill_id":"12345678901234567890","proof":"e30="}`, 422, "seckill_id"},
	} {
		t.Run(what, func(t *testing.T) {
			h, s := newStubs()
			w := do(t, h, "POST", "/seckill/ticket", c.body)
			if w.Code != c.status || s.calls != 0 {
				t.Errorf("got %d %s, %d calls", w.Code, w.Body, s.calls)
			}
			if c.field != "" && !strings.Contains(w.Body.String(), `"field":"`+c.field+`"`) {
				t.Errorf("got %s, want the field %s", w.Body, c.field)
			}
		})
	}
	h, s := newStubs()
	w := do(t, h, "POST", "/seckill/challenge", `{"seckill_id":"1"}`, "Authorization", "-")
	if w.Code != 403 || s.calls != 0 {
		t.Errorf("nobody: got %d %s", w.Code, w.Body)
	}
}
