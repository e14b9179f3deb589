package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// Waits of the storefront's page (web/src/core.js).
const (
	firstWait   = 500 * time.Millisecond // before the first retry, unless the server set another delay
	longestWait = 8 * time.Second
	payPoll     = 2 * time.Second // for the first soonPolls polls of an unpaid order, then longPoll
	soonPolls   = 60
	longPoll    = 5 * time.Second
	closingPoll = 3 * time.Second
	backIn      = 300 * time.Millisecond // from the cashier to the page
)

// shopper is one shopper of a crowd.
type shopper struct {
	visit
	*run
	n        int
	user     string
	token    string // Authorization header
	key      string // Idempotency-Key; "" if there is none
	ticket   string // "" if there is none
	refusal  string // why it has none, though it asked
	body     []byte
	address  string        // hash of the address in body
	offset   time.Duration // of the server's clock from the local clock
	pressed  time.Time     // scheduled time of the first press
	ear      *listener     // nil if the shopper polls
	polls    int           // requests about orders
	bothered bool          // was told to try later, or got no answer, before the deciding answer
}

// askTime measures the offset of the server's clock, as the page does when it opens. Without an answer the shopper
// keeps the offset that was measured before the ramp.
func (s *shopper) askTime(ctx context.Context) {
	sent := time.Now()
	a := s.client.do(ctx, &ask{act: record.ActTime, moment: s.opensAt(s.offset).Add(s.opens), method: http.MethodGet,
		url: s.base + "/seckill/time", entry: s.about("")})
	if ms := parse(a.body).Now; a.status == http.StatusOK && ms > 0 {
		s.offset = time.UnixMilli(ms).Sub(sent.Add(a.at.Sub(sent) / 2)) // assumes equal times both ways
	}
}

// about returns what the journal records with each of the shopper's requests.
func (s *shopper) about(order string) record.Entry {
	return record.Entry{Shopper: s.n, User: s.user, Order: order}
}

// ticketHash is the hash of the shopper's ticket, when there is a journal.
func (s *shopper) ticketHash() string {
	if s.opt.Journal == nil {
		return ""
	}
	return record.Hash([]byte(s.ticket))
}

func (s *shopper) send(ctx context.Context, moment time.Time) answer {
	return s.client.do(ctx, &ask{act: record.ActBuy, moment: moment, method: http.MethodPost,
		url: s.base + "/seckill/buy", token: s.token, key: s.key, kind: "application/json", body: s.body,
		ticket: s.ticket, machine: s.machine,
		entry: record.Entry{Shopper: s.n, User: s.user, Item: s.item.ID, Key: s.key, Count: s.opt.Count,
			Address: s.address, Ticket: s.ticketHash()}})
}

// retryWait returns the page's delay before a retry: the server's delay plus up to a fifth; without one an exponential
// backoff, random over its upper half.
func (s *shopper) retryWait(attempt int, wish time.Duration) time.Duration {
	if wish > 0 {
		return wish + time.Duration(s.random.Float64()*float64(wish)/5)
	}
	wait := min(longestWait, firstWait<<min(attempt, 10))
	return wait/2 + time.Duration(s.random.Float64()*float64(wait)/2)
}

// atRest reports whether an order no longer waits for its payment, its closing or its row.
func atRest(st seckill.State) bool {
	return st != seckill.PendingPayment && st != seckill.Closing && !undecided(st)
}

// undecided reports whether an order has no row yet.
func undecided(st seckill.State) bool { return st == seckill.Queued || st == "none" || st == "" }

// placed waits until an accepted order has a row, at most for the shopper's patience. In a rush it gives push a while
// before it asks.
func (s *shopper) placed(ctx context.Context, order string) (a answer, err error) {
	ctx, stop := context.WithTimeout(ctx, s.opt.Patience)
	defer stop()
	var known seckill.State
	now := time.Now()
	if wait := s.ear.patience(now.Add(s.offset).Sub(s.item.Start)); wait > 0 {
		if known, err = s.ear.hears(ctx, now.Add(wait)); err != nil {
			return answer{}, err
		}
	}
	return s.follow(ctx, order, known, func(st seckill.State) bool { return !undecided(st) })
}

