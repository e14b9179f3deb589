package alipay_test

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

var genuine = seckill.Notification{ID: "2026010100222200000000000000001", Order: orderID,
	TradeNo: "2026010122001000000000000001", Amount: 88_80, Paid: true}

func refused(err error, code seckill.Code) bool { return errors.Is(err, seckill.Refuse(code)) }

func TestVerifyReadsAGenuineNotify(t *testing.T) {
	g := gateway(t, &clock{start})
	form := paidForm(t, g)
	must.Equal(t, genuine, must.Get(verified(t, client(t, nil, &clock{start}), form)))
}

// TestVerifierNeedsNoKeyOfOurs checks that a verifier reads and refuses the same forms as a client.
func TestVerifierNeedsNoKeyOfOurs(t *testing.T) {
	v := must.Get(alipay.NewVerifier(appID, sellerID, gatewayKeys().Public))
	form := paidForm(t, gateway(t, &clock{start}))
	must.Equal(t, genuine, must.Get(verified(t, v, form)))
	for name, other := range map[string]struct {
		app, seller, public string
		want                seckill.Code
	}{
		"another app":    {"2021000000000002", sellerID, gatewayKeys().Public, seckill.CodeNotOurs},
		"another seller": {appID, "2088000000000009", gatewayKeys().Public, seckill.CodeNotOurs},
		"another key":    {appID, sellerID, strangerKeys().Public, seckill.CodeForged},
	} {
		v := must.Get(alipay.NewVerifier(other.app, other.seller, other.public))
		if got, err := verified(t, v, form); !refused(err, other.want) {
			t.Errorf("%s: got %+v, %v, want %s", name, got, err, other.want)
		}
	}
	for name, c := range map[string]struct{ app, seller, public, want string }{
		"no app id":         {"", sellerID, gatewayKeys().Public, "app id"},
		"long seller id":    {appID, strings.Repeat("2", 33), gatewayKeys().Public, "seller id"},
		"no key":            {appID, sellerID, "", "Alipay's public key: empty"},
		"private as public": {appID, sellerID, gatewayKeys().Private, "Alipay's public key: not a public key"},
	} {
		if _, err := alipay.NewVerifier(c.app, c.seller, c.public); err == nil ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), gatewayKeys().Private[:6]) {
			t.Errorf("%s: error %v, want it to say %q", name, err, c.want)
		}
	}
}

func TestVerifyRefusesEveryChange(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	form := paidForm(t, g)
	changes := map[string]func(url.Values){
		"one more": func(f url.Values) { f.Set("refund_fee", "88.80") },
		"empty one more": func(f url.Values) {
			f.Set("zz", "") // added after signing: Alipay's SDKs sign empty values, too
		},
		"no signature":       func(f url.Values) { f.Del("sign") },
		"empty signature":    func(f url.Values) { f.Set("sign", "") },
		"signature as list":  func(f url.Values) { f["sign"] = nil },
		"break in signature": func(f url.Values) { f.Set("sign", f.Get("sign")[:10]+"\n"+f.Get("sign")[10:]) },
		"unused bits of signature": func(f url.Values) {
			b := []byte(f.Get("sign")) // 256 bytes end in a digit with four unused bits and "=="
			b[len(b)-3]++
			f.Set("sign", string(b))
		},
		"no padding":          func(f url.Values) { f.Set("sign", strings.TrimRight(f.Get("sign"), "=")) },
		"RSA instead of RSA2": func(f url.Values) { f.Set("sign_type", "RSA") },
		"no sign_type":        func(f url.Values) { f.Del("sign_type") },
		"value moved into the name": func(f url.Values) {
			f.Del("total_amount")
			f.Del("subject")
			f.Set("subject=红色外套 Red coat&total_amount", "88.80")
		},
		"parameter moved into a value": func(f url.Values) {
			f.Del("total_amount")
			f.Set("subject", f.Get("subject")+"&total_amount=88.80")
		},
	}
	for name := range form {
		value := form.Get(name)
		for i := range len(value) {
			if name != "sign" && name != "trade_status" && i != 0 && i != len(value)/2 && i != len(value)-1 {
				continue // three bytes of each long value; every byte of the signature and the state
			}
			changes[fmt.Sprintf("byte %d of %s", i, name)] = func(f url.Values) {
				b := []byte(value)
				b[i] ^= 1
				f.Set(name, string(b))
			}
		}
		changes["longer "+name] = func(f url.Values) { f.Set(name, value+"0") }
		changes["blank in front of "+name] = func(f url.Values) { f.Set(name, " "+value) }
		changes["without "+name] = func(f url.Values) { f.Del(name) }
		changes["twice "+name] = func(f url.Values) { f.Add(name, value) }
		changes["NUL after "+name] = func(f url.Values) { f.Set(name, value+"\x00") }
		changes["invalid UTF-8 after "+name] = func(f url.Values) { f.Set(name, value+"\xff") }
	}
	for name, change := range changes {
		f := maps.Clone(form)
		for k, v := range f {
			f[k] = append([]string(nil), v...)
		}
		change(f)
		if got, err := c.Verify(f); !refused(err, seckill.CodeForged) {
			t.Errorf("%s: got %+v, %v, want notify_forged", name, got, err)
		}
	}
	t.Logf("%d changes refused", len(changes))
	if len(changes) < 500 {
		t.Errorf("only %d changes were tried", len(changes))
	}
}

