package plan

import "math"

const (
	tick  = 0.01 // s
	tries = 109  // at 1.1 s each until giveUp
	half  = 0.5  // amounts below this count as 0
	never = -1.0
)

// Outcome is the result of a simulated sale. Times are seconds after the opening; -1 is never. Peaks are per second.
type Outcome struct {
	// Arrived is the sum of Answered, Waiting and GaveUp. GaveUp got 429 or 503 for two minutes. Saw is a part of
	// Answered: their page said "sold out" before it sent a purchase, or sent it again.
	Arrived  float64 `json:"arrived"`
	Saw      float64 `json:"saw_sold_out"`
	Answered float64 `json:"answered"`
	Waiting  float64 `json:"waiting"`
	GaveUp   float64 `json:"gave_up"`

	Sold   float64 `json:"orders_reserved"`
	Placed float64 `json:"orders_placed"`
	Queued float64 `json:"orders_queued"`

	SoldOut     float64 `json:"sold_out_s"`
	LastSold    float64 `json:"last_reserved_s"`
	BusyUntil   float64 `json:"busy_until_s"` // the last moment at which a shopper waited
	LastPlaced  float64 `json:"last_placed_s"`
	MedianWait  float64 `json:"median_wait_s"`
	LongestWait float64 `json:"longest_wait_s"`

	Throttled float64 `json:"told_429"` // answers, not shoppers; also Refused
	Refused   float64 `json:"told_503"`

	PeakCalls     float64 `json:"peak_calls"`     // requested
	PeakEdge      float64 `json:"peak_edge"`      // of pages and purchases, at the CDN
	PeakPolls     float64 `json:"peak_polls"`     // of these, looks of buyers at their orders
	PeakPassed    float64 `json:"peak_passed"`    // admitted
	PeakInstances float64 `json:"peak_instances"` // busy or provisioned
	PeakScripts   float64 `json:"peak_scripts"`   // of purchases
	PeakLevels    float64 `json:"peak_levels"`    // scripts of lists, for one item
	PeakStatus    float64 `json:"peak_status"`    // scripts of looks at queued orders
	PeakBuy       float64 `json:"peak_buy"`       // warm instances of buy
	PeakShop      float64 `json:"peak_shop"`      // warm instances of shop
	PeakPlaced    float64 `json:"peak_placed"`
	PeakPaid      float64 `json:"peak_paid"`   // paid orders, when all are paid
	PeakStarts    float64 `json:"peak_starts"` // cold starts; each reads one secret

	BuyCalls   float64 `json:"buy_calls"`   // that reached the function
	ShopCalls  float64 `json:"shop_calls"`  // that reached the function, also before the opening
	EdgeCalls  float64 `json:"edge_calls"`  // of pages, answered by the CDN
	FirstLooks float64 `json:"first_looks"` // pages that opened, and fetched their files
	Scripts    float64 `json:"reserve_scripts"`

	Seconds []Second `json:"-"`
}

// calls returns the calls that reached the API, refused ones included.
func (o *Outcome) calls() float64 { return o.BuyCalls + o.ShopCalls + o.Throttled + o.Refused }

// Second is the traffic of one second. Instances is its maximum.
type Second struct {
	Looks, Buys, Passed, Told, Placed float64
	Instances                         float64
}

func (s *Second) add(t Second) {
	s.Looks += t.Looks
	s.Buys += t.Buys
	s.Passed += t.Passed
	s.Told += t.Told
	s.Placed += t.Placed
	s.Instances = max(s.Instances, t.Instances)
}

// pool is a function's instances. warm counts those that run, busy, cold or idle; budget is what Lambda may start.
type pool struct{ warm, busy, cold, budget, started float64 }

// step frees instances after a tick and refills the budget.
func (p *pool) step(l *Limits) {
	p.busy -= p.busy * (1 - math.Exp(-tick/max(callSeconds, Occupied)))
	started := p.cold * (1 - math.Exp(-tick/coldSeconds))
	p.cold -= started
	p.budget = min(l.Ramp, p.budget+l.Ramp*tick/rampRefill)
}

// take assigns calls to idle instances and starts new ones. It returns how many calls got an instance.
func (p *pool) take(calls, room float64) float64 {
	free := max(0, min(p.warm-p.busy-p.cold, room))
	warm := min(calls, free)
	start := max(0, min(calls-warm, p.budget, room-warm))
	p.busy += warm
	p.cold += start
	p.warm += start
	p.budget -= start
	p.started += start
	return warm + start
}

// bucket is a token bucket of API Gateway.
type bucket struct{ tokens float64 }

// take returns how many of a tick's calls are admitted.
func (b *bucket) take(calls, rate, burst float64) float64 {
	b.tokens = min(burst, b.tokens+rate*tick)
	passed := min(calls, b.tokens)
	b.tokens -= passed
	return passed
}