// follow looks at an order as the page does, until done accepts its state: after each message if it is connected, else
// it polls. It does not ask about an order that is known, or was heard, to wait for its payment.
func (s *shopper) follow(ctx context.Context, order string, known seckill.State, done func(seckill.State) bool) (
	answer, error) {
	moment, last, same, troubles := time.Now(), seckill.State(""), 0, 0
	for {
		a := answer{status: http.StatusOK, at: moment, said: said{Order: order, State: known}, heard: true}
		if known != seckill.PendingPayment {
			a = s.look(ctx, order, moment)
		}
		var wait time.Duration
		switch {
		case errors.Is(a.err, errLeft):
			return a, a.err
		case a.status == http.StatusOK:
			if done(a.State) {
				return a, nil
			}
			troubles = 0
			same++
			if a.State != last {
				same = 0
			}
			last, wait = a.State, pollWait(a.State, same, a.retry)
		case a.later():
			wait = s.retryWait(troubles, a.retry)
			troubles++
		default:
			return a, errors.New(a.word())
		}
		var err error
		if moment, known, err = s.ear.until(ctx, a.at, wait); err != nil {
			return answer{}, err
		}
	}
}

// look asks for the shopper's newest order of the item and, if that is not the given order, for the given order by its
// id.
func (s *shopper) look(ctx context.Context, order string, moment time.Time) answer {
	known := s.about("")
	known.Item = s.item.ID
	s.polls++
	a := s.client.do(ctx, &ask{act: record.ActOrder, moment: moment, method: http.MethodGet,
		url: s.base + "/seckill/order/" + s.item.ID, token: s.token, entry: known})
	if a.status != http.StatusOK || order == "" || a.Order == "" || a.Order == order {
		return a
	}
	known.Order = order
	s.polls++
	b := s.client.do(ctx, &ask{act: record.ActGet, moment: a.at, method: http.MethodGet,
		url: s.base + "/order/" + order, token: s.token, entry: known})
	var whole struct {
		State  seckill.State `json:"state"`
		Reason string        `json:"reason"`
		Pay    string        `json:"alipay_order"`
	}
	switch b.status {
	case http.StatusNotFound:
		b.status, b.State = http.StatusOK, seckill.Queued // no row yet
	case http.StatusOK:
		if err := json.Unmarshal(b.body, &whole); err != nil {
			b.status, b.err = 0, err
		}
		b.State, b.Reason, b.Pay = whole.State, whole.Reason, whole.Pay
	}
	b.Order = order
	return b
}

// pollWait returns the page's delay before the next poll of an order that was in its state for `same` polls.
func pollWait(st seckill.State, same int, wish time.Duration) time.Duration {
	switch {
	case undecided(st):
		wait := float64(max(wish, firstWait)) * math.Pow(1.5, float64(max(0, same-4)))
		return time.Duration(min(float64(longPoll), wait))
	case st == seckill.Closing:
		return max(wish, closingPoll)
	case same < soonPolls:
		return payPoll
	}
	return longPoll
}

// thinks waits the shopper's thinking time. It reports false when the crowd ends first.
func (s *shopper) thinks(ctx context.Context) bool {
	return sleep(ctx, time.Now().Add(s.opt.Think/2+time.Duration(s.random.Float64()*float64(s.opt.Think))))
}

// leave counts an order that is open when its shopper leaves.
func (s *shopper) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
}

func (r *run) shopper(n int) *shopper {
	s := &shopper{visit: visitOf(r.opt, n), run: r, n: n, offset: r.offset, token: r.tokens[n-1]}
	s.user = strconv.FormatInt(r.opt.firstUser()+int64(n-1), 10)
	if s.keyed {
		s.key = keyOf(r.opt, n)
	}
	if s.fate == pays && r.cashier == "" {
		s.fate = looks
	}
	s.body, s.address = purchase(r.opt, n)
	return s
}

// purchase returns the body of a shopper's purchase, and the hash of its address when there is a journal.
func purchase(o *Options, n int) (body []byte, address string) {
	where := "浙江省杭州市西湖区文三路 " + strconv.Itoa(n) + " 号"
	if o.Journal != nil {
		address = record.Hash([]byte(where))
	}
	return []byte(`{"seckill_id":"` + o.Item + `","count":` + strconv.Itoa(o.Count) + `,"address":"` + where + `"}`),
		address
}
