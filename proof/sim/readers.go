package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// Readers of the stream change nothing that other processes read. So their acts are drawn apart from the history's: a
// history is the same with them and without.

// readStream plays an act of the stream: a reader begins, goes on, dies, or gets again what it was given before; a late
// call arrives; or an operator asks for changes and counts once more.
func (s *Sim) readStream(t Act) {
	if s.hasWebhook && pick(t.A, 20, 2) == 0 {
		s.playWebhook(t)
		return
	}
	shard := pick(t.A, 50, streamShards)
	switch n := pick(t.A, 44, 32); {
	case n < 8:
		s.beginReader(t, shard)
	case n == 8 && s.plan.Faults[Crash] && len(s.readers) > 0:
		p := s.readers[pick(t.A, 54, len(s.readers))]
		s.trace.step(s.Clock.Now(), p, "dies before ", p.call)
		s.fire(Crash)
		s.kill(p)
	case n < 11 && s.plan.Faults[Duplicate] && s.stream.next[shard] > 0:
		s.stream.next[shard] -= 1 + pick(t.A, 54, min(5, s.stream.next[shard]))
		s.trace.say(s.Clock.Now(), "shard %d of the stream repeats from %d", shard, s.stream.next[shard])
		s.fire(Duplicate)
	case n == 11 && len(s.lateReads) > 0:
		f := s.lateReads[0]
		s.lateReads = s.lateReads[1:]
		f()
		s.fire(Late)
	case n == 12:
		s.operateStream(t)
	case len(s.readers) > 0:
		s.goOn(s.readers[pick(t.A, 54, len(s.readers))], t.A)
	}
}

// beginReader starts a reader of a shard. Lambda starts one at a time, but one that it gave up may still be at work.
func (s *Sim) beginReader(t Act, shard int) {
	most := 1 + pick(t.A, 56, 20)
	if s.stream.next[shard] < len(s.stream.shards[shard]) {
		s.beginOne(t, fmt.Sprintf("reader of shard %d", shard), Duplicate, func(i *Instance) {
			_ = i.Read(shard, most)
		})
	}
}

// beginOne starts a reader of a name, of which there is one at a time without a fault.
func (s *Sim) beginOne(t Act, name string, twice Fault, body func(i *Instance)) {
	if slices.ContainsFunc(s.readers, func(p *process) bool { return p.name == name }) &&
		(!s.plan.Faults[twice] || len(s.readers) > 2*streamShards) {
		return
	}
	s.begin(&s.readers, t.ID, t.Kind, name, t.A>>8, body)
}

// playWebhook plays an act about the webhook: a reader that posts begins, or gets again what it was given before; the
// schedule posts what is due; an operator looks for what the stream did not bring, or resumes what was given up; the
// webhook dies or comes back; or a reader goes on.
func (s *Sim) playWebhook(t Act) {
	shard, ctx, next := pick(t.A, 50, streamShards), context.Background(), &s.stream.posted
	switch n := pick(t.A, 24, 16); {
	case n < 5 && next[shard] < len(s.stream.shards[shard]):
		most := 1 + pick(t.A, 56, 20)
		s.beginOne(t, fmt.Sprintf("poster of shard %d", shard), Duplicate, func(i *Instance) {
			_ = i.Post(shard, most)
		})
	case n < 7:
		s.beginOne(t, "sweep of the webhook", ScheduleTwice, func(i *Instance) { _ = i.Webhook.Sweep(ctx) })
	case n == 7 && s.plan.Faults[Duplicate] && next[shard] > 0:
		next[shard] -= 1 + pick(t.A, 54, min(5, next[shard]))
		s.trace.say(s.Clock.Now(), "shard %d of the stream repeats from %d to the poster", shard, next[shard])
		s.fire(Duplicate)
	case n == 8:
		it := s.pickItem(t.A)
		s.beginOne(t, "look for changes of "+it.ID, Duplicate, func(i *Instance) {
			if page, err := i.Tell.Ledger.OrdersByItem(ctx, it.ID, "", 100); err == nil {
				_ = i.Webhook.Look(ctx, page.Orders)
			}
		})
	case n == 9:
		s.beginOne(t, "operator resumes the webhook", Duplicate, func(i *Instance) { _, _ = i.Webhook.Resume(ctx) })
	case n == 10 && s.plan.Faults[Fail]:
		s.webhookDead = !s.webhookDead
		s.trace.say(s.Clock.Now(), "the webhook is dead: %t", s.webhookDead)
		s.fire(Fail)
	case len(s.readers) > 0:
		s.goOn(s.readers[pick(t.A, 54, len(s.readers))], t.A)
	}
}

// goOn makes calls of a reader, up to three.
func (s *Sim) goOn(p *process, a uint64) {
	for n := range uint64(1 + pick(a, 32, 3)) {
		if !slices.Contains(s.readers, p) || s.Clock.Now().Before(s.instances[p.on].frozen) {
			return
		}
		s.draw = (a + n) * 0x9e3779b97f4a7c15 >> 3
		s.step(p)
	}
}

// operateStream makes an operator recount an item, from where the last command broke off, or have an order or a day
// told once more.
func (s *Sim) operateStream(t Act) {
	it, ctx := s.pickItem(t.A), context.Background()
	switch pick(t.A, 54, 4) {
	case 0, 1:
		s.begin(&s.readers, t.ID, t.Kind, "operator recounts "+it.ID, t.A>>8, func(i *Instance) {
			for {
				step, err := i.Count.Recount(ctx, it.ID, s.recounts[it.ID])
				if err != nil {
					return
				}
				if s.recounts[it.ID] = step.Next; step.Next == "" || step.Wait > 0 {
					return
				}
			}
		})
	case 2:
		s.begin(&s.readers, t.ID, t.Kind, "operator has a day of "+it.ID+" told", t.A>>8, func(i *Instance) {
			_, _ = i.Tell.Replay(ctx, it.ID, seckill.Day(s.Clock.Now()), "")
		})
	default:
		id := anomalousOrder(0)
		if n := len(s.truth.list); n > 0 && pick(t.A, 60, 8) > 0 {
			id = s.truth.list[pick(t.A, 40, n)]
		}
		s.begin(&s.readers, t.ID, t.Kind, "operator has "+id+" told", t.A>>8, func(i *Instance) {
			_, _ = i.Tell.Again(ctx, id)
			_, _ = i.Tell.Delivery(ctx, id)
			_, _ = i.Count.Of(ctx, it.ID)
			if _, err := i.Count.Recount(ctx, it.ID, "no cursor"); err == nil {
				s.truth.fail("I15 an operator goes on with a recount from where none was")
			}
		})
	}
}
