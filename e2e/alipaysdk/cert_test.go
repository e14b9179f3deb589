//go:build real

package alipaysdk_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

func private(t *testing.T, pair fakegateway.KeyPair) crypto.Signer {
	t.Helper()
	key, err := alipay.ParsePrivateKey(pair.Private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// certificate makes a certificate, self-signed without a parent. serial is hexadecimal.
func certificate(t *testing.T, name pkix.Name, serial string, parent *x509.Certificate, by,
	key crypto.Signer) (*x509.Certificate, string) {
	t.Helper()
	number, ok := new(big.Int).SetString(serial, 16)
	if !ok {
		t.Fatal(serial)
	}
	template := &x509.Certificate{SerialNumber: number, Subject: name, NotBefore: start.Add(-time.Hour),
		NotAfter:              start.AddDate(1, 0, 0),
		BasicConstraintsValid: true, IsCA: true}
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestCertificateModeIsTheSDKs compares the numbers of certificates, and an order string that contains them.
func TestCertificateModeIsTheSDKs(t *testing.T) {
	w := newGateway(t)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name := func(cn string) pkix.Name {
		return pkix.Name{Country: []string{"CN"}, Organization: []string{"Ant Financial"},
			OrganizationalUnit: []string{"Certification Authority"},
			Locality:           []string{"杭州"}, Province: []string{"浙江"}, CommonName: cn}
	}
	rootKey, shop, provider := private(t, strangerKeys()), private(t, w.shop), private(t, w.provider)
	for _, cn := range []string{"Ant Financial Certification Authority R1", "支付宝(中国)网络技术有限公司"} {
		root, rootPEM := certificate(t, name(cn), "1fcfa18d6a480d11", nil, rootKey, rootKey)
		_, secondPEM := certificate(t, name("Class 2 Root CA - G3"), "10C764E9D560384212D9C08FD10E373FDD0FB396", nil,
			provider, provider)
		_, curvePEM := certificate(t, name("E1"), "417efa52c07fdf4a", nil, curve, curve)
		_, appPEM := certificate(t, name("2088000000000001"), "2020051862039d4090897ba4d51c2126", root, rootKey, shop)
		_, alipayPEM := certificate(t, name("Alipay"), "0020051416e63c2fe04d538716fe21358b", root, rootKey, provider)
		roots := curvePEM + "\n" + rootPEM + "\n" + secondPEM
		var theirs struct{ App, Alipay, Root string }
		w.call("cert_numbers", map[string]any{"app_cert": appPEM, "alipay_cert": alipayPEM, "root_cert": roots},
			&theirs)
		app, err := alipay.AppCertSN(appPEM)
		own, err2 := alipay.AppCertSN(alipayPEM)
		rootSN, err3 := alipay.RootCertSN(roots)
		if err != nil || err2 != nil || err3 != nil || app != theirs.App || own != theirs.Alipay ||
			rootSN != theirs.Root {
			t.Errorf("%s: ours %s %s %s, %v %v %v; the SDK's %+v", cn, app, own, rootSN, err, err2, err3, theirs)
		}
		c, err := alipay.New(alipay.Config{AppID: appID, SellerID: sellerID, PrivateKey: w.shop.Private,
			AppCert: appPEM, AlipayCert: alipayPEM,
			AlipayRootCert: roots, Gateway: w.url, NotifyURL: notifyURL, Clock: w.clock})
		if err != nil {
			t.Fatal(err)
		}
		o := order(7, "红色外套")
		ours, err := c.Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		w.call("cert_order_string", map[string]any{"certs": map[string]string{"app": appPEM, "alipay": alipayPEM,
			"root": roots}, "app_id": appID,
			"order": map[string]any{"notifyUrl": notifyURL, "timestamp": "2026-01-01 20:00:00",
				"content": map[string]string{"outTradeNo": o.ID,
					"totalAmount": o.Amount.Yuan(), "subject": o.Title, "productCode": "QUICK_MSECURITY_PAY",
					"timeExpire": "2026-01-01 20:15:00",
					"sellerId":   sellerID}}}, &text)
		mine, err := url.ParseQuery(ours)
		yours, err2 := url.ParseQuery(text)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if got, want := same(t, mine), same(t, yours); got != want {
			t.Errorf("%s: our order string\n%s, the SDK's\n%s", cn, got, want)
		}
	}
}
