package crowd

import (
	"context"
	"slices"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/record/process"
	"github.com/your-org/seckill/shared/adapter/system"
	"github.com/your-org/seckill/shared/seckill"
)

// Report is what came of a crowd. Latencies are in milliseconds, from the moment at which a request, or a shopper's
// press, was meant; money is in yuan.
type Report struct {
	Options     journal.Start `json:"options"`
	Title       string        `json:"title"`
	Stock       int           `json:"stock"`
	Limit       int           `json:"limit"`
	Price       seckill.Fen   `json:"price_yuan"`
	Interrupted bool          `json:"interrupted"`

	Arrived  int       `json:"arrived"`
	Outcomes []Outcome `json:"outcomes"` // each shopper who arrived is in exactly one
	Bothered Outcome   `json:"unavailable_then_answered"`
	Refused  Latency   `json:"sold_out_asked_after_sell_out"` // requests, not shoppers

	Requests Requests `json:"requests"`
	Rates    Rates    `json:"rates"`
	Orders   Orders   `json:"orders"`
	Odd      Odd      `json:"odd_payments"`
	Units    Units    `json:"units"`
	Money    Money    `json:"money"`
	Idle     Idle     `json:"idle"`

	Server  Server         `json:"server"`
	Client  Usage          `json:"client"`
	Machine Machine        `json:"machine"`
	Flood   *Flood         `json:"flood,omitempty"`
	Journal *JournalReport `json:"journal,omitempty"`
	Pay     string         `json:"cashier,omitempty"` // where orders were paid; "": nowhere

	before *localState
	mine   system.Usage
}

// Outcome is how the purchases of some shoppers ended; the latency is from a shopper's press to the answer that
// decided.
type Outcome struct {
	Name  string `json:"name"`
	Cause string `json:"cause,omitempty"`
	Latency
}

// Act is the requests of one kind.
type Act struct {
	Name    string  `json:"name"`
	Sent    int     `json:"sent"`
	OK      int     `json:"ok"`
	Refused int     `json:"refused"`
	Later   int     `json:"unavailable"`
	Lost    int     `json:"no_answer"`
	Latency Latency `json:"latency"` // of those that were answered
}

// Requests counts requests, not shoppers. Answered are those whose answer means something, refusals included.
type Requests struct {
	Sent        int            `json:"sent"`
	Answered    int            `json:"answered"`
	Unavailable int            `json:"unavailable"`
	Lost        int            `json:"no_answer"`
	Acts        []Act          `json:"acts"`
	Repeats     map[string]int `json:"second_presses"` // what a second press got
}

// Rates are throughputs. Only orders count as such; requests answered per second, refusals included, are told apart. 0:
// it cannot be said.
type Rates struct {
	// as many as the stock has room for, or fewer: the rates of orders are over these
	FirstOrders int     `json:"first_orders"`
	Accepted    float64 `json:"accepted_per_second"`
	Placed      float64 `json:"placed_per_second"`
	Paid        float64 `json:"paid_per_second"`
	RunPlaced   float64 `json:"run_placed_per_second"` // by the own count of a seckill run, each tenth of a second
	RunPaid     float64 `json:"run_paid_per_second"`
	// from the opening to the last answer to a first press
	Answered      float64 `json:"answered_per_second"`
	AnsweredAfter float64 `json:"answered_after_sell_out_per_second"` // from the first sold-out answer on
	// from the opening to the first sold-out answer
	SellOutSeconds float64 `json:"sell_out_seconds"`
	// from the opening to the last of the first orders, seen in the ledger
	LastFirstPlaced float64 `json:"first_orders_placed_seconds"`
	// from the opening to the last answer to a first press
	LastAnswerSecond float64 `json:"last_answer_seconds"`
}

// Orders is what became of the placed orders as their shoppers saw it.
type Orders struct {
	Placed int `json:"placed"`
	Paid   int `json:"paid"`
	// the cashier took the money, and the shop had not said so before the shopper left
	Unseen      int `json:"paid_unseen"`
	Late        int `json:"late"` // opened the cashier, to pay when it is too late
	TooLate     int `json:"too_late_to_pay"`
	Unpaid      int `json:"payment_failed"`
	Cancelled   int `json:"cancelled"`
	Uncancelled int `json:"cancel_refused"`
	Abandoned   int `json:"abandoned"`
	Looked      int `json:"left_unpaid"`
	SentHome    int `json:"sent_home"`
}