// sim is the state of a simulation.
type sim struct {
	*Sale
	Limits
	out Outcome
	t   float64
	// Each method has its own bucket, and all methods share the account's bucket.
	buying, lists, clock, files, status, orders, account bucket
	// scripts in this second: of lists for one item, of looks at queued orders
	levels, queued float64
	polls          float64 // in this second
	// calls that the CDN had answered before this second, and before this tick
	edge, edgeBefore float64
	asks             float64 // scripts of lists for one item, in this tick
	buy, shop        pool
	// returning shoppers by tick and number of tries: those who only ever got 429, and those who got 503
	back, doubt [retryMost + 1][tries]float64
	top         [retryMost + 1]int // 1 + their largest number of tries
	// answered shoppers by number of retries
	waits   [tries]float64
	left    float64 // orders for which units are left
	holders float64 // shoppers whose pages poll an order
	scripts float64 // of purchases in this second
}

// simulate runs a sale until every shopper is answered or has given up, and every order is placed.
func simulate(s *Sale, l Limits) Outcome {
	m := &sim{Sale: s, Limits: l, left: math.Floor(float64(s.Units) / float64(s.Count))}
	m.out.SoldOut, m.out.LastSold, m.out.BusyUntil, m.out.LastPlaced = never, never, 0, never
	m.before()
	// Shoppers wait at most giveUp. The bound is for orders that the tables cannot accept.
	end := s.Within.Seconds() + 10*s.Rest.Seconds() + giveUp.Seconds() + MaxSpan.Seconds()
	for n := 0; m.t < end; n++ {
		m.step(n)
		if float64(s.Shoppers)-m.out.Arrived < half && m.out.Waiting < half && m.out.Queued < half {
			break
		}
	}
	m.waited()
	return m.out
}

func (m *sim) step(n int) {
	slot := n % len(m.back)
	m.edgeBefore = m.out.EdgeCalls
	o := &m.out
	m.t = float64(n+1) * tick
	fresh := m.arrived(m.t) - o.Arrived
	opened := fresh // whose pages are not open yet
	if m.t <= m.Within.Seconds() {
		opened -= min(fresh, float64(m.Shoppers)*m.First*tick/m.Within.Seconds())
	}
	o.Arrived += fresh
	if m.known() { // a page that opens now has no button
		m.sees(0, opened)
		fresh -= opened
	}

	now, doubt, top := m.back[slot], m.doubt[slot], max(m.top[slot], 1)
	m.back[slot], m.doubt[slot], m.top[slot] = [tries]float64{}, [tries]float64{}, 0
	asks, toStatus := m.ask(now[:top])
	now[0] += fresh
	buys := 0.0
	for k := range top {
		buys += now[k] + doubt[k]
	}
	// The pages of shoppers who have not pressed yet, or wait for an answer, poll.
	pages := o.Waiting + fresh
	if within := m.Within.Seconds(); m.t < within {
		pages += float64(m.Shoppers) * m.First * (1 - m.t/within)
	}
	polls := m.holders / pollEvery * tick
	toShop, toLists, looks := m.look(pages, opened)
	looks += asks
	asked := buys + looks + polls

	toBuy := m.buying.take(buys, m.BuyRate, m.BuyBurst)
	toShop += toStatus + m.orders.take(polls, m.Poll, m.PollBurst)
	if let := m.account.take(toBuy+toShop, m.Account, m.AccountSize); let < toBuy+toShop {
		share := let / (toBuy + toShop)
		toBuy, toShop, toLists = toBuy*share, toShop*share, toLists*share
	}
	m.buy.step(&m.Limits)
	m.shop.step(&m.Limits)
	room := func() float64 {
		spare := max(0, m.Provisioned-m.buy.busy-m.buy.cold) // reserved for buy, busy or not
		return m.Concurrency - m.Reserved() - m.Admitting - m.buy.busy - m.buy.cold - m.shop.busy - m.shop.cold - spare
	}
	spare := max(0, m.Provisioned-m.buy.busy-m.buy.cold)
	bought := m.buy.take(toBuy, max(0, room()+spare))
	looked := m.shop.take(toShop, max(0, room()))
	o.BuyCalls += bought
	o.ShopCalls += looked
	o.Throttled += asked - toBuy - toShop
	o.Refused += toBuy + toShop - bought - looked
	// An instance of shop asks for an item's figures once a second for all its lists. Each look at a queued order runs
	// a script.
	m.asks = min(toLists/2, m.shop.warm*tick)
	m.levels += m.asks
	m.queued += min(o.Queued, m.holders) / pollEvery * tick
	m.polls += polls

	served := m.redis(bought)
	o.Refused += bought - served
	share, turned := 0.0, 0.0
	if buys > 0 {
		share, turned = served/buys, 1-toBuy/buys
	}
	m.answer(now[:top], doubt[:top], share, turned, n)
	placed := m.consume()
	m.record(looks+polls, buys, bought+looked, asked-bought-looked, placed)
}

