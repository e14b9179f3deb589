package crowd

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

type ending struct {
	outcome outcome
	cause   string
}

// tally counts what happens. It is safe for concurrent use.
type tally struct {
	mu      sync.Mutex
	opening time.Time // when the ramp began

	came    int
	endings map[ending]spread // from the press to the answer that decided
	bothers spread            // of those who had been told to try later, or nothing, before an answer

	acts map[string]*actTally

	// Of the answers to buy.
	firstSoldOut        time.Time
	answeredAtSoldOut   int
	lastPress           time.Time // the last answer to a first press
	answeredAtLastPress int
	afterSoldOut        spread // refusals to who asked after the first one

	acceptedAt, placedAt, paidAt []time.Time // an order each

	paid, tooLate, unpaid, cancelled, uncancelled, abandoned, looked int
	// paid at the cashier, and not seen paid
	unseen  int
	repeats map[string]int // what a second press got
	odd     Odd

	waits Waits
}

// Waits counts the shoppers who are waited for by what they wait for. Those who only look are not among them.
type Waits struct {
	Answer int // to their purchase
	Place  int // for their order to be placed
	Decide int // to pay or to cancel
	Hear   int // they have paid, and the shop has not heard of it
}

// actTally counts the requests of one act.
type actTally struct {
	sent, ok, refused, later, lost int
	took                           spread // of those that were answered
}

func newTally() *tally {
	return &tally{endings: map[ending]spread{}, bothers: newSpread(), afterSoldOut: newSpread(),
		acts: map[string]*actTally{}, repeats: map[string]int{}}
}

func (t *tally) act(name string) *actTally {
	a := t.acts[name]
	if a == nil {
		a = &actTally{took: newSpread()}
		t.acts[name] = a
	}
	return a
}

func (t *tally) sent(act string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.act(act).sent++
}

// answered counts an answer, or that none came; took counts from the moment at which it was meant to be sent.
func (t *tally) answered(act string, a *answer, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.act(act)
	switch {
	case a.status == 0:
		c.lost++
		return
	case a.later():
		c.later++
	case a.status >= http.StatusBadRequest:
		c.refused++
	default:
		c.ok++
	}
	c.took.add(took)
	if act != journal.ActBuy {
		return
	}
	switch {
	case seckill.Code(a.code) == seckill.CodeSoldOut:
		switch asked := a.at.Add(-took); {
		case t.firstSoldOut.IsZero():
			t.firstSoldOut, t.answeredAtSoldOut = a.at, t.meaningful()
		case asked.After(t.firstSoldOut):
			t.afterSoldOut.add(took)
		}
	}
}

// meaningful is how many requests had an answer that means something.
func (t *tally) meaningful() (n int) {
	for _, a := range t.acts {
		n += a.ok + a.refused
	}
	return n
}

// firstPress marks the answer to a shopper's first press.
func (t *tally) firstPress(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.After(t.lastPress) {
		t.lastPress, t.answeredAtLastPress = at, t.meaningful()
	}
}

// ended counts a shopper's outcome.
func (t *tally) ended(o outcome, cause string, took time.Duration, bothered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := ending{o, cause}
	s, ok := t.endings[key]
	if !ok {
		s = newSpread()
		t.endings[key] = s
	}
	s.add(took)
	if bothered && o != failed && o != brokenOff {
		t.bothers.add(took)
	}
}

// change counts under the lock whatever else happens to orders.
func (t *tally) change(f func(t *tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

// waiting counts a shopper who waits until done is called.
func (t *tally) waiting(kind func(*Waits) *int) (done func()) {
	t.change(func(t *tally) { *kind(&t.waits)++ })
	return func() { t.change(func(t *tally) { *kind(&t.waits)-- }) }
}

// Progress is how far a crowd has come.
type Progress struct {
	Since                                            time.Duration // the opening; negative before it
	Shoppers, Came, Decided                          int
	Accepted, Placed, SoldOut, Refused, Failed, Paid int
	Requests, Lost                                   int // sent; without an answer
	Waits                                            Waits
	Until                                            time.Time // whoever still waits then is sent home, by our clock
}

func (t *tally) progress(shoppers int) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{Since: time.Since(t.opening), Shoppers: shoppers, Came: t.came, Accepted: len(t.acceptedAt),
		Placed: len(t.placedAt), Paid: t.paid, Waits: t.waits}
	for e, s := range t.endings {
		n := int(s.TotalCount())
		p.Decided += n
		switch e.outcome {
		case soldOut:
			p.SoldOut += n
		case refused, rejected:
			p.Refused += n
		case failed:
			p.Failed += n
		}
	}
	for _, a := range t.acts {
		p.Requests += a.sent
		p.Lost += a.lost
	}
	return p
}

// sortedEndings lists the endings in the order of outcomes, the most frequent cause first.
func (t *tally) sortedEndings() []ending {
	return slices.SortedFunc(maps.Keys(t.endings), func(a, b ending) int {
		if d := slices.Index(outcomes, a.outcome) - slices.Index(outcomes, b.outcome); d != 0 {
			return d
		}
		if d := t.endings[b].TotalCount() - t.endings[a].TotalCount(); d != 0 {
			return int(d)
		}
		return strings.Compare(a.cause, b.cause)
	})
}

// Odd is how shoppers paid who did not just pay, and what went wrong with payments meanwhile.
type Odd struct {
	// opened the cashier in time and pressed "pay" when the hold had ended
	Late        int            `json:"late"`
	LateTaken   int            `json:"late_taken"`   // the cashier took their money
	LateRefused int            `json:"late_refused"` // it said that it is too late
	LateFailed  int            `json:"late_failed"`  // it said nothing that means something
	Twice       int            `json:"twice"`        // pressed "pay" twice
	ToldPaid    int            `json:"told_paid"`    // of these: the second press was answered that it is paid
	BothPaid    int            `json:"two_trades"`   // paid at two cashiers of the order
	Landed      map[string]int `json:"faults,omitempty"`
	// false notifications that the shop answered with "success": each is a fault of the shop
	TakenIn map[string]int `json:"taken_in,omitempty"`
}
