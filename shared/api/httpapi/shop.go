package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// Shop is the flow behind lists, details, orders and cancel. Pages count from 1.
type Shop interface {
	// Live lists items on sale, Upcoming those that have not started. CodeNotReady.
	Live(ctx context.Context, page, size int) (shop.Page, error)
	Upcoming(ctx context.Context, page, size int) (shop.Page, error)
	// Detail returns one item. CodeItemUnknown.
	Detail(ctx context.Context, item string) (shop.View, error)
	// Left returns one item's stock, without its description. CodeItemUnknown.
	Left(ctx context.Context, item string) (shop.View, error)
	// Newest returns the state of the user's newest order of an item. CodeItemUnknown, CodeNotReady.
	Newest(ctx context.Context, user, item string) (shop.Status, error)
	// Order returns one of the user's own orders. CodeOrderUnknown, also for another user's order.
	Order(ctx context.Context, user, order string) (shop.OrderView, error)
	// Has refuses an order that is not the user's, placed or queued. CodeOrderUnknown, CodeNotReady.
	Has(ctx context.Context, user, order string) error
	// Orders lists the user's placed orders.
	Orders(ctx context.Context, user string, page, size int) ([]shop.OrderView, error)
	// Cancel closes an unpaid order. CodeOrderUnknown, CodeStillQueued, CodeNotCancelable, CodeCancelLimit.
	Cancel(ctx context.Context, user, order string) (shop.Status, error)
	// Received records that the user's order came. CodeOrderUnknown, CodeWrongState.
	Received(ctx context.Context, user, order string) (shop.Status, error)
	// AskRefund records why the user wants their order refunded. CodeInvalid, CodeOrderUnknown, CodeWrongState.
	AskRefund(ctx context.Context, user, order, why string) (shop.Status, error)
	// Now returns the server's time.
	Now() time.Time
}

// NewShop serves lists, details, orders, passes to push, the server's time and GET /healthz.
func NewShop(flow Shop, auth Auth, o Options) *Handler {
	s := &shopper{flow, o.caller(auth), newPusher(o.Push), healthJSON{"ok", o.Version, o.CashierURL}, o.Contact,
		o.Salts}
	get, post := http.MethodGet, http.MethodPost
	return newHandler(o,
		newRoute(get, "/seckill/ing", s.list(flow.Live)),
		newRoute(get, "/seckill/will", s.list(flow.Upcoming)),
		newRoute(get, "/seckill/detail/{seckill_id}", s.detail),
		newRoute(get, "/seckill/status/{seckill_id}", s.left),
		newRoute(get, "/seckill/order/{seckill_id}", s.newest),
		newRoute(get, "/seckill/time", s.time),
		newRoute(get, "/order/list", s.orders), // before the pattern that would match it, too
		newRoute(get, "/order/{id}", s.order),
		newRoute(post, "/order/{id}/cancel", s.cancel),
		newRoute(post, "/order/{id}/received", s.received),
		newRoute(post, "/order/{id}/refund-request", s.askRefund),
		newRoute(post, "/order/{id}/push", s.offer),
		newRoute(get, "/healthz", s.healthz),
	)
}

type shopper struct {
	flow   Shop
	caller caller
	push   *pusher // nil if there is none
	health healthJSON

	contact string // Options.Contact
	salts   Salts  // nil if there are none
}

type healthJSON struct {
	Status     string `json:"status"`
	Version    string `json:"version"`
	CashierURL string `json:"cashier_url,omitempty"`
}

func (s *shopper) list(views func(ctx context.Context, page, size int) (shop.Page, error)) endpoint {
	return func(r *http.Request, _ string) (answer, error) {
		page, size, err := pageOf(r)
		if err != nil {
			return answer{}, err
		}
		found, err := views(r.Context(), page, size)
		if err != nil {
			return answer{}, err
		}
		now := s.flow.Now()
		out := make([]itemJSON, len(found.Items))
		for i := range found.Items {
			out[i] = newItem(&found.Items[i], now)
		}
		return encode(cacheShared, struct {
			Items []itemJSON `json:"seckills"`
			AsOf  string     `json:"as_of,omitempty"`
		}{out, optional(found.AsOf)})
	}
}

