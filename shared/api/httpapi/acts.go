package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/seckill"
)

// ActTaker takes acts without delaying the requests that make them.
type ActTaker interface {
	// Wants reports whether to take a normal act now; every suspicious act is taken.
	Wants(now time.Time) bool
	// Take takes an act, whose hashes are not made yet. It may keep the act's texts, but not the pointer a.
	Take(a *seckill.Act, user string, network netip.Prefix, trace string)
}

// Acts is the log of acts: it sees each challenge, ticket and purchase that a shopper asks for with a valid token. It
// is safe for concurrent use. A nil *Acts logs nothing.
type Acts struct {
	watch *acts.Detector
	to    ActTaker
	clock seckill.Clock
}

// NewActs returns a log for Options.
func NewActs(to ActTaker, clock seckill.Clock) *Acts { return &Acts{acts.NewDetector(), to, clock} }

// note takes an act: who, what, and how it ended.
func (l *Acts) note(r *http.Request, action seckill.Action, item string, s acts.Seen, took time.Duration, err error) {
	if l == nil || s.User == "" {
		return
	}
	a := seckill.Act{At: l.clock.Now(), Action: action, Item: item, Result: seckill.ActDone, Took: took}
	if err != nil {
		a.Result = seckill.AsError(err).Reason()
	}
	if action != seckill.ActBuy { // a purchase is seen by its user alone
		a.Agent = header(r, "User-Agent")
		s.Page = r.Header["Origin"] != nil || r.Header["Sec-Fetch-Site"] != nil || r.Header["Referer"] != nil
		s.Network = oneOf(r.RemoteAddr)
	}
	if a.Rules = l.watch.Rules(&a, &s); a.Rules == 0 && !l.to.Wants(a.At) {
		return
	}
	take := a // a itself stays on the stack
	take.Agent = header(r, "User-Agent")
	take.Referrer, _, _ = strings.Cut(header(r, "Referer"), "?")
	from, _ := NetworkOf(r.RemoteAddr)
	l.to.Take(&take, s.User, from, trace(r))
}

// header returns a header's first value, shortened.
func header(r *http.Request, name string) string {
	values := r.Header[name]
	if len(values) == 0 {
		return ""
	}
	return values[0][:min(len(values[0]), seckill.MaxActAgent)]
}
