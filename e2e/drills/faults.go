//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/redis/go-redis/v9"
)

const (
	look       = 10 * time.Millisecond
	down       = time.Second // between a server's kill and its restart
	probeWait  = 300 * time.Millisecond
	probeEvery = 200 * time.Millisecond
	killEvery  = time.Second
	cutEvery   = 1500 * time.Millisecond
	cutFor     = 150 * time.Millisecond
)

// lasting is the duration of a continuous fault, unless the crowd leaves earlier.
const lasting = 25 * time.Second

// fault happens while the crowd buys, and returns figures about its effect. ctx ends with the crowd; an error is the
// reason why it had no effect.
type fault func(ctx context.Context, w *rig) (string, error)

// drill is one crowd and what happens to it.
type drill struct {
	name    string
	proxied bool
	faults  []fault
	account *limited // if nil, no account enforces limits
	kept    bool     // whether each acknowledged order has to be placed
}

var drills = []drill{
	{name: "redis-flush", faults: []fault{flush(0.15, 0.4, 0.7, 0.9)}, kept: true},
	{name: "redis-kill", faults: []fault{killRedis(0.3, 0.7)}, kept: true},
	{name: "redis-snapshot", faults: []fault{oldSnapshot(0.15, 0.6)}},
	{name: "redis-frozen", faults: []fault{freezeRedis(0.3, 20*time.Second)}},
	{name: "database", faults: []fault{inTurn(pauseDatabase(0.25, 7*time.Second), killDatabase(0.6))}},
	{name: "consumers", faults: []fault{during(lasting, killConsumers(3))}},
	{name: "queue", faults: []fault{during(lasting, twiceAndOutOfOrder(200, 50))}},
	{name: "network", proxied: true, faults: []fault{
		during(lasting, toxics(20*time.Millisecond, 15*time.Millisecond, 20)),
	}},
	{name: "all", proxied: true, faults: []fault{
		during(lasting, toxics(10*time.Millisecond, 10*time.Millisecond, 10)),
		during(lasting, twiceAndOutOfOrder(100, 20)),
		during(15*time.Second, killConsumers(2)), inTurn(
			oldSnapshot(0.05, 0.15), flush(0.2), killRedis(0.3), freezeRedis(0.4, 8*time.Second),
			pauseDatabase(0.5, 5*time.Second), killDatabase(0.6), flush(0.7)),
	}},
}

// sold waits until the function buy has accepted this share of the stock.
func (w *rig) sold(ctx context.Context, share float64) error {
	for float64(w.accepted.Load()) < share*float64(w.stock) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the crowd ended with %d of %d units accepted, before the fault was due at %.0f%%",
				w.accepted.Load(), w.stock, 100*share)
		case <-time.After(look):
		}
	}
	return nil
}

// during ends a continuous fault after a while, or with the crowd.
func during(long time.Duration, f fault) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, long)
		defer cancel()
		return f(ctx, w)
	}
}

// inTurn runs several faults, one after another.
func inTurn(faults ...fault) fault {
	return func(ctx context.Context, w *rig) (said string, err error) {
		for _, f := range faults {
			one, err := f(ctx, w)
			if err != nil {
				return said, err
			}
			said = join(said, one)
		}
		return said, nil
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// flush empties Redis each time a share is sold, if it holds something: after an earlier loss, once it is rebuilt.
func flush(at ...float64) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		lost, longest := int64(0), time.Duration(0)
		for _, share := range at {
			if err := w.sold(ctx, share); err != nil {
				return "", err
			}
			if _, err := w.heldUnits(ctx); err != nil {
				return "", err
			}
			var held, keys *redis.IntCmd
			if _, err := w.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				held = p.HLen(ctx, key("held"))
				p.FlushAll(ctx)
				keys = p.DBSize(ctx)
				return nil
			}); err != nil {
				return "", fmt.Errorf("flush: %w", err)
			}
			if keys.Val() != 0 || held.Val() == 0 {
				return "", fmt.Errorf("flush: %d units were held before, %d keys are left", held.Val(), keys.Val())
			}
			lost += held.Val()
			longest = max(longest, w.pause(ctx))
		}
		return fmt.Sprintf("%d flushes, %d held units forgotten, sold again after at most %s", len(at), lost,
			longest.Round(100*time.Millisecond)), nil
	}
}

// killRedis kills Redis and starts it empty.
func killRedis(at ...float64) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		lost, unavailable, longest := int64(0), w.unavailable.Load(), time.Duration(0)
		for _, share := range at {
			if err := w.sold(ctx, share); err != nil {
				return "", err
			}
			held, err := w.heldUnits(ctx)
			if err != nil {
				return "", err
			}
			if _, err := os.Stat(w.redis.dir + "/dump.rdb"); err == nil {
				if err := os.Remove(w.redis.dir + "/dump.rdb"); err != nil {
					return "", err
				}
			}
			if err := w.restartRedis(ctx); err != nil {
				return "", err
			}
			lost += held
			longest = max(longest, w.pause(ctx))
		}
		return fmt.Sprintf("%d kills, %d held units forgotten, %d requests unavailable, sold again after at most %s",
			len(at), lost, w.unavailable.Load()-unavailable, longest.Round(100*time.Millisecond)), nil
	}
}

