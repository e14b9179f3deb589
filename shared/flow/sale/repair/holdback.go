package repair

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Times of the looks at the orders queue, and what a look counts that cannot count.
const (
	lookAfter = seckill.AckWithin // from one look to the next, at least
	markFor   = lookAfter / 2     // how long a mark is hidden
	uncounted = math.MaxInt32     // messages
)

// looks makes somebody look at the queue for an item, whose build holds units back, in a while.
func (f *Flow) looks(ctx context.Context, item string, h seckill.HeldBack, wait time.Duration) error {
	return f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageWake, Item: item, Build: h.Build, Look: h.Looks + 1,
		Trace: seckill.Trace(ctx)}, wait)
}

// look counts the orders queue and lets go of the units of an item that no message in it can need, and no order that
// waits without a message. An order is acknowledged within AckWithin of its reservation, so the message of each order
// that the build did not see is in the queue at the second look, unless the order was placed. Two looks have to agree.
// Of several messages that ask for the same look, the first counts.
func (f *Flow) look(ctx context.Context, it *seckill.Item, level seckill.Level, m seckill.Message) error {
	if level.Back.Build != m.Build || level.Back.Looks+1 != m.Look {
		return nil
	}
	queued, err := f.count(ctx, it.ID)
	if err != nil {
		return err
	}
	orders := min(max(queued, level.Awaiting), it.Stock)
	h := seckill.HeldBack{Build: m.Build, Looks: m.Look, Units: orders * it.MaxPerOrder()}
	h.Units, err = f.Stock.HoldBack(ctx, it.ID, h)
	if err != nil || h.Units == 0 {
		return err
	}
	return f.looks(ctx, it.ID, h, until(it.ID, m.Look+1))
}

// count returns how many messages the orders queue has at most, without the one that is being delivered. A queue's
// counts may be a minute old. They are not if they show this one, and one that was hidden just now; only others like
// these may be what they show.
func (f *Flow) count(ctx context.Context, item string) (int, error) {
	mark := seckill.Message{Kind: seckill.MessageWake, Item: item, Trace: seckill.Trace(ctx)}
	if err := f.Orders.Send(ctx, mark, markFor); err != nil {
		return 0, err
	}
	d, err := f.Orders.Depth(ctx)
	if err != nil || d.Delayed == 0 || d.InFlight == 0 {
		return uncounted, err
	}
	return d.Visible + d.InFlight - 1, nil
}

// until returns how long a look waits after the one before: after a while longer, since each leaves messages of its
// own, which a queue may deliver twice; and seldom as long as that of another item, which would count it.
func until(item string, look int) time.Duration {
	if look == 2 {
		return lookAfter
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, item, " ", look) // never fails
	return lookAfter<<min(max(look-15, 0), 3) + time.Duration(h.Sum32()%3)*time.Second
}

// lookAgain asks for the next look for an item that holds units back: the message that does so may be lost.
func (f *Flow) lookAgain(ctx context.Context, item string) error {
	level, err := f.Stock.Level(ctx, item)
	if errors.Is(err, seckill.ErrNotInstalled) || err == nil && level.Back.Units == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return f.looks(ctx, item, level.Back, lookAfter)
}
