package suite

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

// testErase erases what a shopper's closed orders have of them: a message that still has the address does not write it
// back. Orders of paid goods keep it, and only staff see a name.
func testErase(t *testing.T, s *stack) {
	report.timed(t, nil)
	const name = "小红帽"
	sale := s.sell(t, 9, 2)
	id := newShoppers(2)
	user, payer := strconv.FormatInt(id, 10), strconv.FormatInt(id+1, 10)
	signer, err := jwtauth.NewSigner(jwtauth.Keys{Current: s.secret})
	if err != nil {
		t.Fatal(err)
	}
	p := sale.shopper(t, id)
	claims := seckill.Claims{User: user, Name: name, Expires: time.Now().Add(time.Hour)}
	if p.token, err = signer.SignToken(claims); err != nil {
		t.Fatal(err)
	}
	paid, _ := sale.shopper(t, id+1).paid(t, 1)
	order, _ := p.bought(t, 1, "cart")
	message := sale.message(t, order)
	if a, err := p.Call(t.Context(), p.token, "POST", "/order/"+order+"/cancel", nil); err != nil ||
		a.Status != http.StatusOK {
		t.Fatalf("cancel: %v, %v", a, err)
	}
	p.await(t, seckill.Cancelled)
	sale.converged(t)
	o, err := operator.Give[operator.Order](t.Context(), &s.operator, &operator.ReadOrder{Order: order})
	if err != nil || o.Name != name || strings.Contains(p.order(t, order).Raw, name) {
		t.Errorf("%+v, %v; want a name for staff alone", o, err)
	}

	if _, err := operator.Give[operator.Erased](t.Context(), &s.operator, &operator.Erase{User: payer}); err == nil ||
		!strings.Contains(err.Error(), paid) {
		t.Errorf("goods are to be shipped: %v", err)
	}
	for _, want := range []int{1, 0} {
		if e, err := operator.Give[operator.Erased](t.Context(), &s.operator,
			&operator.Erase{User: user}); err != nil ||
			e != (operator.Erased{Orders: 1, Erased: want}) {
			t.Errorf("%+v, %v, want %d erased", e, err, want)
		}
	}
	s.send(t, "OrdersQueueUrl", string(message.Encode()))
	s.drained(t, "OrdersQueueUrl")
	kept := 0
	if err := s.source(sale.item.ID).Read(t.Context(), func(l *record.Line) error {
		text := fmt.Sprint(l.Row, l.Value)
		addressed := strings.Contains(text, contracttest.Address)
		if strings.Contains(text, user) && (addressed || strings.Contains(text, name)) {
			t.Errorf("not erased: %+v", *l)
		}
		if l.Row["user"] == payer && addressed {
			kept++
		}
		return nil
	}); err != nil || kept != 1 {
		t.Errorf("%d orders of the other shopper have an address, %v", kept, err)
	}
	if a := p.order(t, order); a.JSON["address"] != "" || a.Text("state") != "cancelled" {
		t.Errorf("the order's page: %v", a)
	}
	sale.converged(t)
}
