package sim

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// fault happens at the nth port call, counted from 0.
type fault struct {
	n    int
	mode string
}

var modes = []string{"killed before", "killed after", "fails before", "fails after"}

// meanwhile lists what others may do while the process is between two port calls.
var meanwhile = map[string]func(w *World, i *Instance){
	"the shopper pays": func(w *World, i *Instance) {
		no, err := w.Provider.Open(w.id("1"))
		if o := w.Provider.orders[w.id("1")]; err != nil && o != nil && len(o.trades) > 0 {
			no = o.trades[len(o.trades)-1].TradeNo // too late to begin, but not to finish
		}
		_ = w.Provider.Pay(w.id("1"), no)
	},
	"the shopper pays, and the notification comes": func(w *World, i *Instance) {
		_ = i.PayNow("1", w.id("1"))
		i.Deliver()
	},
	"the shopper cancels": func(w *World, i *Instance) {
		_, _ = i.Shop.Cancel(ctx, "1", w.id("1"))
	},
	"others handle what is queued and streamed": func(w *World, i *Instance) {
		w.Clock.Advance(seckill.DefaultVisible) // also for what this process holds
		for range 3 {
			_, _ = i.Next()
		}
		_ = i.readAll()
		if w.hasWebhook {
			_ = posting(w, i)
			_ = i.Webhook.Sweep(ctx)
		}
	},
	"schedules run":                          func(w *World, i *Instance) { _ = i.Schedules() },
	"Redis forgets all":                      func(w *World, i *Instance) { w.Forget() },
	"Redis is restored from before the sale": func(w *World, i *Instance) { _ = forget(w, i) },
	"the sale is stopped":                    func(w *World, i *Instance) { _ = i.Stop(true) },
	"an operator refunds the order": func(w *World, i *Instance) {
		_, _ = i.Refund.Order(ctx, w.id("1"), "ann", "broken", true)
	},
	"the shopper is blocked": func(w *World, i *Instance) { _ = blocked("1")(w, i) },
}

// hook returns a hook that counts calls and applies the fault once.
func (f fault) hook(w *World, calls *[]string) Hook {
	return func(call string, do func() error) error {
		n := len(*calls)
		*calls = append(*calls, call)
		if n != f.n {
			return do()
		}
		switch f.mode {
		case "killed before":
			panic(death{})
		case "killed after":
			_ = do()
			panic(death{})
		case "fails before":
			return errFault
		case "fails after":
			_ = do()
			return errFault
		}
		meanwhile[f.mode](w, w.Start(nil))
		return do()
	}
}

// TestKillPoints kills every flow before and after each of its port calls, lets each call fail before and after its
// effect, and lets others act just before it, one at a time. Whatever the process had done, the others finish it: I1
// to I11, I14 to I16, A1 and A4 hold immediately and afterwards, nothing is stranded, and every unit still sells.
func TestKillPoints(t *testing.T) {
	killed, overtaken, played := map[string]int{}, map[string]int{}, 0
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for _, s := range scenarios {
			t.Run(s.flow+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				calls := run(t, s, fault{n: -1})
				if len(calls) < s.atLeast {
					t.Fatalf("the step makes %d port calls, want at least %d: %v", len(calls), s.atLeast, calls)
				}
				for n := range calls {
					for _, mode := range modes {
						run(t, s, fault{n, mode})
					}
					for mode := range meanwhile {
						run(t, s, fault{n, mode})
					}
				}
				mu.Lock()
				killed[s.flow] += len(calls) * len(modes)
				overtaken[s.flow] += len(calls) * len(meanwhile)
				played++
				mu.Unlock()
			})
		}
	})
	for _, flow := range []string{"buy", "consume", "notify", "expire", "stage", "repair", "refund", "shop", "signin",
		"tell", "count", "deliver", "admit", "block", "fulfil"} {
		t.Logf("%-8s killed or failed at a port call %4d times, overtaken by others %4d times", flow, killed[flow],
			overtaken[flow])
		if killed[flow] == 0 || overtaken[flow] == 0 {
			t.Errorf("%s was never killed, or never overtaken", flow)
		}
	}
	if played < len(scenarios) || t.Failed() {
		return // -run selects some scenarios only, or they are not as they should be
	}
	holdBlock(t, "kill points", killFigures(killed, overtaken))
}

