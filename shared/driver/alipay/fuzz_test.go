package alipay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// The seeds in testdata/fuzz are signed with the samples' keys, or not signed.

// FuzzNotify checks that only the samples are accepted, because only their keys sign.
func FuzzNotify(f *testing.F) {
	c := sdkClient(f, nil)
	signed := map[string]seckill.Notification{}
	for _, s := range samples[notificationSample](f, "notifications.json", 28) {
		f.Add(s.Body)
		if s.Want.Code != "" {
			continue
		}
		form := must.Get(url.ParseQuery(s.Body))
		// the signed text stays the same if a parameter moves into the value before it, or a text becomes one
		for _, value := range []string{"Buy 1&get=1", "x&trade_no=1", "\xd5\x5c&total_amount=0.01"} {
			other := maps.Clone(form)
			other.Set("voucher_detail_list", `[{"name":"`+value+`"}]`)
			f.Add(other.Encode())
		}
		for _, name := range []string{"notify_time", "total_amount", "seller_id"} {
			other := maps.Clone(form)
			names := slices.Sorted(maps.Keys(form))
			if at := slices.Index(names, name); at > 0 {
				other.Set(names[at-1], form.Get(names[at-1])+"&"+name+"="+form.Get(name))
				other.Del(name)
				f.Add(other.Encode())
			}
		}
		signed[alipay.SignContent(form, "sign", "sign_type")] = seckill.Notification{ID: s.Want.ID, Order: s.Want.Order,
			TradeNo: s.Want.TradeNo, Amount: seckill.Fen(s.Want.Fen), Paid: s.Want.Paid,
			Back: seckill.Fen(s.Want.Back)}
	}
	f.Fuzz(func(t *testing.T, body string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		got, err := verified(t, c, form)
		if err != nil {
			if got != (seckill.Notification{}) || !refused(err, seckill.CodeForged) &&
				!refused(err, seckill.CodeNotOurs) {
				t.Errorf("Verify(%q): %+v, %v, want notify_forged or notify_not_ours", body, got, err)
			}
			return
		}
		if !plain(form) {
			t.Errorf("Verify(%q) = %+v, and the same signature has a form that reads otherwise", body, got)
		}
		if want, ours := signed[alipay.SignContent(form, "sign", "sign_type")]; !ours || got != want {
			t.Errorf("Verify(%q) = %+v, and nobody signed that", body, got)
		}
	})
}

// plain reports whether a form's signed text, when it is split again, has each name that is read as often as the form.
func plain(form url.Values) bool {
	found := map[string]int{}
	for _, part := range strings.Split(alipay.SignContent(form, "sign", "sign_type"), "&") {
		name, _, _ := strings.Cut(part, "=")
		found[name]++
	}
	return !slices.ContainsFunc(read, func(name string) bool { return found[name] != len(form[name]) })
}

