package fakegateway_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

func billOf(day string) map[string]any { return map[string]any{"bill_type": "trade", "bill_date": day} }

// files downloads a ZIP and decodes the names and contents of its files.
func files(t *testing.T, g *fakegateway.Gateway, address string) map[string]string {
	t.Helper()
	w := ask(g, http.MethodGet, address, "")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatalf("status %d: %v", w.Code, err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		name := must.Get(simplifiedchinese.GBK.NewDecoder().String(f.Name))
		r := must.Get(f.Open())
		text := must.Get(io.ReadAll(simplifiedchinese.GBK.NewDecoder().Reader(r)))
		out[name] = string(text)
	}
	return out
}

// sold returns a gateway with a payment at noon on New Year's Day and its refund in the first moment of the next day,
// in China's time zone.
func sold(t *testing.T, title string) (*fakegateway.Gateway, *shop, *clock) {
	t.Helper()
	g, s, c := system(t, nil)
	noon := time.Date(2026, 1, 1, 4, 0, 0, 0, time.UTC)
	c.set(noon)
	o := order(0)
	o.Title, o.Placed, o.PayBy = title, noon, noon.Add(15*time.Minute)
	open(t, g, s, o)
	c.set(noon.Add(time.Minute))
	must.OK(t, g.Pay(orderID))
	c.set(noon.Add(12 * time.Hour))
	refund(t, g, "8.80", "r1", "Y")
	return g, s, c
}

func TestABillAsAlipayWritesIt(t *testing.T) {
	g, _, c := sold(t, `外套, "大码" 🎧`)
	c.set(c.Now().Add(24 * time.Hour))
	no := g.Trades()[0].TradeNo
	for day, want := range map[string][2]string{
		"2026-01-01": {
			no + "\t," + orderID +
				"\t,交易\t,\"外套, \"\"大码\"\" ?\t\",2026-01-01 12:00:00\t,2026-01-01 " +
				"12:01:00\t,\t,\t,\t,\t,*买家(138****0000)\t,88.80\t,88.80\t,0.00\t,0.00\t,0.00\t,0.00\t,0.00\t,\t," +
				"0.00\t,0.00\t,\t,0.00\t,0.00\t,\t\r\n",
			"#交易合计：1笔，商家实收共88.80元，商家优惠共0.00元\r\n#退款合计：0笔，商家实收退款共0.00元，商家优惠退款共0.00元\r\n"},
		"2026-01-02": {
			no + "\t," + orderID +
				"\t,退款\t,\"外套, \"\"大码\"\" ?\t\",2026-01-01 12:00:00\t,2026-01-02 " +
				"00:00:00\t,\t,\t,\t,\t,*买家(138****0000)\t,-8.80\t,-8.80\t,0.00\t,0.00\t,0.00\t,0.00\t,0.00\t,\t," +
				"0.00\t,0.00\t,r1\t,0.00\t,0.00\t,\t\r\n",
			"#交易合计：0笔，商家实收共0.00元，商家优惠共0.00元\r\n#退款合计：1笔，商家实收退款共-8.80元，商家优惠退款共0.00元\r\n"},
	} {
		got, _ := call(t, g, alipay.MethodBill, billOf(day))
		address, err := url.Parse(got["bill_download_url"])
		if err != nil || address.Host != "gateway.example" {
			t.Fatalf("%s: %v, %v", day, got, err)
		}
		all := files(t, g, address.String())
		prefix := "20880000000000010156_" + strings.ReplaceAll(day, "-", "")
		details, summary := all[prefix+"_业务明细.csv"], all[prefix+"_业务明细(汇总).csv"]
		if len(all) != 2 || !strings.HasPrefix(details, "#支付宝业务明细查询\r\n#账号：[20880000000000010156]\r\n#起始日期：["+day[:4]+
			"年01月"+day[8:]+"日 00:00:00]") ||
			!strings.Contains(details, want[0]) || !strings.Contains(details, want[1]) ||
			strings.Count(details, no) != 1 || !strings.Contains(summary, "合计\t,") {
			t.Errorf("%s: files %q, details:\n%s\nsummary:\n%s", day, all, details, summary)
		}
	}
}

