package memory

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of the queue in addition to those of package seckill.
const (
	maxVisible      = 12 * time.Hour // longest that Delay hides a message ("Amazon SQS message quotas")
	maxReason       = 1_000          // bytes of a parking reason that are kept
	defaultCapacity = 1_000_000      // messages; SQS has no such limit, but a process has
)

// QueueOptions configure a queue. The zero value delivers messages in the order in which they become visible, and
// each once if it is deleted in time.
type QueueOptions struct {
	Name    string        // prefix of message ids; default "queue"
	Visible time.Duration // visibility timeout; default DefaultVisible
	// receives after which a message is parked instead of delivered again; default seckill.MaxReceives
	MaxReceives int
	Capacity    int    // messages, parked ones included; default 1,000,000
	Seed        uint64 // seed of all random choices
	Shuffle     bool   // deliver visible messages in random order
	// Duplicate is the probability, 0 to 1, that a delivery is repeated while the message is in flight, and that a
	// deleted message returns. Each happens at most once per message.
	Duplicate float64
}

// Queue is a queue in memory that behaves like an SQS standard queue with a dead-letter queue. It is safe for
// concurrent use. It reads its clock only when called: nothing runs in the background.
type Queue struct {
	clock seckill.Clock
	opt   QueueOptions
	ready chan struct{}

	mu      sync.Mutex
	rng     *rand.Rand
	last    uint64 // sequence number of the newest message
	byID    map[string]*queued
	visible queueHeap
	hidden  queueHeap
	delayed int // messages in hidden that were never received
	repeats int
	parked  []ParkedMessage
}

// ParkedMessage is a message in the dead-letter queue.
type ParkedMessage struct {
	Body     []byte
	Reason   string
	Receives int       // receives before it was parked
	At       time.Time // when it was parked
}

// NewQueue returns an empty queue. It panics on options out of range.
func NewQueue(clock seckill.Clock, opt QueueOptions) *Queue {
	if opt.Name == "" {
		opt.Name = "queue"
	}
	if opt.Visible == 0 {
		opt.Visible = seckill.DefaultVisible
	}
	if opt.MaxReceives == 0 {
		opt.MaxReceives = seckill.MaxReceives
	}
	if opt.Capacity == 0 {
		opt.Capacity = defaultCapacity
	}
	if opt.Visible < 0 || opt.Visible > maxVisible || opt.MaxReceives < 0 || opt.Capacity < 0 ||
		!(opt.Duplicate >= 0 && opt.Duplicate <= 1) { // written so that NaN fails
		panic(fmt.Sprintf("memory: queue options %+v", opt))
	}
	return &Queue{clock: clock, opt: opt, ready: make(chan struct{}, 1), rng: rand.New(rand.NewPCG(opt.Seed, 0)),
		byID: map[string]*queued{}}
}

// Send enqueues a message. An error means that nothing was enqueued: a delay outside 0..MaxDelay, more than
// MaxMessage bytes, a full queue, a cancelled context.
func (q *Queue) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.send(m.Encode(), delay)
}

// SendRaw enqueues any body that SQS would accept, such as a stranger's or a newer version's. Errors as in Send, and
// for an empty body or one with characters that XML forbids ("SendMessage", Amazon SQS API Reference).
func (q *Queue) SendRaw(body []byte, delay time.Duration) error {
	return q.send(bytes.Clone(body), delay)
}

func (q *Queue) send(body []byte, delay time.Duration) error {
	if delay < 0 || delay > seckill.MaxDelay {
		return q.errorf("delay of %v, want 0 to %v", delay, seckill.MaxDelay)
	}
	if len(body) == 0 || len(body) > seckill.MaxMessage {
		return q.errorf("message of %d bytes, want 1 to %d", len(body), seckill.MaxMessage)
	}
	if at := notXML(body); at >= 0 {
		return q.errorf("message has a character at byte %d that may not be sent", at)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.byID)+len(q.parked) >= q.opt.Capacity {
		return q.errorf("full: %d messages", q.opt.Capacity)
	}
	q.enqueue(body, delay)
	return nil
}

