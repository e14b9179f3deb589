package jwtauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

const (
	hashUse   = "refusal log" // no token's text: that has dots and no blank
	hashBytes = 8             // of a hash that are shown: a million texts have a million hashes
)

// Hash returns 16 hexadecimal digits for a text, by HMAC-SHA-256 under a key that is derived from the secret of tokens:
// the same text has the same hash as long as that secret stays. Who has no secret can neither compute it nor try texts.
func (v *Verifier) Hash(text string) string {
	return hex.EncodeToString(keyed(v.hashKey, text)[:hashBytes])
}

// hashKey is of the current secret; without one, of the kid that sorts last, which by their names (2026, 2027) is the
// newest.
func hashKey(keys Keys) []byte {
	secret := keys.Current
	if secret == "" {
		secret = keys.ByKid[slices.Max(slices.Collect(maps.Keys(keys.ByKid)))]
	}
	return keyed([]byte(secret), hashUse)
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
