package alipay

import (
	"crypto/md5"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxCerts is how many certificates a file may have; Alipay's roots are four.
const maxCerts = 32

// rsaSignatures is the arc of object identifiers under which RSA's signature algorithms are.
var rsaSignatures = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1}

// AppCertSN gives app_cert_sn, and alipay_cert_sn too, of a certificate in PEM: of the first when a file has more. It is no serial
// number in the sense of X.509, but a hash of issuer and serial number ("公钥证书 SN").
func AppCertSN(certificate string) (string, error) {
	certs, err := parseCerts(certificate)
	if err != nil {
		return "", err
	}
	leaf, err := x509.ParseCertificate(certs[0])
	if err != nil {
		return "", unreadable(err)
	}
	return certSN(leaf)
}

// RootCertSN gives alipay_root_cert_sn of Alipay's file of root certificates: the numbers of those that are signed with RSA.
func RootCertSN(roots string) (string, error) {
	certs, err := rsaCerts(roots)
	if err != nil {
		return "", err
	}
	numbers := make([]string, len(certs))
	for i, c := range certs {
		if numbers[i], err = certSN(c); err != nil {
			return "", err
		}
	}
	return strings.Join(numbers, "_"), nil
}

// certSN hashes the issuer's name, as RFC 2253 writes it, and the serial number in decimal digits. MD5 is Alipay's choice; nothing is
// trusted for it.
func certSN(c *x509.Certificate) (string, error) {
	var issuer pkix.RDNSequence
	if _, err := asn1.Unmarshal(c.RawIssuer, &issuer); err != nil {
		return "", unreadable(err)
	}
	sum := md5.Sum([]byte(issuer.String() + c.SerialNumber.String()))
	return hex.EncodeToString(sum[:]), nil
}

// rsaCerts gives the certificates of a file that are signed with RSA. Alipay's roots have others too, of SM2, which Go cannot read.
func rsaCerts(text string) ([]*x509.Certificate, error) {
	all, err := parseCerts(text)
	if err != nil {
		return nil, err
	}
	var out []*x509.Certificate
	for _, der := range all {
		var outer struct {
			Signed    asn1.RawValue
			Algorithm pkix.AlgorithmIdentifier
			Signature asn1.BitString
		}
		if _, err := asn1.Unmarshal(der, &outer); err != nil {
			return nil, unreadable(err)
		}
		if oid := outer.Algorithm.Algorithm; len(oid) <= len(rsaSignatures) || !oid[:len(rsaSignatures)].Equal(rsaSignatures) {
			continue
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, unreadable(err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("no certificate that is signed with RSA")
	}
	return out, nil
}

func unreadable(err error) error { return fmt.Errorf("an unreadable certificate: %w", err) }

// parseCerts gives the DER of the certificates in PEM. The error never contains any of the text.
func parseCerts(text string) ([][]byte, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("empty")
	}
	var out [][]byte
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if strings.Contains(block.Type, "PRIVATE KEY") {
			return nil, errors.New("a private key stands where a certificate belongs")
		}
		if block.Type != "CERTIFICATE" {
			return nil, errors.New("not a certificate")
		}
		if out = append(out, block.Bytes); len(out) > maxCerts {
			return nil, fmt.Errorf("more than %d certificates", maxCerts)
		}
	}
	if len(out) == 0 || strings.Count(text, "-----BEGIN") != len(out) {
		return nil, errors.New("not whole certificates in PEM: copy the .crt file whole")
	}
	return out, nil
}

// trustAlipay gives the key of Alipay's certificate, and its number. The certificates between it and the root are behind it; the chain is
// checked, revocation is not looked up.
func trustAlipay(certificate, roots string, now time.Time) (*rsa.PublicKey, string, error) {
	fail := func(setting string, err error) (*rsa.PublicKey, string, error) {
		return nil, "", fmt.Errorf("alipay: %s: %w", setting, err)
	}
	const own, root = "Alipay's certificate", "Alipay's root certificate"
	trusted, err := rsaCerts(roots)
	if err != nil {
		return fail(root, err)
	}
	chain, err := rsaCerts(certificate)
	if err != nil {
		return fail(own, err)
	}
	leaf := chain[0]
	key, err := rsaPublic(leaf.PublicKey)
	if err != nil {
		return fail(own, err)
	}
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, c := range trusted {
		options.Roots.AddCert(c)
	}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	if slices.ContainsFunc(trusted, leaf.Equal) {
		return fail(own, errors.New("this is a root: give the one named alipayCertPublicKey_RSA2.crt"))
	}
	if now.After(leaf.NotAfter) {
		return fail(own, fmt.Errorf("it ended on %s: download Alipay's new one", leaf.NotAfter.Format(time.DateOnly)))
	}
	if _, err := leaf.Verify(options); err != nil {
		return fail(own, fmt.Errorf("not under Alipay's root certificate: download both again and give the files whole: %w", err))
	}
	sn, err := certSN(leaf)
	if err != nil {
		return fail(own, err)
	}
	return key, sn, nil
}

// pairedCert gives app_cert_sn of the app's certificate, which must be the private key's.
func pairedCert(certificate string, private *rsa.PrivateKey) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("alipay: app certificate: %w", err) }
	certs, err := parseCerts(certificate)
	if err != nil {
		return fail(err)
	}
	leaf, err := x509.ParseCertificate(certs[0])
	if err != nil {
		return fail(unreadable(err))
	}
	if !private.PublicKey.Equal(leaf.PublicKey) {
		return fail(errors.New("it is not the private key's: give the one named appCertPublicKey_….crt and the key it was requested with"))
	}
	sn, err := certSN(leaf)
	if err != nil {
		return fail(err)
	}
	return sn, nil
}
