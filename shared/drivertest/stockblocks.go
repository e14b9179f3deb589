package drivertest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func (e *stockEnv) listedCopies() (got []seckill.Block) {
	e.Helper()
	for cursor := uint64(0); ; {
		page, next, err := e.CopiedBlocks(e.ctx, e.item.ID, cursor)
		e.must(err)
		got = append(got, page...)
		if cursor = next; cursor == 0 {
			return got
		}
	}
}

// copied checks which blocks are beside the item.
func (e *stockEnv) copied(when string, want ...seckill.Block) {
	e.Helper()
	got := e.listedCopies()
	order := func(a, b seckill.Block) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Item, b.Item))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		e.Errorf("%s: %v, want %v", when, got, want)
	}
}

var copyCases = []stockCase{
	{"who is blocked is refused, for the item or every item, until the end", func(e *stockEnv) {
		e.install()
		soon := e.now.Add(time.Minute)
		here := seckill.Block{Subject: "user:1", Item: e.item.ID, Until: soon}
		everywhere := seckill.Block{Subject: "user:2", Item: seckill.Everywhere}
		for range 2 {
			e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, []seckill.Block{here, everywhere}, nil))
			e.copied("written", here, everywhere)
		}
		e.refused(1, "1", 1, seckill.ReserveBlocked)
		e.refused(2, "2", 1, seckill.ReserveBlocked)
		e.reserved(3, "3", 1, 1)
		e.reserved(4, "12", 1, 2)
		e.level(3, 2, 2, 2)
		e.now = soon.Add(-time.Millisecond)
		e.refused(1, "1", 1, seckill.ReserveBlocked)
		e.now = soon
		e.reserved(1, "1", 1, 3)
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, nil, []seckill.Block{everywhere, {Subject: "user:8",
			Item: e.item.ID}}))
		e.copied("one dropped", here)
		e.reserved(2, "2", 1, 4)
	}},
	{"both blocks of a user count", func(e *stockEnv) {
		e.install()
		both := []seckill.Block{{Subject: "user:1", Item: e.item.ID}, {Subject: "user:1", Item: seckill.Everywhere}}
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, both, nil))
		for i := range both {
			e.refused(1, "1", 1, seckill.ReserveBlocked)
			e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, nil, both[i:i+1]))
		}
		e.reserved(1, "1", 1, 1)
	}},
	{"a blocked user's earlier purchase is still known by its key", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, []seckill.Block{{Subject: "user:1",
			Item: e.item.ID}}, nil))
		e.refused(1, "1", 1, seckill.ReservedAgain)
		e.refused(2, "1", 1, seckill.ReserveBlocked)
	}},
	{"whom the ledger refused is refused from then on", func(e *stockEnv) {
		e.install()
		refused := func(n int, blocked time.Time) {
			e.Helper()
			e.reserved(n, "1", 1, 1)
			for range 2 { // what is repeated counts once
				e.must(e.Confirm(e.ctx, seckill.Verdict{Item: e.item.ID, Order: oid(n), User: "1", Refused: e.now,
					BlockedUntil: blocked}))
			}
		}
		soon := e.now.Add(time.Minute)
		refused(1, soon)
		e.refused(2, "1", 1, seckill.ReserveBlocked)
		e.now = soon
		for n := range seckill.MaxRefusals - 1 {
			refused(2+n, time.Time{})
		}
		e.refused(20, "1", 1, seckill.ReserveLimit)
		e.copied("a refusal is no copy")
		block := []seckill.Block{{Subject: "user:1", Item: seckill.Everywhere}}
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now.Add(time.Hour), e.now.Add(time.Hour), nil, block))
		e.refused(21, "1", 1, seckill.ReserveLimit) // a list says nothing of a command
		e.now = e.now.Add(seckill.RefusalsKept)
		for n := range seckill.MaxRefusals {
			refused(31+n, time.Time{})
		}
		e.refused(40, "1", 1, seckill.ReserveLimit)
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, nil, block))
		e.reserved(22, "1", 1, 1)
		e.reserved(23, "2", 1, 2)
	}},
	{"an old list of blocks undoes no change", func(e *stockEnv) {
		e.install()
		old := seckill.Block{Subject: "user:1", Item: e.item.ID}
		young := seckill.Block{Subject: "user:2", Item: e.item.ID}
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, []seckill.Block{young}, nil))
		listed := func(at time.Time) {
			e.Helper()
			e.must(e.CopyBlocks(e.ctx, e.item.ID, at, at, []seckill.Block{old}, []seckill.Block{young}))
		}
		listed(e.now.Add(seckill.BlocksLag - time.Millisecond))
		e.copied("listed less than a minute after", young)
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now.Add(-time.Second), time.Time{}, nil, nil))
		listed(e.now.Add(seckill.BlocksLag))
		e.copied("listed a minute after", old)
	}},
	{"many blocks", func(e *stockEnv) {
		e.install()
		var many []seckill.Block
		for i := range 1200 {
			many = append(many, seckill.Block{Subject: seckill.UserSubject(fmt.Sprint(1000 + i)), Item: e.item.ID})
		}
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, many, nil))
		e.copied("1200", slices.Clone(many)...)
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, many[:1], many[1:]))
		e.copied("all but one dropped", many[0])
		for i := range seckill.MaxCopied + 1000 {
			many = append(many, seckill.Block{Subject: seckill.UserSubject(fmt.Sprint(9000 + i)), Item: e.item.ID})
		}
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, many, nil))
		if n := len(e.listedCopies()); n < seckill.MaxCopied || n > seckill.MaxCopied+100 {
			e.Errorf("%d copies, want about %d", n, seckill.MaxCopied)
		}
	}},
	{"a rebuild has no copy, and only users have one", func(e *stockEnv) {
		e.install()
		e.must(e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, []seckill.Block{{Subject: "user:1",
			Item: e.item.ID}}, nil))
		e.must(e.Remove(e.ctx, e.item.ID))
		e.install()
		e.copied("installed anew")
		if (e.CopyBlocks(e.ctx, e.item.ID, e.now, time.Time{}, []seckill.Block{{Subject: "net:192.0.2.0/24",
			Item: e.item.ID}}, nil)) == nil {
			e.Error("a range of addresses is copied")
		}
	}},
}
