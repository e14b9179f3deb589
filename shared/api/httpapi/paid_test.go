package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	receivedPath = "/order/" + orderID + "/received"
	requestPath  = "/order/" + orderID + "/refund-request"
)

func TestWhatShoppersSayOfTheirOrders(t *testing.T) {
	h, s := newStubs()
	if w := do(t, h, "POST", receivedPath, ""); w.Body.String() !=
		`{"alipay_order":"","state":"received","order_id":"`+orderID+`"}` || s.user != alice || s.id != orderID {
		t.Errorf("received: %s of %s %s", w.Body, s.user, s.id)
	}
	h, s = newStubs()
	if w := do(t, h, "POST", requestPath, `{"reason":"太小了","more":1}`); w.Body.String() !=
		`{"alipay_order":"","state":"paid","order_id":"`+orderID+`"}` || s.user != alice || s.id != orderID ||
		s.why != "太小了" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a refund: %s of %s %s, %q", w.Body, s.user, s.id, s.why)
	}
}

// TestAnOrderShowsItsParcel checks that a shipped order has carrier, number and the shopper's reason, others nothing.
func TestAnOrderShowsItsParcel(t *testing.T) {
	h, s := newStubs()
	v := orderView()
	v.Order.State, v.Order.Carrier, v.Order.Number, v.Order.RefundWhy = seckill.Shipped, "SF", "123", "x"
	s.orders = []shop.OrderView{v}
	if w := do(t, h, "GET", "/order/"+orderID, ""); !strings.Contains(w.Body.String(),
		`"carrier":"SF","number":"123","refund_reason":"x"`) {
		t.Error(w.Body)
	}
	s.orders = []shop.OrderView{orderView()}
	if w := do(t, h, "GET", "/order/"+orderID, ""); strings.Contains(w.Body.String(), "carrier") {
		t.Error(w.Body)
	}
}

// TestOlderClientsSeeWhatTheySaw: a client that was made when orders had no life after paid reads status 1 to 6. For
// each of these, the order's JSON is what it was: staff's notes and hiding do not show, and carrier, number and the
// shopper's reason are only there once they are known.
func TestOlderClientsSeeWhatTheySaw(t *testing.T) {
	for status, states := range map[string][]seckill.State{"1": {seckill.PendingPayment, seckill.Closing},
		"2": {seckill.Paid, seckill.Confirmed}, "3": {seckill.Shipped}, "4": {seckill.Received, seckill.Completed},
		"5": {seckill.RefundOwed}, "6": {seckill.Refunded}} {
		for _, state := range states {
			h, s := newStubs()
			v := orderView()
			v.Order.State, v.Order.Hidden = state, true
			v.Order.History = append(v.Order.History, seckill.Change{State: state, At: now.Add(time.Second)})
			if state != seckill.PendingPayment { // a note, after the change
				note := seckill.Change{State: state, At: now, Cause: "note by ann: x"}
				v.Order.History = append(v.Order.History, note)
			}
			want := strings.Replace(orderHead, `"status":1,"state":"pending_payment"`, `"status":`+status+
				`,"state":"`+string(state)+`"`, 1)
			if state != seckill.PendingPayment {
				want = strings.TrimSuffix(want, "]") + `,{"state":"` + string(state) + `","at":"2026-11-11T00:00:01Z"}]`
			}
			s.orders = []shop.OrderView{v}
			w := do(t, h, "GET", "/order/"+orderID, "")
			money, as := strings.CutPrefix(w.Body.String(), want+`,"payments":[],"money":"`)
			if !as || strings.Count(money, `"`) != 1 {
				t.Errorf("%s:\n%s\nwant\n%s", state, w.Body, want)
			}
		}
	}
}