// FuzzAnswer uses any body as the answer to one of the calls. Without a signature, only the samples' own results may
// follow; with the gateway's signature (signed: body is then a node), only results that a caller can rely on.
func FuzzAnswer(f *testing.F) {
	methods := []string{alipay.MethodQuery, alipay.MethodClose, alipay.MethodRefund, alipay.MethodRefundQuery,
		alipay.MethodBill}
	genuine := map[string]map[answerResult]bool{}
	for i, method := range methods {
		genuine[method] = map[answerResult]bool{}
		for _, s := range samples[answerSample](f, "answers.json", 50) {
			if s.Method == method {
				f.Add(uint8(i), []byte(s.Body), false)
				genuine[method][s.Want] = true
			}
		}
	}
	for i, node := range []string{`{"code":"40004","sub_code":"ACQ.TRADE_NOT_EXIST","sub_msg":"` + gbk(f, "交易不存在") + `"}`,
		strings.Replace(paidNode, "Success", "\xd5\x5c", 1), strings.Replace(paidNode, "Success", `中\"`+"\xff", 1),
		strings.Replace(paidNode, "Success", `\"`+"\x81\x30\x81\x30", 1)} {
		f.Add(uint8(i), []byte(node), true)
		f.Add(uint8(0), []byte(node), true)
	}
	key := must.Get(alipay.ParsePrivateKey(testdata(f, "test-only-alipay-private.pem")))
	ask := asker(f)
	f.Fuzz(func(t *testing.T, which uint8, body []byte, signed bool) {
		method := methods[int(which)%len(methods)]
		text := string(body)
		if signed {
			sign := must.Get(alipay.Sign(key, text))
			text = `{"` + strings.ReplaceAll(method, ".", "_") + `_response":` + text + `,"sign":"` + sign + `"}`
		}
		got, err := ask(method, text)
		var domain *seckill.Error
		switch {
		case errors.As(err, &domain):
			t.Errorf("%s %q: %v is not a fault", method, text, err)
		case got.Fault && got != (answerResult{Fault: true}):
			t.Errorf("%s %q: %+v beside %v", method, text, got, err)
		case !got.Fault && !signed && !genuine[method][got]:
			t.Errorf("%s %q: got %+v, and nobody signed that", method, text, got)
		case got.State != "" && got.State != seckill.TradeUnknown && (got.TradeNo == "" || got.Fen < 0 ||
			got.Fen > int64(seckill.MaxFen)):
			t.Errorf("%s %q: got %+v", method, text, got)
		case got.Refund == seckill.RefundRefused && !strings.HasPrefix(got.RefundCode, "ACQ."):
			t.Errorf("%s %q: refused for %q", method, text, got.RefundCode)
		case got.Bill != "" && !strings.HasPrefix(got.Bill, "https://"):
			t.Errorf("%s %q: downloads from %s", method, text, got.Bill)
		}
	})
}

// FuzzBill parses any bytes as a bill: as the text of the details, or as the ZIP (archived).
func FuzzBill(f *testing.F) {
	good := bill(goodRow, billRow(tradeNo, orderID, "退款", `"外套, ""Pro"""`, "2026-01-01 11:00:00", "-88.80",
		refund().ID))
	f.Add([]byte(gbk(f, good)), false)
	f.Add([]byte(gbk(f, strings.ReplaceAll(good, "\t", ""))), false)
	f.Add([]byte(gbk(f, good))[:600], false)
	f.Add([]byte(gbk(f, bill(strings.Replace(goodRow, "红色外套", "Tea, green", 1), ","+orderID, "合计,"))), false)
	f.Add(archive(f, zipped{detailsName, good}), true)
	f.Add(lying(f, 100), true)
	answer, download := "", []byte(nil)
	for _, s := range samples[answerSample](f, "answers.json", 50) {
		if s.Name == "bill" {
			answer = s.Body
		}
	}
	c := sdkClient(f, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "gateway.example" {
			_, _ = io.WriteString(w, answer)
			return
		}
		_, _ = io.Copy(w, bytes.NewReader(download))
	}))
	f.Fuzz(func(t *testing.T, data []byte, archived bool) {
		var got seckill.Bill
		var err error
		if archived {
			download = data
			got, err = c.Bill(context.Background(), billDay)
		} else if got, err = alipay.ParseBill(bytes.NewReader(data), billDay); len(got.Lines)+
			got.Others > bytes.Count(data, []byte("\n"))+1 {
			t.Errorf("%d movements of %q", len(got.Lines), data)
		}
		var unread seckill.UnreadLines
		for _, l := range unread {
			if !seckill.ValidOrderID(l.Order) || l.Line < 1 {
				t.Errorf("%q: %+v", data, l)
			}
		}
		if whole := !errors.As(err, &unread); err != nil && (whole && (got.Lines != nil || got.Others != 0) ||
			errors.Is(err, seckill.ErrNoBill)) {
			t.Errorf("%q: %d movements beside %v", data, len(got.Lines), err)
		}
		for _, l := range got.Lines {
			if !seckill.ValidOrderID(l.Order) || l.TradeNo == "" || l.Amount < 1 || l.Amount > seckill.MaxFen ||
				l.At.Nanosecond() != 0 || !l.Refund && l.RefundID != "" {
				t.Errorf("%q: %+v", data, l)
			}
		}
	})
}
