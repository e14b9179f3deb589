package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/seckill"
)

// blockUser has an operator block a user for an item; "": for every item.
func (w *shopTest) blockUser(user, item string) {
	w.t.Helper()
	done, err := gives[block.Done](w,
		&operator.PutBlocks{Blocks: operator.Blocks{{Subject: user, Item: item, Reason: "a script"}}})
	if err != nil || done.Made != 1 {
		w.t.Fatalf("block: %+v, %v", done, err)
	}
}

// TestABlockedShopperWithoutChecks checks that a block bites where an item has no checks: the purchase is taken, and
// its order ends as rejected. A shopper who is blocked for another item, or no longer, buys as always.
func TestABlockedShopperWithoutChecks(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 9, 2), live("6", 9, 2)},
		Contact: "help@shop.example"})
	w.blockUser("1001", "")
	if a := w.buy("1001", "5", 2, "k"); a.status != 200 {
		t.Fatalf("buy: %v", a)
	}
	a := w.awaitState("1001", "5", seckill.Rejected)
	if a.text("reason") != "blocked" || a.text("alipay_order") != "" {
		t.Errorf("the order's state: %v", a)
	}
	if want := "您的账号暂时无法购买，如有疑问请联系 help@shop.example。"; a.text("help") != want {
		t.Errorf("help: %v, want %s", a, want)
	}
	order := w.call(w.token("1001"), "GET", "/order/"+a.text("order_id"), nil, "Accept-Language", "en")
	if order.status != 200 || order.text("state") != "rejected" || order.text("reason") != "blocked" ||
		!strings.Contains(order.text("help"), "cannot buy at the moment. If you think that this is wrong, write to "+
			"help@shop.example.") {
		t.Errorf("the order: %v", order)
	}
	w.awaitLeft("5", "9")
	if _, err := gives[bool](w, &operator.DropBlock{Subject: "1001"}); err != nil {
		t.Fatal(err)
	}
	w.blockUser("1001", "6")
	w.bought("1001", "5")
	w.bought("1002", "6")
	w.drained()
}

// TestABlockAmidPurchases runs blockAmid on embedded servers.
func TestABlockAmidPurchases(t *testing.T) {
	t.Parallel()
	blockAmid(t, local.Options{}, "5")
}

// placing notes which orders are placed, and which of those began after the block was acknowledged.
type placing struct {
	consume.Ledger
	after        int           // orders are placed before half is closed
	half         chan struct{} // closed when so many are placed
	most         int           // begin before the block is acknowledged
	acknowledged chan struct{} // closed when it is

	mu            sync.Mutex
	begun, placed int
	late          []string
}

func (p *placing) Place(ctx context.Context, o seckill.Order, limit int) error {
	p.mu.Lock()
	p.begun++
	waits := p.begun > p.most
	p.mu.Unlock()
	if waits {
		<-p.acknowledged
	}
	late := false
	select {
	case <-p.acknowledged:
		late = true
	default:
	}
	err := p.Ledger.Place(ctx, o, limit)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		if p.placed++; p.placed == p.after {
			close(p.half)
		}
		if late {
			p.late = append(p.late, o.ID)
		}
	}
	return err
}

// blockAmid blocks a user while 100 purchases of theirs are in the queue and some of them are placed: once the block is
// acknowledged, none is placed any more. The others end as rejected, their units go back, and the books balance.
func blockAmid(t *testing.T, o local.Options, item string) {
	const purchases, first, user = 100, 10, "1001"
	o.Items, o.Workers = []seckill.Listing{live(item, purchases, purchases)}, 4
	var orders []string
	var seen *placing
	w := startChanged(t, o, func(sys *local.System) {
		// Before the workers start, everything stays in the queue.
		if err := errors.Join(sys.Stage.Run(t.Context()), sys.Repair.Run(t.Context())); err != nil {
			t.Fatal(err)
		}
		for i := range purchases {
			id, err := sys.Buy.Buy(t.Context(), buy.Purchase{User: user, Item: item, Count: 1,
				Given: seckill.Given{Address: address}, Key: fmt.Sprint(i)})
			if err != nil {
				t.Fatalf("purchase %d: %v", i, err)
			}
			orders = append(orders, id)
		}
		seen = &placing{Ledger: sys.Consume.Ledger, after: first, half: make(chan struct{}), most: 5 * first,
			acknowledged: make(chan struct{})}
		sys.Consume.Ledger = seen
	})
	select {
	case <-seen.half:
	case <-time.After(patience):
		t.Fatal("no order is placed")
	}
	w.blockUser(user, item) // its tables may be kept
	close(seen.acknowledged)
	atOnce := w.states(orders)
	w.waitIdle()
	end := w.states(orders)
	placed, rejected := len(end[seckill.PendingPayment]), len(end[seckill.Rejected])
	t.Logf("%d placed when the block was acknowledged, %d at the end; %d rejected",
		len(atOnce[seckill.PendingPayment]), placed, rejected)
	if len(seen.late) > 0 || placed != len(atOnce[seckill.PendingPayment]) {
		t.Errorf("orders placed after the acknowledgement: %v, by state then %v, at the end %v", seen.late, atOnce, end)
	}
	if placed < first || rejected == 0 || placed+rejected != purchases {
		t.Errorf("%d placed, %d rejected; want some of both, %d in all", placed, rejected, purchases)
	}
	for _, o := range end[seckill.Rejected] {
		if o.Reason != seckill.CodeBlocked || o.History[len(o.History)-1].Cause != "blocked" {
			t.Errorf("order %s: reason %s, history %v", o.ID, o.Reason, o.History)
		}
	}
	w.awaitLeft(item, fmt.Sprint(purchases-placed))
	w.balances(item)
}

// states reads orders by state; those without a row are left out.
func (w *shopTest) states(orders []string) map[seckill.State][]seckill.Order {
	w.t.Helper()
	out := map[seckill.State][]seckill.Order{}
	for _, id := range orders {
		o, err := w.Ledger.Order(w.t.Context(), id)
		if err != nil && !errors.Is(err, seckill.ErrNoOrder) {
			w.t.Fatal(err)
		}
		if err == nil {
			out[o.State] = append(out[o.State], o)
		}
	}
	return out
}

// balances audits an item: rows, keys and queues.
func (w *shopTest) balances(item string) {
	w.t.Helper()
	it, err := w.Items.Get(w.t.Context(), item)
	if err != nil {
		w.t.Fatal(err)
	}
	report, err := audit.Run(w.t.Context(), audit.SourceFunc(func(ctx context.Context,
		each func(*record.Line) error) error {
		return w.Dump(ctx, &it, each)
	}), audit.Options{Item: item})
	if err != nil {
		w.t.Fatal(err)
	}
	var holds []string
	for _, g := range report.Results {
		switch g.Verdict {
		case audit.Broken:
			w.t.Errorf("%s %s: %+v", g.ID, g.Name, g.Findings)
		case audit.Holds:
			holds = append(holds, g.ID)
		}
	}
	for _, id := range []string{"I1", "I2", "I3", "I5", "L2", "L3"} {
		if !slices.Contains(holds, id) {
			w.t.Errorf("the audit says of %v only that they hold", holds)
		}
	}
}
