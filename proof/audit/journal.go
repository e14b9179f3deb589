package audit

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// journalView is what the journal's shoppers asked and heard about the item. Times are Unix milliseconds by the clock
// of the machine that wrote it.
type journalView struct {
	record.Summary
	fault   string // why it is not valid
	item    string
	users   map[string]*asker
	acked   map[string]*acked // by order id
	keyed   int               // keys whose answers named an order
	twice   []Finding         // keys whose answers named two orders
	first   int64             // time of the first acknowledgement; 0 if there is none
	firstN  uint64            // its line
	soldOut int64             // when the last request that was answered sold_out was sent; 0 if there is none
	heard   int               // answers of sold_out
	buys    int               // requests to buy
	nothing int               // shoppers who gave up without a decision
	moment  int64             // start of the journal
}

// secondPress is the milliseconds after an answer within which a second press may have ignored it.
const secondPress = 1000

// asker is a user who sent a purchase.
type asker struct {
	asks   []ask
	keys   map[string]string // order named by the answers, by Idempotency-Key; "" if there is none yet
	vague  bool              // the last purchase, second presses aside, got no answer, 429 or 5xx
	meant  int64             // time of the last other answer; 0 if there is none
	ticket bool              // sent a ticket with a purchase
	orders bool              // an answer named an order
}

// ask is a request to buy.
type ask struct {
	key     string
	count   int
	address uint64
	ticket  uint64 // 0 if there is none
	request uint64 // its line in the journal
}

type acked struct {
	user   string
	ticket uint64 // 0 if there is none
	line   uint64
	at     int64
}

type pending struct {
	ask
	user string
	at   int64
}

// readJournal reads a journal; nil without one. An invalid line is not an error but sets fault.
func readJournal(r io.Reader, item string) (*journalView, error) {
	if r == nil {
		return nil, nil
	}
	t := &journalView{item: item, users: map[string]*asker{}, acked: map[string]*acked{}}
	open := map[uint64]pending{}
	var err error
	t.Summary, err = record.ReadJournal(r, func(e *record.Entry) error {
		t.take(e, open)
		return nil
	})
	var broken *record.BrokenError
	if errors.As(err, &broken) {
		t.fault = broken.Error()
	} else if err != nil {
		return nil, fmt.Errorf("cannot read the journal: %w", err)
	}
	switch {
	case t.fault != "":
	case t.Start == nil:
		t.fault = "the journal is empty"
	case t.Start.Item != item:
		t.fault = "the journal is of item " + t.Start.Item
	}
	for _, u := range t.users {
		if u.vague && !u.orders {
			t.nothing++
		}
	}
	return t, nil
}

// take processes an entry. It keeps purchases and their answers.
func (t *journalView) take(e *record.Entry, open map[uint64]pending) {
	if e.Kind == record.KindStart {
		t.moment = e.Start.Time.UnixMilli()
		return
	}
	at := t.moment + e.At/1000
	if e.Kind == record.KindRequest && e.Act == record.ActBuy && e.Item == t.item {
		t.buys++
		u := t.users[e.User]
		if u == nil {
			u = &asker{keys: map[string]string{}}
			t.users[e.User] = u
		}
		a := ask{e.Key, e.Count, prefixOf(e.Address), prefixOf(e.Ticket), e.N}
		u.ticket = u.ticket || a.ticket != 0
		u.asks = append(u.asks, a)
		open[e.N] = pending{a, e.User, at}
		return
	}
	p, ok := open[e.Request]
	if e.Kind != record.KindAnswer || !ok {
		return
	}
	delete(open, e.Request)
	u := t.users[p.user]
	switch vague := e.Status == 0 || e.Status >= 500 || e.Status == 429; {
	case !vague:
		u.vague, u.meant = false, at
	case u.meant == 0 || p.at > u.meant+secondPress:
		u.vague = true
	}
	ordered := e.Order != "" && (e.Status == 200 || e.Code == string(seckill.CodeUnconfirmed))
	if ordered {
		u.orders = true
		t.names(u, &p, e)
	}
	switch {
	case e.Status == 200 && e.Order != "":
		if t.acked[e.Order] == nil {
			t.acked[e.Order] = &acked{p.user, p.ticket, e.N, at}
		}
		if t.first == 0 {
			t.first, t.firstN = at, e.N
		}
	case e.Code == string(seckill.CodeSoldOut):
		t.heard++
		t.soldOut = max(t.soldOut, p.at)
	}
}

// names checks I4: all answers to a key name the same order.
func (t *journalView) names(u *asker, p *pending, e *record.Entry) {
	if p.key == "" {
		return
	}
	switch was := u.keys[p.key]; was {
	case "":
		t.keyed++
		u.keys[p.key] = e.Order
	case e.Order:
	default:
		t.twice = append(t.twice,
			Finding{lineOf(e.N), fmt.Sprintf("names order %s for key %q of user %s, but an earlier answer named %s",
				e.Order, p.key, p.user, was)})
	}
}

func lineOf(n uint64) string { return "journal line " + strconv.FormatUint(n, 10) }

// prefixOf returns the first eight bytes of a hash in hex, as addressOf does.
func prefixOf(hash string) uint64 {
	b, err := hex.DecodeString(hash)
	if err != nil || len(b) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// complete reports whether the journal has every request.
func (t *journalView) complete() bool { return t.End != nil }
