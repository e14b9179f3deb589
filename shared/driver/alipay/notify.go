package alipay

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a notification's form; a real one has about 30 parameters in 2 KiB.
const (
	maxNotifyParams = 100
	maxNotifyBytes  = 64 << 10
	maxParamName    = 64
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

// Verify implements seckill.Verifier for a form that was decoded once. CodeForged: the form or the signature is
// wrong, or a signed value is one that Alipay never writes. CodeNotOurs: authentic, but for another app or seller, or
// its out_trade_no is not an order id. The caller checks whether the order exists and has this amount. Any other
// error: it cannot be checked now, because Alipay's certificate is not valid.
func (v *Verifier) Verify(parameters map[string][]string) (seckill.Notification, error) {
	form := url.Values(parameters)
	if err := v.inTime(); err != nil {
		return seckill.Notification{}, err
	}
	if err := v.authentic(form); err != nil {
		return seckill.Notification{}, &seckill.Error{Code: seckill.CodeForged, Err: err}
	}
	order := form.Get("out_trade_no")
	for _, f := range []struct {
		name string
		ours bool
	}{
		{"app_id", form.Get("app_id") == v.appID},
		{"seller_id", form.Get("seller_id") == v.sellerID},
		{"out_trade_no", seckill.ValidOrderID(order)},
	} {
		if !f.ours {
			return seckill.Notification{}, &seckill.Error{Code: seckill.CodeNotOurs,
				Err: fmt.Errorf("alipay: notification with %s %.70q", f.name, form.Get(f.name))}
		}
	}
	amount, err := seckill.ParseYuan(form.Get("total_amount"))
	state, known := tradeStates[form.Get("trade_status")]
	id := form.Get("notify_id")
	if err != nil || !known || !validTradeNo(form.Get("trade_no")) || !validNotificationID(id) {
		return seckill.Notification{}, &seckill.Error{Code: seckill.CodeForged,
			Err: fmt.Errorf(
				"alipay: notification for %s with total_amount %.40q, trade_status %.40q, trade_no %.70q, notify_id "+
					"%.140q", order,
				form.Get("total_amount"), form.Get("trade_status"), form.Get("trade_no"), id)}
	}
	return seckill.Notification{ID: id, Order: order, TradeNo: form.Get("trade_no"), Amount: amount,
		Paid: state == seckill.TradePaid, Raw: form.Encode()}, nil
}

// chineseCharsets lists the charsets that Alipay may use whatever was requested: it signs the bytes. All values that
// matter are ASCII, which is equal in all of them.
var chineseCharsets = []string{"gbk", "gb2312", "gb18030"}

// authentic checks the form's shape and Alipay's signature. It checks the shape first: that bounds the work and
// ensures that the checked values are the ones that are read.
func (v *Verifier) authentic(form url.Values) error {
	if len(form) > maxNotifyParams {
		return fmt.Errorf("alipay: notification with %d parameters", len(form))
	}
	charset := strings.ToLower(form.Get("charset"))
	isUTF8 := charset == "" || charset == "utf-8"
	total := 0
	for name, values := range form {
		if len(values) != 1 {
			return fmt.Errorf("alipay: notification with %.40q %d times", name, len(values))
		}
		total += len(name) + len(values[0])
		if total > maxNotifyBytes {
			return fmt.Errorf("alipay: notification longer than %d bytes", maxNotifyBytes)
		}
		if !validParamName(name) {
			return fmt.Errorf("alipay: notification with a parameter named %.40q", name)
		}
		if isUTF8 && !utf8.ValidString(values[0]) || strings.IndexByte(values[0], 0) >= 0 {
			return fmt.Errorf("alipay: notification with bytes in %s that are not text", name)
		}
		if holdsParam(values[0]) {
			return fmt.Errorf("alipay: notification with another parameter within %s", name)
		}
	}
	if t := form.Get("sign_type"); t != "RSA2" {
		return fmt.Errorf("alipay: notification with sign_type %.20q", t)
	}
	if !isUTF8 && !slices.Contains(chineseCharsets, charset) {
		return fmt.Errorf("alipay: notification with charset %.20q", charset)
	}
	if err := v.sameCert(form.Get("alipay_cert_sn")); err != nil {
		return err
	}
	sign := form.Get("sign")
	if sign == "" {
		return errors.New("alipay: notification without a signature")
	}
	if err := CheckSign(v.alipay, []byte(SignContent(form, "sign", "sign_type")), sign); err != nil {
		return fmt.Errorf("%w: notification for %.70q", err, form.Get("out_trade_no"))
	}
	return nil
}

// holdsParam reports whether a value contains an & followed by a parameter name and =. The signed text joins
// parameters in the same way, so another form with that parameter beside this one would have the same signature, and
// it is unknown which one Alipay signed.
func holdsParam(value string) bool {
	for _, part := range strings.Split(value, "&")[1:] {
		if name, _, found := strings.Cut(part, "="); found && validParamName(name) {
			return true
		}
	}
	return false
}

// validParamName reports whether a parameter may have this name. The signed text does not escape = and &, so a name
// that contains one could stand for several parameters.
func validParamName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxParamName
}

// validNotificationID reports whether s may be a notification's id: Alipay's are hexadecimal digits, some with
// letters.
func validNotificationID(s string) bool {
	return s != "" && len(s) <= seckill.MaxNotificationID && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~'
	})
}
