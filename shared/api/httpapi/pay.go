package httpapi

import (
	"context"
	"net/http"

	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/seckill"
)

// maxPayBody is the largest body of a request to pay, in bytes; real ones have about 20.
const maxPayBody = 1 << 10

// Payer is the step that gives ways to the payment provider's cashier. The error of Pay is an *seckill.Error.
type Payer interface {
	Pay(ctx context.Context, user, order string, kind seckill.PayKind) (pay.Way, error)
}

// NewPay serves POST /order/{id}/payment.
func NewPay(flow Payer, auth Auth, o Options) *Handler {
	p := &payer{flow, o.caller(auth)}
	return newHandler(o, newRoute(http.MethodPost, "/order/{id}/payment", p.pay))
}

type payer struct {
	flow   Payer
	caller caller
}

func (p *payer) pay(r *http.Request, id string) (answer, error) {
	user, err := p.caller.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	var asked struct {
		Kind kindField `json:"kind"`
	}
	if err := readJSON(r, maxPayBody, &asked); err != nil {
		return answer{}, err
	}
	w, err := p.flow.Pay(r.Context(), user, id, seckill.PayKind(asked.Kind))
	if err != nil {
		return answer{}, err
	}
	return encode(cacheNever, struct {
		Kind        seckill.PayKind `json:"kind"`
		URL         string          `json:"url,omitempty"`
		OrderString string          `json:"order_string,omitempty"`
	}{w.Kind, w.URL, w.OrderString})
}

var errKind = seckill.Invalid("kind", pay.Kinds)

// kindField is a JSON string, given once; "" means not seen yet, which the flow refuses.
type kindField string

func (f *kindField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if *f != "" || !ok || s == "" {
		return errKind
	}
	*f = kindField(s)
	return nil
}
