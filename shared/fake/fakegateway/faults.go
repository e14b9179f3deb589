package fakegateway

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault names one thing that can go wrong.
type Fault string

// The faults; Meanings explains each. A share is the fraction of a fault's opportunities in which it happens.
const (
	NotificationLost        Fault = "notification-lost"
	NotificationDuplicated  Fault = "notification-duplicated"
	NotificationDelayed     Fault = "notification-delayed"
	NotificationReordered   Fault = "notification-reordered"
	NotificationForged      Fault = "notification-forged"
	NotificationWrongAmount Fault = "notification-wrong-amount"
	NotificationOtherApp    Fault = "notification-other-app"
	PayLate                 Fault = "pay-late"
	ClosePaid               Fault = "close-paid"
	CloseFailsPaid          Fault = "close-fails-paid"
	CallCut                 Fault = "call-cut"
	Call5xx                 Fault = "call-5xx"
	CallUnknown             Fault = "unknown"
	RefundPartial           Fault = "refund-partial"
	TwoTrades               Fault = "two-trades"
	BalanceShort            Fault = "balance-short"
)

// FaultNames lists all faults.
var FaultNames = []Fault{NotificationLost, NotificationDuplicated, NotificationDelayed, NotificationReordered,
	NotificationForged, NotificationWrongAmount, NotificationOtherApp, PayLate,
	ClosePaid, CloseFailsPaid, CallCut, Call5xx, CallUnknown, RefundPartial, TwoTrades, BalanceShort}

// Meanings explains each fault in one line. A test compares docs/LOCAL.md with it.
var Meanings = map[Fault]string{
	NotificationLost:       "an attempt to notify the shop never arrives; the next one follows after its wait",
	NotificationDuplicated: "an attempt arrives twice",
	NotificationDelayed:    "the first attempt is made up to 10 minutes late",
	NotificationReordered:  "the first attempt is held back for 5 s, so that later notifications overtake it",
	NotificationForged: "before an attempt another one arrives that says 0.01 yuan, with a signature that does " +
		"not match",
	NotificationWrongAmount: "before an attempt another one arrives that says one fen more, rightly signed",
	NotificationOtherApp:    "before an attempt another one arrives for another app, rightly signed",
	PayLate: "a trade whose time is over, and which the shop has not closed, is paid within an hour " +
		"from then",
	ClosePaid:      "a close is answered with success, and the trade is paid all the same",
	CloseFailsPaid: "a close is answered as with unknown, and the trade is paid",
	CallCut:        "a call takes effect, then the connection is cut",
	Call5xx:        "a call has no effect and is answered 502",
	CallUnknown:    "a call is answered 20000 or SYSTEM_ERROR, with its effect or, as often, without",
	RefundPartial: "after a payment of 0.02 yuan or more, half of it goes back without the shop, as from " +
		"the seller's console",
	TwoTrades: "opening the cashier again makes a second trade of the order, while the first waits or " +
		"is paid",
	BalanceShort: "a refund is refused for want of balance",
}

// Durations of the faults that concern time.
const (
	longestDelay = 10 * time.Minute
	heldBack     = 5 * time.Second
	latest       = time.Hour
)

// Faults is a plan of what goes wrong. The zero value means nothing. As JSON it is
//
//	{"seed": 7, "shares": {"notification-lost": 0.2, "unknown": 0.1}}
//
// and, as the text of a command's flag, what ParseFaults reads. Each fault draws from its own random stream, which
// depends only on the seed: the same seed hits the same opportunities, whatever other faults are planned.
type Faults struct {
	Seed   uint64            `json:"seed"`
	Shares map[Fault]float64 `json:"shares"` // 0 to 1; a fault that is not there has 0
}

// ParseFaults reads "notification-lost=0.2,unknown=0.1,seed=7". The error lists the known faults.
func ParseFaults(s string) (Faults, error) {
	f := Faults{Shares: map[Fault]float64{}}
	if strings.TrimSpace(s) == "" {
		return f, nil
	}
	seen := map[string]bool{}
	for _, part := range strings.Split(s, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || seen[name] {
			return Faults{}, fmt.Errorf(
				"fault %q: want each name once, as in notification-lost=0.2,unknown=0.1,seed=7; known: %s", part,
				known())
		}
		seen[name] = true
		var err error
		if name == "seed" {
			if f.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return Faults{}, fmt.Errorf("seed %q: want a whole number from 0", value)
			}
			continue
		}
		share, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return Faults{}, fmt.Errorf("fault %s: share %q: want 0 to 1", name, value)
		}
		f.Shares[Fault(name)] = share
	}
	return f, f.check()
}

func known() string {
	names := make([]string, len(FaultNames))
	for i, n := range FaultNames {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

// check refuses unknown faults and shares out of range.
func (f *Faults) check() error {
	var errs []error
	for name, share := range f.Shares {
		switch {
		case !strings.Contains(" "+known()+",", " "+string(name)+","):
			errs = append(errs, fmt.Errorf("fault %q is not known; known: %s", name, known()))
		case !(share >= 0 && share <= 1): // written so that it refuses NaN, too
			errs = append(errs, fmt.Errorf("fault %s: share %v: want 0 to 1", name, share))
		}
	}
	return errors.Join(errs...)
}

// FaultReport is a plan and the number of times each fault has happened since the plan was set.
type FaultReport struct {
	Faults
	Landed map[Fault]int `json:"landed"`
	// false notifications that the shop confirmed with "success": each is a bug in the shop
	Taken map[Fault]int `json:"taken"`
}

// faults draws which faults happen.
type faults struct {
	mu      sync.Mutex
	report  FaultReport
	streams map[Fault]*rand.Rand
}

func (f *faults) set(plan Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report = FaultReport{Faults: Faults{plan.Seed, map[Fault]float64{}}, Landed: map[Fault]int{},
		Taken: map[Fault]int{}}
	maps.Copy(f.report.Shares, plan.Shares)
	f.streams = map[Fault]*rand.Rand{}
	for _, name := range FaultNames {
		h := fnv.New64a()
		h.Write([]byte(name))
		f.streams[name] = rand.New(rand.NewPCG(plan.Seed, h.Sum64()))
	}
}

// draw reports whether a fault happens at this opportunity. The caller counts it once it has taken effect.
func (f *faults) draw(name Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	share := f.report.Shares[name]
	return share > 0 && f.streams[name].Float64() < share
}

// planned reports whether the plan has the fault.
func (f *faults) planned(name Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report.Shares[name] > 0
}

// hit is draw for a fault whose effect is certain; it also counts.
func (f *faults) hit(name Fault) bool {
	if !f.draw(name) {
		return false
	}
	f.count(name)
	return true
}

func (f *faults) count(name Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Landed[name]++
}

func (f *faults) taken(name Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Taken[name]++
}

// number draws a number in 0 to n-1 from a fault's stream.
func (f *faults) number(name Fault, n int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.streams[name].Int64N(n)
}

// unknown returns one of the inconclusive answers, drawn from the fault's stream.
func (f *faults) unknown(name Fault) *Refusal { return unknowns[f.number(name, int64(len(unknowns)))] }
