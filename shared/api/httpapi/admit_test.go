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