// Behind an API with a stage, or a proxy, the gateway cannot see its public URL in the request.
func TestABillLiesBesideTheGatewaysURL(t *testing.T) {
	g, _, c := paid(t, func(o *fakegateway.Options) { o.URL = "https://api.example/live/gateway.do" })
	day := seckill.Day(c.Now())
	c.set(c.Now().Add(24 * time.Hour))
	got, _ := call(t, g, alipay.MethodBill, billOf(day))
	if !strings.HasPrefix(got["bill_download_url"], "https://api.example/live/bill?") {
		t.Errorf("%v", got)
	}
}

func TestABillIsReadByTheShop(t *testing.T) {
	g, s, c := sold(t, "红色外套")
	client := s.clientOf(t, g, c)
	if lines, err := client.Bill(t.Context(), "2026-01-02"); !errors.Is(err, seckill.ErrNoBill) {
		t.Errorf("a bill on its own day: %v, %v; want ErrNoBill", lines, err)
	}
	c.set(c.Now().Add(24*time.Hour - 1))
	if lines, err := client.Bill(t.Context(), "2026-01-02"); !errors.Is(err, seckill.ErrNoBill) {
		t.Errorf("a moment before the day is over: %v, %v; want ErrNoBill", lines, err)
	}
	c.set(c.Now().Add(1))
	for day, want := range map[string][]seckill.BillLine{
		"2026-01-01": {{Order: orderID, TradeNo: g.Trades()[0].TradeNo, Amount: 88_80, At: time.Date(2026, 1, 1, 4, 1,
			0, 0, time.UTC)}},
		"2026-01-02": {{Refund: true, Order: orderID, TradeNo: g.Trades()[0].TradeNo, RefundID: "r1", Amount: 8_80,
			At: time.Date(2026, 1, 1, 16, 0, 0, 0, time.UTC)}},
	} {
		got := must.Get(client.Bill(t.Context(), day))
		must.Equal(t, seckill.Bill{Lines: want}, got, day)
	}
	if lines, err := client.Bill(t.Context(), "2025-12-31"); !errors.Is(err, seckill.ErrNoBill) {
		t.Errorf("a day on which nothing moved: %v, %v; want ErrNoBill", lines, err)
	}
}

func TestBillCallsAreChecked(t *testing.T) {
	g, _, c := sold(t, "红色外套")
	c.set(c.Now().Add(48 * time.Hour))
	for name, biz := range map[string]map[string]any{
		"no type":    {"bill_date": "2026-01-01"},
		"other type": {"bill_type": "signcustomer", "bill_date": "2026-01-01"},
		"no date":    {"bill_type": "trade"},
		"a month":    {"bill_type": "trade", "bill_date": "2026-01"},
		"no day":     {"bill_type": "trade", "bill_date": "2026-02-30"},
		"one digit":  {"bill_type": "trade", "bill_date": "2026-1-1"},
	} {
		if got, _ := call(t, g, alipay.MethodBill, biz); got["sub_code"] != "ACQ.INVALID_PARAMETER" {
			t.Errorf("%s: %v", name, got)
		}
	}
	got, _ := call(t, g, alipay.MethodBill, billOf("2026-01-01"))
	good := must.Get(url.Parse(got["bill_download_url"]))
	download := func(change func(url.Values)) int {
		q := good.Query()
		change(q)
		return ask(g, http.MethodGet, "/bill?"+q.Encode(), "").Code
	}
	late := func(url.Values) { c.set(c.Now().Add(30*time.Second + time.Millisecond)) }
	for _, tc := range []struct {
		name   string
		change func(url.Values)
		want   int
	}{
		{"as given", func(url.Values) {}, http.StatusOK},
		{"another day", func(q url.Values) { q.Set("day", "2026-01-02") }, http.StatusForbidden},
		{"longer", func(q url.Values) { q.Set("until", q.Get("until")+"0") }, http.StatusForbidden},
		{"no token", func(q url.Values) { q.Del("token") }, http.StatusForbidden},
		{"after 30 s", late, http.StatusForbidden},
	} {
		must.Equal(t, tc.want, download(tc.change), tc.name, "status")
	}
}