// Units are the item's, by the stock of a `seckill run`; known only there.
type Units struct {
	Known bool `json:"known"`
	Stock int  `json:"stock"`
	Sold  int  `json:"sold"` // of orders that are paid; once no order is open, all that is held
	Held  int  `json:"held"` // of orders that are open
	Free  int  `json:"free"`
	// came back from orders that lapsed or were cancelled, and may have been sold again
	BackOnSale int `json:"back_on_sale"`
}

// Usage is what a process used.
type Usage struct {
	CPUSeconds float64 `json:"cpu_seconds"` // while the crowd was there
	RSS        int64   `json:"rss_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"` // since the process started
}

// Server is the process of a `seckill run`; known only there.
type Server struct {
	Known bool `json:"known"`
	Usage
	Heap       uint64 `json:"heap_bytes"`
	Goroutines int    `json:"goroutines"`
	Version    string `json:"version"`
	Go         string `json:"go_version"`
}

// JournalReport says how to know the journal again.
type JournalReport struct {
	Last string `json:"last_hash"`
}

func newReport(o *Options, sc *scene) *Report {
	r := &Report{Options: o.start(), Title: sc.item.title, Stock: sc.item.stock, Limit: sc.item.limit,
		Price: sc.item.price, Pay: sc.cashier,
		Machine: thisMachine(), before: sc.state, mine: system.Used()}
	r.Options.Time = time.Now().UTC()
	r.Server.Version = sc.version
	if p := sc.process; p != nil {
		r.Server.CPUSeconds = p.CPUSeconds
	}
	return r
}

// used notes what the processes used while the crowd was there.
func (r *Report) used(p *process.Usage, mine system.Usage) {
	r.Client = Usage{mine.CPUSeconds - r.mine.CPUSeconds, mine.RSS, mine.PeakRSS}
	r.Machine.LoadAfter = loadAverage()
	if p == nil {
		r.Server.CPUSeconds = 0
		return
	}
	r.Server = Server{true, Usage{p.CPUSeconds - r.Server.CPUSeconds, p.RSS, p.PeakRSS}, p.Heap, p.Goroutines,
		p.Version, p.Go}
}

// waitIdle lets the orders come to rest, and says where units and money are then.
func (r *Report) waitIdle(ctx context.Context, run *run, d *operatorClient) {
	local := r.before != nil
	switch {
	case local && !r.Interrupted:
		r.Idle = run.waitIdleLocal(ctx, d)
	case !local && run.opt.WaitIdle > 0:
		r.Idle = run.waitIdleRemote(ctx)
	case !local:
		r.Idle = Idle{Known: true, Open: len(run.open)}
	}
	if !local {
		return
	}
	st := d.state(context.WithoutCancel(ctx))
	if st == nil {
		return
	}
	r.Idle.Known, r.Idle.Open, r.Idle.RefundsDue = true, st.openOrders(), len(st.Refunds)
	for _, it := range st.Items {
		if it.ID == run.item.id && it.Loaded {
			r.Units = Units{Known: true, Stock: it.Stock, Sold: it.Held, Free: it.Left}
		}
	}
	if r.Units.Known {
		back := 0
		// the last two: late money
		for _, s := range []seckill.State{seckill.Expired, seckill.Cancelled, seckill.RefundOwed, seckill.Refunded} {
			back += st.Orders[s] - r.before.Orders[s]
		}
		r.Units.BackOnSale = back * r.Options.Count
		r.Units.Held = min(r.Units.Sold, r.Idle.Open*r.Options.Count)
		r.Units.Sold -= r.Units.Held
	}
	if r.Money = run.money; !r.Money.Known {
		r.Money = d.money(context.WithoutCancel(ctx), run.item.id)
	}
}

