package httpapi

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/seckill"
)

// taken is an ActTaker that remembers.
type taken struct {
	full bool // wants no normal act
	acts []seckill.Act
	from netip.Prefix
}

func (t *taken) Wants(time.Time) bool { return !t.full }

func (t *taken) Take(a *seckill.Act, user string, network netip.Prefix, _ string) {
	act := *a
	act.User, t.from = user, network // tests compare both
	t.acts = append(t.acts, act)
}

// TestActs: each step of a shopper's is taken once, with what the request shows; of others nothing is.
func TestActs(t *testing.T) {
	page := []string{"Origin", "https://shop.example.com", "User-Agent", "Mozilla/5.0", "Referer", "https://shop.example.com/a?b=c"}
	act := func(action seckill.Action, result seckill.Reason, rules seckill.Rules) []seckill.Act {
		return []seckill.Act{{At: now, Item: "42", Action: action, Result: result, Rules: rules, User: alice,
			Agent: "Mozilla/5.0", Referrer: "https://shop.example.com/a"}}
	}
	const ticket, ask, press = `{"seckill_id":"42","proof":"e30=","answer":"4 or 5"}`, `{"seckill_id":"42"}`,
		`{"seckill_id":"42","count":1,"address":"a"}`
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		err        error
		want       []seckill.Act
	}{
		"a challenge": {"/seckill/challenge", ask, page, nil, act(seckill.ActChallenge, "ok", 0)},
		"a refused challenge": {"/seckill/challenge", ask, page, seckill.Refuse(seckill.CodeBlocked),
			act(seckill.ActChallenge, "blocked", 0)},
		"a ticket": {"/seckill/ticket", ticket, page, nil, act(seckill.ActTicket, "ok", 0)},
		"a wrong answer": {"/seckill/ticket", ticket, page, &seckill.Error{Code: seckill.CodeCheck,
			Token: seckill.CheckQuestion},
			act(seckill.ActTicket, "check_question", 0)},
		"a ticket for no page": {"/seckill/ticket", ticket, []string{"User-Agent", "curl/8"}, nil,
			[]seckill.Act{{At: now,
				Item: "42", Action: seckill.ActTicket, Result: "ok", Rules: seckill.RulePrelude, User: alice,
				Agent: "curl/8"}}},
		"a purchase": {"/seckill/buy", press, page, nil, act(seckill.ActBuy, "ok", 0)},
		"a refused purchase": {"/seckill/buy", press, page, seckill.Refuse(seckill.CodeSoldOut), act(seckill.ActBuy,
			"sold_out", 0)},
		"an invalid purchase": {"/seckill/buy", `{"seckill_id":"42","count":0,"address":"a"}`, page, nil,
			[]seckill.Act{{At: now, Action: seckill.ActBuy, Result: "invalid_request", User: alice,
				Agent:    "Mozilla/5.0",
				Referrer: "https://shop.example.com/a"}}},
		"nobody":       {"/seckill/buy", press, append(page, "Authorization", "-"), nil, nil},
		"nobody's ask": {"/seckill/ticket", ticket, append(page, "Authorization", "-"), nil, nil},
		"another step": {"/order/list", "", page, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			to := &taken{}
			h, s := newStubsWith(Options{Acts: NewActs(to, fixedClock{})})
			s.err, s.given = c.err, given
			method := "POST"
			if c.body == "" {
				method = "GET"
			}
			do(t, h, method, c.path, c.body, c.headers...)
			if diff := cmp.Diff(c.want, to.acts); diff != "" {
				t.Error(diff)
			}
			if c.want != nil && to.from != netip.MustParsePrefix("192.0.2.1/32") { // httptest's
				t.Errorf("from %v", to.from)
			}
		})
	}
}

// TestActsThatAreNotWanted: of a log that is full only suspicious acts are taken; headers are shortened.
func TestActsThatAreNotWanted(t *testing.T) {
	to := &taken{full: true}
	h, _ := newStubsWith(Options{Acts: NewActs(to, fixedClock{})})
	body := `{"seckill_id":"42","proof":"e30="}`
	do(t, h, "POST", "/seckill/ticket", body, "Sec-Fetch-Site", "same-origin")
	do(t, h, "POST", "/seckill/buy", `{"seckill_id":"42","count":1,"address":"a"}`)
	if len(to.acts) != 0 {
		t.Fatalf("taken: %+v", to.acts)
	}
	do(t, h, "POST", "/seckill/ticket", body, "User-Agent", strings.Repeat("x", 1000))
	if len(to.acts) != 1 || len(to.acts[0].Agent) != seckill.MaxActAgent || to.acts[0].Status() != "suspicious" {
		t.Errorf("taken: %+v", to.acts)
	}
}