// TestVerifyChecksSignedValues changes a notification and has the gateway sign it again, so the signature is right
// each time.
func TestVerifyChecksSignedValues(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	const ok = seckill.Code("")
	for _, tc := range []struct {
		name, value string
		want        seckill.Code
	}{
		{"app_id", "2021000000000002", seckill.CodeNotOurs},
		{"app_id", "", seckill.CodeNotOurs},
		{"seller_id", "2088000000000009", seckill.CodeNotOurs},
		{"seller_id", "", seckill.CodeNotOurs},
		{"out_trade_no", "20260101", seckill.CodeNotOurs},
		{"out_trade_no", strings.ToUpper(orderID), seckill.CodeNotOurs},
		{"out_trade_no", otherID, ok},
		{"total_amount", "88.81", ok}, // the flow compares it with the order
		{"total_amount", "88.8", ok},
		{"total_amount", "1e2", seckill.CodeForged},
		{"total_amount", "88.880", seckill.CodeForged},
		{"total_amount", "-1", seckill.CodeForged},
		{"total_amount", "+1", seckill.CodeForged},
		{"total_amount", " 88.88", seckill.CodeForged},
		{"total_amount", "88.88 ", seckill.CodeForged},
		{"total_amount", "８８.８８", seckill.CodeForged},
		{"total_amount", "088.80", seckill.CodeForged},
		{"total_amount", "88.", seckill.CodeForged},
		{"total_amount", ".88", seckill.CodeForged},
		{"total_amount", "88,80", seckill.CodeForged},
		{"total_amount", "0x58", seckill.CodeForged},
		{"total_amount", "NaN", seckill.CodeForged},
		{"total_amount", "100000000.01", seckill.CodeForged},
		{"total_amount", "", seckill.CodeForged},
		{"trade_no", "", seckill.CodeForged},
		{"trade_no", "2026-01", seckill.CodeForged},
		{"trade_no", strings.Repeat("1", 64), ok},
		{"trade_no", strings.Repeat("1", 65), seckill.CodeForged},
		{"trade_status", "PAID", seckill.CodeForged},
		{"trade_status", "trade_success", seckill.CodeForged},
		{"trade_status", "", seckill.CodeForged},
		{"charset", "UTF-8", ok},
		{"charset", "GBK", ok},
		{"charset", "gb2312", ok},
		{"charset", "GB18030", ok},
		{"charset", "UTF-16", ok}, // nobody reads it
		{"subject", "", ok},       // an empty value is signed like any other value
		{"subject", "a=b&c&=d", ok},
		{"subject", "a=b&c=d", ok}, // could also stand for a parameter c, which nobody reads
		{"subject", "a&trade_no=1", seckill.CodeForged},
		{"passback_params", "x%26y", ok}, // decoded only once
		{"refund_fee", "10.00", ok},      // a trade stays a success after a partial refund
	} {
		form := paidForm(t, g)
		form.Set(tc.name, tc.value)
		must.OK(t, g.SignForm(form))
		got, err := verified(t, c, form)
		if tc.want == ok && (err != nil || !got.Paid) || tc.want != ok && !refused(err, tc.want) {
			t.Errorf("%s %q: got %+v, %v, want code %q", tc.name, tc.value, got, err, tc.want)
		}
	}
}