// redis runs the scripts of purchases and returns how many calls were answered. After the sell-out each busy instance
// asks once a second and caches the answer.
func (m *sim) redis(calls float64) float64 {
	scripts, most := calls, m.Scripts*tick
	if m.left <= 0 {
		scripts = min(calls, (m.buy.busy+m.buy.cold)*tick)
	}
	// The item's slot also runs the scripts of lists, with equal priority.
	if asked := scripts + m.asks*levelECPU/reserveECPU; asked > most {
		most *= scripts / asked
	}
	fail := max(0, scripts-most)
	m.out.Scripts += scripts
	served := calls - fail
	m.scripts += scripts
	sold := min(m.left, min(scripts, most))
	if sold > 0 {
		m.left -= sold
		if m.left < 1e-9 {
			m.left, m.out.SoldOut = 0, m.t
		}
		m.out.LastSold = m.t
		m.out.Sold += sold
		m.out.Queued += sold
		m.holders += sold
	}
	return served
}

// answer answers a share of the requests. The other shoppers retry or give up; turned is the share that got 429.
func (m *sim) answer(asked, doubt []float64, share, turned float64, n int) {
	for k := range asked {
		v := asked[k] + doubt[k]
		m.waits[k] += v * share
		m.out.Answered += v * share
		again := v * (1 - share)
		if k+1 == tries {
			m.out.GaveUp += again
			continue
		}
		if again == 0 {
			continue
		}
		const spread = 5 // moments over which retries spread
		for i := range spread {
			at := (n + retryLeast + (retryMost-retryLeast)*i/(spread-1)) % len(m.back)
			m.back[at][k+1] += asked[k] * turned / spread
			m.doubt[at][k+1] += (again - asked[k]*turned) / spread
			m.top[at] = max(m.top[at], k+2)
		}
	}
	m.out.Waiting = m.out.Arrived - m.out.Answered - m.out.GaveUp
	if m.out.Waiting >= half {
		m.out.BusyUntil = m.t
	}
}

// consume places orders, limited by Lambda's pollers and by the tables' writes.
func (m *sim) consume() float64 {
	m.holders -= m.holders * (1 - math.Exp(-tick/m.Paying.Seconds()))
	m.out.PeakPaid = max(m.out.PeakPaid, m.holders/m.Paying.Seconds())
	if m.out.Queued <= 0 {
		return 0
	}
	batches := min(m.Consume, pollersFirst+pollersRefill*m.t)
	placed := min(m.out.Queued, tick*min(batches*batchSize/batchTime, m.Writes/writesMost(m.Count)))
	m.out.Queued -= placed
	m.out.Placed += placed
	if m.out.Queued >= half || m.out.LastPlaced < m.out.LastSold {
		m.out.LastPlaced = m.t
	}
	return placed
}

// record adds a tick to its second and updates the peaks.
func (m *sim) record(looks, buys, passed, told, placed float64) {
	o := &m.out
	i := int(m.t - tick/2)
	for len(o.Seconds) <= i {
		o.Seconds = append(o.Seconds, Second{})
		m.scripts, m.buy.started, m.shop.started, m.levels, m.queued, m.polls = 0, 0, 0, 0, 0, 0
		m.edge = m.edgeBefore
	}
	s := &o.Seconds[i]
	s.add(Second{looks, buys, passed, told, placed, max(m.Provisioned, m.buy.busy+m.buy.cold) + m.shop.busy +
		m.shop.cold})
	o.PeakInstances = max(o.PeakInstances, s.Instances)
	o.PeakCalls = max(o.PeakCalls, s.Looks+s.Buys)
	o.PeakEdge = max(o.PeakEdge, s.Looks+s.Buys+o.EdgeCalls-m.edge)
	o.PeakPassed = max(o.PeakPassed, s.Passed)
	o.PeakPlaced = max(o.PeakPlaced, s.Placed)
	o.PeakScripts = max(o.PeakScripts, m.scripts)
	o.PeakLevels = max(o.PeakLevels, m.levels)
	o.PeakStatus = max(o.PeakStatus, m.queued)
	o.PeakPolls = max(o.PeakPolls, m.polls)
	o.PeakBuy, o.PeakShop = max(o.PeakBuy, m.buy.warm), max(o.PeakShop, m.shop.warm)
	o.PeakStarts = max(o.PeakStarts, m.buy.started+m.shop.started)
}

// waited computes waits from retries: a shopper who retried k times waited k pauses and one call.
func (m *sim) waited() {
	pause := float64(retryLeast+retryMost) / 2 * tick
	o, above := &m.out, 0.0
	o.MedianWait, o.LongestWait = callSeconds, callSeconds
	for k := tries - 1; k >= 0; k-- {
		if above < half && above+m.waits[k] >= half {
			o.LongestWait = callSeconds + float64(k)*pause
		}
		if above < o.Answered/2 && above+m.waits[k] >= o.Answered/2 {
			o.MedianWait = callSeconds + float64(k)*pause
		}
		above += m.waits[k]
	}
}

// Setting is a set of limits and the sale's outcome under them.
type Setting struct {
	Limits  Limits  `json:"limits"`
	Outcome Outcome `json:"outcome"`
}
