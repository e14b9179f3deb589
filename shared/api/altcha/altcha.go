// Package altcha makes and checks proofs of work in ALTCHA's protocol (altcha.org, "PoW v2"), so that any of its
// widgets can solve them. In: what a proof is for. Out: a signed challenge; for a solution, what it was for. It keeps
// nothing: a challenge carries all that its check needs, so a solution can be sent again until it expires.
//
// A solver looks for the counter whose key, PBKDF2(nonce | counter, salt), begins with keyPrefix. The maker chose that
// counter and signed the key, so a check costs two hashes and no key.
package altcha

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	algorithm  = "PBKDF2/SHA-256"
	randomSize = 16 // bytes of nonce and salt
	keySize    = 32 // bytes of a key
	prefixSize = 16 // bytes of a key that the challenge shows

	// MaxSolution is the largest solution in bytes; a widget's has some 700.
	MaxSolution = 4 << 10

	maxText = 64 // bytes of a user or an item
)

// purpose says what a proof is good for. The fields are in the order of their names, as the signature has them.
type purpose struct {
	Item string `json:"item"`
	Made int64  `json:"made,omitzero"` // Unix milliseconds
	User string `json:"user"`
}

// parameters are the parameters of a challenge. The fields are in the order of their names, as the signature has them.
type parameters struct {
	Algorithm    string  `json:"algorithm"`
	Cost         int     `json:"cost"`
	Data         purpose `json:"data"`
	ExpiresAt    int64   `json:"expiresAt"` // Unix seconds
	KeyLength    int     `json:"keyLength"`
	KeyPrefix    string  `json:"keyPrefix"`
	KeySignature string  `json:"keySignature"`
	Nonce        string  `json:"nonce"`
	Salt         string  `json:"salt"`
}

// challenge is what a solver gets.
type challenge struct {
	Parameters parameters `json:"parameters"`
	Signature  string     `json:"signature"`
}

// solved is what a solver sends.
type solved struct {
	Challenge challenge `json:"challenge"`
	Solution  struct {
		Counter    int64   `json:"counter"`
		DerivedKey string  `json:"derivedKey"`
		Time       float64 `json:"time"` // ms, as the solver says
	} `json:"solution"`
}

// Proofs makes and checks proofs. It is safe for concurrent use.
type Proofs struct {
	keys   [][2][]byte // secrets of challenges and of keys; the first pair makes challenges, and every pair checks them
	clock  seckill.Clock
	random io.Reader
}

// New returns a maker and checker. secrets are at least one, the newest first.
func New(secrets [][]byte, clock seckill.Clock) (*Proofs, error) {
	p := &Proofs{clock: clock, random: rand.Reader}
	for _, s := range secrets {
		if len(s) == 0 {
			return nil, errors.New("altcha: an empty secret")
		}
		// hexadecimal, because ALTCHA's libraries take texts as secrets
		p.keys = append(p.keys, [2][]byte{fmt.Appendf(nil, "%x", sum(s, []byte("altcha challenge"))),
			fmt.Appendf(nil, "%x", sum(s, []byte("altcha key")))})
	}
	if len(p.keys) == 0 {
		return nil, errors.New("altcha: no secret")
	}
	return p, nil
}

// Make implements seckill.Proofs.
func (p *Proofs) Make(user, item string, w seckill.Work, expires time.Time) ([]byte, error) {
	if len(item) > maxText || len(user) > maxText || w.Cost < 1 || w.Tries < 2 {
		return nil, fmt.Errorf("altcha: a challenge of %+v for texts of %d and %d bytes", w, len(user), len(item))
	}
	seed := make([]byte, 2*randomSize)
	if _, err := io.ReadFull(p.random, seed); err != nil {
		return nil, fmt.Errorf("altcha: %w", err)
	}
	half := int64(w.Tries) / 2
	extra, err := rand.Int(p.random, big.NewInt(int64(w.Tries)-half))
	if err != nil {
		return nil, fmt.Errorf("altcha: %w", err)
	}
	nonce, salt := seed[:randomSize], seed[randomSize:]
	password := binary.BigEndian.AppendUint32(bytes.Clone(nonce), uint32(half+extra.Int64()))
	key, err := pbkdf2.Key(sha256.New, string(password), salt, w.Cost, keySize)
	if err != nil {
		return nil, fmt.Errorf("altcha: %w", err)
	}
	c := challenge{Parameters: parameters{Algorithm: algorithm, Cost: w.Cost,
		Data: purpose{item, p.clock.Now().UnixMilli(), user}, ExpiresAt: expires.Unix(),
		KeyLength: keySize, KeyPrefix: hex.EncodeToString(key[:prefixSize]),
		KeySignature: hex.EncodeToString(sum(p.keys[0][1], key)), Nonce: hex.EncodeToString(nonce),
		Salt: hex.EncodeToString(salt)}}
	signed, err := signedText(&c.Parameters)
	if err != nil {
		return nil, fmt.Errorf("altcha: %w", err)
	}
	c.Signature = hex.EncodeToString(sum(p.keys[0][0], signed))
	return json.Marshal(c)
}

