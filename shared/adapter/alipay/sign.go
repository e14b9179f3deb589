package alipay

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// minKeyBits is the smallest RSA key that sign type RSA2 takes ("RSA2 签名": 2048 bits).
const minKeyBits = 2048

// ErrSignature says that a signature is not the key's over that content.
var ErrSignature = errors.New("alipay: signature does not match")

// SignContent joins every parameter but those named in except as Alipay signs them: sorted by name, "k=v&k=v", values
// decoded and not escaped. Requests leave out sign; notifies leave out sign and sign_type. Empty values take part, as
// they do in rsaCheckV1 of Alipay's own SDKs (Java, PHP, Node.js). Of a name that is given twice only the first value is
// seen: a caller that reads foreign input refuses such input before.
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

// Sign signs content with RSA2 (SHA256 with RSA, PKCS #1 v1.5) and gives base64: the same bytes for the same content.
func Sign(key *rsa.PrivateKey, content string) (string, error) {
	sum := sha256.Sum256([]byte(content))
	sig, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("alipay: sign: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sig), nil
}

// CheckSign checks an RSA2 signature in base64; ErrSignature when it does not match. Only the one canonical base64 text
// of a signature is taken, so no byte of it can be changed unnoticed.
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

// ParsePrivateKey reads an RSA private key: PKCS #8 or PKCS #1, as PEM or as the bare base64 that Alipay's key tool
// writes. The error never contains any of the text.
func ParsePrivateKey(text string) (*rsa.PrivateKey, error) {
	der, err := keyBytes(text)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS1PrivateKey(der)
	if err != nil {
		any8, err := x509.ParsePKCS8PrivateKey(der)
		if err != nil {
			return nil, errors.New("not a private key in PKCS #8 or PKCS #1")
		}
		var ok bool
		if key, ok = any8.(*rsa.PrivateKey); !ok {
			return nil, errors.New("not an RSA key")
		}
	}
	if key.N.BitLen() < minKeyBits {
		return nil, fmt.Errorf("a key of %d bits: want at least %d", key.N.BitLen(), minKeyBits)
	}
	return key, nil
}

// ParsePublicKey reads an RSA public key: PKIX or PKCS #1, as PEM or bare base64. The error never contains any of the
// text.
func ParsePublicKey(text string) (*rsa.PublicKey, error) {
	der, err := keyBytes(text)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS1PublicKey(der)
	if err != nil {
		anyKey, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return nil, errors.New("not a public key in PKIX or PKCS #1")
		}
		var ok bool
		if key, ok = anyKey.(*rsa.PublicKey); !ok {
			return nil, errors.New("not an RSA key")
		}
	}
	if key.N.BitLen() < minKeyBits {
		return nil, fmt.Errorf("a key of %d bits: want at least %d", key.N.BitLen(), minKeyBits)
	}
	return key, nil
}

// keyBytes gives the DER of a key written as PEM or as base64 with any white space.
func keyBytes(text string) ([]byte, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("empty")
	}
	if strings.Contains(text, "-----BEGIN") {
		block, rest := pem.Decode([]byte(strings.TrimSpace(text)))
		if block == nil || len(bytes.TrimSpace(rest)) > 0 {
			return nil, errors.New("not one whole PEM block")
		}
		return block.Bytes, nil
	}
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errors.New("neither PEM nor base64")
	}
	return der, nil
}