// pause returns how long an empty Redis sells nothing: until a unit is left that is not held back, or none is left. It
// ends with the crowd.
func (w *rig) pause(ctx context.Context) time.Duration {
	began := time.Now()
	for pause(ctx, look) {
		it, err1 := w.client.HMGet(ctx, key("item"), "stock", "hw", "back").Result()
		free, err2 := w.client.ZCard(ctx, key("free")).Result()
		if errors.Join(err1, err2) != nil || it[0] == nil {
			continue
		}
		stock, hw, back := number(it[0]), number(it[1]), number(it[2])
		if left := int(free) + max(stock-hw, 0); left == 0 || left > back {
			break
		}
	}
	return time.Since(began)
}

// number returns the number at the beginning of a field, 0 if there is none.
func number(field any) int {
	text, _ := field.(string)
	text, _, _ = strings.Cut(text, "|")
	n, _ := strconv.Atoi(text) // of "", if there is no such field
	return n
}

// heldUnits waits until Redis holds units of the item: after an earlier loss, until the rebuild.
func (w *rig) heldUnits(ctx context.Context) (int64, error) {
	for {
		if held, err := w.client.HLen(ctx, key("held")).Result(); err == nil && held > 0 {
			return held, nil
		}
		if !pause(ctx, look) {
			return 0, errors.New("nothing was held in Redis until the crowd ended")
		}
	}
}

func (w *rig) restartRedis(ctx context.Context) error {
	if err := w.redis.kill(); err != nil {
		return err
	}
	if !pause(ctx, down) {
		return errors.Join(errors.New("the crowd ended while Redis was down"), w.redis.start(context.WithoutCancel(ctx),
			w.root))
	}
	return w.redis.start(context.WithoutCancel(ctx), w.root)
}

// oldSnapshot saves Redis early, kills it later, and starts it from the saved state.
func oldSnapshot(saved, killed float64) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		if err := w.sold(ctx, saved); err != nil {
			return "", err
		}
		old, err := w.heldUnits(ctx)
		if err != nil {
			return "", err
		}
		if err := w.client.Save(ctx).Err(); err != nil {
			return "", err
		}
		if err := w.sold(ctx, killed); err != nil {
			return "", err
		}
		held := old
		for held <= old+old/10 { // otherwise the restored state would not be old
			if held, err = w.heldUnits(ctx); err != nil {
				return "", err
			}
			if !pause(ctx, look) {
				return "", fmt.Errorf("snapshot: %d units held when saved, %d until the crowd ended", old, held)
			}
		}
		if err := w.restartRedis(ctx); err != nil {
			return "", err
		}
		back, err := w.client.HLen(ctx, key("held")).Result()
		if err != nil || back == 0 || back >= held {
			return "", fmt.Errorf("snapshot: %d units held when saved, %d when killed, %d after the start, %w", old,
				held, back, err)
		}
		return fmt.Sprintf("1 kill, snapshot of %d held units in place of %d", back, held), nil
	}
}

// freezeRedis suspends the process for a while: connections stay open, and nothing answers.
func freezeRedis(at float64, long time.Duration) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		if err := w.sold(ctx, at); err != nil {
			return "", err
		}
		unavailable, unanswered, answered := w.unavailable.Load(), 0, 0
		if err := w.redis.signal(syscall.SIGSTOP); err != nil {
			return "", err
		}
		from := time.Now()
		for ctx.Err() == nil && time.Since(from) < long {
			if pings(ctx, w.redis.addr) {
				answered++
			} else {
				unanswered++
			}
			pause(ctx, probeEvery)
		}
		took := time.Since(from)
		if err := w.redis.signal(syscall.SIGCONT); err != nil {
			return "", err
		}
		n := w.unavailable.Load() - unavailable
		if took < long || answered > 0 || n == 0 {
			return "", fmt.Errorf("freeze: %.1f s of %v, %d pings answered, %d requests unavailable", took.Seconds(),
				long, answered, n)
		}
		return fmt.Sprintf("frozen %.0f s, %d pings unanswered, %d requests unavailable", took.Seconds(), unanswered,
			n), nil
	}
}

// pings reports whether Redis answers a PING.
func pings(ctx context.Context, addr string) bool {
	c, err := (&net.Dialer{Timeout: probeWait}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(probeWait))
	_, err = c.Write([]byte("PING\r\n"))
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	return err == nil
}

// orderRows returns the number of orders in the database.
func (w *rig) orderRows(ctx context.Context) (n int, err error) {
	states, err := w.states(ctx)
	for _, count := range states {
		n += count
	}
	return n, err
}

