package alipay

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a notification's form; a real one has about 30 parameters in 2 KiB.
const (
	maxNotifyParams = 100
	maxNotifyBytes  = 64 << 10
)

// Verifier implements seckill.Verifier. It has no key of the shop, so an attacker who takes over its process can sign
// nothing. It is safe for concurrent use.
type Verifier struct {
	appID, sellerID string
	alipay          *rsa.PublicKey
	alipaySN        string // certificate mode: alipay_cert_sn
	begins, ends    time.Time
	clock           seckill.Clock // certificate mode
}

var _ seckill.Verifier = (*Verifier)(nil)

// NewVerifier checks the settings as New does, except that it cannot detect the app's own public key in the place of
// Alipay's.
func NewVerifier(appID, sellerID, alipayPublicKey string) (*Verifier, error) {
	if err := checkIDs(appID, sellerID); err != nil {
		return nil, err
	}
	public, err := ParsePublicKey(alipayPublicKey)
	if err != nil {
		return nil, &SettingError{SettingPublicKey, err}
	}
	return &Verifier{appID: appID, sellerID: sellerID, alipay: public}, nil
}

// NewCertVerifier is NewVerifier for certificate mode, with Config's AlipayCert and AlipayRootCert. An expired
// certificate is not an error here: Verify fails while it is not valid.
func NewCertVerifier(appID, sellerID, alipayCert, alipayRootCert string, clock seckill.Clock) (*Verifier, error) {
	if err := checkIDs(appID, sellerID); err != nil {
		return nil, err
	}
	theirs, err := trustAlipay(alipayCert, alipayRootCert, clock.Now())
	if err != nil {
		return nil, err
	}
	return &Verifier{appID: appID, sellerID: sellerID, alipay: theirs.key, alipaySN: theirs.sn, begins: theirs.begins,
		ends:  theirs.ends,
		clock: clock}, nil
}

// inTime returns an error if Alipay's certificate, or one above it, is not valid now: its signature then proves
// nothing.
func (v *Verifier) inTime() error {
	if v.alipaySN == "" {
		return nil
	}
	return checkTime(v.clock.Now(), v.begins, v.ends)
}

// checkTime returns an error unless now is within the chain's validity.
func checkTime(now, begins, ends time.Time) error {
	switch {
	case now.After(ends):
		return &SettingError{SettingAlipayCert,
			fmt.Errorf("it ended on %s, or one above it did: download Alipay's new one", ends.Format(time.DateOnly))}
	case now.Before(begins):
		return &SettingError{SettingAlipayCert, fmt.Errorf("it begins on %s, or one above it does",
			begins.Format(time.DateOnly))}
	}
	return nil
}

func checkIDs(appID, sellerID string) error {
	for _, f := range []struct {
		name  Setting
		value string
	}{{SettingAppID, appID}, {SettingSellerID, sellerID}} {
		if f.value == "" || len(f.value) > maxCredentials {
			return &SettingError{f.name, fmt.Errorf("want 1 to %d characters", maxCredentials)}
		}
	}
	return nil
}

// sameCert refuses a notification that names another certificate of Alipay than the configured one. If it names none,
// its signature decides.
func (v *Verifier) sameCert(sn string) error {
	if v.alipaySN != "" && sn != "" && sn != v.alipaySN {
		return fmt.Errorf(
			"alipay: signed under another certificate, alipay_cert_sn %.40q, ours is %s: download Alipay's "+
				"certificate again", sn,
			v.alipaySN)
	}
	return nil
}

// readNames lists the parameters that Verify reads, and thus the only ones that can do harm. What is signed is not the
// form but the text that SignContent makes of it, and that escapes neither & nor =: a coupon that somebody named
// "Buy 1&get=1" stands there like a parameter "get", so one text may be that of several forms, and nobody knows which
// of them Alipay signed. That is harmless while all of them say the same in these parameters. So each of these names
// must stand in the text exactly as often as the form has it, once or never. Then no form of this text has one of them
// twice, hides one in a text or in another's name, or has one that this form lacks.
//
// One forgery remains. If Alipay signs a text "x&refund_fee=5" in a notification without refund_fee, then whoever can
// read what Alipay sends us can send it again as a form with refund_fee=5. It needs a parameter that is read and that
// Alipay leaves out: any other would then stand there twice. It also needs a text of a stranger right before that
// parameter's place in the alphabet, and there is none: subject is the shop's own (see Subject), voucher_detail_list
// comes after all of these names, and before refund_fee only passback_params could hold a text, which the shop never
// sends. The same holds of gmt_refund, which has a time of Alipay's right before it.
var readNames = []string{"alipay_cert_sn", "app_id", "gmt_refund", "notify_id", "out_trade_no", "refund_fee",
	"seller_id", "total_amount", "trade_no", "trade_status"}

