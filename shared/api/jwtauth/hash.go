package jwtauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

const (
	hashUse   = "refusal log" // differs from any token's signed text, which has dots and no blank
	hashBytes = 8             // bytes of the hash that are shown: a million texts still have distinct hashes
)

// Hash returns 16 hexadecimal digits for a text: HMAC-SHA-256 with a key derived from the token secret. Equal texts
// have equal hashes as long as the secret stays. Without the secret nobody can compute a hash or find its text by
// trying.
func (v *Verifier) Hash(text string) string {
	return hex.EncodeToString(keyed(v.hashKey, text)[:hashBytes])
}

// hashKey derives the key from the current secret; without one, from the kid that sorts last, which with names like
// 2026, 2027 is the newest.
func hashKey(keys Keys) []byte {
	secret := keys.Current
	if secret == "" {
		secret = keys.ByKid[newest(keys)]
	}
	return keyed([]byte(secret), hashUse)
}

// newest returns the kid that sorts last.
func newest(keys Keys) string { return slices.Max(slices.Collect(maps.Keys(keys.ByKid))) }

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
