package crowd

import (
	"context"
	"slices"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// Report is the result of a crowd. Latencies are in milliseconds from the scheduled moment of a request or press; money
// is in yuan.
type Report struct {
	Options     record.Start `json:"options"`
	Title       string       `json:"title"`
	Stock       int          `json:"stock"`
	Limit       int          `json:"limit"`
	Price       seckill.Fen  `json:"price_yuan"`
	Interrupted bool         `json:"interrupted"`

	Arrived  int       `json:"arrived"`
	Outcomes []Outcome `json:"outcomes"` // each arrived shopper is in exactly one
	Bothered Outcome   `json:"unavailable_then_answered"`
	Refused  Latency   `json:"sold_out_asked_after_sell_out"` // requests, not shoppers

	Requests Requests `json:"requests"`
	Push     Push     `json:"push"`
	Rates    Rates    `json:"rates"`
	Orders   Orders   `json:"orders"`
	Units    Units    `json:"units"`
	Money    Money    `json:"money"`
	Idle     Idle     `json:"idle"`

	Server  Server  `json:"server"`
	Client  Usage   `json:"client"`
	Machine Machine `json:"machine"`
	Flood   *Flood  `json:"flood,omitempty"`
	Pay     string  `json:"cashier,omitempty"` // its address; "" if there is none

	Fairness *Fairness `json:"fairness,omitempty"` // of a crowd with scripts

	before *localState
	mine   record.Usage
}

// Outcome counts shoppers whose purchases ended alike. The latency is from the press to the deciding answer.
type Outcome struct {
	Name  string `json:"name"`
	Cause string `json:"cause,omitempty"`
	Latency
}

// Requests counts requests, not shoppers. Answered includes refusals but not 429 and 5xx.
type Requests struct {
	Sent        int            `json:"sent"`
	Answered    int            `json:"answered"`
	Unavailable int            `json:"unavailable"`
	Lost        int            `json:"no_answer"`
	Acts        []Act          `json:"acts"`
	Repeats     map[string]int `json:"second_presses"` // answers by code
	Pages       *Pages         `json:"pages,omitempty"`
}

// Rates are per second; 0 means unknown. Only orders are throughput. Answered requests include refusals.
type Rates struct {
	// FirstOrders is the number of orders that the rates of orders cover: at most as many as the stock can serve.
	FirstOrders int     `json:"first_orders"`
	Accepted    float64 `json:"accepted_per_second"`
	Placed      float64 `json:"placed_per_second"`
	Paid        float64 `json:"paid_per_second"`
	// Answered is from the opening to the last answer to a first press, AnsweredAfter from the first sold_out answer.
	Answered      float64 `json:"answered_per_second"`
	AnsweredAfter float64 `json:"answered_after_sell_out_per_second"`
	// Seconds from the opening: to the first sold_out answer, to the last of FirstOrders seen in the ledger, and to the
	// last answer to a first press.
	SellOutSeconds   float64 `json:"sell_out_seconds"`
	LastFirstPlaced  float64 `json:"first_orders_placed_seconds"`
	LastAnswerSecond float64 `json:"last_answer_seconds"`
}

// Units are the item's units in the stock of a `seckill run`; elsewhere they are unknown.
type Units struct {
	Known bool `json:"known"`
	Stock int  `json:"stock"`
	Sold  int  `json:"sold"` // of paid orders
	Held  int  `json:"held"` // of open orders
	Free  int  `json:"free"`
	// BackOnSale counts units of closed orders, also of orders that were paid late. The units may have been sold again.
	BackOnSale int `json:"back_on_sale"`
}

// Usage is a process's use of its machine.
type Usage struct {
	CPUSeconds float64 `json:"cpu_seconds"` // during the crowd
	RSS        int64   `json:"rss_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"` // since the process started
}

// Server is the process of a `seckill run`; elsewhere only the version is known.
type Server struct {
	Known bool `json:"known"`
	Usage
	Heap       uint64 `json:"heap_bytes"`
	Goroutines int    `json:"goroutines"`
	Version    string `json:"version"`
	Go         string `json:"go_version"`
}

func newReport(o *Options, sc *scene) *Report {
	r := &Report{Options: o.start(), Title: sc.item.About.Title, Stock: sc.item.Stock, Limit: sc.item.Limit,
		Price: sc.item.Price, Pay: sc.cashier,
		Machine: thisMachine(), before: sc.state, mine: record.Used()}
	r.Options.Time = time.Now().UTC()
	r.Server.Version = sc.version
	if p := sc.process; p != nil {
		r.Server.CPUSeconds = p.CPUSeconds
	}
	return r
}

// used records what both processes used during the crowd.
func (r *Report) used(p *record.Usage, mine record.Usage) {
	r.Client = Usage{mine.CPUSeconds - r.mine.CPUSeconds, mine.RSS, mine.PeakRSS}
	r.Machine.LoadAfter = loadAverage()
	if p == nil {
		r.Server.CPUSeconds = 0
		return
	}
	r.Server = Server{true, Usage{p.CPUSeconds - r.Server.CPUSeconds, p.RSS, p.PeakRSS}, p.Heap, p.Goroutines,
		p.Version, p.Go}
}

// waitIdle waits until the orders are at rest and records where units and money are then.
func (r *Report) waitIdle(ctx context.Context, run *run, d *operatorClient) {
	local := r.before != nil
	switch {
	case run.opt.Bots != nil: // who got units is known
		return
	case local && !r.Interrupted:
		r.Idle = run.waitIdleLocal(ctx, d)
	case !local:
		r.Idle = Idle{Known: true, Open: run.open}
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
		if it.ID == run.item.ID && it.Loaded {
			r.Units = Units{Known: true, Stock: it.Stock, Sold: it.Held, Free: it.Left}
		}
	}
	if r.Units.Known {
		back := 0
		for _, s := range []seckill.State{seckill.Expired, seckill.Cancelled, seckill.RefundOwed, seckill.Refunded} {
			back += st.Orders[s] - r.before.Orders[s]
		}
		r.Units.BackOnSale = back * r.Options.Count
		r.Units.Held = min(r.Units.Sold, r.Idle.Open*r.Options.Count)
		r.Units.Sold -= r.Units.Held
	}
	if r.Money = run.money; !r.Money.Known {
		r.Money = d.money(context.WithoutCancel(ctx), run.item.ID)
	}
}

// count copies the tally's figures.
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
	r.Orders = t.orders
	o := &r.Orders
	o.Placed = int(r.Count(string(placed)))
	o.SentHome = o.Placed - o.Paid - o.TooLate - o.Unpaid - o.Cancelled - o.Uncancelled -
		o.Abandoned - o.Looked
	r.countRates(t)
}

