package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// FuzzDecodePurchase compares the decoder with a plain reading of the same body: accepted bodies have exactly these
// values, and refused ones return an invalid_request that names a field.
func FuzzDecodePurchase(f *testing.F) {
	for _, s := range []string{
		purchaseBody("42", "1", address), purchaseBody(`"`+itemID+`"`, "50", "a"), purchaseBody(itemID, "1.0", ""),
		`{"seckill_id":42,"count":1,"count":1,"address":"a"}`, `{"Count":1,"seckill_id":42,"address":"\ud83c"}`,
		`{"seckill_id":"\u0034","count":1,"address":"a\u0000"}`, "null", "[]", "{}", "", purchaseBody("42", "1", "a") +
			"x",
		"{\"seckill_id\":42,\"count\":1,\"address\":\"\xff\"}",
		`{"seckill_id":42,"count":"1","address":"a"}`, `{"seckill_id":42,"count":1.0,"address":"a"}`,
		`{"a":{"b":[[[]]]},"seckill_id":1e1,"count":-0,"address":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decodePurchase(body)
		if err != nil {
			var e *seckill.Error
			if !errors.As(err, &e) || e.Code != seckill.CodeInvalid || e.Field == "" {
				t.Fatalf("decodePurchase(%q): %v, want an invalid_request with a field", body, err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("decodePurchase(%q) accepts what is not JSON", body)
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var plain map[string]any
		if err := d.Decode(&plain); err != nil {
			t.Fatalf("decodePurchase(%q) accepts what is not an object: %v", body, err)
		}
		fold := map[string]any{} // matches names as encoding/json does: exactly, or ignoring case
		for k, v := range plain {
			for _, name := range []string{"seckill_id", "count", "address"} {
				if strings.EqualFold(k, name) {
					fold[name] = v
				}
			}
		}
		item, _ := fold["seckill_id"].(string)
		if n, ok := fold["seckill_id"].(json.Number); ok {
			item = n.String()
		}
		count := 0
		switch n := fold["count"].(type) {
		case json.Number:
			c, err := n.Float64()
			if err != nil || c != math.Trunc(c) {
				t.Fatalf("decodePurchase(%q) accepts the count %s", body, n)
			}
			count = int(c)
		case string:
			count, _ = strconv.Atoi(n)
		}
		text, _ := fold["address"].(string)
		if p.Item != item || p.Count != count || p.Address != seckill.Tidy(text) {
			t.Fatalf("decodePurchase(%q) = %+v, want item %q, count %d, address %q", body, p, item, count, text)
		}
	})
}
