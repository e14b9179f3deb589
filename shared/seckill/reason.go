package seckill

// Reason is the label under which a refusal is counted: the code's name or, for a token, what is wrong with it. The
// set is closed, whatever clients send: see Reasons.
type Reason string

// What can be wrong with a token. The answer is CodeToken, or CodeSignIn for what a shopper signs in with.
const (
	TokenMissing   Reason = "token_missing"   // no Authorization header
	TokenMalformed Reason = "token_malformed" // no bearer token, or one that can be read in more than one way
	TokenAlgorithm Reason = "token_algorithm" // its header names another algorithm than ours
	TokenKey       Reason = "token_key"       // it names an unknown key
	TokenSignature Reason = "token_signature" // signed with another key, or for another text
	TokenExpired   Reason = "token_expired"
	TokenEarly     Reason = "token_early"  // not valid yet
	TokenClaims    Reason = "token_claims" // it has no expiry, does not permit buying, or names no user
	TokenEnded     Reason = "token_ended"  // its session was ended
	// TokenAudience: it was made for another shop, another client, or for another use.
	TokenAudience Reason = "token_audience"

	// Only when signing in.
	TokenIssuer Reason = "token_issuer" // of an issuer that is not the shop's
	TokenNonce  Reason = "token_nonce"  // made for another sign-in
	TokenStale  Reason = "token_stale"  // just exchanged, yet made long ago: one of the clocks is wrong
	TokenGrant  Reason = "token_grant"  // the issuer does not take the code or refresh token
)

// Whose limit a request exceeded. The answer is CodeTooMany.
const (
	LimitUser    Reason = "too_many_of_user"
	LimitNetwork Reason = "too_many_of_network"

	LimitAttempts Reason = "too_many_answers" // to challenges
)

// What can be wrong with a ticket. The code of the answer is CodeTicket; as a reason, CodeTicket means that there was
// no ticket.
const (
	TicketKey       Reason = "ticket_key"       // not a ticket, or signed with a key that is gone
	TicketSignature Reason = "ticket_signature" // forged
	TicketForeign   Reason = "ticket_foreign"   // of another user, or for another item
	TicketExpired   Reason = "ticket_expired"
)

// OrderForeign is a request for another user's order. The answer is CodeOrderUnknown, as if there were none.
const OrderForeign Reason = "order_foreign"

// Which check failed. The answer is CodeCheck.
const (
	CheckProof    Reason = "check_proof"
	CheckQuestion Reason = "check_question"
)

// otherReasons lists what is wrong with neither token nor code.
var otherReasons = []Reason{LimitUser, LimitNetwork, LimitAttempts, CheckProof, CheckQuestion,
	TicketKey, TicketSignature, TicketForeign, TicketExpired, OrderForeign}

// tokenReasons lists what can be wrong with a token.
var tokenReasons = []Reason{TokenMissing, TokenMalformed, TokenAlgorithm, TokenKey, TokenSignature, TokenExpired,
	TokenEarly, TokenClaims, TokenEnded, TokenIssuer, TokenAudience, TokenNonce, TokenStale, TokenGrant}

// reasons has every reason.
var reasons = func() map[Reason]bool {
	out := map[Reason]bool{}
	for _, r := range append(tokenReasons, otherReasons...) {
		out[r] = true
	}
	for _, c := range codes {
		out[Reason(c)] = true
	}
	return out
}()

// Reasons lists every reason, in no order.
func Reasons() []Reason {
	out := make([]Reason, 0, len(reasons))
	for r := range reasons {
		out = append(out, r)
	}
	return out
}

// Reason returns one of Reasons: Token if it is set, else the code, and CodeInternal for an unknown code.
func (e *Error) Reason() Reason {
	switch {
	case reasons[e.Token]:
		return e.Token
	case reasons[Reason(e.Code)]:
		return Reason(e.Code)
	}
	return Reason(CodeInternal)
}
