package oidc

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Finding is what an issuer's documents tell about one client before anybody signs in.
type Finding struct {
	Client Client
	Err    error  // the documents cannot be used; seckill.ErrIssuerAway if there was no answer
	Wrong  string // a sentence about what will refuse everybody, or ""
	Hint   string // a sentence about what may, or ""
}

// Inspect reads the documents of each client's issuer anew. secrets: the clients' secrets are known; else it finds
// nothing that depends on them.
func (s *Issuers) Inspect(ctx context.Context, secrets bool) []Finding {
	out := make([]Finding, len(s.clients))
	for i, c := range s.clients {
		out[i].Client = c
		known, err := s.byName[c.Issuer].snapshot(ctx, s.clock.Now())
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i].Wrong, out[i].Hint = known.against(&c, secrets)
	}
	return out
}

// against returns what the documents say against a client. An issuer lists what it can do, not what a client is set to,
// so most of that is a hint.
func (s *snapshot) against(c *Client, secrets bool) (wrong, hint string) {
	ours := func(alg string) bool { return slices.Contains(algorithms, alg) }
	shared := func(alg string) bool { return strings.HasPrefix(alg, "HS") }
	want := strings.Join(algorithms, ", ")
	secret, none := secrets && c.secret() != "", secrets && c.secret() == ""
	switch {
	case len(s.Algorithms) > 0 && !slices.ContainsFunc(s.Algorithms, ours):
		return fmt.Sprintf("it signs ID tokens with %s, and the shop checks %s: choose one of these there",
			strings.Join(plainAll(s.Algorithms), ", "), want), ""
	case secret && len(s.Ways) > 0 && !slices.Contains(s.Ways, secretInHeader) &&
		!slices.Contains(s.Ways, secretInBody):
		return "it takes no client secret, but the shop has one", ""
	case none && c.Issuer == google:
		return "Google's web clients have a secret, and the shop has none", ""
	}
	var hints []string
	if slices.ContainsFunc(s.Algorithms, shared) {
		hints = append(hints,
			"it may sign with HS256, which the shop refuses: have the client there sign with "+want)
	}
	if none && len(s.Ways) > 0 && !slices.Contains(s.Ways, "none") {
		hints = append(hints, "it lists no clients without a secret: if it refuses the shop, store one")
	}
	if len(s.left.list) > 0 && s.left.odd {
		hints = append(hints, "entries of its key set are left out: "+strings.Join(s.left.list, "; "))
	}
	return "", strings.Join(hints, "; ")
}

// plainAll returns at most ten names of algorithms, each short and printable.
func plainAll(list []string) (out []string) {
	for _, s := range list[:min(len(list), 10)] {
		if len(s) > 10 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
			s = "?"
		}
		out = append(out, s)
	}
	return out
}
