package plan

import "math"

const (
	tick  = 0.01 // s
	tries = 109  // 1.1 s each: then giveUp is over
	half  = 0.5  // shoppers: less than that is nobody
	never = -1.0
)

// Outcome is what comes of a sale. Times are seconds after the opening; -1 is never.
type Outcome struct {
	// Arrived shoppers are those turned away at the edge, answered, still waiting, or gone after two minutes of "busy".
	Arrived  float64 `json:"arrived"`
	AtEdge   float64 `json:"refused_at_edge"`
	Answered float64 `json:"answered"`
	Waiting  float64 `json:"waiting"`
	GaveUp   float64 `json:"gave_up"`

	Sold   float64 `json:"orders_reserved"`
	Placed float64 `json:"orders_placed"`
	Queued float64 `json:"orders_queued"`

	SoldOut     float64 `json:"sold_out_s"`
	LastSold    float64 `json:"last_reserved_s"`
	BusyUntil   float64 `json:"busy_until_s"` // somebody was waiting until then
	LastPlaced  float64 `json:"last_placed_s"`
	MedianWait  float64 `json:"median_wait_s"`
	LongestWait float64 `json:"longest_wait_s"`

	Throttled float64 `json:"told_429"` // answers, not shoppers
	Refused   float64 `json:"told_503"`

	PeakCalls     float64 `json:"peak_calls"`     // a second, that ask to be let through
	PeakPolls     float64 `json:"peak_polls"`     // a second, of these looks of buyers at their orders
	PeakPassed    float64 `json:"peak_passed"`    // a second, that are
	PeakInstances float64 `json:"peak_instances"` // at work, or kept for it
	PeakScripts   float64 `json:"peak_scripts"`   // of purchases, a second
	PeakLevels    float64 `json:"peak_levels"`    // scripts of lists for one item, a second
	PeakStatus    float64 `json:"peak_status"`    // scripts of looks at queued orders, a second
	PeakBuy       float64 `json:"peak_buy"`       // instances of buy that are there
	PeakShop      float64 `json:"peak_shop"`      // instances of shop that are there
	PeakPlaced    float64 `json:"peak_placed"`    // a second
	PeakPaid      float64 `json:"peak_paid"`      // orders that are paid a second, if all are
	PeakStarts    float64 `json:"peak_starts"`    // instances that start cold in a second; each reads one secret

	BuyCalls  float64 `json:"buy_calls"`  // that reached the function
	ShopCalls float64 `json:"shop_calls"` // that reached the function, those before the opening included
	EdgeCalls float64 `json:"edge_calls"` // looks and purchases that the edge answered
	Scripts   float64 `json:"reserve_scripts"`

	Seconds []Second `json:"-"`
}

// Second is one second of it; all are amounts of that second, but for instances.
type Second struct {
	Looks, Buys, Passed, Told, Sold, Placed float64
	Instances                               float64
}

// pool is a function's instances. Busy ones become free in their time; warm ones are there, busy or not.
type pool struct{ warm, busy, cold, budget, started float64 }

// step frees instances.
func (p *pool) step(l *Limits) {
	p.busy -= p.busy * (1 - math.Exp(-tick/math.Max(callSeconds, Occupied)))
	started := p.cold * (1 - math.Exp(-tick/coldSeconds))
	p.cold -= started
	p.budget = math.Min(l.Ramp, p.budget+l.Ramp*tick/rampRefill)
}

// take gives calls to free instances, starts new ones, and says how many calls got one.
func (p *pool) take(calls, room float64) float64 {
	free := math.Max(0, math.Min(p.warm-p.busy-p.cold, room))
	warm := math.Min(calls, free)
	start := math.Max(0, math.Min(math.Min(calls-warm, p.budget), room-warm))
	p.busy += warm
	p.cold += start
	p.warm += start
	p.budget -= start
	p.started += start
	return warm + start
}

// bucket is a token bucket of API Gateway.
type bucket struct{ tokens float64 }

// take says how many calls of a tick are let through.
func (b *bucket) take(calls, rate, burst float64) float64 {
	b.tokens = math.Min(burst, b.tokens+rate*tick)
	passed := math.Min(calls, b.tokens)
	b.tokens -= passed
	return passed
}

// Shares of a page's looks: each of the two lists, and the time (DefaultLooks).
const (
	listShare = 1 / 6.25 / DefaultLooks
	timeShare = 1 - 2*listShare
)

