package jwtauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	passUse   = "connect pass" // differs from any token's signed text, which has dots and no blank
	maxPass   = 160            // bytes; a pass has some 110
	maxNonce  = 64
	passParts = 4
)

// Passes makes and checks connect passes: "user.expiry.nonce.mac", in characters that a WebSocket subprotocol may have
// (RFC 6455 section 4.1). The keys derive from the token secrets, so a pass is not a token, nor a token a pass. It is
// safe for concurrent use.
type Passes struct {
	clock seckill.Clock
	keys  [][]byte  // the first key makes passes, every key checks them, so that a rotation refuses no pass
	makes sync.Pool // hash.Hash under the first key: each accepted purchase needs one
}

// NewPasses returns a maker and checker of passes; keys are the keys of New, which has checked them.
func NewPasses(keys Keys, clock seckill.Clock) *Passes {
	p := &Passes{clock: clock}
	if keys.Current != "" {
		p.keys = append(p.keys, keyed([]byte(keys.Current), passUse))
	}
	kids := slices.Sorted(maps.Keys(keys.ByKid))
	slices.Reverse(kids) // the newest first, as newest has it
	for _, kid := range kids {
		p.keys = append(p.keys, keyed([]byte(keys.ByKid[kid]), passUse))
	}
	p.makes.New = func() any { return hmac.New(sha256.New, p.keys[0]) }
	return p
}

// Append appends a pass for a user, and returns when it ends. nonce is 1 to 64 letters and digits, never the same
// twice.
func (p *Passes) Append(b []byte, user, nonce string) (longer []byte, expires time.Time) {
	expires = p.clock.Now().Add(seckill.PassLife).Truncate(time.Second)
	from := len(b)
	b = append(append(b, user...), '.')
	b = append(strconv.AppendInt(b, expires.Unix(), 10), '.')
	b = append(b, nonce...)
	mac := p.makes.Get().(hash.Hash)
	defer p.makes.Put(mac)
	mac.Reset()
	mac.Write(b[from:])
	b = append(b, '.')
	return base64.RawURLEncoding.AppendEncode(b, mac.Sum(nil)), expires
}

// Make returns what Append appends.
func (p *Passes) Make(user, nonce string) (text string, expires time.Time) {
	b, expires := p.Append(nil, user, nonce)
	return string(b), expires
}

// Check returns what a pass says, or seckill.ErrPass. Whether it was used before, Connections knows.
func (p *Passes) Check(text string) (seckill.Pass, error) {
	at := strings.LastIndexByte(text, '.')
	if len(text) > maxPass || at < 0 || !p.signed(text[:at], text[at+1:]) {
		return seckill.Pass{}, seckill.ErrPass
	}
	parts := strings.Split(text, ".")
	if len(parts) != passParts || len(parts[2]) > maxNonce {
		return seckill.Pass{}, seckill.ErrPass
	}
	unix, err := strconv.ParseInt(parts[1], 10, 64)
	expires := time.Unix(unix, 0).UTC()
	if err != nil || !p.clock.Now().Before(expires) {
		return seckill.Pass{}, seckill.ErrPass
	}
	return seckill.Pass{User: parts[0], Expires: expires, Nonce: parts[2]}, nil
}

// signed compares texts: a decoder accepts several spellings of the same bytes.
func (p *Passes) signed(text, mac string) bool {
	found := false
	for _, key := range p.keys {
		found = hmac.Equal([]byte(base64.RawURLEncoding.EncodeToString(keyed(key, text))), []byte(mac)) || found
	}
	return found
}