// TestVerifyTakesWhatNobodyReads covers values that others write, in bytes of any charset: Alipay has sent GBK to shops
// that asked for UTF-8. It signed those bytes.
func TestVerifyTakesWhatNobodyReads(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	coupon := func(name string) string {
		return `[{"amount":"5.00","name":"` + name + `","type":"ALIPAY_BIZ_VOUCHER"}]`
	}
	for _, value := range []string{"\xba\xec\xc9\xab", "\xd5\x5c", "\xff", "a\x00b", "\u200b\ufeff", "R&D", "a & b = c",
		"&",
		"&&==", "x&=y", "x&注=y", "a&b=c", "&get=", "1&a.b_C=", coupon("Buy 1&get=1"), coupon("满100&立减=5"), coupon(`\"&\"`),
		"merchantBizType=3C&merchantBizNo=2016", "&sign=x&sign_type=RSA", "&amp;&quot;", "&xtrade_no=1", "trade_no=1",
		strings.Repeat("&a=1", 10_000)} {
		for _, name := range []string{"subject", "body", "voucher_detail_list", "passback_params", "aaa", "zzz"} {
			form := paidForm(t, g)
			form.Set(name, value)
			must.OK(t, g.SignForm(form))
			must.Equal(t, genuine, must.Get(verified(t, c, form)), name, value)
			form.Set(name, value+" ")
			if n, err := verified(t, c, form); !refused(err, seckill.CodeForged) {
				t.Errorf("%s %q, changed: %+v, %v, want notify_forged", name, value, n, err)
			}
		}
	}
	for _, charset := range []string{"GBK", "gb18030", "utf-8", "", "UTF-16", "klingon"} {
		form := paidForm(t, g)
		form.Set("charset", charset)
		form.Set("subject", "\xba\xec\xc9\xab") // 红色
		must.OK(t, g.SignForm(form))
		must.Equal(t, genuine, must.Get(verified(t, c, form)), "charset", charset)
	}
}

func TestVerifyTakesOnlySuccessForPaid(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	for status, paid := range map[string]bool{"TRADE_SUCCESS": true, "TRADE_FINISHED": true, "TRADE_CLOSED": false,
		"WAIT_BUYER_PAY": false} {
		form := paidForm(t, g)
		form.Set("trade_status", status)
		must.OK(t, g.SignForm(form))
		want := genuine
		want.Paid, want.Unsaid = paid, status == "TRADE_CLOSED"
		must.Equal(t, want, must.Get(verified(t, c, form)), status)
	}
}

// TestVerifyReadsARefund reads what Alipay tells of a refund in its console: with the sum of all refunds or, as of a
// closed trade or one with gmt_refund alone, without it.
func TestVerifyReadsARefund(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	for _, tt := range []struct {
		status, at, fee string
		back            seckill.Fen
		unsaid          bool
	}{
		{"TRADE_SUCCESS", "", "", 0, false},
		{"TRADE_SUCCESS", "2026-11-11 10:20:30.123", "10.00", 1000, false},
		{"TRADE_CLOSED", "2026-11-11 10:20:30.123", "88.80", 8880, false},
		{"TRADE_SUCCESS", "2026-11-11 10:20:30.123", "", 0, true},
		{"TRADE_CLOSED", "2026-11-11 10:20:30.123", "", 0, true},
		{"TRADE_CLOSED", "", "", 0, true},
	} {
		form := paidForm(t, g)
		form.Set("trade_status", tt.status)
		form.Set("gmt_close", "2026-11-11 10:20:31")
		form.Set("out_biz_no", "20261111102030001")
		for name, value := range map[string]string{"gmt_refund": tt.at, "refund_fee": tt.fee} {
			if value != "" {
				form.Set(name, value)
			}
		}
		must.OK(t, g.SignForm(form))
		n := must.Get(verified(t, c, form))
		must.Equal(t, []any{tt.back, tt.unsaid, tt.status == "TRADE_SUCCESS" || tt.at != "" && tt.fee == ""},
			[]any{n.Back, n.Unsaid, n.Paid}, tt.status, tt.at, tt.fee)
	}
}

