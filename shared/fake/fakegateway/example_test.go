package fakegateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
)

// A shop tests itself against the gateway: the shopper pays at the cashier; the shop receives the notification,
// queries the trade, and refunds it. This shop signs with the project's adapter; any of Alipay's SDKs works too.
func Example() {
	clock := memory.NewClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)) // or a real clock
	keys, err := fakegateway.GenerateKeys()                                // the shop's keys
	check(err)

	// The shop's own server, reduced to what matters here: it receives notifications.
	var gateway *fakegateway.Gateway
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// ParseForm complains about the Content-Type, which is as odd as Alipay's own
		if err := r.ParseForm(); !errors.Is(err, mime.ErrInvalidMediaParameter) {
			check(err)
		}
		key, err := alipay.ParsePublicKey(gateway.PublicKey())
		check(err)
		check(alipay.CheckSign(key, []byte(alipay.SignContent(r.PostForm, "sign", "sign_type")),
			r.PostForm.Get("sign")))
		fmt.Printf("told: %s %s, refunded %q\n", r.PostForm.Get("out_trade_no"), r.PostForm.Get("trade_status"),
			r.PostForm.Get("refund_fee"))
		fmt.Fprint(w, "success") // after any other answer the gateway sends it again
	}))
	defer shop.Close()

	// Make the gateway and mount it. Its fault plan makes every notification arrive twice.
	gateway, err = fakegateway.New(fakegateway.Options{Clock: clock, AppID: "2021000000000001",
		SellerID: "2088000000000001", MerchantPublicKey: keys.Public,
		Faults: fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.NotificationDuplicated: 1}}})
	check(err)
	server := httptest.NewServer(gateway)
	defer server.Close()

	// sign returns the signed parameters of a call, as an SDK does.
	sign := func(method, content string) string {
		key, err := alipay.ParsePrivateKey(keys.Private)
		check(err)
		query, err := alipay.SignedQuery(key, url.Values{"app_id": {"2021000000000001"}, "method": {method},
			"charset": {"utf-8"}, "sign_type": {"RSA2"},
			"version": {"1.0"}, "timestamp": {"2026-01-01 20:00:00"}, "notify_url": {shop.URL},
			"biz_content": {content}})
		check(err)
		return query
	}
	call := func(method, content, want string) {
		resp, err := http.Post(server.URL+"/gateway.do", "application/x-www-form-urlencoded",
			strings.NewReader(sign(method, content)))
		check(err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		check(err)
		fmt.Println(method, strings.Contains(string(body), want))
	}

	// A shopper opens the cashier (in a browser: server.URL/cashier?order) and pays.
	order := sign("alipay.trade.app.pay",
		`{"out_trade_no":"o1","total_amount":"88.80","subject":"Red coat","product_code":"QUICK_MSECURITY_PAY","time_expire":"2026-01-01 20:15:00"}`)
	_, err = gateway.Open(order)
	check(err)
	check(gateway.Pay("o1"))

	// The gateway's owner sends due notifications when Ready receives and at the time that Next returns.
	<-gateway.Ready()
	delivered, failed := gateway.Tick(context.Background())
	fmt.Println("notifications:", delivered, failed)

	call("alipay.trade.query", `{"out_trade_no":"o1"}`, "TRADE_SUCCESS")
	check(gateway.SetFaults(fakegateway.Faults{}))
	call("alipay.trade.refund", `{"out_trade_no":"o1","refund_amount":"88.80","out_request_no":"r1"}`,
		`"fund_change":"Y"`)
	gateway.Tick(context.Background())
	clock.Advance(24 * time.Hour)
	call("alipay.data.dataservice.bill.downloadurl.query", `{"bill_type":"trade","bill_date":"2026-01-01"}`,
		"bill_download_url")

	// Output:
	// told: o1 TRADE_SUCCESS, refunded ""
	// told: o1 TRADE_SUCCESS, refunded ""
	// notifications: 1 0
	// alipay.trade.query true
	// alipay.trade.refund true
	// told: o1 TRADE_CLOSED, refunded "88.80"
	// alipay.data.dataservice.bill.downloadurl.query true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
