package oidc

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// algorithms are the algorithms that a token may be signed with.
var algorithms = []string{jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg(),
	jwt.SigningMethodES384.Alg()}

// Sizes of keys.
const (
	minRSA      = 2048 // bits
	maxRSA      = 8192 // bits; a larger one costs too much time
	minExponent = 3
	maxExponent = 1<<31 - 1
)

// key is a key that can check tokens.
type key struct {
	kid    string // "" if the entry has none
	alg    string // the only algorithm that it is used for: an RSA key never for ES256, nor a curve's for RS256
	public interface{ Equal(x crypto.PublicKey) bool }
}

// keyName is what a token's header says about its key. The zero value stands for no key, anotherKey for one that no set
// has.
type keyName struct{ kid, alg string }

var anotherKey = keyName{alg: "another"}

// find returns the key with a token's kid, of equal kids the first; for a token without kid the only key that fits
// ("Signing", OpenID Connect Core 1.0, 10.1). It returns nil if there is none, or several.
func (s *snapshot) find(name keyName) (public any) {
	var only *key
	for i := range s.keys {
		switch k := &s.keys[i]; {
		case k.alg != name.alg || name.kid != "" && k.kid != name.kid:
		case name.kid != "":
			return k.public
		case only == nil:
			only = k
		case !only.public.Equal(k.public): // an issuer may list one key under two names
			return nil
		}
	}
	if only == nil {
		return nil
	}
	return only.public
}

func (s *snapshot) has(name keyName) bool { return name == keyName{} || s.find(name) != nil }

// keySet is a JSON Web Key Set (RFC 7517). Its entries are read one by one: section 5 has those left out that cannot be
// understood, or lack something, and one of them must not shut everybody out.
type keySet struct {
	Keys []json.RawMessage `json:"keys"`
}

// leftOut says which entries of a set are not used, and why, without any of their values. odd: one could not be read;
// others are for other uses.
type leftOut struct {
	list []string
	odd  bool
}

// maxLeft is how many entries leftOut names.
const maxLeft = 10

func (l *leftOut) add(at int, why error) {
	l.odd = l.odd || !errors.Is(why, errOtherUse)
	switch {
	case len(l.list) < maxLeft:
		l.list = append(l.list, fmt.Sprintf("%d: %v", at+1, why))
	case len(l.list) == maxLeft:
		l.list = append(l.list, "and more")
	}
}

// usable returns the keys that can check tokens, at most MaxKeys. The error says that there is none.
func (s *keySet) usable() (keys []key, left leftOut, err error) {
	for i, text := range s.Keys {
		k, err := readKey(text)
		if err == nil && len(keys) == MaxKeys {
			err = errTooMany
		}
		if err != nil {
			left.add(i, err)
			continue
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, left, fmt.Errorf("no key for %s among %d; left out: %s", strings.Join(algorithms, ", "),
			len(s.Keys), strings.Join(left.list, "; "))
	}
	return keys, left, nil
}

// Why an entry is left out.
var (
	errOtherUse = errors.New("for another use, or of another type")
	errTooMany  = fmt.Errorf("more than %d keys", MaxKeys)
	errNoObject = errors.New("no object")
	errNoText   = errors.New("not the type that it must have")
	errRSA      = fmt.Errorf("no RSA key of %d to %d bits", minRSA, maxRSA)
	errPoint    = errors.New("no point of its curve")
)

// curves are the curves of keys by name, with their algorithm.
var curves = map[string]struct {
	curve elliptic.Curve
	alg   string
}{
	"P-256": {elliptic.P256(), jwt.SigningMethodES256.Alg()},
	"P-384": {elliptic.P384(), jwt.SigningMethodES384.Alg()},
}

// readKey reads an entry.
func readKey(text []byte) (k key, err error) {
	var e entry
	if json.Unmarshal(text, &e) != nil || e == nil {
		return k, errNoObject
	}
	var kind, use, alg string
	for _, member := range []struct {
		name string
		to   *string
	}{{"kty", &kind}, {"kid", &k.kid}, {"use", &use}, {"alg", &alg}} {
		if *member.to, err = e.text(member.name); err != nil {
			return k, err
		}
	}
	uses := []string{"verify"}
	if e["key_ops"] != nil && json.Unmarshal(e["key_ops"], &uses) != nil {
		return k, fmt.Errorf("key_ops: %w", errNoText)
	}
	if use != "" && use != "sig" || !slices.Contains(uses, "verify") {
		return k, errOtherUse
	}
	switch kind {
	case "RSA":
		err = k.rsa(e)
	case "EC":
		err = k.curve(e)
	default:
		err = errOtherUse
	}
	if err == nil && alg != "" && alg != k.alg {
		err = errOtherUse
	}
	return k, err
}

func (k *key) rsa(e entry) error {
	n, errN := e.bytes("n")
	x, errE := e.bytes("e")
	if err := cmp.Or(errN, errE); err != nil {
		return err
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(x)
	if modulus.BitLen() < minRSA || modulus.BitLen() > maxRSA || !exponent.IsInt64() ||
		exponent.Int64() < minExponent || exponent.Int64() > maxExponent || exponent.Bit(0) == 0 {
		return errRSA
	}
	k.alg, k.public = jwt.SigningMethodRS256.Alg(), &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
	return nil
}

func (k *key) curve(e entry) error {
	name, err := e.text("crv")
	if err != nil {
		return err
	}
	c, ok := curves[name]
	if !ok {
		return errOtherUse
	}
	x, errX := e.bytes("x")
	y, errY := e.bytes("y")
	if err := cmp.Or(errX, errY); err != nil {
		return err
	}
	if size := (c.curve.Params().BitSize + 7) / 8; len(x) != size || len(y) != size {
		return errPoint
	}
	point := append(append([]byte{4}, x...), y...) // uncompressed (SEC 1 section 2.3.3)
	public, err := ecdsa.ParseUncompressedPublicKey(c.curve, point)
	if err != nil {
		return errPoint
	}
	k.alg, k.public = c.alg, public
	return nil
}

// entry is a JSON Web Key by the names of its members, whose case matters.
type entry map[string]json.RawMessage

// text returns a member that is a text, "" if it is not there.
func (e entry) text(name string) (s string, err error) {
	if e[name] != nil && json.Unmarshal(e[name], &s) != nil {
		return "", fmt.Errorf("%s: %w", name, errNoText)
	}
	return s, nil
}

// bytes returns a member in base64url, which some issuers pad.
func (e entry) bytes(name string) ([]byte, error) {
	s, err := e.text(name)
	if err != nil {
		return nil, err
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf("%s: no base64url", name)
	}
	return b, nil
}
