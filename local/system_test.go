package local_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		behaviour string
		opt       local.Options
		want      string
	}{
		{"an address of the network", local.Options{Addr: "0.0.0.0:0"}, "want a loopback address"},
		{"an address without a port", local.Options{Addr: "localhost"}, "want a port"},
		{"a short hold", local.Options{Addr: ":0", Hold: time.Second}, "hold 1s: want 5s"},
		{"a long hold", local.Options{Addr: ":0", Hold: 25 * time.Hour}, "hold 25h0m0s"},
		{"negative workers", local.Options{Addr: ":0", Workers: -1}, "-1 workers"},
		{"not an item", local.Options{Addr: ":0", Items: []seckill.Listing{{Item: seckill.Item{ID: "1"}}}},
			"item 1"},
		{"the same item twice", local.Options{Addr: ":0", Items: []seckill.Listing{live("1", 1, 1), live("1", 1, 1)}},
			"item 1"},
	} {
		sys, err := local.New(tt.opt)
		if err == nil || sys != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.behaviour, err, tt.want)
		}
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer l.Close()
	if _, err := local.New(local.Options{Addr: l.Addr().String()}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v, want an address in use", err)
	}
}

func TestASystemThatWasNeverStartedFreesItsPort(t *testing.T) {
	t.Parallel()
	sys, err := local.New(local.Options{Addr: ":0", ShopKeys: keyPairs()[0], GatewayKeys: keyPairs()[1]})
	must.OK(t, err)
	addr := strings.Replace(strings.TrimPrefix(sys.URL(), "http://"), "localhost", "127.0.0.1", 1)
	for range 2 { // a second Close does nothing
		if err := sys.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	l, err := net.Listen("tcp", addr)
	must.OK(t, err)
	l.Close()
}

func TestCloseEndsRequestsUnderWayAndPlacesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 50, 1)}})
	var accepted []string
	for i := range 50 {
		if a := w.buy(user(i), "5", 1, ""); a.Status == 200 {
			accepted = append(accepted, a.Text("order_id"))
		}
	}
	// A connection that never sends a request must not delay the end.
	idle, err := net.Dial("tcp", strings.Replace(strings.TrimPrefix(w.URL(), "http://"), "localhost", "127.0.0.1", 1))
	must.OK(t, err)
	defer idle.Close()
	w.http.CloseIdleConnections()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), local.MaxClose)
	defer cancel()
	err = w.Close(ctx)
	if took := time.Since(began); took > local.MaxClose {
		t.Errorf("closing took %v (%v), want at most %v", took, err, local.MaxClose)
	}
	if len(accepted) != 50 {
		t.Errorf("%d of 50 accepted", len(accepted))
	}
	for _, id := range accepted {
		if _, found, _ := w.Rows.Get(t.Context(), ledger.Key{Table: ledger.TableOrders, PK: id}); !found {
			t.Errorf("order %s was accepted and is not placed", id)
		}
	}
	if _, err := w.try("", "GET", "/healthz", nil); err == nil {
		t.Error("the port is still served")
	}
}

// logs collects a system's log.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestAddressesAndTokensReachNoLog(t *testing.T) {
	t.Parallel()
	var log logs
	later := live("6", 3, 1)
	later.Start = time.Now().Add(time.Hour)
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 3, 1), later},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	token := w.token("1001")
	const secretAddress = "秘密街 424242 号"
	shop := func(key string) contracttest.Answer {
		return w.call(token, "POST", "/seckill/buy", map[string]any{"seckill_id": "5", "count": 1,
			"address": secretAddress}, "Idempotency-Key", key)
	}
	shop("k1")
	w.awaitState("1001", "5", seckill.PendingPayment)
	w.call(token, "GET", "/order/list", nil)
	w.call(token+"x", "GET", "/order/list", nil)
	w.call(token, "POST", "/seckill/buy", `{"address":"`+secretAddress)
	// Messages that fail, are parked and are delivered again, each with the address in it.
	w.Redis.Flush()
	shop("k1")
	message := seckill.Message{Kind: seckill.MessageOrder,
		Reservation: seckill.Reservation{Request: seckill.Request{Order: seckill.KeyedOrderID("999", "1", "k"),
			Item: "999", User: "1", Count: 1, Given: seckill.Given{Address: secretAddress}, Created: w.Clock.Now()},
			Units: []int{1}}}
	for _, body := range [][]byte{message.Encode(), bytes.Replace(message.Encode(), []byte(`"v":1`), []byte(`"v":9`),
		1), message.Encode()[:60],
		bytes.Replace(message.Encode(), []byte(`"count":1`), []byte(`"count":"`+secretAddress+`"`), 1)} {
		must.OK(t, w.Orders.SendRaw(body, 0))
	}
	message.Reservation.Item = "6" // the stock does not have it yet, so the message is delivered again
	must.OK(t, w.Orders.Send(t.Context(), message, 0))
	var a contracttest.Answer
	w.eventually("rebuild", func() bool {
		a = w.buy("1002", "5", 1, "k2")
		return a.Status == 200
	}, func() any { return a })
	lost := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.NotificationLost: 1}}
	must.OK(t, w.Gateway.SetFaults(lost))
	w.payAtCashier(w.awaitState("1002", "5", seckill.PendingPayment).Text("alipay_order"))
	for _, line := range []string{"notifications were not confirmed", "message comes back"} {
		w.eventually("log of "+line, func() bool {
			return strings.Contains(log.String(), line)
		}, func() any { return log.String() })
	}
	for _, secret := range []string{"秘密街", "424242", "\\u79d8", token, strings.Split(token, ".")[2],
		"alipay.trade.app.pay"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%.30q is in the log:\n%s", secret, log.String())
		}
	}
}

func TestInvariantsSeeWhatIsBroken(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 3, 1)}})
	order, _ := w.bought("1001", "5")
	w.drained()
	unit := ledger.Key{Table: ledger.TableUnits, PK: "5#1", SK: "0000001"}
	row, found, err := w.Rows.Get(t.Context(), unit)
	if err != nil || !found || row["order"] != order {
		t.Fatalf("unit row %v, %v", row, err)
	}
	transact := func(writes ...ledger.Write) {
		t.Helper()
		must.OK(t, w.Rows.Transact(t.Context(), writes))
	}
	transact(ledger.Write{Key: unit, Op: ledger.OpDelete})
	if n := len(localtest.Broken(w.System)); n == 0 {
		t.Error("a lost unit row is not seen")
	}
	if n := len(localtest.Unconverged(w.System)); n == 0 {
		t.Error("a number held for nothing is not seen")
	}
	row = ledger.Row{"v": ledger.Version, "order": order, "user": "1001"}
	transact(ledger.Write{Key: unit, Op: ledger.OpPut, Row: row},
		ledger.Write{Key: ledger.Key{Table: ledger.TableUnits, PK: "5#2", SK: "0000001"}, Op: ledger.OpPut,
			Row: maps.Clone(row)})
	if n := len(localtest.Broken(w.System)); n == 0 {
		t.Error("a unit that is sold twice is not seen")
	}
	transact(ledger.Write{Key: ledger.Key{Table: ledger.TableUnits, PK: "5#2", SK: "0000001"}, Op: ledger.OpDelete})
	w.drained()
}
