package sim

import (
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// countsLag is how old a count of a queue may be.
const countsLag = time.Minute

// promises are what I18 has to know: an order that was acknowledged is rejected only for what its shopper is or did, or
// because the sale was stopped.
type promises struct {
	began    map[string]time.Time // by order, when a request that may be acknowledged was answered by the stock
	excused  map[string]bool      // orders that were acknowledged late by an instance whose clock jumped, or parked
	wentBack bool                 // the stock was restored: it sold on, and nobody knew
	misled   bool                 // it was lost, and an old count of the queue looked new and showed too little
	jumps    bool                 // whether clocks jump
}

// begin records when the stock answered a request with an order.
func (p *promises) begin(order string, now time.Time) {
	if p.began == nil {
		p.began, p.excused = map[string]time.Time{}, map[string]bool{}
	}
	p.began[order] = now
}

// park records which orders are in the dead-letter queue.
func (p *promises) park(q *memory.Queue) {
	for _, m := range q.Parked() {
		if got, err := seckill.DecodeMessage(m.Body); err == nil && got.Kind == seckill.MessageOrder {
			p.begin(got.Reservation.Order, m.At)
			p.excused[got.Reservation.Order] = true
		}
	}
}
