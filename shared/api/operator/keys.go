package operator

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keyEnd is how long a key is accepted after the next key has begun to sign: a signed command is at most MaxAge old.
const keyEnd = time.Hour

// Keys are the private keys of a stack's back office, the oldest first. As text, each is FROM:SEED, separated by
// spaces: the Unix second from which on it signs, and its seed in base64.
type Keys []key

// PublicKeys are the public parts of Keys. As text, each is FROM:KEY.
type PublicKeys []key

// key is a private key's seed or a public key; both have 32 bytes.
type key struct {
	from  int64 // Unix seconds; different for each
	bytes []byte
}

// ParseKeys reads what Keys.String wrote. Its error does not contain the text.
func ParseKeys(text string) (Keys, error) { return parse(text) }

// ParsePublicKeys reads what PublicKeys.String wrote.
func ParsePublicKeys(text string) (PublicKeys, error) { return parse(text) }

func parse(text string) ([]key, error) {
	var keys []key
	for _, field := range strings.Fields(text) {
		from, rest, _ := strings.Cut(field, ":")
		at, err := strconv.ParseInt(from, 10, 64)
		b, wrong := base64.StdEncoding.DecodeString(rest)
		if err != nil || wrong != nil || at < 0 || len(b) != ed25519.SeedSize {
			return nil, fmt.Errorf("operator: command key %d is not SECONDS:BASE64 of 32 bytes", len(keys)+1)
		}
		if n := len(keys); n > 0 && at <= keys[n-1].from {
			return nil, errors.New("operator: command keys do not begin one after the other")
		}
		keys = append(keys, key{at, b})
	}
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("operator: %d command keys, want 1 to %d", len(keys), maxKeys)
	}
	return keys, nil
}

// String returns the keys as a text. It shows the secrets.
func (k Keys) String() string { return format(k) }

// String returns the keys as a text.
func (k PublicKeys) String() string { return format(k) }

func format(keys []key) string {
	fields := make([]string, len(keys))
	for i, k := range keys {
		fields[i] = strconv.FormatInt(k.from, 10) + ":" + base64.StdEncoding.EncodeToString(k.bytes)
	}
	return strings.Join(fields, " ")
}

// Add returns the keys with another key, made from a seed, which signs from this time on, or right after the newest key
// begins. If there are more than three keys, it drops the oldest.
func (k Keys) Add(seed [ed25519.SeedSize]byte, from time.Time) Keys {
	at := from.Unix()
	if n := len(k); n > 0 {
		at = max(at, k[n-1].from+1)
	}
	all := append(slices.Clone(k), key{at, seed[:]})
	return all[max(0, len(all)-maxKeys):]
}

// Public returns the public parts.
func (k Keys) Public() PublicKeys {
	out := make(PublicKeys, len(k))
	for i := range k {
		public, _ := private(k[i]).Public().(ed25519.PublicKey)
		out[i] = key{k[i].from, public}
	}
	return out
}

// Signs returns the key that signs at this time: the newest key that has begun, else the oldest; nil without keys.
func (k Keys) Signs(now time.Time) ed25519.PrivateKey {
	if len(k) == 0 {
		return nil
	}
	return private(k[begun(k, now)])
}

// Seeds returns the seeds of the keys that are accepted at this time, the signing key first.
func (k Keys) Seeds(now time.Time) (out [][]byte) {
	signs := begun(k, now)
	for _, i := range accepted(k, now) {
		if out = append(out, k[i].bytes); i == signs {
			out[0], out[len(out)-1] = out[len(out)-1], out[0]
		}
	}
	return out
}

func private(k key) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.bytes) }

// Accepted returns the keys whose signatures are accepted at this time: the key that signs, the keys to come and, for
// an hour, the previous key.
func (k PublicKeys) Accepted(now time.Time) (out []ed25519.PublicKey) {
	for _, i := range accepted(k, now) {
		out = append(out, k[i].bytes)
	}
	return out
}

// accepted returns the places of the keys that are accepted at this time.
func accepted(keys []key, now time.Time) (out []int) {
	for i := range keys {
		if i+1 == len(keys) || now.Unix() < keys[i+1].from+int64(keyEnd/time.Second) {
			out = append(out, i)
		}
	}
	return out
}

// begun returns the index of the newest key that has begun, else 0.
func begun(keys []key, now time.Time) int {
	for i := len(keys) - 1; i > 0; i-- {
		if now.Unix() >= keys[i].from {
			return i
		}
	}
	return 0
}
