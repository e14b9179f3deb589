package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"

	"github.com/golang-jwt/jwt/v5"
)

// Sizes of keys.
const (
	minRSA      = 2048 // bits
	maxRSA      = 8192 // bits; a larger one costs too much time
	minExponent = 3
	maxExponent = 1<<31 - 1
	sizeP256    = 32 // bytes of a coordinate
)

// keyName finds a key: an RSA key is never used for ES256, nor a curve's for RS256. The zero value stands for no key.
type keyName struct{ kid, alg string }

func (s *snapshot) has(k keyName) bool { return k == keyName{} || s.keys[k] != nil }

// keySet is a JSON Web Key Set (RFC 7517).
type keySet struct {
	Keys []jsonKey `json:"keys"`
}

type jsonKey struct {
	Kid   string `json:"kid"`
	Type  string `json:"kty"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	N     string `json:"n"`
	E     string `json:"e"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// usable returns the keys that sign with RS256 or ES256 and have a kid; of two equal kids the first. It leaves out
// others, which an issuer may have for other uses.
func (s *keySet) usable() (map[keyName]any, error) {
	if len(s.Keys) > MaxKeys {
		return nil, fmt.Errorf("%d keys, want at most %d", len(s.Keys), MaxKeys)
	}
	out := map[keyName]any{}
	for i := range s.Keys {
		k := &s.Keys[i]
		if k.Kid == "" || k.Use != "" && k.Use != "sig" {
			continue
		}
		alg, key := k.public()
		name := keyName{k.Kid, alg}
		if key == nil || k.Alg != "" && k.Alg != alg || out[name] != nil {
			continue
		}
		out[name] = key
	}
	if len(out) == 0 {
		return nil, errors.New("no key for RS256 or ES256")
	}
	return out, nil
}

// public returns a key and the algorithm that fits its type, or nil if it is not usable.
func (k *jsonKey) public() (alg string, key any) {
	switch {
	case k.Type == "RSA":
		n, e := number(k.N), number(k.E)
		if n == nil || e == nil || n.BitLen() < minRSA || n.BitLen() > maxRSA || !e.IsInt64() ||
			e.Int64() < minExponent || e.Int64() > maxExponent || e.Bit(0) == 0 {
			return "", nil
		}
		return jwt.SigningMethodRS256.Alg(), &rsa.PublicKey{N: n, E: int(e.Int64())}
	case k.Type == "EC" && k.Curve == "P-256":
		x, errX := base64.RawURLEncoding.DecodeString(k.X)
		y, errY := base64.RawURLEncoding.DecodeString(k.Y)
		if errX != nil || errY != nil || len(x) != sizeP256 || len(y) != sizeP256 {
			return "", nil
		}
		point := append(append([]byte{4}, x...), y...) // uncompressed (SEC 1 section 2.3.3)
		if own, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point); err == nil {
			return jwt.SigningMethodES256.Alg(), own
		}
	}
	return "", nil
}

func number(s string) *big.Int {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	return new(big.Int).SetBytes(b)
}
