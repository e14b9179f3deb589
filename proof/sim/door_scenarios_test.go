package sim

import (
	"time"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

var doorScenarios = []scenario{
	{flow: "admit", name: "a challenge", checks: seckill.ChecksStrict, prepare: install, step: challenged("3"),
		retry: true, atLeast: 3},
	{flow: "admit", name: "a right answer", checks: seckill.ChecksStrict, prepare: install, step: ticketed("3"),
		retry: true, atLeast: 5},
	{flow: "admit", name: "a wrong answer", checks: seckill.ChecksStrict, prepare: install, step: wrong("3"),
		atLeast: 6, want: "check_failed"},
	{flow: "admit", name: "a blocked shopper", checks: seckill.ChecksStandard, prepare: steps(install, blocked("3")),
		step: ticketed("3"), atLeast: 2, want: "blocked"},
	{flow: "buy", name: "with a ticket", checks: seckill.ChecksStandard, prepare: steps(install, ticketed("1")),
		step: boughtWithTicket("1"), retry: true, atLeast: 2},
	{flow: "buy", name: "without a ticket", checks: seckill.ChecksStandard, prepare: install,
		step: boughtWithTicket("1"), atLeast: 1, want: "ticket_required"},
	{flow: "consume", name: "an order of a blocked shopper", prepare: steps(install, bought("1", 2, "k"), blocked("1")),
		step: next, atLeast: 5, ends: map[string]seckill.State{"1": seckill.Rejected}},
	{flow: "consume", name: "an order whose shopper is blocked no more", prepare: steps(install, bought("1", 1, "k"),
		blocked("1"), after(time.Minute), unblocked("1")), step: next, atLeast: 6,
		ends: map[string]seckill.State{"1": seckill.Expired}},
}

// Scenarios of commands about blocks. Shopper 3 presses afterwards: whoever was blocked for sure is refused (A4).
var blockScenarios = []scenario{
	{flow: "block", name: "everywhere", prepare: install, step: blocked("3"), retry: true, atLeast: 4,
		then: pressed("3")},
	{flow: "block", name: "on the item", prepare: install, step: blockedHere("3"), retry: true, atLeast: 4,
		then: pressed("3")},
	{flow: "block", name: "with another end", prepare: steps(install, blockedHere("3"), after(time.Minute)),
		step: blockedHereFor("3", time.Hour), retry: true, atLeast: 4, then: pressed("3")},
	{flow: "block", name: "removed", prepare: steps(install, blocked("3")), step: unblocked("3"), retry: true,
		atLeast: 3, then: pressed("3")},
	{flow: "block", name: "removed from the item", prepare: steps(install, blockedHere("3")),
		step: unblockedHere("3"), retry: true, atLeast: 3, then: pressed("3")},
}

func blockedHere(user string) func(*World, *Instance) error { return blockedHereFor(user, 0) }

func blockedHereFor(user string, holds time.Duration) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		return i.block(w.blockOf(blockKey{seckill.UserSubject(user), w.Item.ID}, holds))
	}
}

func unblockedHere(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		return i.unblock(blockKey{seckill.UserSubject(user), w.Item.ID})
	}
}

// pressed makes a shopper buy whatever the answer: the world checks it.
func pressed(user string) func(*World, *Instance) error {
	return func(_ *World, i *Instance) error { _, _ = i.Purchase(user, 1, "pressed"); return nil }
}

func challenged(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error { _, err := i.challenge(user, w.Item.ID); return err }
}

func ticketed(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		_, err := i.admitted(buy.Purchase{User: user, Item: w.Item.ID})
		return err
	}
}

func wrong(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		r, err := i.challenge(user, w.Item.ID)
		if err != nil {
			return err
		}
		r.Answer.Answer = "I do not know"
		_, err = i.ticket(user, r)
		return err
	}
}

// boughtWithTicket makes a shopper buy, with their newest ticket if they have any.
func boughtWithTicket(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		p := buy.Purchase{Item: w.Item.ID, User: user, Count: 1, Given: seckill.Given{Address: addresses[0]}, Key: "k"}
		if list := w.door.newest[holder{user, w.Item.ID}]; len(list) > 0 {
			p.Ticket = list[len(list)-1]
		}
		_, err := i.PurchaseOf(p)
		return err
	}
}

func blocked(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		return i.block(w.blockOf(blockKey{seckill.UserSubject(user), seckill.Everywhere}, 0))
	}
}

func unblocked(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		return i.unblock(blockKey{seckill.UserSubject(user), seckill.Everywhere})
	}
}
