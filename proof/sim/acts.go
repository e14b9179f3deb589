package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// most is the largest number of concurrent processes; above it only shoppers start new ones.
const most = 9

// burst is the number of consecutive calls that an actRun makes in one process.
const burst = 12

// Play plays one act and then checks the world.
func (s *Sim) Play(t Act) error {
	s.draw = t.A
	if t.Kind == actStream {
		s.readStream(t)
		return s.Check()
	}
	if t.Kind != actRun {
		s.act(t)
		return s.check()
	}
	for n := range burst {
		p := s.find(t.ID)
		if p == nil || s.Clock.Now().Before(s.instances[p.on].frozen) || n > 0 &&
			slices.Contains(s.plan.PausePoints, p.call) {
			break
		}
		s.step(p)
		if err := s.check(); err != nil {
			return err
		}
		s.draw = (t.A + uint64(n)) * 0x9e3779b97f4a7c15 >> 3
	}
	return nil
}

func (s *Sim) act(t Act) { //nolint:gocyclo // one case per kind
	switch t.Kind {
	case actStep:
		s.stepProcess(t)
	case actKill:
		s.crash(t)
	case actBuy:
		s.buy(t)
	case actConsume:
		s.take(t, "consume", s.queues["orders"], func(i *Instance) handler { return i.Consume.Handle })
	case actClose:
		s.take(t, "expire", s.queues["closings"], func(i *Instance) handler { return i.Expire.Handle })
	case actTick:
		s.advance(t, s.pause(t.A))
	case actJump:
		s.jumpAhead(t)
	case actBrowse:
		s.browse(t)
	case actAnomaly:
		s.askRefused(t)
	case actImport:
		s.importItems(t)
	case actOpen, actCancel, actLook:
		s.shop(t)
	case actRefund:
		s.refund(t)
	case actFulfil, actConsole:
		s.fulfil(t)
	case actErase:
		s.erase(t)
	case actSignIn:
		s.signIn(t)
	case actPay:
		s.pay(t.A)
	case actNotify:
		s.notify(t)
	case actForge:
		s.forge(t)
	case actLose:
		s.lose(t.A)
	case actStop:
		s.setStopped(t)
	case actGrow:
		s.grow(t)
	case actFreeze:
		s.freeze(t)
	case actKeep:
		s.keep()
	case actFlush, actFailover, actRestore, actReadOnly:
		s.breakRedis(t)
	case actArrive:
		s.arrive(t)
	case actPoison:
		s.poison(t.A)
	case actRedrive:
		s.redriven()
	case actGhost:
		s.resendOld(t)
	case actClock:
		s.setClock(t)
	case actSchedule:
		s.runSchedule(t)
	case actNoSchedule:
		s.loseSchedules()
	case actTicket:
		s.askTicket(t)
	case actBlock:
		s.setBlock(t)
	case actSecret:
		s.setSecret(t)
	}
}

// jumpAhead moves the clock ahead by minutes, or once by two days, after which the stock has removed the item.
func (s *Sim) jumpAhead(t Act) {
	if s.Out.On {
		return
	}
	minutes := []int{3, 15, 60, 60}[pick(t.A, 8, 4)]
	if pick(t.A, 16, 3) == 0 && s.plan.Items[0].Lasts > 0 && s.Clock.Now().Before(s.Item.End.Add(time.Hour)) {
		minutes = 2*24*60 + 30 // once: then the item is so old that the stock removes it
	}
	s.jump(minutes)
}

// setStopped stops or resumes the sale of an item.
func (s *Sim) setStopped(t Act) {
	it, stopped := s.pickItem(t.A), pick(t.A, 8, 3) > 0
	s.spawn(t.ID, t.Kind, fmt.Sprintf("operator sets stopped of %s to %t", it.ID, stopped), t.A, func(i *Instance) {
		_ = i.StopOf(it.ID, stopped)
	})
}