// sim is a sale under way.
type sim struct {
	*Sale
	Limits
	out Outcome
	t   float64
	// Each method has a bucket of its own, and all share the account's.
	buying, lists, clock, orders, account bucket
	// scripts in this second: of lists for one item, of looks at queued orders
	levels, status float64
	polls          float64 // in this second
	asks           float64 // scripts of lists for one item, in this tick
	buy, shop      pool
	// who comes back, by tick and by how often they tried
	back [retryMost + 1][tries]float64
	top  [retryMost + 1]int // 1 + the most tries among them
	// who was answered, by how often they had been told to come again
	waits   [tries]float64
	left    float64 // orders for which there are units
	holders float64 // whose page looks at an order
	scripts float64 // in this second
}

// simulate runs a sale until everybody is answered or gone and every order placed.
func simulate(s *Sale, l Limits) Outcome {
	m := &sim{Sale: s, Limits: l, left: math.Floor(float64(s.Units) / float64(s.Count))}
	m.out.SoldOut, m.out.LastSold, m.out.BusyUntil, m.out.LastPlaced = never, never, 0, never
	m.before()
	// Nobody waits longer than giveUp, so this ends; the bound is for orders that no table would take.
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

// before is the state at the opening: pages are open and look; instances of shop are warm for it. Both lists behave
// alike, so one bucket stands for two.
func (m *sim) before() {
	looks := float64(m.Shoppers) * m.First * m.Looks
	m.out.EdgeCalls = looks * m.Edge * m.Before.Seconds() / 2
	looks *= 1 - m.Edge
	m.buying.tokens, m.orders.tokens, m.account.tokens = m.BuyBurst, m.Burst, m.AccountSize
	m.lists.tokens, m.clock.tokens = m.Burst, m.Burst
	span, rate := m.Before.Seconds(), 0.0
	for _, b := range []struct {
		of             *bucket
		methods, share float64
	}{{&m.lists, 2, listShare}, {&m.clock, 1, timeShare}} {
		last := looks * b.share
		passed := last * span / 2
		if last > m.Rate {
			b.of.tokens = 0
			passed = m.Rate*span - m.Rate*m.Rate*span/(2*last)
		}
		m.out.ShopCalls += b.methods * passed
		rate += b.methods * math.Min(last, m.Rate)
	}
	if rate > m.Account {
		m.account.tokens = 0
		m.out.ShopCalls *= m.Account / rate // a little less: the account's is reached only towards the end
		rate = m.Account
	}
	m.shop.busy = math.Min(rate*Occupied, math.Max(0, m.Concurrency-m.Provisioned-m.Reserved()))
	m.shop.warm, m.buy.warm = m.shop.busy, m.Provisioned
	m.shop.budget, m.buy.budget = m.Ramp, m.Ramp
}

func (m *sim) step(n int) {
	slot := n % len(m.back)
	o := &m.out
	m.t = float64(n+1) * tick
	fresh := m.arrived(m.t) - o.Arrived
	o.Arrived += fresh
	o.AtEdge += fresh * m.Edge
	o.EdgeCalls += fresh * m.Edge
	fresh *= 1 - m.Edge

	now := m.back[slot]
	now[0] += fresh
	top := max(m.top[slot], 1)
	m.back[slot], m.top[slot] = [tries]float64{}, 0
	buys := 0.0
	for k := range top {
		buys += now[k]
	}
	// Pages look until their shopper is answered: those who have not pressed the button yet, and those who were told to
	// wait.
	pages := o.Waiting + fresh
	if within := m.Within.Seconds(); m.t < within {
		pages += float64(m.Shoppers) * m.First * (1 - m.t/within)
	}
	looks := pages * m.Looks * tick
	o.EdgeCalls += looks * m.Edge
	looks *= 1 - m.Edge
	polls := m.holders / pollEvery * tick
	asked := buys + looks + polls

	toBuy := m.buying.take(buys, m.BuyRate, m.BuyBurst)
	toShop := 2*m.lists.take(looks*listShare, m.Rate, m.Burst) + m.clock.take(looks*timeShare, m.Rate, m.Burst)
	toLists := toShop
	toShop += m.orders.take(polls, m.Rate, m.Burst)
	if let := m.account.take(toBuy+toShop, m.Account, m.AccountSize); let < toBuy+toShop {
		share := let / (toBuy + toShop)
		toBuy, toShop, toLists = toBuy*share, toShop*share, toLists*share
	}
	m.buy.step(&m.Limits)
	m.shop.step(&m.Limits)
	room := func() float64 {
		spare := math.Max(0, m.Provisioned-m.buy.busy-m.buy.cold) // kept for buy whether at work or not
		return m.Concurrency - m.Reserved() - m.buy.busy - m.buy.cold - m.shop.busy - m.shop.cold - spare
	}
	spare := math.Max(0, m.Provisioned-m.buy.busy-m.buy.cold)
	bought := m.buy.take(toBuy, math.Max(0, room()+spare))
	looked := m.shop.take(toShop, math.Max(0, room()))
	o.BuyCalls += bought
	o.ShopCalls += looked
	o.Throttled += asked - toBuy - toShop
	o.Refused += toBuy + toShop - bought - looked
	// An instance of shop asks for an item's figures once a second, however many lists it answers. A page whose order
	// is queued has one script of it.
	m.asks = math.Min(toLists/2, m.shop.warm*tick)
	m.levels += m.asks
	m.status += math.Min(o.Queued, m.holders) / pollEvery * tick
	m.polls += polls

	served := m.redis(bought)
	o.Refused += bought - served
	share := 0.0
	if buys > 0 {
		share = served / buys
	}
	m.answer(now[:top], share, n)
	placed := m.consume()
	m.record(looks+polls, buys, bought+looked, asked-bought-looked, placed)
}

// redis runs the scripts of purchases and says how many were answered. Once all is sold, each instance at work asks
// once a second and remembers.
func (m *sim) redis(calls float64) float64 {
	scripts, most := calls, m.Scripts*tick
	if m.left <= 0 {
		scripts = math.Min(calls, (m.buy.busy+m.buy.cold)*tick)
	}
	// The item's slot runs the scripts of lists, too, and prefers nobody.
	if asked := scripts + m.asks*levelECPU/reserveECPU; asked > most {
		most *= scripts / asked
	}
	fail := math.Max(0, scripts-most)
	m.out.Scripts += scripts
	served := calls - fail
	m.scripts += scripts
	sold := math.Min(m.left, math.Min(scripts, most))
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

// answer gives that share of those who asked their answer; the others come again, or give up.
func (m *sim) answer(asked []float64, share float64, n int) {
	m.out.Waiting = 0
	for k, v := range asked {
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
		const spread = 5 // ways in which a crowd's return is spread
		for i := range spread {
			at := (n + retryLeast + (retryMost-retryLeast)*i/(spread-1)) % len(m.back)
			m.back[at][k+1] += again / spread
			m.top[at] = max(m.top[at], k+2)
		}
	}
	m.out.Waiting = m.out.Arrived - m.out.AtEdge - m.out.Answered - m.out.GaveUp
	if m.out.Waiting >= half {
		m.out.BusyUntil = m.t
	}
}

// consume places orders: as many batches at a time as Lambda polls for by now, and as many rows as the tables take.
func (m *sim) consume() float64 {
	m.holders -= m.holders * (1 - math.Exp(-tick/m.Paying.Seconds()))
	m.out.PeakPaid = math.Max(m.out.PeakPaid, m.holders/m.Paying.Seconds())
	if m.out.Queued <= 0 {
		return 0
	}
	batches := math.Min(m.Consume, pollersFirst+pollersRefill*m.t)
	placed := math.Min(m.out.Queued, tick*math.Min(batches*batchSize/batchTime, m.Writes/writesMost(m.Count)))
	m.out.Queued -= placed
	m.out.Placed += placed
	if m.out.Queued >= half || m.out.LastPlaced < m.out.LastSold {
		m.out.LastPlaced = m.t
	}
	return placed
}

// record adds a tick to its second, and looks for peaks at the end of one.
func (m *sim) record(looks, buys, passed, told, placed float64) {
	o := &m.out
	i := int((m.t - tick/2))
	for len(o.Seconds) <= i {
		o.Seconds = append(o.Seconds, Second{})
		m.scripts, m.buy.started, m.shop.started, m.levels, m.status, m.polls = 0, 0, 0, 0, 0, 0
	}
	s := &o.Seconds[i]
	s.Looks, s.Buys, s.Passed, s.Told, s.Placed = s.Looks+looks, s.Buys+buys, s.Passed+passed, s.Told+told, s.Placed+
		placed
	s.Sold = o.Sold
	s.Instances = math.Max(s.Instances, math.Max(m.Provisioned, m.buy.busy+m.buy.cold)+m.shop.busy+m.shop.cold)
	o.PeakInstances = math.Max(o.PeakInstances, s.Instances)
	o.PeakCalls = math.Max(o.PeakCalls, s.Looks+s.Buys)
	o.PeakPassed = math.Max(o.PeakPassed, s.Passed)
	o.PeakPlaced = math.Max(o.PeakPlaced, s.Placed)
	o.PeakScripts = math.Max(o.PeakScripts, m.scripts)
	o.PeakLevels = math.Max(o.PeakLevels, m.levels)
	o.PeakStatus = math.Max(o.PeakStatus, m.status)
	o.PeakPolls = math.Max(o.PeakPolls, m.polls)
	o.PeakBuy, o.PeakShop = math.Max(o.PeakBuy, m.buy.warm), math.Max(o.PeakShop, m.shop.warm)
	o.PeakStarts = math.Max(o.PeakStarts, m.buy.started+m.shop.started)
}

// waited makes waits of tries: a shopper who came k times waited k pauses and one call.
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
