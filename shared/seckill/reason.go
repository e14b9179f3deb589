package seckill

// Reason says for counting why a request was refused: the code's name or, of a token, what is wrong with it. Whatever
// clients send, there are no others than Reasons has.
type Reason string

// What can be wrong with a token; each is answered with CodeToken.
const (
	TokenMissing   Reason = "token_missing"   // no Authorization header
	TokenMalformed Reason = "token_malformed" // no bearer token, or none that can be read in one way only
	TokenAlgorithm Reason = "token_algorithm" // not said to be signed as ours are
	TokenKey       Reason = "token_key"       // it names a key that there is not
	TokenSignature Reason = "token_signature" // another key's signature, or another text's
	TokenExpired   Reason = "token_expired"
	TokenEarly     Reason = "token_early"  // not valid yet
	TokenClaims    Reason = "token_claims" // without an end, not one that may buy, or of no user
)

// reasons has every reason.
var reasons = func() map[Reason]bool {
	out := map[Reason]bool{TokenMissing: true, TokenMalformed: true, TokenAlgorithm: true, TokenKey: true,
		TokenSignature: true, TokenExpired: true,
		TokenEarly: true, TokenClaims: true}
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

// Reason is one of Reasons: Token if it says what is wrong with a token, else the code, and CodeInternal for a code
// that there is not.
func (e *Error) Reason() Reason {
	switch {
	case reasons[e.Token]:
		return e.Token
	case reasons[Reason(e.Code)]:
		return Reason(e.Code)
	}
	return Reason(CodeInternal)
}
