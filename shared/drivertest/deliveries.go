package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

var deliveryCases = []ledgerCase{
	{"an order without a delivery has an empty one", func(s *suite) {
		w, err := s.Ledger.Webhook(s.ctx, "oa")
		s.ok(err)
		s.same("delivery", w, seckill.Webhook{Order: "oa"})
	}},
	{"a delivery is due as long as it says so", func(s *suite) {
		w := seckill.Webhook{Order: "oa", Known: 2, Sent: 1, Due: now, Tries: 3, Since: now.Add(-time.Hour)}
		s.deliver(&w)
		s.deliveries([]seckill.Webhook{w}, nil)
		shards(func(shard int) {
			early, err := s.Ledger.WebhooksDue(s.ctx, shard, now.Add(-time.Millisecond), "", 100)
			s.ok(err)
			s.same("too early", early, seckill.Page[seckill.Webhook]{})
		})
		w.Known, w.Sent, w.Due, w.Tries, w.Since = 3, 3, time.Time{}, 0, time.Time{}
		s.deliver(&w)
		s.deliveries(nil, nil)
		w.Known, w.Due = 4, now
		s.deliver(&w)
		s.deliveries([]seckill.Webhook{w}, nil)
	}},
	{"one that was given up is not due", func(s *suite) {
		w := seckill.Webhook{Order: "oa", Known: 1, Due: now, GivenUp: true, Tries: 30, Since: now.Add(-24 * time.Hour)}
		other := seckill.Webhook{Order: "ob", Known: 1, Due: now}
		s.deliver(&w)
		s.deliver(&other)
		s.deliveries([]seckill.Webhook{other}, []seckill.Webhook{w})
		w.GivenUp = false
		s.deliver(&w)
		other.Due = time.Time{}
		s.deliver(&other)
		s.deliveries([]seckill.Webhook{w}, nil)
	}},
	{"a delivery is written as it was read, or not", func(s *suite) {
		w := seckill.Webhook{Order: "oa", Known: 1, Due: now}
		s.deliver(&w)
		for _, writes := range []int{0, 2, 3} {
			stale := w
			stale.Sent, stale.Writes = 1, writes
			if err := s.Ledger.SaveWebhook(s.ctx, stale); !isError(seckill.ErrStateChanged)(err) {
				s.Errorf("with %d writes: got %v, want %v", writes, err, seckill.ErrStateChanged)
			}
		}
		got, err := s.Ledger.Webhook(s.ctx, "oa")
		s.ok(err)
		s.same("delivery", got, w)
		if err := s.Ledger.SaveWebhook(s.ctx, seckill.Webhook{Order: "ob", Writes: 1}); !isError(
			seckill.ErrStateChanged)(err) {
			s.Errorf("a row that is none: got %v, want %v", err, seckill.ErrStateChanged)
		}
	}},
	{"of many writers at once one wins", func(s *suite) {
		w := seckill.Webhook{Order: "oa", Known: 9, Due: now}
		for range 5 {
			next := w
			next.Sent++
			errs := allTogether(8, func(int) error { return s.Ledger.SaveWebhook(s.ctx, next) })
			s.same("won and lost", s.count(errs, isError(nil), isError(seckill.ErrStateChanged)), []int{1, 7})
			next.Writes++
			w = next
		}
		s.CatchUp()
		s.deliveries([]seckill.Webhook{w}, nil)
	}},
}

// deliver writes a delivery as read, and counts the write.
func (s *suite) deliver(w *seckill.Webhook) {
	s.Helper()
	s.ok(s.Ledger.SaveWebhook(s.ctx, *w))
	w.Writes++
	got, err := s.Ledger.Webhook(s.ctx, w.Order)
	s.ok(err)
	s.same("delivery", got, *w)
}

// deliveries checks which deliveries are due now and which were given up.
func (s *suite) deliveries(due, givenUp []seckill.Webhook) {
	s.Helper()
	s.CatchUp()
	var got []seckill.Webhook
	shards(func(shard int) {
		page, err := s.Ledger.WebhooksDue(s.ctx, shard, now, "", 100)
		s.ok(err)
		got = append(got, page.Rows...)
	})
	s.same("due", got, due)
	page, err := s.Ledger.WebhooksGivenUp(s.ctx, "", 100)
	s.ok(err)
	s.same("given up", page.Rows, givenUp)
}