// grow adds a unit to an item, up to 20.
func (s *Sim) grow(t Act) {
	if it := s.pickItem(t.A); it.Stock < 20 {
		n := it.Stock + 1
		s.spawn(t.ID, t.Kind, fmt.Sprintf("operator raises the stock of %s to %d", it.ID, n), t.A,
			func(i *Instance) {
				_ = i.Grow(it.ID, n)
			})
	}
}

// freeze suspends an instance for up to ten minutes.
func (s *Sim) freeze(t Act) {
	now := s.Clock.Now()
	n := pick(t.A, 8, len(s.instances))
	d := []time.Duration{2 * time.Second, 40 * time.Second, 3 * time.Minute, 10 * time.Minute}[pick(t.A, 16, 4)]
	s.instances[n].frozen = now.Add(d)
	s.trace.say(now, "instance %d stands still for %s", n, d)
	s.fire(Freeze)
}

// arrive executes a delayed call whose caller has given up.
func (s *Sim) arrive(t Act) {
	if len(s.late) > 0 {
		n := pick(t.A, 8, len(s.late))
		f := s.late[n]
		s.late = slices.Delete(s.late, n, n+1)
		f()
		s.fire(Late)
	}
}

// resendOld sends an old message again.
func (s *Sim) resendOld(t Act) {
	now := s.Clock.Now()
	if len(s.bodies) > 0 {
		if s.Orders.SendRaw(s.bodies[pick(t.A, 8, len(s.bodies))], 0) == nil {
			s.trace.say(now, "an old message comes back")
			s.fire(Duplicate)
		}
	}
}

// setClock changes the clock of an instance.
func (s *Sim) setClock(t Act) {
	now := s.Clock.Now()
	n := pick(t.A, 8, len(s.instances))
	s.instances[n].clock.by = skewOf(t.A >> 16)
	s.trace.say(now, "the clock of instance %d jumps to %s off", n, s.instances[n].clock.by)
	s.fire(ClockJump)
}

// runSchedule starts a scheduled run.
func (s *Sim) runSchedule(t Act) {
	k := pick(t.A, 8, s.scheduled())
	if slices.ContainsFunc(s.processes, func(p *process) bool { return p.name == schedules[k].name }) {
		if !s.plan.Faults[ScheduleTwice] {
			return
		}
		s.fire(ScheduleTwice)
	}
	s.schedule(t.ID, k, t.A)
}

// loseSchedules stops all schedules for ten minutes.
func (s *Sim) loseSchedules() {
	now := s.Clock.Now()
	if now.After(s.silent) {
		s.silent = now.Add(10 * time.Minute)
		s.trace.say(now, "schedules are gone for ten minutes")
	}
}

// stepProcess executes a process's next port call, unless its instance is frozen.
func (s *Sim) stepProcess(t Act) {
	if p := s.find(t.ID); p != nil && !s.Clock.Now().Before(s.instances[p.on].frozen) {
		s.step(p)
	}
}

// crash ends a process before or after its next call; half the time its whole instance is lost, with its memory and
// all its processes.
func (s *Sim) crash(t Act) {
	p := s.find(t.ID)
	if p == nil {
		return
	}
	s.fire(Crash)
	whole := pick(t.A, 0, 2) == 0
	if pick(t.A, 1, 2) == 0 && !s.Clock.Now().Before(s.instances[p.on].frozen) {
		p.dies = true
		s.step(p)
	} else {
		s.trace.step(s.Clock.Now(), p, "dies before ", p.call)
		s.kill(p)
	}
	if !whole {
		return
	}
	for _, q := range slices.Concat(s.processes, s.readers) {
		if q.on == p.on {
			s.trace.step(s.Clock.Now(), q, "dies with its instance before ", q.call)
			s.kill(q)
		}
	}
	s.restart(p.on)
}

type handler func(context.Context, seckill.Delivery) error

