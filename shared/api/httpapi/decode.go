package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// purchaseJSON is the body of a purchase; unknown fields are ignored. Each field decodes its own JSON text and
// refuses a second occurrence: two readers of a body with two counts might use different ones.
type purchaseJSON struct {
	Item    itemField    `json:"seckill_id"`
	Count   countField   `json:"count"`
	Address addressField `json:"address"`
}

// decodePurchase decodes item, count and address. A missing field stays zero, which Request.Check refuses. The
// error is an invalid_request that names the field, or "body" if the text is not a single JSON object.
func decodePurchase(body []byte) (buy.Purchase, error) {
	var p purchaseJSON
	if err := decode(body, &p); err != nil {
		return buy.Purchase{}, err
	}
	return buy.Purchase{Item: string(p.Item), Count: int(p.Count), Given: seckill.Given{Address: string(p.Address)}},
		nil
}

// decode decodes a body of JSON. The error is that of one of its fields, or errBody. It is never the library's error,
// which may contain a part of a token.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var e *seckill.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	}
	return errBody
}

// readJSON reads and decodes a body of at most limit bytes.
func readJSON(r *http.Request, limit int, into any) error {
	body, err := readBody(r, make([]byte, limit+1))
	if err != nil {
		return err
	}
	return decode(body, into)
}

var (
	errBody    = seckill.Invalid("body", "")
	errItem    = seckill.Invalid("seckill_id", "")
	errCount   = seckill.Invalid("count", "1.."+strconv.Itoa(seckill.MaxCount))
	errAddress = seckill.Invalid("address", "1.."+strconv.Itoa(seckill.MaxAddress))
)

// itemField is an item's id as a JSON string or integer, decoded as text so that no digit is lost. "" means not seen
// yet.
type itemField string

func (f *itemField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if !ok {
		s = string(b)
	}
	if *f != "" || !seckill.ValidItemID(s) {
		return errItem
	}
	*f = itemField(s)
	return nil
}

// countField is a whole number, as contract clients send it: 1, 1.0 or "1", without an exponent; 0 means not seen yet.
type countField int

func (f *countField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if !ok {
		s = string(b)
		if whole, fraction, point := strings.Cut(s, "."); point && strings.Trim(fraction, "0") == "" {
			s = whole
		}
	}
	n, err := strconv.Atoi(s)
	if *f != 0 || err != nil || n < 1 || n > seckill.MaxCount || s != strconv.Itoa(n) {
		return errCount
	}
	*f = countField(n)
	return nil
}

// addressField is a JSON string. "" means not seen yet.
type addressField string

func (f *addressField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	// RuneError stands for bytes that are not UTF-8 and for escaped halves of surrogate pairs
	if s = seckill.Tidy(s); *f != "" || !ok || s == "" || strings.ContainsRune(s, utf8.RuneError) {
		return errAddress
	}
	*f = addressField(s)
	return nil
}

// text decodes a JSON string whose form was checked; without escapes it is the part between the quotes.
func text(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' {
		return "", false
	}
	if inner := b[1 : len(b)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(b, &s)
	return s, err == nil
}
