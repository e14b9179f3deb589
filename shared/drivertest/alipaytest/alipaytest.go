// Package alipaytest makes certificates like Alipay's, for tests of certificate mode. In: key pairs and a period of
// validity. Out: the contents of the three certificate files. Only clients that are configured with their root trust
// them.
package alipaytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// Certificates holds the contents of the files, each named after its subject.
type Certificates struct {
	App string // appCertPublicKey_….crt
	// alipayCertPublicKey_RSA2.crt: Alipay's certificate, followed by the authority's that the root
	// signed
	Alipay string
	Root   string // alipayRootCert.crt: one certificate that is not signed with RSA, and the root
}

// Make returns certificates of the shop's and of Alipay's key. One root signs them; it is the same in every call and
// valid from 2000 to 2100.
func Make(t testing.TB, shop, theirs fakegateway.KeyPair, from, until time.Time) Certificates {
	t.Helper()
	ca := authorities()
	leaf := func(name, public string, by *authority) string {
		key, err := alipay.ParsePublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificate(rand.Reader, template(name, from, until, false), by.cert, key, by.key)
		if err != nil {
			t.Fatal(err)
		}
		return text(der)
	}
	return Certificates{App: leaf("2088000000000001-2021000000000001", shop.Public, ca.middle),
		Alipay: leaf("Alipay", theirs.Public, ca.middle) + text(ca.middle.cert.Raw),
		Root:   text(ca.other) + text(ca.root.cert.Raw)}
}

type authority struct {
	cert *x509.Certificate
	key  *rsa.PrivateKey
}

type chain struct {
	root, middle *authority
	other        []byte
}

// authorities are made once, because that takes a second.
var authorities = sync.OnceValue(func() (c chain) {
	from, until := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	issue := func(name string, by *authority) *authority {
		key := must.Get(rsa.GenerateKey(rand.Reader, 2048))
		own := template(name, from, until, true)
		parent := &authority{own, key}
		if by != nil {
			parent = by
		}
		der := must.Get(x509.CreateCertificate(rand.Reader, own, parent.cert, &key.PublicKey, parent.key))
		return &authority{must.Get(x509.ParseCertificate(der)), key}
	}
	c.root = issue("Test CA R1", nil)
	c.middle = issue("Test CA Class 2 R1", c.root)
	curve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	own := template("Test CA E1", from, until, true)
	c.other = must.Get(x509.CreateCertificate(rand.Reader, own, own, &curve.PublicKey, curve))
	return c
})

func template(name string, from, until time.Time, ca bool) *x509.Certificate {
	number := must.Get(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)))
	return &x509.Certificate{SerialNumber: number, NotBefore: from, NotAfter: until, IsCA: ca,
		BasicConstraintsValid: ca, Subject: pkix.Name{Country: []string{"CN"}, Organization: []string{"Test Financial"},
			CommonName: name}}
}

func text(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