func TestVerifyBoundsTheForm(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	for name, tc := range map[string]struct {
		change func(url.Values)
		ok     bool
	}{
		"100 parameters": {func(f url.Values) {
			for i := 0; len(f) < 100; i++ {
				f.Set(fmt.Sprint("extra_", i), "")
			}
		}, true},
		"101 parameters": {func(f url.Values) {
			for i := 0; len(f) < 101; i++ {
				f.Set(fmt.Sprint("extra_", i), "")
			}
		}, false},
		"60 KiB":      {func(f url.Values) { f.Set("body", strings.Repeat("x", 60<<10)) }, true},
		"64 KiB":      {func(f url.Values) { f.Set("body", strings.Repeat("x", 64<<10)) }, false},
		"odd name":    {func(f url.Values) { f.Set("a b", "") }, true},
		"empty name":  {func(f url.Values) { f.Set("", "") }, true},
		"long name":   {func(f url.Values) { f.Set(strings.Repeat("x", 65), "") }, true},
		"longer name": {func(f url.Values) { f.Set(strings.Repeat("x", 64<<10), "") }, false},
		"name twice":  {func(f url.Values) { f["body"] = []string{"", ""} }, false},
		"no charset":  {func(f url.Values) { f.Del("charset") }, true},
		"nothing":     {func(f url.Values) { clear(f) }, false},
	} {
		form := paidForm(t, g)
		tc.change(form)
		must.OK(t, g.SignForm(form))
		if name == "101 parameters" && len(form) != 101 || name == "100 parameters" && len(form) != 100 {
			t.Fatalf("%s: the form has %d", name, len(form))
		}
		got, err := verified(t, c, form)
		if tc.ok && err != nil || !tc.ok && !refused(err, seckill.CodeForged) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	if _, err := c.Verify(nil); !refused(err, seckill.CodeForged) {
		t.Errorf("nil form: %v, want notify_forged", err)
	}
}

// read lists the parameters of a notification that decide; the first is missing in most.
var read = []string{"alipay_cert_sn", "app_id", "notify_id", "out_trade_no", "seller_id", "total_amount", "trade_no",
	"trade_status"}

// TestVerifyRefusesOneOfTwoForms covers forms that have the same signed text, because joining name=value by & escapes
// nothing: those of them that differ in what is read are refused, whichever of them Alipay signed.
func TestVerifyRefusesOneOfTwoForms(t *testing.T) {
	g, verify := gateway(t, &clock{start}), client(t, nil, &clock{start})
	text := func(form url.Values) string { return alipay.SignContent(form, "sign", "sign_type") }
	forged := func(form url.Values, name, how string) {
		t.Helper()
		if n, err := verified(t, verify, form); !refused(err, seckill.CodeForged) {
			t.Errorf("%s %s: %+v, %v, want notify_forged", name, how, n, err)
		}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(paidForm(t, g))), func(n string) bool {
		return n == "sign" || n == "sign_type"
	})
	for i := range names[:len(names)-1] {
		form := paidForm(t, g)
		must.Get(verified(t, verify, form))
		signed, into, gone := text(form), names[i], names[i+1]
		form.Set(into, form.Get(into)+"&"+gone+"="+form.Get(gone))
		form.Del(gone)
		must.Equal(t, signed, text(form), gone, "within", into)
		if slices.Contains(read, gone) {
			forged(form, gone, "within "+into)
		} else if n, err := verified(t, verify, form); slices.Contains(read, into) != (err != nil) ||
			err == nil && n != genuine {
			t.Errorf("%s within %s: %+v, %v, want it to read the same", gone, into, n, err)
		}
	}
	for _, name := range read {
		form := paidForm(t, g)
		for at, value := range map[string]string{"aaa": "x&" + name + "=1", "zzz": `[{"name":"x&` + name + `="}]`,
			"x&" + name: "1", "&" + name + "=": ""} {
			form := maps.Clone(form)
			form.Set(at, value)
			must.OK(t, g.SignForm(form))
			forged(form, name, "in "+at) // even with Alipay's own signature: it is unknown which form was signed
		}
		form.Set("passback_params", "x&"+name+"=1&y=")
		must.OK(t, g.SignForm(form))
		form.Set("passback_params", "x")
		form.Add(name, "1")
		form.Set("y", "")
		forged(form, name, "made of a text")
	}
}

func TestVerifyRefusesAStrangersKey(t *testing.T) {
	g, err := fakegateway.New(fakegateway.Options{Clock: &clock{start}, AppID: appID, SellerID: sellerID,
		MerchantPublicKey: shopKeys().Public, PrivateKey: strangerKeys().Private})
	must.OK(t, err)
	// The error names the order, so that an operator can tell a wrong key from a forger.
	if got, err := client(t, nil, &clock{start}).Verify(paidForm(t, g)); !refused(err, seckill.CodeForged) ||
		!errors.Is(err, alipay.ErrSignature) || !strings.Contains(err.Error(), genuine.Order) {
		t.Errorf("got %+v, %v, want notify_forged that names %s", got, err, genuine.Order)
	}
}

