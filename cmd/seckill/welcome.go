package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	shownItems    = 5
	shownShoppers = 2
	tokenValid    = 7 * 24 * time.Hour
)

// welcome prints the addresses to open and commands to try.
func welcome(w io.Writer, sys *local.System, opt local.Options) error {
	now := sys.Clock.Now()
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	kept := "the data is gone on exit"
	if opt.Servers.Any() {
		kept = "the data of real servers remains, other data is gone on exit"
	}
	p("seckill %s: a whole sale on this machine. Ctrl-C stops it; %s.\n", opt.Version, kept)
	p("  Storefront  %s/", sys.URL())
	p("  Status      %s/status", sys.URL())
	p("  Back office %s (good once, for 15 minutes)", sys.StaffLink())
	p("  Cashier     opens when you pay an order; no money moves")
	p("  Sign-in     as one of %d demo shoppers, without a password", len(local.Shoppers))
	keys := "new at each start"
	if opt.Keys != "" {
		keys = "kept in " + opt.Keys
	}
	p("  Keys        sign payments, %s; for an Alipay SDK: %s/_local/keys", keys, sys.URL())
	p("  Hold        an unpaid order keeps its units for %s, plus %s of grace\n", short(opt.Hold), short(seckill.Grace))
	for i, it := range opt.Items {
		if i == shownItems {
			p("%14sand %d more", "", len(opt.Items)-i)
			break
		}
		p("  %-10s  %-19s  %-7s  %d units, %d per shopper  %s", first(i, "Items"), it.ID, it.StateAt(now), it.Stock,
			it.Limit, it.Commodity.Title)
	}
	if len(opt.Items) == 0 {
		p("  Items       none: make them in the back office, or import a file, see seckill items import --help")
	}
	p("")
	var tokens []string
	for i, s := range local.Shoppers[:shownShoppers] {
		token, err := sys.Token(s.User, tokenValid)
		if err != nil {
			return err
		}
		tokens = append(tokens, token)
		p("  %-10s  %s %s, token %s below", first(i, "Shoppers"), s.User, s.Name, string(rune('A'+i)))
	}
	what := "Try these commands"
	if len(opt.Items) == 0 {
		what = "For your own commands,"
	}
	p("\n%s in another terminal:\n", what)
	if sys.URL() != defaultURL {
		p("  export %s=%s    # where seckill's other commands find this shop", urlVariable, sys.URL())
	}
	p("  S=%s\n  A=%s\n  B=%s\n", sys.URL(), tokens[0], tokens[1])
	if len(opt.Items) > 0 {
		tryPurchase(p, firstLive(opt.Items, now), opt.Hold+seckill.Grace)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tryPurchase prints commands that buy, pay and let expire: after hold the unpaid order's unit is back.
func tryPurchase(p func(string, ...any), item string, hold time.Duration) {
	p(`  curl -sw '\n' "$S/seckill/ing?page=1&size=10"`)
	p(`  curl -sw '\n' $S/seckill/detail/%s`, item)
	p(
		`  curl -sw '\n' $S/seckill/buy -H "Authorization: Bearer $A" -d '{"seckill_id":"%s","count":1,"address":"杭州市西湖区文三路 1 号"}'`, item)
	p(`  curl -sw '\n' $S/seckill/order/%s -H "Authorization: Bearer $A"`, item)
	p("\n  # pay: open the address that this command prints")
	p(
		`  echo "$S/cashier?$(curl -s $S/seckill/order/%s -H "Authorization: Bearer $A" | sed 's/.*"alipay_order":"\([^"]*\)".*/\1/')"`, item)
	p(`  curl -sw '\n' $S/order/list -H "Authorization: Bearer $A"`)
	p("\n  # let an order expire: buy, move the clock past its hold, see its unit return")
	p(
		`  curl -sw '\n' $S/seckill/buy -H "Authorization: Bearer $B" -d '{"seckill_id":"%s","count":1,"address":"上海市黄浦区人民大道 200 号"}'`, item)
	p(`  curl -sw '\n' $S/_local/clock -d '{"advance_seconds":%d}'`, int(hold/time.Second)+1)
	p(`  curl -sw '\n' $S/seckill/order/%s -H "Authorization: Bearer $B"`, item)
	p(`  curl -sw '\n' $S/_local/state`)
}

// short writes a duration without zeros: "15m" instead of "15m0s".
func short(d time.Duration) string {
	s := strings.Replace(d.String(), "m0s", "m", 1)
	return strings.Replace(s, "h0m", "h", 1)
}

// first returns the heading for the first of several lines, and "" for the others.
func first(i int, heading string) string {
	if i == 0 {
		return heading
	}
	return ""
}

func firstLive(items []seckill.Listing, now time.Time) string {
	for _, it := range items {
		if it.StateAt(now) == seckill.ItemOnline {
			return it.ID
		}
	}
	return items[0].ID
}
