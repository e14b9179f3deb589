package alipay

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// minKeyBits is the smallest RSA key that sign type RSA2 allows ("RSA2 签名": 2048 bits).
const minKeyBits = 2048

// Advice for a wrong key.
const (
	adviceMake = "make an RSA key pair of 2048 bits with Alipay's key tool"
	adviceCopy = "copy Alipay's from the app's settings page"
)

// ParsePrivateKey reads an RSA private key: PKCS #8 or PKCS #1, as PEM or as the bare base64 that Alipay's key tool
// writes. The error says what to do and never contains any of the text.
func ParsePrivateKey(text string) (*rsa.PrivateKey, error) {
	der, err := keyBytes(text)
	if err != nil {
		return nil, err
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return sized(key, key.N.BitLen(), adviceMake)
	}
	switch key, kind := kindOf(der); kind {
	case "private key":
		private, ok := key.(*rsa.PrivateKey)
		if !ok {
			return nil, fmt.Errorf("not an RSA key: %s", adviceMake)
		}
		return sized(private, private.N.BitLen(), adviceMake)
	case "":
		return nil, fmt.Errorf("not a private key in PKCS #8 or PKCS #1: copy the app's private key whole, or %s",
			adviceMake)
	default:
		return nil, fmt.Errorf("not a private key but a %s: give the app's private key", kind)
	}
}

// ParsePublicKey reads an RSA public key: PKIX or PKCS #1, as PEM or bare base64. The error says what to do and never
// contains any of the text.
func ParsePublicKey(text string) (*rsa.PublicKey, error) {
	der, err := keyBytes(text)
	if err != nil {
		return nil, err
	}
	if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return sized(key, key.N.BitLen(), adviceCopy)
	}
	switch key, kind := kindOf(der); kind {
	case "public key":
		return rsaPublic(key)
	case "":
		return nil, fmt.Errorf("not a public key in PKIX or PKCS #1: %s", adviceCopy)
	case "certificate":
		return nil,
			errors.New(
				"not a public key but a certificate: set it as Alipay's certificate, with the app's and the root's")
	default:
		return nil, fmt.Errorf("not a public key but a %s: %s", kind, adviceCopy)
	}
}

// rsaPublic returns the RSA key in key, if it is one that Alipay may use.
func rsaPublic(key any) (*rsa.PublicKey, error) {
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("not an RSA key: %s", adviceCopy)
	}
	return sized(public, public.N.BitLen(), adviceCopy)
}

// sized returns key if it is long enough.
func sized[K any](key *K, bits int, advice string) (*K, error) {
	if bits < minKeyBits {
		return nil, fmt.Errorf("a key of %d bits: want at least %d: %s", bits, minKeyBits, advice)
	}
	return key, nil
}

// kindOf returns what DER holds, for an error about mixed-up settings, or "" if unknown.
func kindOf(der []byte) (any, string) {
	for _, k := range []struct {
		kind  string
		parse func([]byte) (any, error)
	}{
		{"private key", x509.ParsePKCS8PrivateKey},
		{"private key", func(b []byte) (any, error) { return x509.ParsePKCS1PrivateKey(b) }},
		{"private key", func(b []byte) (any, error) { return x509.ParseECPrivateKey(b) }},
		{"public key", x509.ParsePKIXPublicKey},
		{"public key", func(b []byte) (any, error) { return x509.ParsePKCS1PublicKey(b) }},
		{"certificate", func(b []byte) (any, error) { return x509.ParseCertificate(b) }},
	} {
		if key, err := k.parse(der); err == nil {
			return key, k.kind
		}
	}
	return nil, ""
}

// keyBytes returns the DER of a key in PEM or in base64 with any white space.
func keyBytes(text string) ([]byte, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("empty")
	}
	if strings.Contains(text, "-----BEGIN") {
		block, rest := pem.Decode([]byte(strings.TrimSpace(text)))
		if block == nil || len(bytes.TrimSpace(rest)) > 0 {
			return nil, errors.New("not one whole PEM block: copy the file whole, and that one only")
		}
		if strings.HasPrefix(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "" {
			return nil, errors.New("encrypted: take the password off")
		}
		return block.Bytes, nil
	}
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errors.New("neither PEM nor base64: copy the key whole")
	}
	return der, nil
}
