package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one kind of failure.
type Fault int

// The kinds of faults. Each seed enables a random subset with random rates.
const (
	Fail Fault = iota
	Lost
	Late
	Crash
	Freeze
	Duplicate
	Reorder
	Delay
	Partial
	Poison
	Park
	Flush
	Failover
	Restore
	ReadOnly
	Throttle
	Conflict
	CommitLost
	StaleIndex
	PayLate
	TwoTrades
	NotificationTwice
	NotificationLost
	NotificationReorder
	NotificationForged
	QueryFault
	CloseFault
	Skew
	ClockJump
	ScheduleLate
	ScheduleTwice
	ScheduleGone
	Timeout
	RefundFault
	StaleCount
	nFaults
)

// Faults describes every kind, in order.
var Faults = [nFaults]struct{ Name, Means string }{
	Fail:  {"fail", "a port call fails before its effect"},
	Lost:  {"lost", "a port call takes effect, and its answer is lost"},
	Late:  {"late", "a port call fails, and takes effect later"},
	Crash: {"crash", "a process dies before or after a port call"},
	Freeze: {"freeze",
		"an instance stands still for up to ten minutes, and goes on with what it remembers"},
	Duplicate:         {"duplicate", "a message is delivered again, in flight or deleted"},
	Reorder:           {"reorder", "a message is delivered before an older one"},
	Delay:             {"delay", "a message appears up to 15 minutes late"},
	Partial:           {"partial", "of a batch, some messages are handled, others are not"},
	Poison:            {"poison", "a message that nobody can read"},
	Park:              {"park", "a message that was received too often is parked, and moved back"},
	Flush:             {"flush", "Redis loses everything"},
	Failover:          {"failover", "Redis loses its last 10 s or less"},
	Restore:           {"restore", "Redis is restored from an old snapshot"},
	ReadOnly:          {"readonly", "Redis refuses everything for up to 30 s"},
	Throttle:          {"throttle", "the ledger refuses a call: too many"},
	Conflict:          {"conflict", "the ledger refuses a transaction: another one is under way"},
	CommitLost:        {"commit-lost", "a transaction is committed, and its answer is lost"},
	StaleIndex:        {"stale-index", "an index is read that lacks the latest writes"},
	PayLate:           {"pay-late", "the shopper pays after the hold has ended"},
	TwoTrades:         {"two-trades", "an order is paid by two trades"},
	NotificationTwice: {"notification-twice", "a notification is delivered again"},
	NotificationLost: {"notification-lost",
		"a notification comes only when nothing else happens any more, or never: then an operator finds its money on " +
			"the bill"},
	NotificationReorder: {"notification-reorder", "a notification comes before an older one"},
	NotificationForged:  {"notification-forged", "a notification with a wrong signature, order or amount"},
	QueryFault:          {"query-fault", "the provider does not answer a query"},
	CloseFault:          {"close-fault", "the provider does not answer a close, done or not, or refuses it"},
	Skew:                {"skew", "an instance's clock is off by up to 2 s"},
	ClockJump:           {"clock-jump", "an instance's clock jumps, within 2 s of the right time"},
	ScheduleLate:        {"schedule-late", "a schedule runs half a minute late"},
	ScheduleTwice:       {"schedule-twice", "a schedule runs while its last run is under way"},
	ScheduleGone:        {"schedule-gone", "schedules do not run for ten minutes"},
	Timeout:             {"timeout", "a schedule's time is up between two of its calls"},
	RefundFault: {"refund-fault",
		"the provider does not answer a refund, made or not, refuses it, or does not say that it made it"},
	StaleCount: {"stale-count", "a count of a queue is up to a minute old"},
}

func (f Fault) String() string { return Faults[f].Name }

// FaultSet is a set of faults.
type FaultSet [nFaults]bool

// AllFaults enables every kind of fault.
func AllFaults() (s FaultSet) {
	for f := range s {
		s[f] = true
	}
	return s
}

// ParseFaults parses comma-separated names: "all", "none", or for example "flush,crash"; "-flush" removes one from
// all.
func ParseFaults(list string) (FaultSet, error) {
	var s FaultSet
	if list == "" || strings.HasPrefix(list, "all") || strings.HasPrefix(list, "-") {
		s = AllFaults()
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || name == "all" || name == "none" {
			continue
		}
		bare, without := strings.CutPrefix(name, "-")
		f := slices.IndexFunc(Faults[:], func(k struct{ Name, Means string }) bool { return k.Name == bare })
		if f < 0 {
			return s, fmt.Errorf("there is no kind of fault %q; there are: %s", bare, AllFaults())
		}
		s[f] = !without
	}
	return s, nil
}

// list returns the names in the set.
func (s FaultSet) list() []string {
	out := []string{}
	for f := range Faults {
		if s[f] {
			out = append(out, Faults[f].Name)
		}
	}
	return out
}

func (s FaultSet) String() string { return strings.Join(s.list(), ", ") }

// Rates has a rate per kind of fault.
type Rates [nFaults]int
