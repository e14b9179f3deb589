package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/seckill"
)

// TestADaysOrders ships as docs/OPERATE.md says, in a whole shop: the exported file is filled in and shipped, the
// shopper sees the parcel, and time ends the order.
func TestADaysOrders(t *testing.T) {
	started(t, noEnv, func(printed string) {
		base, s := firstShopper(t, printed)
		order, page := s.buy()
		s.pay(page)
		file := filepath.Join(t.TempDir(), "day.csv")
		orders := func(stdout string, args ...string) {
			t.Helper()
			code, out, stderr := command(t, append(append([]string{"orders"}, args...), "--url", base)...)
			if code != exitOK || !strings.Contains(same(out), stdout) || stderr != "" {
				t.Errorf("%s: exit %d\n%s%s", args, code, out, stderr)
			}
		}
		orders("Exported 1 order to ", "export", "--item", local.DemoLive, "--state", "paid", "--csv", file)
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(order+",,,paid,")) {
			t.Fatalf("%v\n%s", err, text)
		}
		text = bytes.Replace(text, []byte(order+",,,"), []byte(order+",SF,SF1000001,"), 1)
		orders("Shipped: 1 order; 0 were shipped so already.", "ship", "--confirm", "--csv",
			written(t, "day.csv", text))
		if a := s.call("GET", "/seckill/order/"+local.DemoLive, nil); a.Text("state") != "shipped" {
			t.Errorf("the shopper sees %v", a)
		}
		if a := s.call("GET", "/order/"+order, nil); a.Text("carrier") != "SF" || a.Text("number") != "SF1000001" {
			t.Errorf("the shopper sees %v", a)
		}
		week := 7 * 24 * time.Hour // the most that a call lets pass
		s.pass(week)
		s.pass(week)
		orders("  bought  at 199.00 yuan each, ordinary price 899.00; item version 1\n"+
			"  picture  /pictures/headphones.svg\n", "show", order)
		orders("  state  shipped, older", "show", order)
		s.pass(seckill.ReceivedAfter - 2*week + time.Hour)
		orders("  state  received, older", "show", order)
		s.pass(seckill.CompletedAfter)
		orders("  state  completed, older", "show", order)
		orders("completed  9 ", "list", "--item", local.DemoLive)
		orders("Order ORDER: hidden. It is completed.", "hide", order, "--why", "a test")
		orders("No orders.", "list", "--item", local.DemoLive)
		refuses(t, step{"orders list --item 9999 --url " + base, exitUsage, "",
			"item 9999: " + base + " has no such item"})
		orders("completed  6 ", "list", "--item", local.DemoLive, "--hidden")
		orders("TIME  completed  7 days after receipt\n", "show", order)
	})
}
