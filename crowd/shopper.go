package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

// What a browser does with the storefront's page (web/core.js).
const (
	firstWait   = 500 * time.Millisecond // before the first retry that the server set no time for
	longestWait = 8 * time.Second
	payPoll     = 2 * time.Second // of an order that waits for its payment
	longPoll    = 5 * time.Second
	closingPoll = 3 * time.Second
	soonPolls   = 60                     // how often it asks at payPoll
	backIn      = 300 * time.Millisecond // from the cashier to the page
)

// shopper is one visit.
type shopper struct {
	visit
	*run
	n        int
	user     string
	token    string // as the header wants it
	key      string // "" without one
	body     []byte
	address  string        // hash
	offset   time.Duration // of the server's clock from ours
	pressed  time.Time     // when the first press was meant
	bothered bool
}

// askTime asks the server's clock as the page does when it is opened. Without an answer the shopper goes by the clock
// that the first look gave.
func (s *shopper) askTime(ctx context.Context) {
	sent := time.Now()
	a := s.client.do(ctx, &ask{act: journal.ActTime, moment: s.opensAt(s.offset).Add(s.opens), method: http.MethodGet,
		url: s.base + "/seckill/time", entry: journal.Entry{Shopper: s.n, User: s.user}})
	if ms := number(a.body, `"now_ms"`); a.status == http.StatusOK && ms > 0 {
		// the answer is taken to be from the middle of the trip
		s.offset = time.UnixMilli(ms).Sub(sent.Add(a.at.Sub(sent) / 2))
	}
}

func (s *shopper) send(ctx context.Context, moment time.Time) answer {
	return s.client.do(ctx, &ask{act: journal.ActBuy, moment: moment, method: http.MethodPost, url: s.base +
		"/seckill/buy", token: s.token, key: s.key,
		kind: "application/json", body: s.body,
		entry: journal.Entry{Shopper: s.n, User: s.user, Item: s.item.id, Key: s.key, Count: s.opt.Count,
			Address: s.address}})
}

// retryWait is the page's: the server's wish is a floor, spread by up to a fifth; without one the wait doubles, spread
// over its upper half.
func (s *shopper) retryWait(attempt int, wish time.Duration) time.Duration {
	if wish > 0 {
		return wish + time.Duration(s.random.Float64()*float64(wish)/5)
	}
	wait := min(longestWait, firstWait<<min(attempt, 10))
	return wait/2 + time.Duration(s.random.Float64()*float64(wait)/2)
}

// errImpatient ends a wait for an order that takes too long.
var errImpatient = errors.New("out of patience")

// atRest says whether an order holds nothing that only time can take from it.
func atRest(st seckill.State) bool {
	return st != seckill.PendingPayment && st != seckill.Closing && !undecided(st)
}

// undecided orders have no row yet that the shopper could know.
func undecided(st seckill.State) bool { return st == seckill.Queued || st == "none" || st == "" }

// placed waits until an accepted order has a row.
func (s *shopper) placed(ctx context.Context, order string) (answer, error) {
	ctx, stop := context.WithTimeoutCause(ctx, s.opt.Patience, errImpatient)
	defer stop()
	return s.follow(ctx, order, func(st seckill.State) bool { return !undecided(st) })
}

// follow asks where an order is, as often as the page does, until it is where the shopper waits for it to be.
func (s *shopper) follow(ctx context.Context, order string, done func(seckill.State) bool) (answer, error) {
	moment, last, same, troubles := time.Now(), seckill.State(""), 0, 0
	for {
		a := s.look(ctx, order, moment)
		var wait time.Duration
		switch {
		case errors.Is(a.err, errLeft):
			return a, a.err
		case a.status == http.StatusOK:
			if done(a.state) {
				return a, nil
			}
			troubles = 0
			same++
			if a.state != last {
				same = 0
			}
			last, wait = a.state, pollWait(a.state, same, a.retry)
		case a.later():
			wait = s.retryWait(troubles, a.retry)
			troubles++
		default:
			return a, fmt.Errorf("where the order is: %s", a.word())
		}
		moment = a.at.Add(wait)
		if !sleep(ctx, moment) {
			return answer{}, errLeft
		}
	}
}

// look asks about the newest order of the item; when that is a later one, about ours by its id.
func (s *shopper) look(ctx context.Context, order string, moment time.Time) answer {
	known := journal.Entry{Shopper: s.n, User: s.user, Item: s.item.id}
	a := s.client.do(ctx, &ask{act: journal.ActOrder, moment: moment, method: http.MethodGet, url: s.base +
		"/seckill/order/" + s.item.id, token: s.token, entry: known})
	if a.status != http.StatusOK || order == "" || a.order == "" || a.order == order {
		return a
	}
	known.Order = order
	b := s.client.do(ctx, &ask{act: journal.ActGet, moment: a.at, method: http.MethodGet, url: s.base + "/order/" +
		order, token: s.token, entry: known})
	var whole struct {
		State  seckill.State `json:"state"`
		Reason string        `json:"reason"`
		Pay    string        `json:"alipay_order"`
		PayBy  string        `json:"pay_by"`
	}
	switch b.status {
	case http.StatusNotFound:
		b.status, b.state = http.StatusOK, seckill.Queued // no row yet
	case http.StatusOK:
		if err := json.Unmarshal(b.body, &whole); err != nil {
			b.status, b.err = 0, err
		}
		b.state, b.reason, b.pay, b.payBy = whole.State, whole.Reason, whole.Pay, whole.PayBy
	}
	b.order = order
	return b
}

// pollWait is the page's: a queued order moves within moments, a payment takes a person's time.
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

// thinks waits as long as a person takes to make up their mind.
func (s *shopper) thinks(ctx context.Context) bool {
	return sleep(ctx, time.Now().Add(s.opt.Think/2+time.Duration(s.random.Float64()*float64(s.opt.Think))))
}

// leave remembers an order that is open when its shopper goes.
func (s *shopper) leave(order string, state seckill.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, left{s.n, order, state})
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

// purchase is the body of a shopper's purchase, and the hash of the address in it.
func purchase(o *Options, n int) (body []byte, address string) {
	where := "浙江省杭州市西湖区文三路 " + strconv.Itoa(n) + " 号"
	if o.Journal != nil {
		address = journal.Hash([]byte(where))
	}
	return []byte(`{"seckill_id":"` + o.Item + `","count":` + strconv.Itoa(o.Count) + `,"address":"` + where + `"}`),
		address
}
