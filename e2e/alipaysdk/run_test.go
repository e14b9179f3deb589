//go:build real

package alipaysdk_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

// TestTheSDKIsPointedAtARun follows docs/LOCAL.md: it configures the SDK with the output of /_local/keys and the file
// with the app's private key.
func TestTheSDKIsPointedAtARun(t *testing.T) {
	installed(t)
	dir := t.TempDir()
	sys := localtest.Start(t, local.Options{Keys: dir})
	resp, err := http.Get(sys.URL() + "/_local/keys")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var told struct {
		AppID   string `json:"app_id"`
		Seller  string `json:"seller_id"`
		Gateway string `json:"gateway"`
		App     string `json:"app_public_key"`
		Alipay  string `json:"alipay_public_key"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	private, err := os.ReadFile(filepath.Join(dir, local.AppPrivateFile))
	if err != nil {
		t.Fatal(err)
	}
	w := &gateway{t: t}
	w.startSDK()
	var ok bool
	w.call("configure", map[string]any{"app_id": told.AppID, "gateway": told.Gateway, "appPrivate": string(private),
		"appPublic":     told.App,
		"alipayPrivate": string(private), "alipayPublic": told.Alipay}, &ok) // the SDK plays no provider here
	if a, err := w.exec(alipay.MethodQuery, 1); err != nil || a.SubCode != "ACQ.TRADE_NOT_EXIST" {
		t.Fatalf("a trade that is none: %+v, %v", a, err)
	}
	now := sys.Clock.Now()
	var strings []string
	w.call("order_strings", map[string]any{"list": []map[string]any{{"notifyUrl": "http://localhost:1/told",
		"timestamp": now.In(seckill.Zone).Format(alipay.TimeLayout),
		"content": map[string]any{"out_trade_no": orderID(1), "total_amount": "0.02",
			"subject": "别的店", "product_code": "QUICK_MSECURITY_PAY", "seller_id": told.Seller,
			"time_expire": now.Add(time.Hour).In(seckill.Zone).Format(alipay.TimeLayout)}}}}, &strings)
	page, err := http.Get(sys.URL() + "/cashier?" + strings[0])
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	if a, err := w.exec(alipay.MethodQuery, 1); page.StatusCode != http.StatusOK || err != nil || a.Code != "10000" {
		t.Errorf("the cashier answers %d; then the trade is %+v, %v", page.StatusCode, a, err)
	}
}