// take makes a process receive and handle a batch.
func (s *Sim) take(t Act, name string, q *slowQueue, of func(i *Instance) handler) {
	s.spawn(t.ID, t.Kind, name, t.A, func(i *Instance) {
		ctx := context.Background()
		port := i.orders
		if q == s.queues["closings"] {
			port = i.closings
		}
		batch, err := port.Receive(ctx, s.plan.Batch)
		if err != nil {
			return
		}
		s.delivered(q, batch)
		handle, failed, done := of(i), 0, 0
		for k, d := range batch {
			err := handle(ctx, d)
			if err == nil && s.faultsOn && s.plan.Faults[Partial] && len(batch) > 1 &&
				pick(t.A, 8+k, 100) < s.plan.Rates[Partial]/4 {
				failed++
				continue
			}
			if err != nil {
				failed++
				continue
			}
			done++
			_ = port.Delete(ctx, d)
		}
		if failed > 0 && done > 0 && s.plan.Faults[Partial] {
			s.fire(Partial)
		}
	})
}

// delivered counts how a queue reordered a batch, and keeps order messages to send again much later.
func (s *Sim) delivered(q *slowQueue, batch []seckill.Delivery) {
	if n := q.Repeats(); n > q.repeats {
		s.Fired[Duplicate] += n - q.repeats
		q.repeats = n
	}
	for _, d := range batch {
		_, number, _ := strings.Cut(d.ID, "-")
		n, _ := strconv.Atoi(number)
		if n < q.newest && s.plan.Faults[Reorder] {
			s.fire(Reorder)
		}
		q.newest = max(q.newest, n)
		if len(s.bodies) < 40 && q == s.queues["orders"] && !s.anomalies[string(d.Body)] {
			s.bodies = append(s.bodies, d.Body)
		}
	}
}

// pause returns how long nothing happens: a moment, or until roughly the next time at which something ends or begins.
func (s *Sim) pause(a uint64) time.Duration {
	n := pick(a, 8, 8)
	if s.plan.Cashier && pick(a, 32, 2) == 0 {
		n = 7
	}
	if s.bySeconds() {
		return []time.Duration{50 * time.Millisecond, 300 * time.Millisecond}[n%2]
	}
	if n < 6 {
		return []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second,
			5 * time.Second, 31 * time.Second}[n]
	}
	var edges []time.Duration
	now := s.Clock.Now()
	add := func(at time.Time) {
		if d := at.Sub(now) + []time.Duration{0, -time.Millisecond, time.Millisecond, -2 * time.Second, 2 * time.Second,
			-2500 * time.Millisecond, 2500 * time.Millisecond}[pick(a, 16, 7)]; d > 0 && d < 20*time.Minute {
			edges = append(edges, d)
		}
	}
	for _, it := range s.allItems() {
		add(it.Start)
		add(it.End)
	}
	for _, id := range s.Provider.list {
		o := &s.Provider.orders[id].order
		add(o.PayBy)
		add(o.Due())
	}
	if len(edges) == 0 {
		return time.Second
	}
	return edges[pick(a, 24, len(edges))]
}

// keep saves a snapshot of Redis for a later restore.
func (s *Sim) keep() {
	if !s.plan.Faults[Failover] && !s.plan.Faults[Restore] {
		return
	}
	if len(s.snapshots) > 8 {
		s.snapshots = slices.Delete(s.snapshots, 3, 4)
	}
	s.snapshots = append(s.snapshots, snapshot{s.Clock.Now(), s.Redis.Snapshot()})
}

// advance moves the time; schedules run each minute.
func (s *Sim) advance(t Act, d time.Duration) {
	s.keep()
	s.queues["orders"].sample()
	s.Clock.Advance(d)
	now := s.Clock.Now()
	due := s.deferred
	if m := now.Unix() / 60; m != s.minute {
		s.minute, due = m, true
		if now.Before(s.silent) {
			s.fire(ScheduleGone)
			return
		}
		if s.plan.Faults[ScheduleLate] && !s.deferred && pick(t.A, 24, 100) < s.plan.Rates[ScheduleLate] {
			s.deferred = true
			s.fire(ScheduleLate)
			return
		}
	}
	if due {
		s.deferred = false
		for k := range s.scheduled() {
			s.schedule(t.ID+1+k, k, t.A>>(8*k))
		}
	}
}

