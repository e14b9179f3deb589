package local_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/seckill"
)

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