func (r *Report) countRequests(t *tally) {
	r.Push = t.push
	r.Push.After = t.push.after.latency()
	q := &r.Requests
	q.Repeats = t.repeats
	if t.acts[actFile] != nil {
		q.Pages = t.pages()
	}
	for _, name := range []string{actFile, actList, actStatus, record.ActTime, actChallenge, actTicket,
		record.ActBuy, record.ActOrder, record.ActGet, record.ActPay, record.ActCancel} {
		a := t.acts[name]
		if a == nil {
			continue
		}
		a.Latency = a.took.latency()
		q.Acts = append(q.Acts, a.Act)
		q.Sent += a.Sent
		q.Answered += a.OK + a.Refused
		q.Unavailable += a.Later
		q.Lost += a.Lost
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
		// sent before the opening
		for _, name := range []string{actFile, actList, record.ActTime, actChallenge, actTicket} {
			if a := t.acts[name]; a != nil {
				asked += a.OK + a.Refused
			}
		}
		r.Rates.Answered = float64(max(0, t.answeredAtLastPress-asked)) / d
	}
	if d := t.lastPress.Sub(t.firstSoldOut).Seconds(); d > 0 && !t.firstSoldOut.IsZero() {
		r.Rates.AnsweredAfter = float64(t.answeredAtLastPress-t.answeredAtSoldOut) / d
	}
}

// rate returns events per second from the first to the last.
func rate(at []time.Time) float64 {
	if len(at) < 2 || !at[len(at)-1].After(at[0]) {
		return 0
	}
	return float64(len(at)-1) / at[len(at)-1].Sub(at[0]).Seconds()
}

// Count returns the number of shoppers with an outcome, over all causes.
func (r *Report) Count(name string) (n int64) {
	for _, o := range r.Outcomes {
		if o.Name == name {
			n += o.Count
		}
	}
	return n
}
