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

// errOwnCert: the app's own certificate or key is configured where Alipay's belongs.
var errOwnCert = errors.New("this is the app's own: give the one named alipayCertPublicKey_RSA2.crt")

// rsaSignatures is the object identifier under which all RSA signature algorithms are registered.
var rsaSignatures = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1}

// AppCertSN returns the app_cert_sn or alipay_cert_sn of a PEM certificate, the first if the file has several. It is
// not an X.509 serial number but a hash of issuer and serial number ("公钥证书 SN").
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

// RootCertSN returns the alipay_root_cert_sn of Alipay's root file: the numbers of its RSA certificates.
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

// CheckCertificates checks the private key and the certificates of certificate mode as New does, and also whether the
// app's certificate is valid now. It returns when the app's certificate expires, and when the first of Alipay's chain
// does.
func CheckCertificates(privateKey, appCert, alipayCert, alipayRootCert string, now time.Time) (app, alipay time.Time,
	err error) {
	fail := func(err error) (time.Time, time.Time, error) { return time.Time{}, time.Time{}, err }
	key, err := ParsePrivateKey(privateKey)
	if err != nil {
		return fail(&SettingError{SettingPrivateKey, err})
	}
	own, err := pairedCert(appCert, key)
	if err != nil {
		return fail(err)
	}
	if now.After(own.NotAfter) {
		return fail(&SettingError{SettingAppCert, fmt.Errorf("it ended on %s: have Alipay's console issue a new one",
			own.NotAfter.Format(time.DateOnly))})
	}
	if now.Before(own.NotBefore) {
		return fail(&SettingError{SettingAppCert, fmt.Errorf("it begins on %s", own.NotBefore.Format(time.DateOnly))})
	}
	theirs, err := trustAlipay(alipayCert, alipayRootCert, now)
	if err != nil {
		return fail(err)
	}
	if err := checkTime(now, theirs.begins, theirs.ends); err != nil {
		return fail(err)
	}
	if theirs.key.Equal(&key.PublicKey) {
		return fail(&SettingError{SettingAlipayCert, errOwnCert})
	}
	return own.NotAfter, theirs.ends, nil
}

// certSN hashes the issuer's name in RFC 2253 form and the serial number in decimal. Alipay prescribes MD5; nothing
// relies on its strength.
func certSN(c *x509.Certificate) (string, error) {
	var issuer pkix.RDNSequence
	if _, err := asn1.Unmarshal(c.RawIssuer, &issuer); err != nil {
		return "", unreadable(err)
	}
	sum := md5.Sum([]byte(issuer.String() + c.SerialNumber.String()))
	return hex.EncodeToString(sum[:]), nil
}

// rsaCerts returns the RSA certificates of a file. Alipay's root file also has SM2 certificates, which Go cannot
// parse.
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
		if oid := outer.Algorithm.Algorithm; len(oid) <= len(rsaSignatures) ||
			!oid[:len(rsaSignatures)].Equal(rsaSignatures) {
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

// parseCerts returns the DER of the PEM certificates. The error never contains any of the text.
func parseCerts(text string) ([][]byte, error) {
	text = pasted(text)
	if text == "" {
		return nil, errors.New("empty")
	}
	blocks, err := pemBlocks(text)
	if err != nil && !errors.Is(err, errCut) {
		return nil, err
	}
	var out [][]byte
	for _, b := range blocks {
		if strings.Contains(b.Type, "PRIVATE KEY") {
			return nil, errors.New("a private key stands where a certificate belongs")
		}
		if b.Type != "CERTIFICATE" {
			return nil, errors.New("not a certificate")
		}
		out = append(out, b.Bytes)
	}
	if len(out) == 0 {
		return nil, errors.New("not whole certificates in PEM: copy the .crt file whole")
	}
	return out, nil
}

// PlainCertificates returns the certificates of a file as PEM in UTF-8, however the file was encoded and whatever
// stands between them. It does not check them. The error never contains any of the text.
func PlainCertificates(text string) (string, error) {
	certs, err := parseCerts(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, der := range certs {
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// trust is what the client needs of Alipay's certificate chain.
type trust struct {
	key    *rsa.PublicKey
	sn     string
	begins time.Time // when the last certificate of the chain becomes valid
	ends   time.Time // when the first certificate of the chain expires
}

// trustAlipay reads Alipay's certificate, followed by those between it and the root. It verifies the chain, for now
// or, if a part is not valid now, for a moment at which all of it was. It does not check revocation.
func trustAlipay(certificate, roots string, now time.Time) (trust, error) {
	fail := func(setting Setting, err error) (trust, error) { return trust{}, &SettingError{setting, err} }
	const own, root = SettingAlipayCert, SettingRootCert
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
	above, err := leaf.Verify(options)
	for _, c := range slices.Concat(chain, trusted) {
		if err == nil {
			break
		}
		for _, options.CurrentTime = range []time.Time{c.NotAfter, c.NotBefore} {
			if other, e := leaf.Verify(options); e == nil {
				above, err = other, nil
			}
		}
	}
	if err != nil && now.After(leaf.NotAfter) {
		// No moment exists at which the whole chain is valid, perhaps because the root was reissued. Return an empty
		// period, so that nothing is trusted.
		return trust{key: key, begins: leaf.NotAfter.Add(1), ends: leaf.NotAfter, sn: "ended"}, nil
	}
	if err != nil {
		return fail(own, fmt.Errorf(
			"not under Alipay's root certificate: download both again and give the files whole: %w", err))
	}
	sn, err := certSN(leaf)
	if err != nil {
		return fail(own, err)
	}
	t := trust{key: key, sn: sn}
	for _, path := range above {
		ends := slices.MinFunc(path, func(a, b *x509.Certificate) int {
			return a.NotAfter.Compare(b.NotAfter)
		}).NotAfter
		if ends.After(t.ends) {
			t.ends = ends
			t.begins = slices.MaxFunc(path, func(a, b *x509.Certificate) int {
				return a.NotBefore.Compare(b.NotBefore)
			}).NotBefore
		}
	}
	return t, nil
}

// pairedCert reads the app's certificate and checks that it belongs to the private key.
func pairedCert(certificate string, private *rsa.PrivateKey) (*x509.Certificate, error) {
	fail := func(err error) (*x509.Certificate, error) { return nil, &SettingError{SettingAppCert, err} }
	certs, err := parseCerts(certificate)
	if err != nil {
		return fail(err)
	}
	leaf, err := x509.ParseCertificate(certs[0])
	if err != nil {
		return fail(unreadable(err))
	}
	if !private.PublicKey.Equal(leaf.PublicKey) {
		return fail(
			errors.New(
				"it is not the private key's: give the one named appCertPublicKey_….crt and the key it was requested " +
					"with"))
	}
	return leaf, nil
}
