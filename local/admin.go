package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of the routes under /_local.
const (
	MaxAdvance = 7 * 24 * time.Hour // how far one call may move the clock

	idleWait     = 5 * time.Second
	tokenValid   = 7 * 24 * time.Hour
	shownRefunds = 100 // per shard
	ordersPage   = 1000
)

// admin serves the routes under /_local. They need no token, because the server listens on the loopback interface only.
// A page of another origin in the same browser can neither change anything (403) nor read an answer.
func (s *System) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_local/clock", s.getClock)
	mux.HandleFunc("POST /_local/clock", s.postClock)
	mux.HandleFunc("GET /_local/state", s.getState)
	mux.HandleFunc("GET /_local/process", s.getProcess)
	mux.HandleFunc("GET /_local/shoppers", s.getShoppers)
	mux.HandleFunc("GET /_local/keys", s.getKeys)
	mux.HandleFunc("GET /_local/acts", s.getActs)
	mux.HandleFunc("GET /_local/dump", s.getDump)
	if s.Redis != nil { // for a real server: redis-cli FLUSHALL
		mux.HandleFunc("POST /_local/redis/flush", s.postFlush)
	}
	mux.HandleFunc("POST /_local/hard-stop", s.postHardStop)
	mux.HandleFunc("POST /_local/operator", s.postOperator)
	mux.HandleFunc("POST /_local/staff-link", s.postStaffLink)
	mux.HandleFunc("/_local/", s.unknown)
	return http.NewCrossOriginProtection().Handler(mux)
}

func (s *System) getClock(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, map[string]any{"now": s.Clock.Now()})
}

// postClock moves the clock, waits until the work that became due is done, and answers.
func (s *System) postClock(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Seconds *int64 `json:"advance_seconds"`
	}
	limit := int64(MaxAdvance / time.Second)
	if err := decode(r, &body); err != nil || body.Seconds == nil || *body.Seconds < 1 || *body.Seconds > limit {
		s.refuse(w, r, seckill.Invalid("advance_seconds", fmt.Sprintf("1..%d", limit)))
		return
	}
	s.Clock.Advance(time.Duration(*body.Seconds) * time.Second)
	ctx, cancel := context.WithTimeout(r.Context(), idleWait)
	defer cancel()
	err := s.WaitIdle(ctx)
	s.reply(w, map[string]any{"now": s.Clock.Now(), "advanced_seconds": *body.Seconds, "idle": err == nil})
}

func (s *System) getShoppers(w http.ResponseWriter, r *http.Request) {
	type shopper struct {
		Name  string `json:"name"`
		User  string `json:"user"`
		Token string `json:"token"`
	}
	list := make([]shopper, len(Shoppers))
	for i, sh := range Shoppers {
		token, err := s.Token(sh.User, tokenValid)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		list[i] = shopper{sh.Name, sh.User, token}
	}
	s.reply(w, map[string]any{"shoppers": list})
}

// postFlush deletes the stock, as a Redis failover that loses its data would.
func (s *System) postFlush(w http.ResponseWriter, _ *http.Request) {
	s.Redis.Flush()
	s.reply(w, map[string]any{"flushed": true})
}

type queueState struct {
	Name     string `json:"name"`
	Visible  int    `json:"visible"`
	InFlight int    `json:"in_flight"`
	Delayed  int    `json:"delayed"`
	Parked   int    `json:"parked"`
}

type refundDue struct {
	Order   string      `json:"order_id"`
	TradeNo string      `json:"trade_no"`
	Amount  seckill.Fen `json:"amount"`
}

type state struct {
	Now     time.Time                     `json:"now"`
	Version string                        `json:"version"`
	Items   []operator.ItemState          `json:"items"`
	Orders  map[seckill.State]int         `json:"orders"`
	Amounts map[seckill.State]seckill.Fen `json:"amounts"` // of these orders
	Queues  []queueState                  `json:"queues"`
	Refunds []refundDue                   `json:"refunds_due"`     // the shop retries them
	Refused []refundDue                   `json:"refunds_refused"` // a person has to act
	Events  map[seckill.Event]int         `json:"events"`
	// Items whose rows cannot be read; the other fields do not include them.
	Unreadable []string `json:"unreadable,omitempty"`
	// Requests that the API refused or failed to serve, by reason.
	Refusals map[seckill.Reason]int `json:"refusals"`
}

func (s *System) getState(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	out := state{Now: s.Clock.Now(), Version: s.opt.Version, Orders: map[seckill.State]int{},
		Amounts: map[seckill.State]seckill.Fen{},
		Items:   []operator.ItemState{}, Refunds: []refundDue{}, Refused: []refundDue{}, Events: s.Meter.Counts(),
		Refusals: s.Meter.Refusals()}
	items, err := s.Items.List(ctx, time.Time{})
	out.Unreadable, err = seckill.SplitUnreadable(err)
	for i := range items {
		st := s.items.State(ctx, &items[i])
		out.Items = append(out.Items, st)
		if st.Awaiting > 0 {
			out.Orders[seckill.Queued] += st.Awaiting
		}
	}
	errs := []error{err, s.countOrders(ctx, items, &out)}
	for _, q := range []struct {
		name string
		seckill.Queue
	}{{"orders", s.orders}, {"closings", s.closings}} {
		d, err := q.Depth(ctx)
		errs = append(errs, err)
		out.Queues = append(out.Queues, queueState{q.name, d.Visible, d.InFlight, d.Delayed, d.Parked})
	}
	for shard := range seckill.DueShards {
		due, err := s.Ledger.RefundsDue(ctx, shard, s.Clock.Now().Add(seckill.MaxHold), "", shownRefunds)
		errs = append(errs, err)
		for _, p := range due.Rows {
			out.Refunds = append(out.Refunds, refundDue{p.Order, p.TradeNo, p.Amount})
		}
	}
	refused, err := s.Ledger.RefundsRefused(ctx, "", shownRefunds)
	for _, p := range refused.Rows {
		out.Refused = append(out.Refused, refundDue{p.Order, p.TradeNo, p.Amount})
	}
	s.answer(w, r, out, errors.Join(append(errs, err)...))
}

// countOrders adds up the orders of these items and their amounts by state.
func (s *System) countOrders(ctx context.Context, items []seckill.Item, into *state) error {
	for _, it := range items {
		for after := ""; ; {
			page, err := s.Ledger.OrdersByItem(ctx, it.ID, after, ordersPage)
			if err != nil {
				return err
			}
			for _, o := range page.Orders {
				into.Orders[o.State]++
				into.Amounts[o.State] += o.Amount
			}
			if after = page.Next; after == "" {
				break
			}
		}
	}
	return nil
}
