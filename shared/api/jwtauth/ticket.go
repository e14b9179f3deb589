package jwtauth

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxTicket is the largest ticket in bytes; ours have some 190.
const MaxTicket = 512

// Tickets makes and checks tickets: JSON Web Tokens (RFC 7519) signed with HS256, of the type seckill-ticket. Their
// secrets are not those of access tokens, so neither passes for the other. It is safe for concurrent use.
type Tickets struct {
	clock  seckill.Clock
	newest string            // the header of the tickets that are made
	kid    string            // the key id in that header
	keys   map[string][]byte // by the encoded header, which has nothing but type, algorithm and kid
}

// ticketClaims are a ticket's claims.
type ticketClaims struct {
	Item    string `json:"aud"`
	Expires int64  `json:"exp"` // Unix seconds
	User    string `json:"sub"`
}

var b64 = base64.RawURLEncoding.Strict()

// NewTickets returns a maker and checker of tickets. secrets are by kid. The secret whose kid sorts last makes tickets,
// and each secret checks them. To rotate, add a secret, and remove the old secret when the sales of its tickets are
// over.
func NewTickets(secrets map[string]string, clock seckill.Clock) (*Tickets, error) {
	t := &Tickets{clock: clock, keys: map[string][]byte{}}
	for _, kid := range slices.Sorted(maps.Keys(secrets)) {
		if kid == "" || secrets[kid] == "" {
			return nil, errors.New("jwtauth: a ticket secret without a kid, or an empty one")
		}
		header, err := json.Marshal(map[string]string{"alg": "HS256", "kid": kid, "typ": "seckill-ticket"})
		if err != nil {
			return nil, err
		}
		t.kid, t.newest = kid, b64.EncodeToString(header)
		t.keys[t.newest] = []byte(secrets[kid])
	}
	if t.newest == "" {
		return nil, errors.New("jwtauth: no secret for tickets")
	}
	return t, nil
}

// Make returns a ticket of a user for an item.
func (t *Tickets) Make(user, item string, expires time.Time) (string, error) {
	payload, err := json.Marshal(ticketClaims{item, expires.Unix(), user})
	if err != nil {
		return "", err
	}
	signed := t.newest + "." + b64.EncodeToString(payload)
	return signed + "." + b64.EncodeToString(keyed(t.keys[t.newest], signed)), nil
}

// Check returns nil for a ticket of this user for this item. Every failure is an *seckill.Error with CodeTicket, whose
// Token says what is wrong.
func (t *Tickets) Check(ticket, user, item string) error {
	header, rest, _ := strings.Cut(ticket, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	key, known := t.keys[header]
	if len(ticket) > MaxTicket || !known {
		return errTicketKey
	}
	// The texts are compared: decoders accept several spellings of the same bytes.
	want := b64.EncodeToString(keyed(key, ticket[:len(header)+1+len(payload)]))
	if !hmac.Equal([]byte(signature), []byte(want)) {
		return errTicketSignature
	}
	var c ticketClaims
	claims, err := b64.DecodeString(payload)
	switch {
	case err != nil || json.Unmarshal(claims, &c) != nil: // the shop has not signed this
		return errTicketSignature
	case c.User != user, c.Item != item:
		return errTicketForeign
	case t.clock.Now().Unix() >= c.Expires:
		return errTicketExpired
	}
	return nil
}

// Newer reports whether a ticket may have a key that began after every known one (TicketKey.Kid), and by now: then the
// keys have to be read again before it is refused.
func (t *Tickets) Newer(ticket string) bool {
	header, _, _ := strings.Cut(ticket, ".")
	if _, known := t.keys[header]; known || len(ticket) > MaxTicket {
		return false
	}
	var h struct {
		Kid string `json:"kid"`
	}
	text, err := b64.DecodeString(header)
	if err != nil || json.Unmarshal(text, &h) != nil || h.Kid <= t.kid {
		return false
	}
	from, err := strconv.ParseInt(h.Kid, 10, 64)
	k := TicketKey{From: time.Unix(from, 0)}
	return err == nil && k.Kid() == h.Kid && !t.clock.Now().Add(2*seckill.SkewBound).Before(k.From)
}

var (
	errTicketKey       = &seckill.Error{Code: seckill.CodeTicket, Token: seckill.TicketKey}
	errTicketSignature = &seckill.Error{Code: seckill.CodeTicket, Token: seckill.TicketSignature}
	errTicketForeign   = &seckill.Error{Code: seckill.CodeTicket, Token: seckill.TicketForeign}
	errTicketExpired   = &seckill.Error{Code: seckill.CodeTicket, Token: seckill.TicketExpired}
)
