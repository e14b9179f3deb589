package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Partitions of the table proposals.
const (
	proposalsWaiting = "waiting" // the sort key is an order id
	proposalsAlone   = "alone"   // the sort key is a day and a person: how many refunds they have made alone
)

// keptAlone is how long the number of a person's refunds on a day is kept.
const keptAlone = 40 * 24 * time.Hour

var proposalCodec = &codec[seckill.Proposal]{table: TableProposals, more: 1}

func proposalKey(order string) Key { return Key{TableProposals, proposalsWaiting, order} }

// Propose implements seckill.Proposer in one write and a check.
func (l *Ledger) Propose(ctx context.Context, p seckill.Proposal, tradeNo string) error {
	return l.change(ctx, "propose a refund of "+p.Order, seckill.ErrStateChanged, Write{Key: proposalKey(p.Order),
		Op: OpPut, If: []Cond{Absent()}, Row: proposalCodec.encode(&p, 0)},
		Write{Key: paymentKey(p.Order, tradeNo), Op: OpCheck, If: []Cond{Eq("state", string(seckill.Captured))}})
}

// Proposal implements seckill.Proposer in one read.
func (l *Ledger) Proposal(ctx context.Context, order string) (*seckill.Proposal, error) {
	row, found, err := l.rows.Get(ctx, proposalKey(order))
	if err != nil {
		return nil, fmt.Errorf("ledger: proposal about %s: %w", order, err)
	}
	if !found {
		return nil, nil //nolint:nilnil // most orders have none
	}
	p, err := proposalCodec.decode(row)
	return &p, err
}

// Proposals implements seckill.Proposer in one read.
func (l *Ledger) Proposals(ctx context.Context, after string, limit int) ([]seckill.Proposal, error) {
	return query(ctx, l, "proposals", TableProposals, proposalsWaiting, after, limit, proposalCodec.decode)
}

// Withdraw implements seckill.Proposer in one write.
func (l *Ledger) Withdraw(ctx context.Context, p seckill.Proposal) error {
	return l.change(ctx, "withdraw the proposal about "+p.Order, seckill.ErrStateChanged, withdraw(&p))
}

// withdraw deletes a proposal as it was read.
func withdraw(p *seckill.Proposal) Write {
	return Write{Key: proposalKey(p.Order), Op: OpDelete,
		If: []Cond{Eq("who", p.Who), Eq("at", p.At.UnixMilli()), Eq("why", p.Why)}}
}

// decided returns the write that a decision takes besides those of order and payment, and whether it takes any.
func decided(d *seckill.Decision, at time.Time) (w Write, is bool) {
	switch {
	case d.Proposal != nil:
		return withdraw(d.Proposal), true
	case d.Person != "":
		return Write{Key: Key{TableProposals, proposalsAlone, seckill.Day(at) + "/" + d.Person}, Op: OpUpdate,
			Set: Row{"v": Version, attrExpires: at.Add(keptAlone).Unix()}, Add: map[string]int64{"n": 1},
			If: []Cond{AtMost("n", int64(d.PerDay)-1)}}, true
	}
	return Write{}, false
}