// enqueue takes ownership of body. The caller holds the lock.
func (q *Queue) enqueue(body []byte, delay time.Duration) {
	q.last++
	m := &queued{id: q.opt.Name + "-" + strconv.FormatUint(q.last, 10), n: q.last, body: body}
	q.byID[m.id] = m
	q.show(m, q.clock.Now(), delay)
}

// Receive returns at most limit messages, 1 to MaxBatch, and hides them for the visibility timeout; an empty result
// is not an error. It parks a message that was already received MaxReceives times.
func (q *Queue) Receive(ctx context.Context, limit int) ([]seckill.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if limit < 1 || limit > seckill.MaxBatch {
		return nil, q.errorf("receive of %d messages, want 1 to %d", limit, seckill.MaxBatch)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.uncover(now)
	var out []seckill.Delivery
	var again []*queued // kept apart until the end, so that a batch never has a message twice
	for len(out) < limit && len(q.visible) > 0 {
		m := q.pick()
		if m.receives >= q.opt.MaxReceives {
			delete(q.byID, m.id)
			q.park(ParkedMessage{m.body, fmt.Sprintf("received %d times", m.receives), m.receives, now})
			continue
		}
		m.receives++
		out = append(out, seckill.Delivery{ID: m.id, Receipt: m.receipt(), Body: bytes.Clone(m.body),
			Receives: m.receives})
		if !m.repeated && q.chance() {
			m.repeated = true
			q.repeats++
			again = append(again, m)
			continue
		}
		q.hide(m, now.Add(q.opt.Visible))
	}
	for _, m := range again {
		q.show(m, now, 0)
	}
	if len(q.visible) > 0 {
		q.poke() // for the next receiver that shares Ready
	}
	return out, nil
}

// Delete acknowledges a delivery by its receipt. It is not an error if the message is gone, or if it was received again
// later; in the latter case the message stays, because only the newest receipt deletes (SQS guarantees neither), even
// after the visibility timeout. An error means a receipt that this queue did not issue, or a cancelled context.
func (q *Queue) Delete(ctx context.Context, d seckill.Delivery) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	m, err := q.find(d.Receipt)
	if err != nil || m == nil {
		return err
	}
	q.remove(m)
	if !m.revived && q.chance() {
		m.revived = true
		q.repeats++
		q.hide(m, q.clock.Now().Add(time.Duration(q.rng.Int64N(int64(q.opt.Visible))+1)))
		q.poke()
		return nil
	}
	delete(q.byID, m.id)
	return nil
}

// Delay hides a delivered message for the given time from now on, 0 to 12 hours; 0 makes it visible at once. It
// returns an error and changes nothing for another wait, for a message that is not in flight by this receipt
// (deleted, visible again, received again), or for a cancelled context.
func (q *Queue) Delay(ctx context.Context, d seckill.Delivery, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if wait < 0 || wait > maxVisible {
		return q.errorf("visibility timeout of %v, want 0 to %v", wait, maxVisible)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.uncover(now)
	m, err := q.find(d.Receipt)
	if err != nil {
		return err
	}
	if m == nil || m.visible {
		return q.errorf("%s is not in flight by receipt %q", d.ID, d.Receipt)
	}
	q.remove(m)
	q.show(m, now, wait)
	return nil
}

// Park copies a delivered message to the dead-letter queue and keeps 1,000 bytes of the reason. The message itself
// stays until it is deleted, as in SQS, where parking is a send to another queue. An error means a full queue or a
// cancelled context.
func (q *Queue) Park(ctx context.Context, d seckill.Delivery, reason string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.byID)+len(q.parked) >= q.opt.Capacity {
		return q.errorf("full: %d messages", q.opt.Capacity)
	}
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	q.park(ParkedMessage{bytes.Clone(d.Body), reason, d.Receives, q.clock.Now()})
	return nil
}