// TestVerifyRefusesBodies decodes bodies once, as the endpoint does.
func TestVerifyRefusesBodies(t *testing.T) {
	g, c := gateway(t, &clock{start}), client(t, nil, &clock{start})
	form := paidForm(t, g)
	good := form.Encode()
	verify := func(body string) (seckill.Notification, error) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return seckill.Notification{}, seckill.Refuse(seckill.CodeForged) // the endpoint's own answer
		}
		return verified(t, c, form)
	}
	if got, err := verify(good); err != nil || got != genuine {
		t.Fatalf("the unchanged body: %+v, %v", got, err)
	}
	signed := func(name, value string) string {
		f := paidForm(t, g)
		f.Set(name, value)
		must.OK(t, g.SignForm(f))
		return f.Encode()
	}
	with := func(name, value string) string {
		f := paidForm(t, g)
		f.Set(name, value)
		return f.Encode()
	}
	var twice, unescaped []string
	for name := range form {
		twice = append(twice, name+"="+url.QueryEscape(url.QueryEscape(form.Get(name))))
		unescaped = append(unescaped, name+"="+form.Get(name))
	}
	mib := strings.Repeat("x", 1<<20)
	bodies := map[string]string{
		"empty":                      "",
		"no form":                    "<xml>paid</xml>",
		"JSON":                       `{"trade_status":"TRADE_SUCCESS"}`,
		"not escaped":                strings.Join(unescaped, "&"), // a "+" in the signature is decoded as a blank
		"values encoded twice":       strings.Join(twice, "&"),
		"body encoded twice":         url.QueryEscape(good),
		"a parameter's = encoded":    strings.Replace(good, "total_amount=", "total_amount%3D", 1),
		"a parameter's & encoded":    strings.Replace(good, "&total_amount=", "%26total_amount=", 1),
		"semicolons between":         strings.ReplaceAll(good, "&", ";"),
		"bad escape":                 good + "&x=%zz",
		"1 MiB of a value":           good + "&body=" + mib,
		"1 MiB of a name":            good + "&" + mib + "=",
		"1 MiB signed":               signed("body", mib),
		"1 MiB of parameters":        good + strings.Repeat("&a=1", 1<<18),
		"amount twice":               good + "&total_amount=88.80",
		"another amount in front":    "total_amount=0.01&" + good,
		"another amount behind":      good + "&total_amount=0.01",
		"state twice":                good + "&trade_status=TRADE_SUCCESS",
		"signature twice":            good + "&sign=x",
		"NUL in a value":             with("subject", "a\x00b"),
		"NUL behind the amount":      strings.Replace(good, "total_amount=88.80", "total_amount=88.80%00", 1),
		"NUL in a name":              good + "&a%00b=",
		"GBK bytes":                  strings.Replace(good, url.QueryEscape("红色外套"), "%BA%EC%C9%AB", 1),
		"charset changed to GBK":     with("charset", "GBK"),
		"charset changed to UTF-16":  with("charset", "UTF-16"),
		"sign_type RSA":              with("sign_type", "RSA"),
		"sign_type of small letters": with("sign_type", "rsa2"),
		"sign_type with a blank":     with("sign_type", "RSA2 "),
		"sign_type MD5":              with("sign_type", "MD5"),
		"sign_type none":             with("sign_type", "none"),
		"sign_type empty":            with("sign_type", ""),
		"replayed for another order": with("out_trade_no", otherID),
		"replayed with a new id":     with("notify_id", "2026010100222200000000000000002"),
		"replayed with a new time":   with("notify_time", "2026-01-02 20:00:00"),
		"replayed for less":          with("total_amount", "88.79"),
		"replayed for another trade": with("trade_no", "2026010122001000000000000002"),
		"replayed as finished":       with("trade_status", "TRADE_FINISHED"),
		"replayed for another app":   with("app_id", "2021000000000002"),
	}
	for i := range len(good) {
		bodies[fmt.Sprintf("cut off after %d bytes", i)] = good[:i]
	}
	for name, body := range bodies {
		if got, err := verify(body); !refused(err, seckill.CodeForged) || got != (seckill.Notification{}) {
			t.Errorf("%s: got %+v, %v, want notify_forged", name, got, err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	g, c := gateway(b, &clock{start}), client(b, nil, &clock{start})
	form := paidForm(b, g)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(c.Verify(form))
	}
}

func TestSignContent(t *testing.T) {
	got := alipay.SignContent(url.Values{"b": {"2&3"}, "a": {""}, "B": {"中"}, "sign": {"x"}, "sign_type": {"RSA2"}},
		"sign", "sign_type")
	if want := "B=中&a=&b=2&3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if seckill.Zone.String() != "UTC+8" || start.In(seckill.Zone).Format(alipay.TimeLayout) != "2026-01-01 20:00:00" {
		t.Errorf("%s is written %s", start.Format(time.RFC3339), start.In(seckill.Zone).Format(alipay.TimeLayout))
	}
}
