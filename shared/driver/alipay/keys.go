package alipay

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
)

// minKeyBits is the smallest RSA key that sign type RSA2 allows ("RSA2 签名": 2048 bits).
const minKeyBits = 2048

// maxCerts is the largest number of certificates in a file; Alipay's root file has four.
const maxCerts = 32

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
		{"certificate request", func(b []byte) (any, error) { return x509.ParseCertificateRequest(b) }},
	} {
		if key, err := k.parse(der); err == nil {
			return key, k.kind
		}
	}
	return nil, ""
}

// keyBytes returns the DER of a key in PEM or in base64.
func keyBytes(text string) ([]byte, error) {
	text = pasted(text)
	if text == "" {
		return nil, errors.New("empty")
	}
	if strings.Contains(text, "BEGIN ") {
		blocks, err := pemBlocks(text)
		if errors.Is(err, errCut) || err == nil && (len(blocks) != 1 || !strings.HasSuffix(text, "-")) {
			return nil, errors.New("not one whole PEM block: copy the file whole, and that one only")
		}
		if err != nil {
			return nil, err
		}
		return blocks[0].Bytes, nil
	}
	der, ok := fromBase64(text)
	if !ok {
		return nil, errors.New("neither PEM nor base64: copy the key whole")
	}
	return der, nil
}

// pasted returns the text that somebody meant who copied a file, or a part of one, by way of an editor, a page, a
// setting or a program's source: in UTF-8, without invisible characters and what encloses it, and with line breaks and
// slashes where \n and \/ are written out. None of these characters can be a part of PEM or base64.
func pasted(text string) string {
	if order, ok := byteOrders[text[:min(len(text), 2)]]; ok { // Windows has editors and shells that write UTF-16
		units := make([]uint16, 0, len(text)/2)
		for b := []byte(text[2:]); len(b) >= 2; b = b[2:] {
			units = append(units, order.Uint16(b))
		}
		text = string(utf16.Decode(units))
	}
	text = written.Replace(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case r == '\n' || r == '\r':
			return '\n'
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		}
		return r
	}, text))
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`“”‘’,;", r) })
}

var (
	byteOrders = map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian}
	written    = strings.NewReplacer(`\\n`, "\n", `\\r`, "\n", `\n`, "\n", `\r`, "\n", `\/`, "/", "\\\n", "\n")
	pemBlock   = regexp.MustCompile(`(?s)-+\s*BEGIN ([A-Z0-9 ]+?)\s*-+(.*?)-+\s*END [A-Z0-9 ]+?\s*-+`)
)

// errCut: a PEM block lacks its end or its beginning.
var errCut = errors.New("cut off")

// pemBlocks returns the PEM blocks in a pasted text: certificates and keys, whose lines need not end where PEM's do. It
// skips texts between them. The error never contains any of the text.
func pemBlocks(text string) ([]pem.Block, error) {
	found := pemBlock.FindAllStringSubmatch(text, maxCerts+1)
	if len(found) > maxCerts {
		return nil, fmt.Errorf("more than %d certificates", maxCerts)
	}
	if len(found) != strings.Count(text, "BEGIN ") {
		return nil, errCut
	}
	blocks := make([]pem.Block, len(found))
	for i, f := range found {
		if strings.HasPrefix(f[1], "ENCRYPTED") || strings.Contains(f[2], "DEK-Info") {
			return nil, errors.New("encrypted: take the password off")
		}
		der, ok := fromBase64(f[2])
		if !ok {
			return nil, errors.New("a PEM block that is not base64: copy the file whole")
		}
		blocks[i] = pem.Block{Type: f[1], Bytes: der}
	}
	return blocks, nil
}

// fromBase64 decodes base64 with any white space, with or without = at the end.
func fromBase64(text string) ([]byte, bool) {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	der, err := base64.RawStdEncoding.DecodeString(text)
	return der, err == nil && len(der) > 0
}
