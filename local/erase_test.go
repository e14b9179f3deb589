package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/seckill"
)

// addresses returns the number of order rows and Redis keys that contain the tests' address, and the user's id if
// given.
func (w *shopTest) addresses(user string) (n int) {
	w.t.Helper()
	for _, row := range w.Rows.Dump(ledger.TableOrders) {
		if row["user"] == user && strings.Contains(fmt.Sprint(row), address) {
			n++
		}
	}
	items, err := w.Items.List(w.t.Context(), time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range items {
		err := w.Dump(w.t.Context(), &items[i], func(l *record.Line) error {
			if l.Key != "" && strings.Contains(l.Value, address) && strings.Contains(l.Value, "|"+user+"|") {
				n++
			}
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return n
}

// TestErasedAddressesAreGone checks rows and Redis, that a message which still has an address does not write it back,
// and that orders and money stay unchanged.
func TestErasedAddressesAreGone(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Hold: 30 * time.Second, Items: []seckill.Listing{live("5", 10, 5), live("6", 10, 5)}})
	var orders []string
	for _, item := range []string{"5", "5", "6"} {
		order, _ := w.bought("1001", item)
		orders = append(orders, order)
		if a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", ""); a.status != http.StatusOK {
			t.Fatal(a)
		}
		w.awaitState("1001", item, seckill.Cancelled)
	}
	kept, pay := w.bought("1002", "5")
	w.payAtCashier(pay)
	w.awaitState("1002", "5", seckill.Paid)
	w.waitIdle()
	erase := func(user string) (operator.Erased, error) {
		return gives[operator.Erased](w, &operator.Erase{User: user})
	}

	if _, err := erase("1002"); !strings.Contains(refusal(err).Detail, kept+", paid") || w.addresses("1002") != 1 {
		t.Errorf("goods are to be shipped: %v", err)
	}
	message := seckill.Message{Kind: seckill.MessageOrder}
	for _, id := range orders {
		o, err := w.Ledger.Order(t.Context(), id)
		if err != nil || o.Address != address {
			t.Fatalf("%+v, %v", o, err)
		}
		message.Reservation = seckill.Reservation{Request: seckill.Request{Order: o.ID, Item: o.Item, User: o.User,
			Count: o.Count, Given: seckill.Given{Address: o.Address}, Created: o.Created}, Units: []int{1}}
	}
	rows := func() string {
		all := ""
		for _, table := range []string{ledger.TableUnits, ledger.TableQuotas, ledger.TablePayments,
			ledger.TableReturns} {
			all += fmt.Sprint(w.Rows.Dump(table))
		}
		return all
	}
	before := rows()
	for _, want := range []int{3, 0} {
		if e, err := erase("1001"); err != nil || e != (operator.Erased{Orders: 3, Erased: want}) ||
			w.addresses("1001") != 0 {
			t.Errorf("%+v, %v, want %d erased; %d addresses are left", e, err, want, w.addresses("1001"))
		}
	}
	if rows() != before {
		t.Error("the rows have changed")
	}
	if a := w.call(w.token("1001"), "GET", "/order/"+orders[0], nil); a.status != 200 || a.json["address"] != "" ||
		a.text("state") != "cancelled" {
		t.Errorf("the order's page: %v", a)
	}
	if a := w.call(w.token("1001"), "GET", "/order/list", nil); a.status != 200 ||
		strings.Count(a.raw, `"id":"o`) != 3 {
		t.Errorf("the list: %v", a)
	}

	for _, units := range [][]int{{1}, {}} { // as sent, and as after a redraw that found too few units
		message.Reservation.Units = units
		if err := w.Orders.Send(t.Context(), message, 0); err != nil {
			t.Fatal(err)
		}
		w.waitIdle()
	}
	w.Redis.Flush() // Redis has lost the fact that it was placed
	w.pass(time.Minute)
	if err := w.Orders.Send(t.Context(), message, 0); err != nil {
		t.Fatal(err)
	}
	w.waitIdle()
	if n := w.addresses("1001"); n != 0 {
		t.Errorf("messages wrote %d addresses back", n)
	}
	w.pass(time.Minute)
	w.drained()
}

// TestNamesGoWithTheAddress: an order has the name that its shopper's sign-in told, only staff see it, and erasing the
// address erases it in rows and Redis; without a name in the token there is none.
func TestNamesGoWithTheAddress(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := start(t, local.Options{Log: telemetry.NewLog(&log, slog.LevelDebug),
		Items: []seckill.Listing{live("5", 10, 5)}})
	user, name := local.Shoppers[0].User, local.Shoppers[0].Name
	token := w.call("", "POST", "/signin", w.signIn(user)).text("token")
	order := w.call(token, "POST", "/seckill/buy", map[string]any{"seckill_id": "5", "count": 1, "address": address}).
		text("order_id")
	w.awaitState(user, "5", seckill.PendingPayment)
	w.waitIdle()
	nameless, _ := w.bought("1002", "5")
	if a := w.call(token, "POST", "/order/"+order+"/cancel", ""); a.status != http.StatusOK {
		t.Fatal(a)
	}
	w.awaitState(user, "5", seckill.Cancelled)
	w.waitIdle()
	want := func(id, name, address string) {
		t.Helper()
		o, err := gives[operator.Order](w, &operator.ReadOrder{Order: id})
		d, derr := gives[operator.Delivery](w, &operator.ReadDelivery{Order: id})
		if err != nil || derr != nil || o.Name != name || d.Name != name || d.Address != address {
			t.Errorf("%+v, %+v, %v, %v; want the name %q and the address %q", o, d, err, derr, name, address)
		}
	}
	want(order, name, address)
	want(nameless, "", address)
	if a := w.call(token, "GET", "/order/"+order, nil); strings.Contains(a.raw, name) {
		t.Errorf("the API has the name: %v", a)
	}
	if _, err := gives[operator.Erased](w, &operator.Erase{User: user}); err != nil {
		t.Fatal(err)
	}
	want(order, "", "")
	rows := fmt.Sprint(w.Rows.Dump(ledger.TableOrders))
	it, err := w.Items.Get(t.Context(), "5")
	err = errors.Join(err, w.Dump(t.Context(), &it, func(l *record.Line) error { rows += l.Value; return nil }))
	if err != nil || strings.Contains(rows, name) {
		t.Errorf("%v; the name is still in %s", err, rows)
	}
	w.halt()
	if strings.Contains(log.String(), name) {
		t.Errorf("the log has the name: %s", &log)
	}
}

// TestNetworkAddresses: an order keeps the network address that bought it only in a shop that says so, for as long as
// that says; only who may see where to ship sees it, and no log, event and export has it.
func TestNetworkAddresses(t *testing.T) {
	t.Parallel()
	for _, keep := range []time.Duration{0, 24 * time.Hour} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			events := filepath.Join(t.TempDir(), "events")
			w := start(t, local.Options{Log: telemetry.NewLog(&log, slog.LevelDebug), KeepNetworks: keep,
				Events: events, Items: []seckill.Listing{live("5", 10, 5)}})
			order, _ := w.bought("1001", "5")
			w.waitIdle()
			want := func(network netip.Addr) {
				t.Helper()
				d, err := gives[operator.Delivery](w, &operator.ReadDelivery{Order: order})
				if err != nil || d.Network != network {
					t.Errorf("%+v, %v; want the network address %q", d, err, network)
				}
			}
			kept := netip.Addr{}
			if keep > 0 {
				kept = netip.MustParseAddr("127.0.0.1")
			}
			want(kept)
			list, err := gives[operator.OrderList](w, &operator.ListOrders{Item: "5", Limit: 10})
			if err != nil || len(list.Orders) != 1 || strings.Contains(fmt.Sprint(list), "127.0.0.1") {
				t.Errorf("%+v, %v", list, err)
			}
			it, err := w.Items.Get(t.Context(), "5")
			if err != nil {
				t.Fatal(err)
			}
			w.pass(it.End.Add(keep).Sub(w.Clock.Now()) - 2*time.Minute)
			want(kept)
			w.pass(65 * time.Minute) // a round begins each hour
			want(netip.Addr{})
			if row := fmt.Sprint(w.Rows.Dump(ledger.TableOrders)); strings.Contains(row, "127.0.0.1") ||
				!strings.Contains(row, address) {
				t.Errorf("the row: %s", row)
			}
			w.halt()
			told, err := os.ReadFile(events)
			text := log.String() + string(told)
			if err != nil || len(told) == 0 || strings.Contains(text, `127.0.0.1"`) {
				t.Errorf("%v; log and events:\n%s", err, text)
			}
		})
	}
}

// TestNothingIsErasedWhileAnOrderWaits checks that an order which waits for its placement blocks the erasure.
func TestNothingIsErasedWhileAnOrderWaits(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 10, 5)}})
	r := seckill.Request{Order: seckill.KeyedOrderID("5", "1001", "k"), Item: "5", User: "1001", Count: 1,
		Given: seckill.Given{Address: address}, Created: w.Clock.Now()}
	if _, err := w.Stock.Reserve(t.Context(), w.Clock.Now(), r, true, seckill.Resend); err != nil {
		t.Fatal(err)
	}
	if _, err := gives[operator.Erased](w, &operator.Erase{User: "1001"}); !strings.Contains(refusal(err).Detail,
		r.Order+", queued") {
		t.Errorf("%v", err)
	}
	for user, want := range map[string]bool{"0x1": false, "99999999999999999999999": false, "77": true} {
		if _, err := gives[operator.Erased](w, &operator.Erase{User: user}); (err == nil) != want {
			t.Errorf("user %s: %v, want it carried out: %t", user, err, want)
		}
	}
	w.pass(time.Minute) // repair sends its message
	w.drained()
}
