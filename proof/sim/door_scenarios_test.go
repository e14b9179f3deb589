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
