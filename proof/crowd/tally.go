package crowd

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

type ending struct {
	outcome outcome
	cause   string
}

// tally counts what happens. It is safe for concurrent use.
type tally struct {
	mu      sync.Mutex
	opening time.Time // start of the ramp

	came    int
	endings map[ending]spread // time from the press to the deciding answer
	bothers spread            // the same, of shoppers who were told to try later, or got no answer, before it

	acts map[string]*actTally

	// Answers to purchases. A first press is a shopper's earliest press.
	firstSoldOut        time.Time
	answeredAtSoldOut   int // requests answered by then, also below
	lastPress           time.Time
	answeredAtLastPress int
	afterSoldOut        spread // sold_out answers to requests that were scheduled after firstSoldOut

	acceptedAt, placedAt, paidAt []time.Time // one per order

	orders  Orders
	repeats map[string]int // answers to second presses

	waits Waits
	push  Push

	kinds    [kinds]Kind
	checking spread // how long people took to pass the checks
}

// Waits counts waiting shoppers by what they wait for, except shoppers who only look at an unpaid order.
type Waits struct {
	Answer int // to their purchase
	Place  int // for their order to be placed
	Decide int // to pay or to cancel
	Hear   int // for the shop to record their payment
}

// Push counts what shoppers heard without asking.
type Push struct {
	Connected int     `json:"connected"`
	Refused   int     `json:"refused"`
	Outcomes  int     `json:"outcomes"`             // orders whose placement or rejection was heard
	After     Latency `json:"outcome_after_answer"` // from the accepted purchase's answer to what was heard

	Followed int `json:"followed"` // accepted shoppers who learned the outcome
	Polls    int `json:"polls"`    // until then, of all of them

	after spread
}

// actTally counts the requests of one act. took has the times of those that were answered.
type actTally struct {
	Act
	took spread
}

func newTally() *tally {
	return &tally{endings: map[ending]spread{}, bothers: newSpread(), afterSoldOut: newSpread(),
		acts: map[string]*actTally{}, repeats: map[string]int{}, push: Push{after: newSpread()}, checking: newSpread()}
}

func (t *tally) act(name string) *actTally {
	a := t.acts[name]
	if a == nil {
		a = &actTally{Act{Name: name}, newSpread()}
		t.acts[name] = a
	}
	return a
}

func (t *tally) sent(act string) { t.change(func(t *tally) { t.act(act).Sent++ }) }

// answered counts an answer or a lost request. took is the time since the scheduled moment.
func (t *tally) answered(act string, a *answer, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.act(act)
	switch {
	case a.status == 0:
		c.Lost++
		return
	case a.later():
		c.Later++
	case a.status >= http.StatusBadRequest:
		c.Refused++
	default:
		c.OK++
	}
	if a.kept {
		c.Kept++
	}
	c.took.add(took)
	if act != record.ActBuy || seckill.Code(a.Code) != seckill.CodeSoldOut {
		return
	}
	switch asked := a.at.Add(-took); {
	case t.firstSoldOut.IsZero():
		t.firstSoldOut, t.answeredAtSoldOut = a.at, t.meaningful()
	case asked.After(t.firstSoldOut):
		t.afterSoldOut.add(took)
	}
}

// meaningful returns the number of requests with an answer other than 429 and 5xx.
func (t *tally) meaningful() (n int) {
	for _, a := range t.acts {
		n += a.OK + a.Refused
	}
	return n
}

// firstPress records the time of the answer to a shopper's first press.
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

// change calls f under the lock.
func (t *tally) change(f func(t *tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

// waiting counts a waiting shopper until done is called.
func (t *tally) waiting(kind func(*Waits) *int) (done func()) {
	t.change(func(t *tally) { *kind(&t.waits)++ })
	return func() { t.change(func(t *tally) { *kind(&t.waits)-- }) }
}

// Progress is a snapshot of a running crowd.
type Progress struct {
	Since                                            time.Duration // since the opening; negative before it
	Shoppers, Came, Decided                          int
	Accepted, Placed, SoldOut, Refused, Failed, Paid int
	Requests, Lost                                   int // Lost: without an answer
	Waits                                            Waits
	Until                                            time.Time // when waiting shoppers are sent home, local clock
}

func (t *tally) progress(shoppers int) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{Since: time.Since(t.opening), Shoppers: shoppers, Came: t.came, Accepted: len(t.acceptedAt),
		Placed: len(t.placedAt), Paid: t.orders.Paid, Waits: t.waits}
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
		p.Requests += a.Sent
		p.Lost += a.Lost
	}
	return p
}

// sortedEndings returns the endings in the order of outcomes, most frequent cause first.
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

// Act counts the requests of one kind.
type Act struct {
	Name    string  `json:"name"`
	Sent    int     `json:"sent"`
	OK      int     `json:"ok"`
	Refused int     `json:"refused"`
	Later   int     `json:"unavailable"` // 429 and 5xx
	Lost    int     `json:"no_answer"`
	Kept    int     `json:"cdn,omitempty"` // of OK: answered by a CDN
	Latency Latency `json:"latency"`       // of answered requests
}

// Orders counts the placed orders by what their shoppers saw last.
type Orders struct {
	Placed      int `json:"placed"`
	Paid        int `json:"paid"`
	TooLate     int `json:"too_late_to_pay"` // the cashier, or the shop afterwards, said so
	Unpaid      int `json:"payment_failed"`
	Cancelled   int `json:"cancelled"`
	Uncancelled int `json:"cancel_refused"`
	Abandoned   int `json:"abandoned"`
	Looked      int `json:"left_unpaid"`
	SentHome    int `json:"sent_home"` // the crowd ended before any of these
}

// Kind counts the accounts of people, or of scripts of one kind.
type Kind struct {
	Name     string `json:"name"`
	Accounts int    `json:"accounts"`
	Came     int    `json:"came"`
	Tickets  int    `json:"tickets"`
	Orders   int    `json:"orders"`
	Units    int    `json:"units"`

	PerAccount float64 `json:"units_per_account"`
	// ToPeople is the units of an account here for one unit of a person's account: fair is 1. It is nil if people got
	// no unit.
	ToPeople *float64 `json:"to_people"`
	// What one more unit costs the owner of such scripts; nil if the scripts got no unit.
	UnitAccounts *float64 `json:"accounts_a_unit"`
	UnitCPU      *float64 `json:"cpu_seconds_a_unit"` // of proofs of work
}