// count fills in what the tally has.
func (r *Report) count(run *run) {
	t := run.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Arrived = t.came
	for _, e := range t.sortedEndings() {
		r.Outcomes = append(r.Outcomes, Outcome{string(e.outcome), e.cause, t.endings[e].latency()})
	}
	r.Bothered = Outcome{"unavailable_then_answered", "", t.bothers.latency()}
	r.Refused = t.afterSoldOut.latency()
	r.countRequests(t)
	all := 0
	for e, s := range t.endings {
		if e.outcome == placed {
			all += int(s.TotalCount())
		}
	}
	r.Orders = Orders{Placed: all, Paid: t.paid, Unseen: t.unseen, Late: t.odd.Late, TooLate: t.tooLate,
		Unpaid: t.unpaid, Cancelled: t.cancelled, Uncancelled: t.uncancelled,
		Abandoned: t.abandoned, Looked: t.looked}
	r.Orders.SentHome =
		all - t.paid - t.unseen - t.odd.Late - t.tooLate - t.unpaid - t.cancelled - t.uncancelled - t.abandoned -
			t.looked
	r.Odd = t.odd
	if run.faults != nil {
		r.Odd.Landed, r.Odd.TakenIn = run.faults.landed, run.faults.taken
	}
	r.countRates(t)
	r.Rates.RunPlaced = sampled(run.samples, r.Rates.FirstOrders, func(s sample) int { return s.placed })
	r.Rates.RunPaid = sampled(run.samples, r.Orders.Paid, func(s sample) int { return s.paid })
}

func (r *Report) countRequests(t *tally) {
	r.Requests.Repeats = t.repeats
	for _, name := range []string{journal.ActTime, journal.ActBuy, journal.ActOrder, journal.ActGet, journal.ActPay,
		journal.ActCancel} {
		a := t.acts[name]
		if a == nil {
			continue
		}
		r.Requests.Acts = append(r.Requests.Acts, Act{name, a.sent, a.ok, a.refused, a.later, a.lost, a.took.latency()})
		r.Requests.Sent += a.sent
		r.Requests.Answered += a.ok + a.refused
		r.Requests.Unavailable += a.later
		r.Requests.Lost += a.lost
	}
}

func (r *Report) countRates(t *tally) {
	since := func(at time.Time) float64 {
		if at.IsZero() {
			return 0
		}
		return at.Sub(t.opening).Seconds()
	}
	for _, at := range [][]time.Time{t.acceptedAt, t.placedAt, t.paidAt} {
		slices.SortFunc(at, time.Time.Compare)
	}
	n := min(len(t.placedAt), r.Stock/r.Options.Count)
	r.Rates.FirstOrders = n
	if n > 0 {
		r.Rates.LastFirstPlaced = since(t.placedAt[n-1])
	}
	r.Rates.Placed = rate(t.placedAt[:n])
	r.Rates.Paid = rate(t.paidAt)
	r.Rates.Accepted = rate(t.acceptedAt[:min(len(t.acceptedAt), r.Stock/r.Options.Count)])
	r.Rates.SellOutSeconds, r.Rates.LastAnswerSecond = since(t.firstSoldOut), since(t.lastPress)
	if d := t.lastPress.Sub(t.opening).Seconds(); d > 0 {
		asked := 0
		if a := t.acts[journal.ActTime]; a != nil {
			asked = a.ok + a.refused // before the opening
		}
		r.Rates.Answered = float64(max(0, t.answeredAtLastPress-asked)) / d
	}
	if d := t.lastPress.Sub(t.firstSoldOut).Seconds(); d > 0 && !t.firstSoldOut.IsZero() {
		r.Rates.AnsweredAfter = float64(t.answeredAtLastPress-t.answeredAtSoldOut) / d
	}
}

// rate is how many a second, from the first to the last.
func rate(at []time.Time) float64 {
	if len(at) < 2 {
		return 0
	}
	d := at[len(at)-1].Sub(at[0]).Seconds()
	if d <= 0 {
		return 0
	}
	return float64(len(at)-1) / d
}

// Count is how many shoppers had an outcome, whatever the cause.
func (r *Report) Count(name string) (n int64) {
	for _, o := range r.Outcomes {
		if o.Name == name {
			n += o.Count
		}
	}
	return n
}

// sampled is how many a second there were until n were counted: from the last sample without any to the first with n,
// or with the most.
func sampled(samples []sample, n int, count func(sample) int) float64 {
	if len(samples) == 0 || n == 0 {
		return 0
	}
	n = min(n, count(samples[len(samples)-1]))
	var from time.Time
	for _, s := range samples {
		c := count(s)
		if c == 0 || from.IsZero() {
			from = s.at
		}
		if d := s.at.Sub(from).Seconds(); c > 0 && c >= n && d > 0 {
			return float64(c) / d
		}
	}
	return 0
}
