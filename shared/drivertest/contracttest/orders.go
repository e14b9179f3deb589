package contracttest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/seckill"
)

// Orders checks a purchase until the order can be paid, and until it is cancelled.
func (s *Shop) Orders(t *testing.T) {
	id := s.Items.Newest.ID
	for i, written := range []struct{ id, count string }{{id, "3"}, {quote(id), quote("3")}, {id, "3.0"}} {
		user := s.user(int64(10 + i))
		token := s.token(user)
		empty := s.call(t, token, "GET", "/seckill/order/"+id, nil)
		if empty.Status != 200 || empty.Text("alipay_order") != "" || empty.Text("state") != "none" {
			t.Errorf("before buying: %v", empty)
		}
		a := s.call(t, token, "POST", "/seckill/buy", `{"seckill_id":`+written.id+`,"count":`+written.count+`,"address":`+
			quote(Address)+`,"unknown":true}`)
		if a.Status != 200 || a.Number("result") != "1" || !seckill.ValidOrderID(a.Text("order_id")) {
			t.Fatalf("buy: %v", a)
		}
		order := a.Text("order_id")
		pay := s.awaitState(t, user, id, seckill.PendingPayment).Text("alipay_order")
		for _, part := range []string{"method=alipay.trade.app.pay", "time_expire", "sign_type=RSA2", "266.64", order} {
			if !strings.Contains(pay, part) {
				t.Errorf("the pay string lacks %s: %s", part, pay)
			}
		}
		if again := s.call(t, token, "GET", "/seckill/order/"+id,
			nil); again.Text("state") == string(seckill.PendingPayment) &&
			again.Text("alipay_order") != pay && again.Text("alipay_order") != "" { // "" if the hold had ended
			t.Errorf("the pay string changed:\n%s\n%s", pay, again.Text("alipay_order"))
		}
		way := s.call(t, token, "POST", "/order/"+order+"/payment", `{"kind":"app"}`)
		if way.Status == 200 && !strings.Contains(way.Text("order_string"), order) || way.Status != 200 &&
			way.Text("code") != string(seckill.CodeNotPayable) { // the hold had ended by then
			t.Errorf("the way to pay: %v", way)
		}
		list := s.until(t, "order in the list", func() Answer {
			return s.call(t, token, "GET", "/order/list?page=1&size=10", nil)
		}, func(a Answer) bool { return len(objects(a.JSON["orders"])) == 1 })
		for _, got := range []any{list.JSON["orders"].([]any)[0], s.call(t, token, "GET", "/order/"+order, nil).JSON} {
			o := Fields(t, "order", got, map[string]string{"id": "string", "create_time": "time", "status": "number",
				"count":  "number",
				"amount": "number", "address": "string", "seckill": "object", "state": "string"})
			checkItem(t, "order's item", o["seckill"])
			if o["id"] != order || o["address"] != Address || o["count"] != json.Number("3") ||
				o["amount"] != json.Number("266.64") {
				t.Errorf("order: %v", o)
			}
		}
		s.sameShopper(t, user, order)
		if i == 0 {
			s.cancelled(t, user, order)
		}
	}
}

// sameShopper checks that a token may have its user as a number or as a string, and that no digit is lost.
func (s *Shop) sameShopper(t *testing.T, user, order string) {
	t.Helper()
	asText := forge(t, jwt.SigningMethodHS256, []byte(s.Secret), jwt.MapClaims{"iss": user, "sub": "1",
		"exp": 4102444800})
	if a := s.call(t, asText, "GET", "/order/"+order, nil); a.Status != 200 {
		t.Errorf("the same user as a string: %v", a)
	}
	if a := s.call(t, s.token(s.user(9)), "GET", "/order/"+order, nil); a.Status != 404 {
		t.Errorf("another user: %v", a)
	}
}

func (s *Shop) cancelled(t *testing.T, user, order string) {
	t.Helper()
	token := s.token(user)
	if a := s.call(t, token, "POST", "/order/"+order+"/cancel", nil); a.Status != 200 || a.Text("order_id") != order {
		t.Fatalf("cancel: %v", a)
	}
	s.awaitState(t, user, s.Items.Newest.ID, seckill.Cancelled)
	if a := s.call(t, token, "POST", "/order/"+order+"/cancel", nil); a.Status != 200 ||
		a.Text("state") != string(seckill.Cancelled) {
		t.Errorf("cancelled once more: %v, want the same again", a)
	}
	if a := s.call(t, token, "POST", "/order/"+order+"/payment", `{"kind":"wap"}`); a.Status != 409 ||
		a.Text("code") != string(seckill.CodeNotPayable) {
		t.Errorf("the way to pay a cancelled order: %v", a)
	}
	s.until(t, "units back on sale", func() Answer {
		return s.call(t, "", "GET", "/seckill/detail/"+s.Items.Newest.ID, nil)
	}, func(a Answer) bool { return a.Number("stock") == "10" })
}