// Check implements seckill.Proofs. It does not tell a solution that is malformed from one that is forged, changed,
// another's, wrong or expired.
func (p *Proofs) Check(solution []byte, user, item string) (took time.Duration, ok bool) {
	if len(solution) > MaxSolution {
		return 0, false
	}
	var s solved
	d := json.NewDecoder(bytes.NewReader(solution))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || d.More() {
		return 0, false
	}
	c := &s.Challenge.Parameters
	signed, err := signedText(c)
	signature, err2 := hex.DecodeString(s.Challenge.Signature)
	key, err3 := hex.DecodeString(s.Solution.DerivedKey)
	keySignature, err4 := hex.DecodeString(c.KeySignature)
	if errors.Join(err, err2, err3, err4) != nil {
		return 0, false
	}
	for _, keys := range p.keys {
		ok = hmac.Equal(sum(keys[0], signed), signature) && hmac.Equal(sum(keys[1], key), keySignature) || ok
	}
	now := p.clock.Now()
	ok = ok && c.Data.Item == item && c.Data.User == user && now.Before(time.Unix(c.ExpiresAt, 0))
	return worked(s.Solution.Time, now.Sub(time.UnixMilli(c.Data.Made))), ok
}

// worked is how long a solver says to have worked, or how long it can have worked at most if that is less. A solver
// need not say it.
func worked(saidMs float64, most time.Duration) time.Duration {
	if saidMs <= 0 || saidMs >= float64(most.Milliseconds()) {
		return max(most, 0)
	}
	return time.Duration(saidMs * float64(time.Millisecond))
}

// signedText is what a challenge's signature is of: JSON as JavaScript writes it.
func signedText(p *parameters) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(p)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Pick implements seckill.Picker.
func (p *Proofs) Pick(user, item string, slot int64, n int) int {
	h := sum(p.keys[len(p.keys)-1][0], fmt.Appendf(nil, "pick|%s|%s|%d", user, item, slot))
	return int(binary.BigEndian.Uint64(h) % uint64(n))
}

// Solve solves a challenge, as a widget does: for tests, and for scripts that are measured.
func Solve(challengeJSON []byte) (solution []byte, keys int, err error) {
	var s solved
	if err := json.Unmarshal(challengeJSON, &s.Challenge); err != nil {
		return nil, 0, fmt.Errorf("altcha: %w", err)
	}
	c := s.Challenge.Parameters
	nonce, err := hex.DecodeString(c.Nonce)
	salt, err2 := hex.DecodeString(c.Salt)
	prefix, err3 := hex.DecodeString(c.KeyPrefix)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, 0, fmt.Errorf("altcha: %w", err)
	}
	began := time.Now() //nolint:forbidigo // the solver's own time is part of the protocol
	for counter := range uint32(1 << 31) {
		key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(bytes.Clone(nonce), counter)), salt,
			c.Cost, c.KeyLength)
		if err != nil {
			return nil, 0, fmt.Errorf("altcha: %w", err)
		}
		if bytes.HasPrefix(key, prefix) {
			s.Solution.Counter, s.Solution.DerivedKey = int64(counter), hex.EncodeToString(key)
			s.Solution.Time = float64(time.Since(began).Milliseconds())
			out, err := json.Marshal(s)
			return out, int(counter) + 1, err
		}
	}
	return nil, 0, errors.New("altcha: no counter fits")
}

func sum(key, text []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(text)
	return m.Sum(nil)
}
