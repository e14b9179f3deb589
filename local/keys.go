package local

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// The PEM files of a directory of keys. Missing private keys are generated, readable by their owner only; existing ones
// are used. The public keys are written beside them.
const (
	AppPrivateFile    = "app-private.pem"    // the shop's private key; PKCS #8
	AppPublicFile     = "app-public.pem"     // the shop's public key
	AlipayPrivateFile = "alipay-private.pem" // the gateway's private key; PKCS #8
	AlipayPublicFile  = "alipay-public.pem"  // the gateway's public key
)

// completeKeys sets the key pairs that are empty.
func (o *Options) completeKeys() error {
	for _, k := range []struct {
		pair            *fakegateway.KeyPair
		private, public string
	}{{&o.ShopKeys, AppPrivateFile, AppPublicFile}, {&o.GatewayKeys, AlipayPrivateFile, AlipayPublicFile}} {
		var err error
		switch {
		case k.pair.Private != "":
		case o.Keys == "":
			*k.pair, err = fakegateway.GenerateKeys()
		default:
			*k.pair, err = keptKeys(o.Keys, k.private, k.public)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keptKeys reads a key pair, and generates a missing pair.
func keptKeys(dir, private, public string) (pair fakegateway.KeyPair, err error) {
	secret, open := filepath.Join(dir, private), filepath.Join(dir, public)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pair, fmt.Errorf("directory of keys: %w", err)
	}
	text, err := os.ReadFile(secret)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(open); err == nil {
			return pair, fmt.Errorf("%s exists without %s: restore the private key, or remove the public one", open,
				private)
		}
		text, err = makeKey(dir, secret)
	}
	if err != nil {
		return pair, fmt.Errorf("keys: %w", err)
	}
	if pair, err = fakegateway.PairOf(string(text)); err != nil {
		return pair, fmt.Errorf("key %s: %w", secret, err)
	}
	if was, err := os.ReadFile(open); err == nil && string(was) == pair.Public {
		return pair, nil
	}
	if err := os.WriteFile(open, []byte(pair.Public), 0o644); err != nil {
		return pair, fmt.Errorf("keys: %w", err)
	}
	return pair, nil
}

// makeKey generates a private key and returns the content of its file, which is another key if a concurrent run was
// first. The file gets its name only when it is complete.
func makeKey(dir, name string) ([]byte, error) {
	pair, err := fakegateway.GenerateKeys()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "new-*.pem") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(pair.Private)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(name)
}

// getKeys returns the settings for another shop or an SDK that uses this gateway. None of them is secret: the shop
// signs with the private key of AppPrivateFile.
func (s *System) getKeys(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, map[string]string{"app_id": AppID, "seller_id": SellerID, "gateway": s.URL() + "/gateway.do",
		"app_public_key": bare(s.opt.ShopKeys.Public), "alipay_public_key": bare(s.opt.GatewayKeys.Public)})
}

// bare encodes a public key as Alipay's settings page and SDKs do: base64 in one line.
func bare(key string) string {
	public, err := alipay.ParsePublicKey(key)
	if err != nil {
		panic(err) // cannot happen: it was parsed before
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		panic(err) // cannot happen: it is an RSA key
	}
	return base64.StdEncoding.EncodeToString(der)
}