// Depth returns exact counts. A message that will be delivered twice counts until its last copy is gone.
func (q *Queue) Depth(ctx context.Context) (seckill.Depth, error) {
	if err := ctx.Err(); err != nil {
		return seckill.Depth{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.uncover(q.clock.Now())
	return seckill.Depth{Visible: len(q.visible), InFlight: len(q.hidden) - q.delayed, Delayed: q.delayed,
		Parked: len(q.parked)}, nil
}

// Oldest returns how long the oldest visible message can be received already, or 0 without a visible message.
func (q *Queue) Oldest() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.uncover(now)
	if len(q.visible) == 0 {
		return 0
	}
	return now.Sub(q.visible[0].due)
}

// Parked lists the dead-letter queue, oldest first.
func (q *Queue) Parked() []ParkedMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]ParkedMessage, len(q.parked))
	for i, p := range q.parked {
		p.Body = bytes.Clone(p.Body)
		out[i] = p
	}
	return out
}

// Repeats returns how many deliveries Duplicate has repeated.
func (q *Queue) Repeats() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.repeats
}

// Redrive moves every parked message back into the queue, visible at once and with zero receives, and returns their
// number. An error means a cancelled context.
func (q *Queue) Redrive(ctx context.Context) (messages int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	parked := q.parked
	q.parked = nil
	for _, p := range parked {
		q.enqueue(p.Body, 0)
	}
	return len(parked), nil
}

// Next returns when a message can next be received: now if one already can. ok is false if the queue has no message.
func (q *Queue) Next() (at time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.uncover(now)
	switch {
	case len(q.visible) > 0:
		return now, true
	case len(q.hidden) > 0:
		return q.hidden[0].due, true
	default:
		return time.Time{}, false
	}
}

// Ready has an element after a send, a Delay, a Redrive and a duplicate, and after a Receive that left visible
// messages, so that several receivers may share it. It does not signal the passing of time: a receiver without
// messages waits for Ready, and until Next on its clock.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

func (q *Queue) errorf(format string, args ...any) error {
	return fmt.Errorf("memory: queue "+q.opt.Name+": "+format, args...)
}

func (q *Queue) chance() bool { return q.opt.Duplicate > 0 && q.rng.Float64() < q.opt.Duplicate }

func (q *Queue) poke() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *Queue) park(p ParkedMessage) { q.parked = append(q.parked, p) }

// find returns the message whose newest receipt this is, or nil.
func (q *Queue) find(receipt string) (*queued, error) {
	cut := strings.LastIndexByte(receipt, '#')
	if cut < 0 || !strings.HasPrefix(receipt, q.opt.Name+"-") {
		return nil, q.errorf("receipt %.100q is not valid", receipt)
	}
	if m := q.byID[receipt[:cut]]; m != nil && m.receipt() == receipt {
		return m, nil
	}
	return nil, nil
}

// uncover makes due messages visible.
func (q *Queue) uncover(now time.Time) {
	for len(q.hidden) > 0 && !q.hidden[0].due.After(now) {
		m := q.hidden[0]
		q.remove(m)
		m.visible = true
		heap.Push(&q.visible, m)
	}
}

// pick removes the message to deliver next; one must be visible.
func (q *Queue) pick() *queued {
	at := 0
	if q.opt.Shuffle {
		at = q.rng.IntN(len(q.visible))
	}
	return heap.Remove(&q.visible, at).(*queued)
}

// show inserts m, visible after the delay.
func (q *Queue) show(m *queued, now time.Time, delay time.Duration) {
	if delay > 0 {
		q.hide(m, now.Add(delay))
	} else {
		m.due, m.visible = now, true
		heap.Push(&q.visible, m)
	}
	q.poke()
}

// hide inserts m, hidden until due.
func (q *Queue) hide(m *queued, due time.Time) {
	m.due, m.visible = due, false
	if m.receives == 0 {
		q.delayed++
	}
	heap.Push(&q.hidden, m)
}

// remove removes m from its heap, not from byID.
func (q *Queue) remove(m *queued) {
	if m.visible {
		heap.Remove(&q.visible, m.index)
		return
	}
	if m.receives == 0 {
		q.delayed--
	}
	heap.Remove(&q.hidden, m.index)
}

// notXML returns the index of the first character that XML 1.0 forbids or that is not UTF-8, or -1.
func notXML(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe ||
			r == 0xffff {
			return i
		}
		i += n
	}
	return -1
}

var _ seckill.Queue = (*Queue)(nil)
