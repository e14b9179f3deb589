package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// Plan is what a seed decides once: the sale's size, the shoppers' behaviour, and the rates of faults.
type Plan struct {
	Seed     uint64
	Items    []ItemPlan
	Shoppers int
	// number of addresses that shoppers use; 0, in old stored histories: one address, and counts of 1 or the limit
	Addresses int
	Length    int // number of acts
	Instances int
	Weights   [nActs]int `json:"-"` // only for drawing acts
	Sticky    int        // percent: the same process continues
	Batch     int        // largest batch of messages per process
	Pays      int        // percent of opened orders that are paid
	Slow      int        // percent of calls that answer only after others have acted
	Cashier   bool       // time is spent around the ends of holds
	Churn     bool       // one or two shoppers buy and cancel all the time
	// what happened before the history: the stock was restored or flushed, or cashiers are opened; or nothing
	Prelude     string
	PausePoints []string // calls before which processes wait long, and which faults prefer
	Installed   bool

	Faults    FaultSet
	Rates     Rates // per 10,000 port calls, or percent of the fault's opportunities
	Receives  int   // Park: receives before a message is parked
	IndexLag  time.Duration
	Skew      []time.Duration // by instance
	Duplicate float64
	Shuffle   bool
	Door      *DoorPlan `json:",omitempty"` // nil, in old stored histories: nobody asks for tickets
	Family    string    `json:",omitempty"` // "" if the items are not variants
	Hoards    bool      `json:",omitempty"` // an account that may not buy presses all the time
	SignsOut  bool      `json:",omitempty"` // it may not, because it signs out: shoppers buy in sessions
	sabotage  func([]ledger.Write)
	stops     bool // the operator stops and resumes sales
}

// ItemPlan is one item of a plan.
type ItemPlan struct {
	Stock, Limit int
	Opens, Lasts time.Duration // from the world's beginning; if 0, the sale is open already, for a day
}

// Options restrict what seeds decide; the zero value restricts nothing.
type Options struct {
	Faults   *FaultSet            // the faults that may be enabled; nil means all
	Items    int                  // exactly; 0 means 1 or 2
	Shoppers int                  // exactly; 0 means 3 to 30
	Length   int                  // acts, exactly; 0 means 80 to 700
	Always   bool                 // every fault in Faults is enabled in every seed
	Break    func([]ledger.Write) // changes every transaction, to check that this is noticed; may be nil
}

// usual is how often each act is drawn before the seed changes it.
var usual = [nActs]int{actStep: 40, actRun: 25, actBuy: 9, actConsume: 10, actClose: 3, actTick: 5, actOpen: 5,
	actPay: 8, actNotify: 5, actCancel: 2, actLook: 2}

// pausePoints are calls before which much can change since the previous call: a decision depends on what was read
// before.
var pausePoints = []string{
	"items.Get answered", "items.Put", "ledger.BeginClosing/Transact", "ledger.DeleteReturn/Transact",
	"ledger.GiveBack/Transact", "ledger.Place/Transact",
	"ledger.Quotas/GetBatch", "ledger.RecordPayment/Transact", "ledger.Units/Query", "orders.Delete", "orders.Send",
	"payments.Close", "payments.Close answered",
	"payments.Query answered", "stock.Assert", "stock.BuildGaps", "stock.BuildUnits", "stock.Correct",
	"stock.CorrectUser", "stock.DriftEnd", "stock.Install",
	"stock.Redraw", "stock.Return", "stock.Scan", "stock.Confirm", "stock.Users",
}

