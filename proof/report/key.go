package report

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/your-org/seckill/shared/api/salts"
)

// Key signs reports, and is the source of salts.
type Key struct {
	Verifier string       // the public key: NAME+ID+KEY
	Salts    salts.Secret // a process that has only this cannot sign
	signer   note.Signer
}

// tradeBytes is the length of a trade's hash, in bytes.
const tradeBytes = 16

// GenerateKey makes the private key of a shop's reports, as ParseKey reads it. The name stands in every signature.
func GenerateKey(name string) (string, error) {
	bad := func(c rune) bool { return c <= ' ' || c > '~' || c == '+' }
	if name == "" || len(name) > 100 || strings.ContainsFunc(name, bad) {
		return "", errors.New("want a name such as shop.example: up to 100 letters and signs without spaces and +")
	}
	private, verifier, err := note.GenerateKey(rand.Reader, name)
	return private + "\n" + verifier + "\n", err
}

// ParseKey reads a key: two lines, the private one and the verifier.
func ParseKey(text string) (*Key, error) {
	private, verifier, _ := strings.Cut(strings.TrimSpace(text), "\n")
	private, verifier = strings.TrimSpace(private), strings.TrimSpace(verifier)
	signer, err := note.NewSigner(private)
	if err != nil {
		return nil, errors.New("no key of reports: want the two lines that `seckill report key` writes")
	}
	public, err := note.NewVerifier(verifier)
	probe := []byte("probe\n")
	if err == nil {
		var signed []byte
		signed, err = signer.Sign(probe)
		if err == nil && (!public.Verify(probe, signed) || public.Name() != signer.Name()) {
			err = errors.New("the two lines are not of one key")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("key of reports: %w", err)
	}
	return &Key{Verifier: verifier, signer: signer, Salts: salts.Derive(private, verifier)}, nil
}

// Salt returns the salt of an order's line.
func (k *Key) Salt(order string) string {
	salt, _ := k.Salts.Of(order)
	return salt
}

// Buyer returns how an order's line names its user.
func Buyer(salt, user string) string { return salted(salt, "buyer\n"+user, sha256.Size) }

// Trade returns how an order's line names a trade.
func Trade(salt, number string) string { return salted(salt, "trade\n"+number, tradeBytes) }

func salted(salt, text string, size int) string {
	raw, err := hex.DecodeString(salt)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum(raw, text)[:size])
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// sign signs a tree's root: the text of a C2SP tlog-checkpoint, with the items and the time as further lines.
func (k *Key) sign(size int64, root [32]byte, more ...string) (string, error) {
	text := fmt.Sprintf("%s\n%d\n%s\n", k.signer.Name(), size, base64.StdEncoding.EncodeToString(root[:]))
	for _, line := range more {
		text += line + "\n"
	}
	signed, err := note.Sign(&note.Note{Text: text}, k.signer)
	return string(signed), err
}