// Verify implements seckill.Verifier for a form that was decoded once. CodeForged: the form or the signature is
// wrong, or a signed value is one that Alipay never writes. CodeNotOurs: authentic, but for another app or seller, or
// its out_trade_no is not an order id. The caller checks whether the order exists and has this amount. Any other
// error: it cannot be checked now, because Alipay's certificate is not valid.
func (v *Verifier) Verify(parameters map[string][]string) (seckill.Notification, error) {
	form := url.Values(parameters)
	if err := v.inTime(); err != nil {
		return seckill.Notification{}, err
	}
	read, err := v.authentic(form)
	if err != nil {
		return seckill.Notification{}, &seckill.Error{Code: seckill.CodeForged, Err: err}
	}
	order := read["out_trade_no"]
	for _, f := range []struct {
		name string
		ours bool
	}{
		{"app_id", read["app_id"] == v.appID},
		{"seller_id", read["seller_id"] == v.sellerID},
		{"out_trade_no", seckill.ValidOrderID(order)},
	} {
		if !f.ours {
			return seckill.Notification{}, &seckill.Error{Code: seckill.CodeNotOurs,
				Err: fmt.Errorf("alipay: notification with %s %.70q", f.name, read[f.name])}
		}
	}
	amount, err := seckill.ParseYuan(read["total_amount"])
	state, known := tradeStates[read["trade_status"]]
	id := read["notify_id"]
	back := seckill.Fen(0)
	if fee := read["refund_fee"]; fee != "" && err == nil { // the sum of the trade's refunds
		back, err = seckill.ParseYuan(fee)
	}
	untold := read["refund_fee"] == "" && read["gmt_refund"] != "" // refunded, and so paid
	if err != nil || !known || !validTradeNo(read["trade_no"]) || !validNotificationID(id) {
		return seckill.Notification{}, &seckill.Error{Code: seckill.CodeForged,
			Err: fmt.Errorf(
				"alipay: notification for %s with total_amount %.40q, trade_status %.40q, trade_no %.70q, notify_id "+
					"%.140q", order,
				read["total_amount"], read["trade_status"], read["trade_no"], id)}
	}
	return seckill.Notification{ID: id, Order: order, TradeNo: read["trade_no"], Amount: amount,
		Paid: state == seckill.TradePaid || untold, Back: min(back, amount), Raw: form.Encode(),
		Unsaid: read["refund_fee"] == "" && state == seckill.TradeClosed || untold}, nil
}

// authentic checks Alipay's signature and returns the values of readNames. It first bounds the work. Alipay signs
// bytes, so whatever charset the other values are in, or none, is no reason to refuse; the values that are read are
// ASCII.
func (v *Verifier) authentic(form url.Values) (read map[string]string, err error) {
	if len(form) > maxNotifyParams {
		return nil, fmt.Errorf("alipay: notification with %d parameters", len(form))
	}
	total := 0
	for name, values := range form {
		if len(values) != 1 {
			return nil, fmt.Errorf("alipay: notification with %.40q %d times", name, len(values))
		}
		if total += len(name) + len(values[0]); total > maxNotifyBytes {
			return nil, fmt.Errorf("alipay: notification longer than %d bytes", maxNotifyBytes)
		}
	}
	if t := form.Get("sign_type"); t != "RSA2" {
		return nil, fmt.Errorf("alipay: notification with sign_type %.20q", t)
	}
	if err := v.sameCert(form.Get("alipay_cert_sn")); err != nil {
		return nil, err
	}
	sign := form.Get("sign")
	if sign == "" {
		return nil, errors.New("alipay: notification without a signature")
	}
	text := SignContent(form, "sign", "sign_type")
	read = make(map[string]string, len(readNames))
	for _, name := range readNames {
		if strings.Count("&"+text, "&"+name+"=") != len(form[name]) {
			return nil, fmt.Errorf("alipay: notification with another %s within a parameter", name)
		}
		read[name] = form.Get(name)
	}
	if err := CheckSign(v.alipay, []byte(text), sign); err != nil {
		return nil, fmt.Errorf("%w: notification for %.70q", err, read["out_trade_no"])
	}
	return read, nil
}

// validNotificationID reports whether s may be a notification's id: Alipay's are hexadecimal digits, some with
// letters.
func validNotificationID(s string) bool {
	return s != "" && len(s) <= seckill.MaxNotificationID && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~'
	})
}