// run plays a scenario with one fault and returns the port calls of its step.
func run(t *testing.T, s scenario, f fault) (calls []string) {
	t.Helper()
	stock, limit := s.stock, s.limit
	if stock == 0 {
		stock = 5
	}
	if limit == 0 {
		limit = 2
	}
	item := itemOf("1001", stock, limit)
	item.Checks = s.checks
	items := []seckill.Item{item}
	if s.spans {
		items = append(items, itemOf("1002", stock, limit))
		for i := range items {
			variantOf(&items[i], i, true)
		}
	}
	w, err := NewWorldOf(Setting{Items: items, IndexLag: time.Second, Questions: 2, Networks: true})
	if err != nil {
		t.Fatal(err)
	}
	where := func() string {
		at := "-"
		if f.n >= 0 && f.n < len(calls) {
			at = calls[f.n]
		}
		return fmt.Sprintf("%s %s at call %d (%s)", s.flow, f.mode, f.n, at)
	}
	if s.prepare != nil {
		if err := s.prepare(w, w.Start(nil)); err != nil {
			t.Fatalf("prepare: %v", err)
		}
	}
	err = survive(func() error { return s.step(w, w.Start(f.hook(w, &calls))) })
	if f.n < 0 {
		got := ""
		if err != nil {
			got = string(seckill.CodeOf(err))
		}
		if got != s.want {
			t.Fatalf("without a fault the step ends with %v, want %q", err, s.want)
		}
	}
	if err := w.Check(); err != nil {
		t.Fatalf("%s: %v", where(), err)
	}
	if s.retry {
		err := repeat(w, s.step)
		if err != nil && (s.flow != "buy" || f.mode != "the shopper is blocked" ||
			seckill.CodeOf(err) != seckill.CodeBlocked) {
			t.Fatalf("%s: repeated: %v", where(), err)
		}
	}
	if s.then != nil {
		if err := s.then(w, w.Start(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if s.noMoreShoppers {
		return calls
	}
	if err := w.Drain(); err != nil {
		t.Fatalf("%s: %v", where(), err)
	}
	if s.flow == "block" {
		if err := w.checkCopied(w.Start(nil)); err != nil {
			t.Fatalf("%s: %v", where(), err)
		}
	}
	for user, want := range s.ends {
		if o, err := w.ledger.Order(ctx, w.id(user)); f.n < 0 && (err != nil || o.State != want) {
			t.Fatalf("without a fault the order of %s ends %s (%v), want %s", user, o.State, err, want)
		}
	}
	if err := w.SellOut(); err != nil {
		t.Fatalf("%s: %v", where(), err)
	}
	all := 0
	for _, it := range w.allItems() {
		all += it.Stock
	}
	if rows := w.Rows.Dump(ledger.TableUnits); len(rows) != all {
		t.Fatalf("%s: %d units sold of %d", where(), len(rows), all)
	}
	return calls
}

// repeat repeats a step, like a caller without an answer, while the others work, until it gets one: done, or stopped.
func repeat(w *World, step func(*World, *Instance) error) (err error) {
	for n := 0; n < 5 || n < 60 && seckill.CodeOf(err) == seckill.CodeNotReady; n++ {
		w.Clock.Advance(time.Second)
		if err = step(w, w.Start(nil)); err == nil || seckill.CodeOf(err) == seckill.CodeStopped {
			return nil
		}
		i := w.Start(nil)
		if _, err := i.Next(); err != nil {
			return err
		}
		if n < 5 {
			_ = i.Schedules()
		} // then an item that was rebuilt lacks only looks at the queue
	}
	return err
}

// survive runs f and returns the death of a killed process as an error.
func survive(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(death); !ok {
				panic(r)
			}
			err = errors.New("killed")
		}
	}()
	return f()
}

// TestChecksSee corrupts the world in every way that the checks cover, and expects the corruption to be reported with
// its guarantee.
func TestChecksSee(t *testing.T) {
	put := func(table, pk, sk string, row ledger.Row) ledger.Write {
		return ledger.Write{Key: ledger.Key{Table: table, PK: pk, SK: sk}, Op: ledger.OpPut, Row: row}
	}
	for name, corrupt := range map[string]func(w *World) []ledger.Write{
		"I3": func(w *World) []ledger.Write {
			return []ledger.Write{put(ledger.TableUnits, w.Item.ID+"#1", "0000003",
				ledger.Row{"v": int64(1), "order": w.id("1"), "user": "1"})}
		},
		"I2": func(w *World) []ledger.Write {
			return []ledger.Write{put(ledger.TableQuotas, "1", w.Item.ID, ledger.Row{"v": int64(1), "units": int64(0),
				"newest": w.id("1")})}
		},
		"I9": func(w *World) []ledger.Write {
			r := w.Rows.Dump(ledger.TableOrders)[0]
			r["units"], r["state"] = "", "rejected"
			delete(r, "id")
			return []ledger.Write{put(ledger.TableOrders, w.id("nobody"), "", r)}
		},
		"I5": func(w *World) []ledger.Write {
			r := w.Rows.Dump(ledger.TableOrders)[0]
			r["state"] = "queued"
			delete(r, "id")
			return []ledger.Write{put(ledger.TableOrders, w.id("1"), "", r)}
		},
		"I6": func(w *World) []ledger.Write {
			r := w.Rows.Dump(ledger.TableOrders)[0]
			r["state"] = "paid"
			delete(r, "id")
			return []ledger.Write{put(ledger.TableOrders, w.id("1"), "", r)}
		},
		"I16": func(w *World) []ledger.Write {
			r := w.Rows.Dump(ledger.TableOrders)[0]
			r["hidden"] = int64(1)
			delete(r, "id")
			return []ledger.Write{put(ledger.TableOrders, w.id("1"), "", r)}
		},
		"I7": func(w *World) []ledger.Write {
			return []ledger.Write{put(ledger.TablePayments, w.id("1"), "t",
				ledger.Row{"v": int64(1), "amount": int64(1), "state": "refund_due", "at": int64(1), "cause": "x"})}
		},
	} {
		w, err := NewWorld(5, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := placed("1", 2)(w, w.Start(nil)); err != nil {
			t.Fatal(err)
		}
		if err := w.Check(); err != nil {
			t.Fatalf("%s: before the corruption: %v", name, err)
		}
		if err := w.Rows.Transact(ctx, corrupt(w)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := w.Check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: after the corruption the judge says %v", name, err)
		}
	}
}
