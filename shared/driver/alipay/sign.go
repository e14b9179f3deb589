package alipay

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ErrSignature: the signature does not match the key and the content.
var ErrSignature = errors.New("alipay: signature does not match")

// SignContent joins the parameters, without those in except, as Alipay signs them: sorted by name, "k=v&k=v", values
// decoded and not escaped. Requests leave out sign; notifications leave out sign and sign_type. Empty values take
// part, as in rsaCheckV1 of Alipay's own SDKs (Java, PHP, Node.js). It uses only the first value of a repeated name:
// callers must refuse foreign input with repeated names first.
func SignContent(params url.Values, except ...string) string {
	names := make([]string, 0, len(params))
	for name := range params {
		if !slices.Contains(except, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(params.Get(name))
	}
	return b.String()
}

// Sign signs content with RSA2 (SHA256 with RSA, PKCS #1 v1.5) and returns base64. It is deterministic.
func Sign(key *rsa.PrivateKey, content string) (string, error) {
	sum := sha256.Sum256([]byte(content))
	sig, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("alipay: sign: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sig), nil
}

// CheckSign checks an RSA2 signature in base64; ErrSignature if it does not match. It accepts only the canonical
// base64 text of a signature, so any changed byte is detected.
func CheckSign(key *rsa.PublicKey, content []byte, sign string) error {
	sig, err := base64.StdEncoding.Strict().DecodeString(sign)
	if err != nil || strings.ContainsAny(sign, "\r\n") {
		return ErrSignature
	}
	sum := sha256.Sum256(content)
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], sig) != nil {
		return ErrSignature
	}
	return nil
}
