package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/your-org/seckill/shared/flow/fulfil"
	"github.com/your-org/seckill/shared/flow/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// maxReasonBody is the largest body of a request for a refund, in bytes: each character of a reason may be escaped.
const maxReasonBody = 8 << 10

// Fulfiller is the step that moves paid orders on. The error of each method is an *seckill.Error.
type Fulfiller interface {
	// Received records that the user's order came. CodeOrderUnknown, CodeWrongState.
	Received(ctx context.Context, user, order string) (seckill.Order, error)
	// AskRefund records why the user wants their order refunded. CodeInvalid, CodeOrderUnknown, CodeWrongState.
	AskRefund(ctx context.Context, user, order, why string) (seckill.Order, error)
}

// NewFulfil serves POST /order/{id}/received and POST /order/{id}/refund-request.
func NewFulfil(flow Fulfiller, auth Auth, o Options) *Handler {
	f := &fulfiller{flow, caller{auth, o.Limits}}
	return newHandler(o,
		newRoute(http.MethodPost, "/order/{id}/received", f.received),
		newRoute(http.MethodPost, "/order/{id}/refund-request", f.ask),
	)
}

type fulfiller struct {
	flow   Fulfiller
	caller caller
}

func (f *fulfiller) received(r *http.Request, id string) (answer, error) {
	user, err := f.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	return orderState(f.flow.Received(r.Context(), user, id))
}

func (f *fulfiller) ask(r *http.Request, id string) (answer, error) {
	user, err := f.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	body, err := readBody(r, make([]byte, maxReasonBody+1))
	if err != nil {
		return answer{}, err
	}
	var asked struct {
		Reason reasonField `json:"reason"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		var e *seckill.Error
		if errors.As(err, &e) {
			return answer{}, e
		}
		return answer{}, errBody
	}
	return orderState(f.flow.AskRefund(r.Context(), user, id, string(asked.Reason)))
}

// owner returns the caller, and refuses what is no order's id.
func (f *fulfiller) owner(r *http.Request, id string) (string, error) {
	user, err := f.caller.user(r)
	if err == nil && !seckill.ValidOrderID(id) {
		err = seckill.Refuse(seckill.CodeOrderUnknown)
	}
	return user, err
}

// orderState answers with an order's state.
func orderState(o seckill.Order, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return encode(cacheNever, newStatus(&shop.Status{Order: o.ID, State: o.State}))
}

// reasonField is a JSON string, given once; "" means not seen yet, which the flow refuses.
type reasonField string

func (f *reasonField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if *f != "" || !ok {
		return seckill.CheckLine("reason", "", fulfil.MaxNote)
	}
	*f = reasonField(s)
	return nil
}
