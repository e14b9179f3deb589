package seckill

import (
	"errors"
	"slices"
	"testing"
)

// TestReasonsAreComplete checks that every code is a reason, and that the reason of any error is in the list.
func TestReasonsAreComplete(t *testing.T) {
	all := Reasons()
	for _, c := range Codes() {
		if got := Refuse(c).Reason(); got != Reason(c) || !slices.Contains(all, got) {
			t.Errorf("%s: reason %q, want the code's name, on the list", c, got)
		}
	}
	tokens := []Reason{TokenMissing, TokenMalformed, TokenAlgorithm, TokenKey, TokenSignature, TokenExpired, TokenEarly,
		TokenClaims, TokenEnded, TokenIssuer, TokenAudience, TokenNonce, TokenStale, TokenGrant}
	for _, r := range tokens {
		if got := (&Error{Code: CodeToken, Token: r, Err: errors.New("x")}).Reason(); got != r {
			t.Errorf("a token's reason is %q, want %q", got, r)
		}
	}
	for _, r := range otherReasons {
		if got := (&Error{Code: CodeTooMany, Token: r}).Reason(); got != r {
			t.Errorf("the reason is %q, want %q", got, r)
		}
	}
	if len(all) != len(Codes())+len(tokens)+len(otherReasons) {
		t.Errorf("%d reasons, want %d of codes, %d of tokens and %d others", len(all), len(Codes()), len(tokens),
			len(otherReasons))
	}
	for _, e := range []*Error{{Code: "made-up"}, {Code: CodeToken, Token: "made-up"}, {}} {
		if got := e.Reason(); !slices.Contains(all, got) {
			t.Errorf("%+v: reason %q is not on the list", e, got)
		}
	}
}