// PlanOf draws a seed's plan.
func PlanOf(seed uint64, o Options) (Plan, *rand.Rand) {
	r := seeded(seed, 7)
	p := Plan{Seed: seed, Instances: 3, Weights: usual, Sticky: []int{0, 50, 90, 97}[r.IntN(4)],
		Batch: []int{1, 1, 3, 10}[r.IntN(4)],
		Pays:  []int{30, 70, 95}[r.IntN(3)], Slow: []int{0, 0, 10, 30}[r.IntN(4)], Installed: r.IntN(100) < 80,
		Addresses: 1 + int(seed%3), sabotage: o.Break}
	p.size(r, o)
	for _, a := range []Kind{actBuy, actConsume, actClose, actOpen, actPay, actCancel, actTick} {
		switch r.IntN(6) {
		case 0:
			p.Weights[a] *= 3
		case 1:
			p.Weights[a] = max(1, p.Weights[a]/3)
		}
	}
	allowed := AllFaults()
	if o.Faults != nil {
		allowed = *o.Faults
	}
	var focus []Fault // enabled together, because each alone changes little
	if percent(r, 50) {
		p.PausePoints = []string{pausePoints[r.IntN(len(pausePoints))]}
	}
	switch r.IntN(8) {
	case 0:
		focus = p.payMuch(r, o, allowed)
	case 1:
		focus = p.forget(r)
	case 2:
		focus = p.stop(r)
	case 3:
		focus = p.restore(r, o, allowed)
	case 4:
		focus = p.promise(r, o, allowed)
	}
	if seed%16 == 5 && p.Prelude == "" && o.Length+o.Shoppers+o.Items == 0 {
		p.churn()
	}
	p.extras(r)
	if seed%8 == 3 && p.Prelude == "" {
		p.signIns(seed)
	}
	p.swarm(r, o, allowed, focus)
	if p.Prelude == "promised" { // these excuse what is promised
		p.Faults[Failover], p.Faults[Restore], p.Faults[ClockJump] = false, false, false
	}
	p.faults(r, o.Length == 0)
	p.door(o)
	p.families()
	p.consoles()
	p.hoarders()
	return p, r
}

