package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// TestDoorIsTried checks that histories have what A1 and A4 are about: every way to come in, and to be kept out.
func TestDoorIsTried(t *testing.T) {
	const most = 1000
	missing := []string{"challenge: yes", "challenge: account_new", "challenge: blocked", "challenge: no_checks",
		"challenge: not_started", "ticket: yes", "ticket: check_proof", "ticket: check_question",
		"ticket: too_many_answers", "ticket: blocked", "reply: late", "buy: ticket_required", "buy: ticket_key",
		"buy: ticket_signature", "buy: ticket_foreign", "buy: ticket_expired", "block: yes", "placing: blocked",
		"ticket: for a sum", "key: behind", "key: rotated", "key: of before", "key: renewed", "key: unread"}
	for seed := uint64(1); len(missing) > 0 && seed <= most; seed++ {
		r := Play(seed, Options{}, false)
		if r.Err != nil {
			t.Fatalf("seed %d: %v", seed, r.Err)
		}
		missing = slices.DeleteFunc(missing, func(what string) bool { return r.sim.door.heard[what] > 0 })
	}
	if len(missing) > 0 {
		t.Errorf("nobody hears in %d seeds: %q", most, missing)
	}
}

// TestKeyDelay: the world's operators wait as `seckill keys` does, which is long enough for three reads of the secrets.
func TestKeyDelay(t *testing.T) {
	if keyDelay != 3*config.RefreshEvery {
		t.Errorf("keys begin after %s here, and after three times %s there", keyDelay, config.RefreshEvery)
	}
}

// TestDoorChecksSee breaks A1 and A4, and expects the checks to report it.
func TestDoorChecksSee(t *testing.T) {
	order := seckill.Order{ID: seckill.KeyedOrderID("1001", "1", "k"), Item: "1001", User: "1", Count: 1,
		Units: []int{1}, Price: 8888, Amount: 8888, Given: seckill.Given{Address: addresses[0]},
		State: seckill.PendingPayment, Created: epoch, Placed: epoch, PayBy: epoch.Add(Hold), Buckets: 2,
		History: []seckill.Change{{State: seckill.PendingPayment, At: epoch, Cause: "placed"}}}
	key := blockKey{seckill.UserSubject("1"), "1001"}
	for _, tt := range []struct {
		want   string
		checks seckill.Checks
		step   func(w *World, i *Instance) error
	}{
		{"is reserved without a good ticket", seckill.ChecksStandard, func(w *World, i *Instance) error {
			i.Buy.Tickets = nil
			return bought("1", 1, "k")(w, i)
		}},
		{"who never passed the checks", seckill.ChecksStrict, func(w *World, i *Instance) error {
			return w.ledger.Place(ctx, order, 1)
		}},
		{"whose block", seckill.ChecksOff, func(w *World, i *Instance) error {
			if err := i.block(w.blockOf(key, 0)); err != nil {
				return err
			}
			w.checkPlaced(&orderRow{id: order.ID, item: "1001", user: "1", state: seckill.PendingPayment})
			return nil
		}},
		{"vanishes, which no operator removed", seckill.ChecksOff, func(w *World, i *Instance) error {
			if err := i.block(w.blockOf(key, 0)); err != nil {
				return err
			}
			_, err := w.ledger.DropBlock(ctx, key.subject, key.item)
			return err
		}},
		{"which no operator asked for", seckill.ChecksOff, func(w *World, i *Instance) error {
			return w.ledger.PutBlock(ctx, w.blockOf(key, time.Minute))
		}},
	} {
		item := itemOf("1001", 3, 1)
		item.Checks = tt.checks
		w, err := NewWorldOf(Setting{Items: []seckill.Item{item}})
		if err != nil {
			t.Fatal(err)
		}
		if err := steps(install, tt.step)(w, w.Start(nil)); err != nil {
			t.Fatalf("%s: %v", tt.want, err)
		}
		if err := w.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("want a violation that says %q, got %v", tt.want, err)
		}
	}
}