var schedules = []struct {
	name string
	run  func(ctx context.Context, i *Instance) error
}{
	{"stage", func(ctx context.Context, i *Instance) error { return i.Stage.Run(ctx) }},
	{"repair", func(ctx context.Context, i *Instance) error { return i.Repair.Run(ctx) }},
	{"sweep", func(ctx context.Context, i *Instance) error { return i.Expire.Sweep(ctx) }},
	{"refund", func(ctx context.Context, i *Instance) error { return i.Refund.Sweep(ctx) }},
}

// scheduled returns how many of the schedules run. In plans about data lost by the stock, refunds would only
// distract: they run at the end.
func (s *Sim) scheduled() int {
	if s.plan.Prelude == "restored" || s.plan.Prelude == "flushed" {
		return len(schedules) - 1
	}
	return len(schedules)
}

func (s *Sim) schedule(id, k int, on uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	s.spawn(id, actSchedule, schedules[k].name, on, func(i *Instance) {
		if s.faultsOn && s.plan.Faults[Timeout] && pick(on, 16, 200) < s.plan.Rates[Timeout] {
			s.current.left, s.current.ends = 1+pick(on, 32, 40), cancel
		}
		_ = schedules[k].run(ctx, i)
	})
}

// jump moves the clock by minutes without faults. Running processes take no step meanwhile.
func (s *Sim) jump(minutes int) {
	s.trace.say(s.Clock.Now(), "%d minutes pass", minutes)
	i := s.Start(nil)
	for m := range minutes {
		s.Clock.Advance(time.Minute)
		if m == minutes/2 && s.Clock.Now().After(s.silent) {
			_ = i.Schedules()
		}
	}
	s.minute = s.Clock.Now().Unix() / 60
}

func (s *Sim) breakRedis(t Act) {
	now := s.Clock.Now()
	switch t.Kind {
	case actFlush:
		s.trace.say(now, "Redis loses everything")
		s.Forget()
		s.fire(Flush)
	case actReadOnly:
		d := time.Duration(1+pick(t.A, 8, 30)) * time.Second
		s.trace.say(now, "Redis refuses everything for %s", d)
		s.refuses = now.Add(d)
	case actFailover:
		young := slices.DeleteFunc(slices.Clone(s.snapshots), func(p snapshot) bool {
			return now.Sub(p.at) > 10*time.Second
		})
		if len(young) > 0 {
			p := young[pick(t.A, 8, len(young))]
			s.trace.say(now, "Redis loses its last %s", now.Sub(p.at))
			s.Recall(p.Snapshot)
			s.fire(Failover)
		}
	case actRestore:
		// A snapshot from before an item was removed for its age would bring it back forever.
		s.snapshots = slices.DeleteFunc(s.snapshots, func(p snapshot) bool { return now.Sub(p.at) > 24*time.Hour })
		if len(s.snapshots) == 0 {
			return
		}
		p := s.snapshots[pick(t.A, 8, len(s.snapshots))]
		s.trace.say(now, "Redis is restored as it was %s ago", now.Sub(p.at))
		s.Recall(p.Snapshot)
		s.fire(Restore)
	}
}

// redriven moves back messages that were parked because they were received too often.
func (s *Sim) redriven() {
	for _, name := range []string{"orders", "closings"} {
		n := 0
		for _, m := range s.queues[name].Parked() {
			if !s.anomalies[string(m.Body)] {
				n++
			}
		}
		if n > 0 {
			s.trace.say(s.Clock.Now(), "%d parked messages are moved back to %s", n, name)
			s.promises.park(s.queues[name].Queue)
			_, _ = s.queues[name].Redrive(context.Background()) // fails with a cancelled context only
			s.fire(Park)
		}
	}
}
