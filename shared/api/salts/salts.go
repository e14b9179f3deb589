// Package salts derives the salts with which a report hashes its orders' users and trades (docs/REPORT.md). In: the
// private key of a shop's reports, or the secret that derives from it. Out: an order's salt, for its shopper alone. Who
// has the secret can show salts, and cannot sign.
package salts

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

const bytes = 16 // of a salt: too many to try

// Secret is what the salts of a shop's orders derive from. The zero Secret has none.
type Secret struct {
	Verifier string // the public key of the reports that it belongs to
	secret   []byte
}

// Derive returns the secret of a private key of reports, as text.
func Derive(private, verifier string) Secret {
	return Secret{verifier, sum([]byte(strings.TrimSpace(private)), "seckill report: secret of salts")}
}

// Parse reads what Text wrote. Its error does not contain the text.
func Parse(text string) (Secret, error) {
	verifier, digits, _ := strings.Cut(strings.TrimSpace(text), " ")
	secret, err := hex.DecodeString(digits)
	if err != nil || len(secret) != sha256.Size || strings.Count(verifier, "+") < 2 {
		return Secret{}, errors.New("salts: want the verifier of reports, a space, and 64 hexadecimal digits")
	}
	return Secret{verifier, secret}, nil
}

// Text returns the secret as a text, VERIFIER DIGITS, or "" if there is none.
func (s Secret) Text() string {
	if s.secret == nil {
		return ""
	}
	return s.Verifier + " " + hex.EncodeToString(s.secret)
}

// String hides the secret from logs.
func (s Secret) String() string { return "salts of " + s.Verifier }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// Of returns the salt of an order, 32 hexadecimal digits, and the verifier, or "" if there is no secret.
func (s Secret) Of(order string) (salt, verifier string) {
	if s.secret == nil {
		return "", ""
	}
	return hex.EncodeToString(sum(s.secret, "salt\n"+order)[:bytes]), s.Verifier
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