// seeded returns one of a seed's sources of randomness.
func seeded(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// percent is true in share of 100 draws.
func percent(r *rand.Rand, share int) bool { return r.IntN(100) < share }

// payMuch makes shoppers pay, cancel and let orders expire at the same time. Like forget, stop and restore it returns
// the faults to enable together with this plan.
func (p *Plan) payMuch(r *rand.Rand, o Options, allowed [nFaults]bool) []Fault {
	for _, a := range []Kind{actOpen, actPay, actNotify, actCancel, actClose} {
		p.Weights[a] *= 3
	}
	p.Weights[actRefund], p.Weights[actFulfil] = 6, 6
	p.Weights[actNotify], p.Weights[actRun] = max(1, p.Weights[actNotify]/9), 8
	p.Pays, p.Cashier, p.Sticky = 95, true, 50*r.IntN(2)
	if percent(r, 80) {
		p.PausePoints = []string{[]string{"payments.Close", "payments.Close", "payments.Query",
			"ledger.GiveBack/Transact", "ledger.RecordPayment/Transact"}[r.IntN(5)]}
	}
	if percent(r, 50) && o.Length+o.Shoppers+o.Items == 0 {
		p.Prelude, p.Installed, p.Items[0] = "opened", true, ItemPlan{Stock: 4, Limit: 1}
		for a, n := range map[Kind]int{actStep: 120, actBuy: 1, actConsume: 1, actOpen: 3, actPay: 15, actCancel: 8,
			actClose: 12} {
			p.Weights[a] = n
		}
		p.Length, p.Batch = 300, 1
	}
	focus := []Fault{TwoTrades, PayLate, QueryFault, CloseFault, NotificationLost, RefundFault}
	if percent(r, 30) { // two refunds of one order end at the same time
		p.PausePoints, p.Sticky = []string{"ledger.Refunded/Transact"}, 0
		p.Weights[actSchedule], p.Weights[actNotify], p.Weights[actPay], p.Weights[actRefund] = 12, 12, 12, 12
		if allowed[ScheduleGone] {
			p.Weights[actNoSchedule] = 1
		}
		focus = []Fault{TwoTrades, ScheduleTwice, RefundFault, ScheduleGone}
	}
	return focus
}

// forget makes Redis lose data while repair runs.
func (p *Plan) forget(r *rand.Rand) []Fault {
	p.Weights[actSchedule], p.Weights[actKeep], p.Sticky = 12, 6, 50*r.IntN(2)
	return []Fault{[]Fault{Flush, Failover, Restore}[r.IntN(3)], ScheduleTwice, Fail, Throttle}
}

// stop makes the operator stop and resume the sale often while answers are slow.
func (p *Plan) stop(r *rand.Rand) []Fault {
	p.Weights[actStop], p.Weights[actBuy], p.Weights[actConsume], p.Weights[actTick] = 2, 20, 20, 10
	p.Slow, p.Sticky, p.stops = 40, 0, true
	if percent(r, 50) {
		p.PausePoints = []string{"items.Get answered"}
	}
	return []Fault{Freeze}
}

// restore brings back an old state of Redis, which holds units that were returned since, while an order is redrawing.
func (p *Plan) restore(r *rand.Rand, o Options, allowed [nFaults]bool) []Fault {
	p.Weights = usual
	if o.Length+o.Shoppers+o.Items > 0 || !allowed[Restore] || !allowed[Flush] {
		return nil
	}
	for a, n := range map[Kind]int{actSchedule: 8, actRestore: 1, actTick: 12, actRun: 40, actCancel: 1, actOpen: 1,
		actPay: 1, actClose: 1} {
		p.Weights[a] = n
	}
	focus := []Fault{Restore, Duplicate, Throttle}
	p.Prelude, p.PausePoints = "restored", [][]string{{"ledger.Units/Query"}, {"stock.Correct"}, {"stock.DriftEnd"},
		{"stock.DriftEnd"}, {"stock.Redraw"}, {"stock.Redraw"}}[r.IntN(6)]
	if r.IntN(4) == 0 {
		p.Prelude, p.PausePoints = "flushed",
			[]string{[]string{"stock.BuildGaps", "stock.BuildGaps", "stock.BuildUnits"}[r.IntN(3)], "stock.Install"}
		p.Weights[actKeep], p.Weights[actTick], p.Weights[actFlush], p.Weights[actFailover] = 12, 3, 2, 6
		focus = []Fault{Failover, Flush}
	}
	p.Slow, p.Batch, p.Shoppers, p.Length, p.Sticky = 0, 1, 12, 300, 50
	for i := range p.Items {
		p.Items[i] = ItemPlan{Stock: 3, Limit: 1}
	}
	p.Installed = true
	return focus
}

// promise makes Redis lose everything while acknowledged orders wait in the queue, and shoppers want more than is left.
func (p *Plan) promise(r *rand.Rand, o Options, allowed [nFaults]bool) []Fault {
	if o.Length+o.Shoppers+o.Items > 0 || !allowed[Flush] {
		return nil
	}
	p.Prelude, p.Installed, p.Shoppers, p.Batch, p.Sticky = "promised", true, 12, 1, 50
	p.Items = []ItemPlan{{Stock: 4 + 2*int(p.Seed/8%2), Limit: 2}}
	for a, n := range map[Kind]int{actBuy: 40, actConsume: 8 + r.IntN(20), actTick: 10 + r.IntN(20), actSchedule: 1} {
		p.Weights[a] = n
	}
	if percent(r, 30) {
		p.PausePoints = []string{"orders.Send"}
	}
	return append([]Fault{Flush}, [][]Fault{{Delay}, {StaleCount, Delay}, {Reorder}, {}}[r.IntN(4)]...)
}

// extras adds acts that any plan may have.
func (p *Plan) extras(r *rand.Rand) {
	if slices.ContainsFunc(p.PausePoints, func(call string) bool { return strings.HasSuffix(call, " answered") }) {
		p.Slow = 50
	}
	if percent(r, 30) && !p.stops {
		p.Weights[actStop] = 1
	}
	if percent(r, 30) {
		p.Weights[actBrowse], p.Weights[actAnomaly], p.Weights[actImport] = 1+r.IntN(3), 1, 1
	}
	if percent(r, 25) {
		p.Weights[actGrow] = 1
	}
	if percent(r, 40) && p.Weights[actRefund] == 0 && p.Prelude == "" {
		p.Weights[actRefund] = 1 + r.IntN(3)
	}
	if percent(r, 40) && p.Prelude == "" {
		p.Weights[actFulfil] = 2 + r.IntN(6)
	}
	if percent(r, 40) {
		p.Weights[actErase] = 1 + r.IntN(3)
	}
	if percent(r, 30) {
		p.Weights[actJump] = 1
	}
}

// signIns lets shoppers sign in during the sale; in a third of these plans, two do so at the same time.
func (p *Plan) signIns(seed uint64) {
	p.Weights[actSignIn] = 6
	if seed/8%3 == 0 {
		p.PausePoints = []string{[]string{"ledger.Enrol/Transact", "ledger.UserOf answered"}[seed/24%2]}
	}
}

// swarm enables a random share of the faults, and all faults of focus.
func (p *Plan) swarm(r *rand.Rand, o Options, allowed [nFaults]bool, focus []Fault) {
	share := []int{0, 10, 30, 30, 50, 80}[r.IntN(6)]
	for f := range p.Faults {
		rate := 1 + r.IntN(100)
		if drawn := percent(r, share) || slices.Contains(focus, Fault(f)); allowed[f] && (drawn || o.Always) {
			p.Faults[f], p.Rates[f] = true, rate
			if slices.Contains(focus, Fault(f)) {
				p.Rates[f] = max(rate, 60)
			}
		}
	}
}

// size draws the sale's size: small worlds, in which rare combinations are common, and crowds.
func (p *Plan) size(r *rand.Rand, o Options) {
	items := 1
	if r.IntN(5) == 0 {
		items = 2
	}
	p.Shoppers, p.Length = 3+r.IntN(5), 100+r.IntN(300)
	crowd := r.IntN(5) == 0
	if crowd {
		p.Shoppers, p.Length = 10+r.IntN(21), 300+r.IntN(400)
	}
	if o.Shoppers > 0 {
		p.Shoppers = o.Shoppers
	}
	if o.Length > 0 {
		p.Length = o.Length
	}
	if o.Items > 0 {
		items = o.Items
	}
	for range items {
		it := ItemPlan{Stock: 2 + r.IntN(3), Limit: 1 + r.IntN(3)}
		if crowd || p.Shoppers > 9 {
			it.Stock = 4 + r.IntN(10)
		}
		switch {
		case o.Items > 0 || r.IntN(4) > 0:
		case r.IntN(2) == 0:
			it.Opens = time.Duration(5+r.IntN(120)) * time.Second
		default:
			it.Opens = time.Duration(r.IntN(900)) * time.Second
		}
		if o.Items == 0 && r.IntN(5) == 0 {
			it.Lasts = time.Duration(1+r.IntN(20)) * time.Minute
		}
		p.Items = append(p.Items, it)
	}
}

// churn makes a long history of one or two shoppers who buy and cancel all the time.
func (p *Plan) churn() {
	p.Churn, p.Shoppers, p.Length, p.Batch, p.Installed = true, 1+int(p.Seed/16%2), 600, 1, true
	for i := range p.Items {
		p.Items[i] = ItemPlan{Stock: 3, Limit: 2}
	}
	for a, n := range map[Kind]int{actRun: 90, actBuy: 12, actConsume: 14, actClose: 12, actCancel: 12, actPay: 1,
		actOpen: 1, actTick: 4} {
		p.Weights[a] = n
	}
}

// faults converts the enabled kinds into weights of acts and settings of drivers.
func (p *Plan) faults(r *rand.Rand, longer bool) {
	weigh := func(f Fault, a Kind, n int) {
		if p.Faults[f] {
			p.Weights[a] += n
		}
	}
	weigh(Crash, actKill, 1+r.IntN(4))
	weigh(Freeze, actFreeze, 1)
	if p.stops {
		weigh(Freeze, actFreeze, 3)
	}
	weigh(Flush, actFlush, 1)
	weigh(Failover, actFailover, 1+r.IntN(3))
	weigh(Restore, actRestore, 1+r.IntN(2))
	weigh(ReadOnly, actReadOnly, 1)
	weigh(Late, actArrive, 3)
	weigh(Poison, actPoison, 1)
	weigh(Park, actRedrive, 1)
	weigh(Duplicate, actGhost, 1+r.IntN(2))
	weigh(ClockJump, actClock, 2)
	weigh(ScheduleTwice, actSchedule, 1+r.IntN(3))
	weigh(ScheduleGone, actNoSchedule, 1)
	weigh(Timeout, actSchedule, 2)
	weigh(NotificationForged, actForge, 1)
	weigh(NotificationLost, actLose, 1)
	if p.Faults[Duplicate] {
		p.Duplicate = 0.3 * r.Float64()
	}
	p.Shuffle = p.Faults[Reorder]
	p.Receives = seckill.MaxReceives
	if p.Faults[Park] {
		p.Receives = 1 + r.IntN(4)
	}
	if p.Faults[StaleIndex] {
		p.IndexLag = time.Duration(1+r.IntN(10)) * time.Second
	}
	p.Skew = make([]time.Duration, p.Instances)
	for i := range p.Skew {
		if p.Faults[Skew] {
			p.Skew[i] = skewOf(r.Uint64())
		}
	}
	// In half of these worlds the stock loses data all the time.
	if (p.Faults[Flush] || p.Faults[Failover] || p.Faults[Restore]) && p.Prelude == "" && r.IntN(2) == 0 {
		p.Weights[actFlush] *= r.IntN(2)
		p.Weights[actFailover] *= 2
		p.Weights[actRestore] *= 2
		p.Weights[actBuy], p.Weights[actTick] = 12, 4
		p.Weights[actSchedule] += 2 + r.IntN(4)
		if more := r.IntN(300); longer {
			p.Length += more
		}
	}
}

// skewOf draws a clock's error within SkewBound.
func skewOf(a uint64) time.Duration {
	return time.Duration(a%uint64(2*seckill.SkewBound/time.Millisecond+1))*time.Millisecond - seckill.SkewBound
}

// setting returns the plan's world.
func (p *Plan) setting() Setting {
	s := Setting{IndexLag: p.IndexLag, Alone: aloneOf(p.Seed), NoTickets: p.Door == nil, Networks: p.Seed%4 != 1,
		Queue: memory.QueueOptions{Seed: p.Seed,
			Shuffle: p.Shuffle, Duplicate: p.Duplicate, MaxReceives: p.Receives}}
	for i, it := range p.Items {
		item := itemOf([]string{"1001", "1002"}[i], it.Stock, it.Limit)
		item.Start = item.Start.Add(it.Opens)
		if it.Lasts > 0 {
			item.End = item.Start.Add(it.Lasts)
		}
		if p.Family != "" {
			variantOf(&item, i, p.Family == familySpans)
		}
		if p.Door != nil && i < len(p.Door.Checks) {
			item.Checks = p.Door.Checks[i]
			if item.Checks == seckill.ChecksStrict {
				s.Questions = p.Door.Questions
			}
		}
		s.Items = append(s.Items, item)
	}
	return s
}

// DoorPlan is what a seed decides about admission.
type DoorPlan struct {
	Checks    []seckill.Checks // by item
	Questions int              // of each item with ChecksStrict
}

// door draws the checks that shoppers have to pass; half the worlds have none. In a third of the worlds, with checks or
// without, operators block shoppers.
func (p *Plan) door(o Options) {
	r := seeded(p.Seed, 22)
	p.Door = &DoorPlan{Questions: []int{0, 1, 3, 5}[r.IntN(4)]}
	checked := r.IntN(2) == 0
	for range p.Items {
		checks := seckill.ChecksOff
		if checked {
			checks = []seckill.Checks{seckill.ChecksStandard, seckill.ChecksStrict}[r.IntN(2)]
		}
		p.Door.Checks = append(p.Door.Checks, checks)
	}
	if len(p.Items) > 1 && r.IntN(4) == 0 { // one of two items
		p.Door.Checks[r.IntN(2)] = seckill.ChecksOff
	}
	if checked && p.Prelude == "" && o.Items == 0 && r.IntN(10) == 0 { // the first come before tickets are given
		p.Items[0].Opens = seckill.TicketLead + time.Duration(20+r.IntN(900))*time.Second
	}
	if checked {
		p.Weights[actTicket] = 2 + r.IntN(8)
		if r.IntN(3) == 0 {
			p.Weights[actSecret] = 1 + r.IntN(2)
		}
	}
	if r.IntN(3) == 0 {
		p.Weights[actBlock] = 1 + r.IntN(6)
		if p.PausePoints == nil && r.IntN(2) == 0 {
			p.PausePoints = []string{[]string{"ledger.PutBlocks/Transact", "ledger.DropBlock/Transact",
				"ledger.Place/Transact"}[r.IntN(3)]}
		}
	}
}

// aloneOf returns what one person may refund alone in a seed's world. In half of the worlds there is no limit.
func aloneOf(seed uint64) seckill.AloneLimit {
	switch seed % 4 {
	case 1:
		return seckill.AloneLimit{Amount: 8888} // the price of one unit
	case 3:
		return seckill.AloneLimit{PerDay: 1, Amount: 3 * 8888}
	}
	return seckill.AloneLimit{}
}

// Families of a plan's two items.
const (
	familyApart = "apart" // variants, each with its own limit
	familySpans = "spans" // the limit spans both
)

// families draws, for a world of two items, whether they are variants, mostly with a limit that spans both.
func (p *Plan) families() {
	if len(p.Items) < 2 {
		return
	}
	r := seeded(p.Seed, 47)
	p.Family = []string{"", familyApart, familySpans, familySpans, familySpans}[r.IntN(5)]
	if p.Family == familySpans {
		p.Items[1].Limit = p.Items[0].Limit
	}
}

// consoles has somebody refund in the provider's console, in a quarter of the worlds, and more staff act there.
func (p *Plan) consoles() {
	if r := seeded(p.Seed, 52); p.Prelude == "" && !p.Churn && percent(r, 25) {
		p.Weights[actConsole] = 2 + r.IntN(6)
		p.Weights[actFulfil] = max(p.Weights[actFulfil], 3)
	}
}

// hoarder is an account that may not buy and presses all the time. The ledger blocks it, and the stock has not been
// told, as after a loss of its data or beyond MaxCopied blocks; or it signs out.
const hoarder = "7701"

// sessionOf returns the session in which a shopper buys.
func sessionOf(shopper string) string { return fmt.Sprintf("%032s", shopper) }

// hoarders has an account that may not buy press all the time, in a quarter of the worlds.
func (p *Plan) hoarders() {
	if r := seeded(p.Seed, 61); p.Prelude == "" && !p.Churn && percent(r, 25) {
		p.Hoards, p.Weights[actBuy], p.Weights[actConsume] = true, 3*p.Weights[actBuy], 2*p.Weights[actConsume]
		p.SignsOut = percent(r, 50)
	}
}

// variantOf makes item i a variant.
func variantOf(item *seckill.Item, i int, spans bool) {
	item.Variant = seckill.Variant{Family: "7", LimitSpans: spans,
		Options: seckill.Options{{Name: "颜色", Value: []string{"黑", "白"}[i]}}}
}
