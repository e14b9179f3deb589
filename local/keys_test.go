package local_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// keysOf starts a system with a directory of keys, stops it, and returns its public keys.
func keysOf(t *testing.T, dir string) [2]string {
	t.Helper()
	sys, err := local.New(local.Options{Addr: ":0", Keys: dir})
	if err != nil {
		t.Error(err)
		return [2]string{}
	}
	w := &shopTest{System: sys, t: t, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		Timeout: patience}}
	defer func() {
		if err := sys.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := sys.Start(t.Context()); err != nil {
		t.Error(err)
		return [2]string{}
	}
	a := w.call("", "GET", "/_local/keys", nil)
	return [2]string{a.Text("app_public_key"), a.Text("alipay_public_key")}
}

// TestKeysAreMadeOnce checks that two concurrent runs in an empty directory use the same keys, as every later run
// does.
func TestKeysAreMadeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	var got [3][2]string
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { got[i] = keysOf(t, dir) })
	}
	both.Wait()
	got[2] = keysOf(t, dir)
	if got[0] != got[1] || got[0] != got[2] || got[0][0] == got[0][1] || got[0][0] == "" {
		t.Errorf("keys of three runs: %v", got)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%v, %v: want four files", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if want := map[bool]os.FileMode{true: 0o600, false: 0o644}[strings.Contains(e.Name(), "private")]; err != nil ||
			info.Mode() != want {
			t.Errorf("%s: mode %v, want %v; %v", e.Name(), info.Mode(), want, err)
		}
	}
}

func TestAPublicKeyWithoutItsPrivateOneIsNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, local.AppPublicFile)
	must.OK(t, os.WriteFile(name, []byte("mine"), 0o600))
	_, err := local.New(local.Options{Addr: ":0", Keys: dir})
	text, _ := os.ReadFile(name)
	if err == nil || !strings.Contains(err.Error(), "exists without "+local.AppPrivateFile) ||
		string(text) != "mine" {
		t.Errorf("%v; the file has %q", err, text)
	}
}

// TestAnotherShopIsPointedAtARun checks that with the output of /_local/keys and the app's private key another shop
// can have its order paid, is notified at the URL that it signed, and can query the trade.
func TestAnotherShopIsPointedAtARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, pair := range map[string]fakegateway.KeyPair{local.AppPrivateFile: keyPairs()[1],
		local.AlipayPrivateFile: keyPairs()[0]} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(pair.Private), 0o600))
	}
	w := startKept(t, local.Options{Addr: ":0", Keys: dir})
	told := make(chan url.Values, 1)
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // ParseForm does not accept its Content-Type, which is Alipay's
		form, badForm := url.ParseQuery(string(body))
		if err := errors.Join(err, badForm); err != nil || r.URL.Path != "/told" {
			t.Error(r.URL, err)
		}
		told <- form
		_, _ = io.WriteString(rw, "success")
	}))
	t.Cleanup(shop.Close)
	private, err := os.ReadFile(filepath.Join(dir, local.AppPrivateFile))
	must.OK(t, err)
	keys := w.call("", "GET", "/_local/keys", nil)
	client, err := alipay.New(alipay.Config{AppID: keys.Text("app_id"), SellerID: keys.Text("seller_id"),
		PrivateKey:      string(private),
		AlipayPublicKey: keys.Text("alipay_public_key"), Gateway: keys.Text("gateway"), NotifyURL: shop.URL + "/told",
		HTTP: w.http, Clock: w.Clock})
	must.OK(t, err)
	order, now := seckill.KeyedOrderID("1", "1", "another shop's"), w.Clock.Now()
	pay, err := client.Prepare(seckill.Order{ID: order, Title: "别的店", Amount: 1, Placed: now,
		PayBy: now.Add(time.Hour)})
	must.OK(t, err)
	if a := w.payAtCashier(pay); a.Status != http.StatusOK {
		t.Fatal(a)
	}
	select {
	case form := <-told:
		n, err := client.Verify(form)
		if err != nil || n.Order != order || n.Amount != 1 {
			t.Errorf("notify %+v, %v", n, err)
		}
	case <-time.After(patience):
		t.Fatal("the other shop was not told")
	}
}
