package report

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// sale collects an item's rows while an audit reads them.
type sale struct {
	key     *Key
	id      string
	item    Item
	orders  []Order
	place   map[string]int // place of an order by its id
	foreign map[uint64]bool
	seed    maphash.Seed
	stray   []Payment
	whole   map[string]bool
}

// collect audits an item and collects its rows from the same reading, the last reading if the audit reads twice.
func collect(ctx context.Context, key *Key, item string, src audit.Source, again time.Duration) (*sale, *audit.Report,
	error) {
	s := &sale{key: key, id: item, seed: maphash.MakeSeed()}
	found, err := audit.Run(ctx, audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		s.begin()
		return src.Read(ctx, func(l *record.Line) error {
			s.add(l)
			return each(l)
		})
	}), audit.Options{Item: item, Again: again})
	if err != nil {
		return nil, nil, err
	}
	for _, part := range []string{ledger.TableOrders, ledger.TablePayments} {
		if !s.whole[part] {
			return nil, nil, fmt.Errorf("item %s: the table %s was not read to its end, and a report needs all of it",
				item, part)
		}
	}
	slices.SortFunc(s.orders, func(a, b Order) int { return cmp.Compare(a.Order, b.Order) })
	slices.SortFunc(s.stray, func(a, b Payment) int { return cmp.Compare(a.Order+a.Trade, b.Order+b.Trade) })
	return s, found, nil
}

func (s *sale) begin() {
	s.item, s.orders, s.stray = Item{Item: s.id}, nil, nil
	s.place, s.foreign, s.whole = map[string]int{}, map[uint64]bool{}, map[string]bool{}
}

func (s *sale) add(l *record.Line) {
	switch {
	case l.End != "":
		s.whole[l.End] = true
	case l.Table == record.PartItems:
		s.addItem(l.Row)
	case l.Table == ledger.TableOrders:
		s.addOrder(l.Row)
	case l.Table == ledger.TablePayments:
		s.addPayment(l.Row)
	case l.Now != 0:
		s.item.Read = at(l.Now)
	}
}

func (s *sale) addItem(row ledger.Row) {
	if id, _ := row["id"].(string); id != s.id {
		return
	}
	title, _ := row["title"].(string)
	number := func(attr string) int64 { n, _ := row[attr].(int64); return n }
	it := &s.item
	it.Title, it.Price, it.Stock, it.Limit = title, number("sk_price"), int(number("stock")),
		int(number("limit"))
	it.Start, it.End = at(number("start")), at(number("end"))
}

func (s *sale) addOrder(row ledger.Row) {
	id, _ := row["id"].(string)
	if of, _ := row["item"].(string); of != s.id {
		s.foreign[maphash.String(s.seed, id)] = true
		return
	}
	c, err := ledger.OrderChange(nil, row)
	o := &c.Order
	if _, twice := s.place[id]; err != nil || twice {
		s.item.Unreadable++
		return
	}
	salt := s.key.Salt(id)
	line := Order{Line: Line{Kind: kindOrder}, Order: id, Buyer: Buyer(salt, o.User), Count: o.Count,
		Units: o.Units, Price: int64(o.Price), Amount: int64(o.Amount), State: o.State.Info().State,
		Reason: o.Reason, Created: o.Created.UTC()}
	for _, h := range o.History {
		line.History = append(line.History, Entry{h.State.Info().State, h.At.UTC()})
	}
	s.place[line.Order] = len(s.orders)
	s.orders = append(s.orders, line)
}

// addPayment reads a row by docs/DATA.md. The audit, too, reports what cannot be read there.
func (s *sale) addPayment(row ledger.Row) {
	id, _ := row["order"].(string)
	i, ours := s.place[id]
	if !ours && s.foreign[maphash.String(s.seed, id)] {
		return
	}
	no, okNo := row["trade_no"].(string)
	amount, okAmount := row["amount"].(int64)
	state, okState := row["state"].(string)
	when, okWhen := row["at"].(int64)
	if !okNo || !okAmount || !okState || !okWhen {
		s.item.Unreadable++
		return
	}
	m := Money{Trade: Trade(s.key.Salt(id), no), Amount: amount, State: seckill.PaymentState(state), At: at(when)}
	if back, ok := row["back"].(int64); ok {
		t := at(back)
		m.Back = &t
	}
	if !ours {
		s.stray = append(s.stray, Payment{Line{Kind: kindPayment}, id, m})
		return
	}
	o := &s.orders[i]
	o.Payments = append(o.Payments, m)
	slices.SortFunc(o.Payments, func(a, b Money) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Trade, b.Trade))
	})
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
