//go:build real

// Package alipaysdk_test compares shared/driver/alipay and its fake gateway with Alipay's own SDK for Node.js: each
// side verifies what the other signed, and the unmodified SDK calls the fake gateway. install.sh in this folder
// installs the SDK. No money moves, and nothing leaves this machine.
package alipaysdk_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	appID     = "2021000000000001"
	sellerID  = "2088000000000001"
	notifyURL = "https://shop.example/seckill/alipay/notify"
	maxAnswer = 64 << 20 // bytes of one line from the SDK; a thousand notifications take 3 MiB
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// Generating key pairs takes long, so all tests share these.
var shopKeys, providerKeys, strangerKeys = onceKeys(), onceKeys(), onceKeys()

func onceKeys() func() fakegateway.KeyPair {
	return sync.OnceValue(func() fakegateway.KeyPair {
		pair, err := fakegateway.GenerateKeys()
		if err != nil {
			panic(err)
		}
		return pair
	})
}

// gateway is a shop with our fake gateway, and the SDK in its own process with the keys of both.
type gateway struct {
	t       *testing.T
	clock   *clock
	client  *alipay.Client
	gateway *fakegateway.Gateway
	url     string // URL of gateway.do

	shop, provider fakegateway.KeyPair
	in             *json.Encoder
	out            *bufio.Scanner
}

// installed skips or fails the test if the SDK is missing.
func installed(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/alipay-sdk"); err != nil {
		t.Fatal("Alipay's SDK is not installed: run e2e/alipaysdk/install.sh")
	}
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	installed(t)
	w := &gateway{t: t, clock: &clock{start}, shop: shopKeys(), provider: providerKeys()}
	var err error
	w.gateway, err = fakegateway.New(fakegateway.Options{Clock: w.clock, AppID: appID, SellerID: sellerID,
		MerchantPublicKey: w.shop.Public,
		PrivateKey:        w.provider.Private})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.gateway)
	t.Cleanup(server.Close)
	w.url = server.URL + "/gateway.do"
	w.client, err = alipay.New(alipay.Config{AppID: appID, SellerID: sellerID, PrivateKey: w.shop.Private,
		AlipayPublicKey: w.provider.Public,
		Gateway:         w.url, NotifyURL: notifyURL, HTTP: http.DefaultClient, Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	w.startSDK()
	w.configure(w.shop, w.provider)
	return w
}

// startSDK runs the SDK until the test ends; it exits when its input closes.
func (w *gateway) startSDK() {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "node", "serve.mjs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatalf("node (20 or newer) is needed: %v", err)
	}
	w.in, w.out = json.NewEncoder(in), bufio.NewScanner(out)
	w.out.Buffer(nil, maxAnswer)
	w.t.Cleanup(func() {
		in.Close()
		// The test's context has ended and may have killed the process; either way it has exited.
		_ = cmd.Wait()
	})
}

// configure sets the keys with which the SDK plays the shop and the provider.
func (w *gateway) configure(shop, provider fakegateway.KeyPair) {
	w.t.Helper()
	var ok bool
	w.call("configure", map[string]any{"app_id": appID, "gateway": w.url, "appPrivate": shop.Private,
		"appPublic":     shop.Public,
		"alipayPrivate": provider.Private, "alipayPublic": provider.Public}, &ok)
}

// call makes one call of the SDK and ends the test if it fails.
func (w *gateway) call(name string, args map[string]any, result any) {
	w.t.Helper()
	if err := w.try(name, args, result); err != nil {
		w.t.Fatalf("SDK: %s: %v", name, err)
	}
}

// try returns the SDK's own error.
func (w *gateway) try(name string, args map[string]any, result any) error {
	w.t.Helper()
	args["call"] = name
	if err := w.in.Encode(args); err != nil {
		w.t.Fatal(err)
	}
	if !w.out.Scan() {
		w.t.Fatalf("the SDK's process ended: %v", w.out.Err())
	}
	answer := struct {
		Result any     `json:"result"`
		Error  *string `json:"error"`
	}{Result: result}
	if err := json.Unmarshal(w.out.Bytes(), &answer); err != nil {
		w.t.Fatalf("unreadable: %v: %.200s", err, w.out.Bytes())
	}
	if answer.Error != nil {
		return fmt.Errorf("%s", *answer.Error)
	}
	return nil
}

func orderID(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	id := []byte("oaaaaaaaaaaaaaaaaaaaaaaaaaa")
	for i := len(id) - 1; n > 0; i, n = i-1, n/len(letters) {
		id[i] = letters[n%len(letters)]
	}
	return string(id)
}

func order(n int, title string) seckill.Order {
	return seckill.Order{ID: orderID(n), Amount: seckill.Fen(n + 1), Title: title, State: seckill.PendingPayment,
		Placed: start,
		PayBy:  start.Add(15 * time.Minute)}
}
