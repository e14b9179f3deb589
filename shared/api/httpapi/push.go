package httpapi

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Push says where a page hears what happens to its shopper's orders, and makes its passes.
type Push struct {
	URL    string // ws or wss
	Passes Passes
	IDs    seckill.IDs // makes the nonce of each pass, a token
	// CatchesUp says that a connection tells what happened before it was open.
	CatchesUp bool
}

// Passes makes connect passes.
type Passes interface {
	// Append appends a pass of letters, digits, dots, hyphens and underscores, and returns its expiry.
	Append(b []byte, user, nonce string) (longer []byte, expires time.Time)
}

// offerSize, in bytes, is enough for most offers, which have some 250 bytes.
const offerSize = 320

// pusher writes offers of push: {"url":…,"pass":…,"expires_at":…}, with "catches_up":true before the pass if so.
type pusher struct {
	*Push
	upToPass []byte
}

func newPusher(p *Push) *pusher {
	if p == nil {
		return nil
	}
	b := appendString([]byte(`{"url":`), p.URL)
	if p.CatchesUp {
		b = append(b, `,"catches_up":true`...)
	}
	return &pusher{p, append(b, `,"pass":"`...)}
}

// append appends an offer to a user. It writes into b, because each accepted purchase needs an offer.
func (p *pusher) append(b []byte, user string) []byte {
	b, expires := p.Passes.Append(append(b, p.upToPass...), user, p.IDs.Token())
	b = expires.UTC().AppendFormat(append(b, `","expires_at":"`...), time.RFC3339)
	return append(b, `"}`...)
}