// pauseDatabase suspends the process for a while.
func pauseDatabase(at float64, long time.Duration) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		if err := w.sold(ctx, at); err != nil {
			return "", err
		}
		if err := w.dynamo.signal(syscall.SIGSTOP); err != nil {
			return "", err
		}
		answered, unanswered := 0, 0
		for from := time.Now(); time.Since(from) < long; {
			probe, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeWait)
			if _, err := w.rows.DescribeTable(probe, &dynamodb.DescribeTableInput{TableName: aws.String(w.prefix() +
				"orders")}); err != nil {
				unanswered++
			} else {
				answered++
			}
			cancel()
			pause(context.WithoutCancel(ctx), probeEvery)
		}
		if err := w.dynamo.signal(syscall.SIGCONT); err != nil {
			return "", err
		}
		if answered > 0 || ctx.Err() != nil {
			return "", fmt.Errorf("pause: %d looks at the database answered, the crowd's end: %w", answered, ctx.Err())
		}
		return fmt.Sprintf("database paused %v, %d looks unanswered", long, unanswered), nil
	}
}

// killDatabase kills the database and starts it with its committed data.
func killDatabase(at float64) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		if err := w.sold(ctx, at); err != nil {
			return "", err
		}
		before, err := w.orderRows(ctx)
		if err != nil {
			return "", err
		}
		if err := w.dynamo.kill(); err != nil {
			return "", err
		}
		alive := pause(ctx, down)
		if err := w.dynamo.start(context.WithoutCancel(ctx), w.root); err != nil {
			return "", err
		}
		after, err := w.orderRows(context.WithoutCancel(ctx))
		if err != nil || before == 0 || after < before || !alive {
			return "", fmt.Errorf("kill: %d order rows before, %d after, crowd still there: %v, %w", before, after,
				alive, err)
		}
		return fmt.Sprintf("database killed with %d order rows", before), nil
	}
}

// killConsumers kills every process of consume each second. At least least of them must hold a batch when they die.
func killConsumers(least int64) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		killed, lost := 0, w.host.Stats("consume").Lost
		for pause(ctx, killEvery) {
			killed += w.host.Signal("consume", syscall.SIGKILL)
		}
		lost = w.host.Stats("consume").Lost - lost
		said := fmt.Sprintf("%d consumers killed, %d with a batch in hand", killed, lost)
		if lost < least {
			return "", errors.New(said)
		}
		return said, nil
	}
}

// twiceAndOutOfOrder makes both queues deliver twice and out of order until the crowd leaves.
func twiceAndOutOfOrder(doubled, overtaken int64) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		w.orders.Twice(true)
		w.orders.Shuffle(true)
		w.closing.Twice(true)
		w.closing.Shuffle(true)
		<-ctx.Done()
		w.orders.Shuffle(false)
		w.orders.Twice(false) // closings continue: they come when unpaid orders expire
		s := w.orders.Stats()
		said := fmt.Sprintf("%d deliveries doubled, %d messages overtaken", s.Doubled, s.Overtaken)
		if s.Doubled < doubled || s.Overtaken < overtaken {
			return "", errors.New(said)
		}
		return said, nil
	}
}

// toxics delay all answers of Redis, database and queues, and cut connections repeatedly, until the crowd leaves.
func toxics(mean, jitter time.Duration, least int) fault {
	return func(ctx context.Context, w *rig) (string, error) {
		undisturbed := context.WithoutCancel(ctx)
		for _, server := range proxied {
			if err := w.proxies.latency(ctx, w.name, server, mean, jitter); err != nil {
				return "", err
			}
		}
		before, windows := w.proxies.connections(w.name), 0
		var err error
		for err == nil && pause(ctx, cutEvery) {
			for _, server := range proxied {
				err = errors.Join(err, w.proxies.reset(undisturbed, w.name, server, 0.5))
			}
			pause(undisturbed, cutFor)
			for _, server := range proxied {
				err = errors.Join(err, w.proxies.cure(undisturbed, w.name, server, "reset_peer"))
			}
			windows++
		}
		for _, server := range proxied {
			err = errors.Join(err, w.proxies.cure(undisturbed, w.name, server, "latency"))
		}
		again := w.proxies.connections(w.name) - before
		if err != nil || again < least {
			return "", fmt.Errorf("%d connections opened anew, %w", again, err)
		}
		return fmt.Sprintf("answers %v±%v late, %d connections opened anew after %d cuts", mean, jitter, again,
			windows), nil
	}
}

// strike starts all faults of a drill together and returns their reports.
func (d *drill) strike(ctx context.Context, w *rig) (string, error) {
	said, errs := make([]string, len(d.faults)), make([]error, len(d.faults))
	var all sync.WaitGroup
	for i, f := range d.faults {
		all.Go(func() { said[i], errs[i] = f(ctx, w) })
	}
	all.Wait()
	out := ""
	for _, s := range said {
		out = join(out, s)
	}
	return out, errors.Join(errs...)
}