func (s *shopper) detail(r *http.Request, item string) (answer, error) {
	if !seckill.ValidItemID(item) {
		return answer{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	v, err := s.flow.Detail(r.Context(), item)
	if err != nil {
		return answer{}, err
	}
	return encode(cacheShared, newItem(&v, s.flow.Now()))
}

func (s *shopper) left(r *http.Request, item string) (answer, error) {
	if !seckill.ValidItemID(item) {
		return answer{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	v, err := s.flow.Left(r.Context(), item)
	if err != nil {
		return answer{}, err
	}
	now := s.flow.Now()
	return encode(cacheShared, struct {
		Left    int               `json:"left"`
		SoldOut bool              `json:"sold_out"`
		State   seckill.ItemState `json:"state"`
		Now     string            `json:"now"`
		AsOf    string            `json:"as_of,omitempty"`
	}{v.Left, v.Left == 0, v.Item.StateAt(now), rfc3339(now), optional(v.AsOf)})
}

func (s *shopper) newest(r *http.Request, item string) (answer, error) {
	user, err := s.caller.user(r)
	if err != nil {
		return answer{}, err
	}
	if !seckill.ValidItemID(item) {
		return answer{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	status, err := s.flow.Newest(r.Context(), user, item)
	if err != nil {
		return answer{}, err
	}
	out := newStatus(&status)
	out.Help = helpOf(status.Reason, r, s.contact)
	return encode(cacheNever, out)
}

func (s *shopper) orders(r *http.Request, _ string) (answer, error) {
	user, err := s.caller.user(r)
	if err != nil {
		return answer{}, err
	}
	page, size, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	found, err := s.flow.Orders(r.Context(), user, page, size)
	if err != nil {
		return answer{}, err
	}
	now := s.flow.Now()
	out := make([]orderJSON, len(found))
	for i := range found {
		out[i] = newOrder(&found[i], now)
	}
	return encode(cacheNever, struct {
		Orders []orderJSON `json:"orders"`
	}{out})
}

func (s *shopper) order(r *http.Request, id string) (answer, error) {
	user, err := s.caller.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	v, err := s.flow.Order(r.Context(), user, id)
	if err != nil {
		return answer{}, err
	}
	out := newOrder(&v, s.flow.Now())
	out.Payments = newPayments(v.Payments)
	out.Help = helpOf(v.Order.Reason, r, s.contact)
	out.Money = money(&v.Order, v.Payments, preferred(r.Header["Accept-Language"]))
	if s.salts != nil && !v.Item.Item.End.After(s.flow.Now()) {
		if salt, verifier := s.salts.Of(id); salt != "" {
			out.Report = &reportJSON{salt, verifier}
		}
	}
	return encode(cacheNever, out)
}

func (s *shopper) cancel(r *http.Request, id string) (answer, error) {
	user, err := s.caller.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	return told(s.flow.Cancel(r.Context(), user, id))
}

// offer gives another pass to a shopper who has this order: a pass is good for one connection and a short time.
func (s *shopper) offer(r *http.Request, id string) (answer, error) {
	user, err := s.caller.user(r)
	if err != nil {
		return answer{}, err
	}
	if s.push == nil {
		return answer{}, seckill.Refuse(seckill.CodeNotPushed)
	}
	if !seckill.ValidOrderID(id) {
		return answer{}, seckill.Refuse(seckill.CodeOrderUnknown)
	}
	if err := s.flow.Has(r.Context(), user, id); err != nil {
		return answer{}, err
	}
	return answer{kindJSON, cacheNever, s.push.append(make([]byte, 0, offerSize), user)}, nil
}

func (s *shopper) time(*http.Request, string) (answer, error) {
	now := s.flow.Now()
	return encode(cacheNever, struct {
		Now   string `json:"now"`
		Milli int64  `json:"now_ms"`
	}{rfc3339(now), now.UnixMilli()})
}

func (s *shopper) healthz(*http.Request, string) (answer, error) {
	return encode(cacheNever, s.health)
}

// encode encodes JSON without escaping <, > and &: a pay string is full of & and people copy it by hand.
func encode(cache []string, v any) (answer, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return answer{}, &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	return answer{kindJSON, cache, bytes.TrimSuffix(b.Bytes(), []byte("\n"))}, nil
}

// maxReasonBody is the largest body of a request for a refund, in bytes: each character of a reason may be escaped.
const maxReasonBody = 8 << 10

func (s *shopper) received(r *http.Request, id string) (answer, error) {
	user, err := s.caller.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	return told(s.flow.Received(r.Context(), user, id))
}

func (s *shopper) askRefund(r *http.Request, id string) (answer, error) {
	user, err := s.caller.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	var asked struct {
		Reason reasonField `json:"reason"`
	}
	if err := readJSON(r, maxReasonBody, &asked); err != nil {
		return answer{}, err
	}
	return told(s.flow.AskRefund(r.Context(), user, id, string(asked.Reason)))
}

// told answers with an order's state.
func told(s shop.Status, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return encode(cacheNever, newStatus(&s))
}

// reasonField is a JSON string, given once; "" means not seen yet, which the flow refuses.
type reasonField string

func (f *reasonField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if s = seckill.Tidy(s); *f != "" || !ok {
		return seckill.CheckLine("reason", "", shop.MaxReason)
	}
	*f = reasonField(s)
	return nil
}
