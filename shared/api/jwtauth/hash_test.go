package jwtauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestHash compares with a value computed by other means, and checks that the hash depends on the secret.
func TestHash(t *testing.T) {
	hmacOf := func(key []byte, text string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	const text = "2026-11-11|user|42"
	want := func(secret string) string {
		return hex.EncodeToString(hmacOf(hmacOf([]byte(secret), "refusal log"), text))[:16]
	}
	for _, c := range []struct {
		name   string
		keys   Keys
		secret string
	}{
		{"current", Keys{Current: secret, ByKid: map[string]string{"2027": "x"}}, secret},
		{"kids alone: the newest", Keys{ByKid: map[string]string{"2026": "old", "2027": "new"}}, "new"},
	} {
		v, err := New(c.keys, fixedClock{now})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Hash(text); got != want(c.secret) || got == v.Hash(text+"1") {
			t.Errorf("%s: Hash = %s, want %s, and another of another text", c.name, got, want(c.secret))
		}
	}
}
