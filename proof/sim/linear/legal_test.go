package linear

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/seckill"
)

// history draws a legal history of two shoppers.
func history(t *rapid.T, lossy bool) ([]Op, Options) {
	s := newShop(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }, lossy)
	s.play(rapid.IntRange(1, 40).Draw(t, "length"))
	return s.rec.Ops(), s.options()
}

func TestLegalHistoriesAreAccepted(t *testing.T) {
	for name, lossy := range map[string]bool{"the stock remembers": false, "the stock forgets": true} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				ops, opt := history(t, lossy)
				if _, err := Check(ops, opt); err != nil {
					t.Fatalf("a legal history: %v\nlosses %v", err, opt.Losses)
				}
			})
			for seed := range uint64(2_000) { // longer histories than rapid draws
				s := seeded(seed, lossy)
				s.play(60)
				if _, err := Check(s.rec.Ops(), s.options()); err != nil {
					t.Fatalf("seed %d, a legal history: %v\nlosses %v", seed, err, s.losses)
				}
			}
		})
	}
}

// corruptions change one answer of a legal history of one shop so that it breaks a guarantee; they return false if
// the history has no suitable answer.
var corruptions = map[string]func(ops []Op) bool{
	"an order is forgotten after its acknowledgement": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.made() == "" || b.Kind != Read || b.Outcome.Kind != Shown || b.Order != a.made() {
				return false
			}
			b.Outcome = Outcome{Kind: Missing}
			return true
		})
	},
	"the newest order is forgotten": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.made() == "" || b.Kind != Newest || b.Shopper != a.Shopper {
				return false
			}
			b.Outcome = Outcome{Kind: Missing}
			return true
		})
	},
	"a state goes back": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if !reads(a) || !reads(b) || a.Order != b.Order ||
				reach(a.Outcome.Seen[0].State)&stateBits[seckill.PendingPayment] != 0 {
				return false
			}
			b.Outcome = shown(b.Order, seckill.PendingPayment)
			return true
		})
	},
	"a placed order is queued again": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if !reads(a) || !reads(b) || a.Order != b.Order || a.Outcome.Seen[0].State == seckill.Queued {
				return false
			}
			b.Outcome = shown(b.Order, seckill.Queued)
			return true
		})
	},
	"a cancel is acknowledged and not done": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.Kind != Cancel || a.Outcome.Kind != Shown || !reads(b) || a.Order != b.Order {
				return false
			}
			b.Outcome = shown(b.Order, seckill.PendingPayment)
			return true
		})
	},
	"one key, two orders": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.Key == "" || a.made() == "" || b.made() == "" || a.Key != b.Key || a.Shopper != b.Shopper {
				return false
			}
			b.Outcome.Order = "x1"
			return true
		})
	},
	"two keys, one order": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.Key == "" || b.Key == "" || a.made() == "" || b.made() == "" || a.Key == b.Key ||
				a.Shopper != b.Shopper {
				return false
			}
			b.Outcome.Order = a.Outcome.Order
			return true
		})
	},
	"a purchase without a key is answered with an order to another address": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.Key+b.Key != "" || a.Shopper != b.Shopper || a.made() == "" || b.made() == "" || a.Count != b.Count ||
				a.Address == b.Address {
				return false
			}
			b.Outcome.Order = a.made()
			return true
		})
	},
	"a purchase without a key is answered with an order of another count": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.Key+b.Key != "" || a.Shopper != b.Shopper || a.made() == "" || b.made() == "" || a.Count == b.Count {
				return false
			}
			b.Outcome.Order = a.made()
			return true
		})
	},
	"an order shows another address": func(ops []Op) bool {
		return pair(ops, func(_, b *Op) bool {
			if !reads(b) {
				return false
			}
			b.Outcome.Seen[0].Address = "z"
			return true
		})
	},
	"an order of somebody else is shown": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.made() == "" || b.Kind != Newest || b.Shopper == a.Shopper {
				return false
			}
			b.Outcome = shown(a.made(), seckill.Paid)
			return true
		})
	},
	"units change": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if !reads(a) || !reads(b) || a.Order != b.Order || !a.Outcome.Seen[0].placed() ||
				!b.Outcome.Seen[0].placed() {
				return false
			}
			b.Outcome.Seen[0].Units[0] = 9
			return true
		})
	},
	"a repeat with the key is refused by the limit": func(ops []Op) bool {
		return pair(ops, func(a, b *Op) bool {
			if a.Key == "" || a.made() == "" || b.made() == "" || a.Key != b.Key || a.Shopper != b.Shopper {
				return false
			}
			b.Outcome = Outcome{Kind: Refused, Code: seckill.CodeLimitReached, Order: a.made()}
			return true
		})
	},
	"an order that nobody asked for": func(ops []Op) bool {
		for i := range ops {
			if ops[i].Kind == Buy && ops[i].maybe() {
				return false
			}
		}
		return pair(ops, func(_, b *Op) bool {
			if b.Kind != Newest {
				return false
			}
			b.Outcome = shown("x1", seckill.Paid)
			return true
		})
	},
	"cancelled by nobody": func(ops []Op) bool {
		for i := range ops {
			if ops[i].Kind == Cancel {
				return false
			}
		}
		return pair(ops, func(_, b *Op) bool {
			if !reads(b) {
				return false
			}
			b.Outcome = shown(b.Order, seckill.Cancelled)
			return true
		})
	},
	"sold out with units left": func(ops []Op) bool {
		if len(ops) == 0 || ops[0].Kind != Buy || ops[0].Return > 150 {
			return false
		}
		ops[0].Outcome = Outcome{Kind: Refused, Code: seckill.CodeSoldOut}
		return true
	},
	"limit reached by nothing": func(ops []Op) bool {
		if len(ops) == 0 || ops[0].Kind != Buy || ops[0].Return == forever {
			return false
		}
		for i := range ops[1:] {
			if op := &ops[1+i]; op.Kind == Buy && op.Shopper == ops[0].Shopper && op.Call <= ops[0].Return {
				return false
			}
		}
		ops[0].Outcome = Outcome{Kind: Refused, Code: seckill.CodeLimitReached}
		return true
	},
}

func reads(op *Op) bool { return op.Kind == Read && op.Outcome.Kind == Shown }

// pair tries a corruption on every two operations of which the first ended before the second began.
func pair(ops []Op, corrupt func(a, b *Op) bool) bool {
	for i := range ops {
		for k := range ops {
			if ops[i].Return < ops[k].Call && corrupt(&ops[i], &ops[k]) {
				return true
			}
		}
	}
	return false
}

func TestCorruptedHistoriesAreRejected(t *testing.T) {
	for name, corrupt := range corruptions {
		t.Run(name, func(t *testing.T) {
			places := 0
			for seed := uint64(1); places < 40; seed++ {
				if seed > 20_000 {
					t.Fatalf("only %d histories had a place for it", places)
				}
				s := seeded(seed, false)
				s.play(25)
				ops := s.rec.Ops()
				if !corrupt(ops) {
					continue
				}
				places++
				_, err := Check(ops, s.options())
				var c *Contradiction
				if !errors.As(err, &c) {
					t.Fatalf("seed %d: got %v, want a contradiction in\n%v", seed, err, lines(ops))
				}
			}
		})
	}
}
