package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/your-org/seckill/shared/flow/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// maxReasonBody is the largest body of a request for a refund, in bytes: each character of a reason may be escaped.
const maxReasonBody = 8 << 10

func (s *shopper) received(r *http.Request, id string) (answer, error) {
	user, err := s.owner(r, id)
	if err != nil {
		return answer{}, err
	}
	return told(s.flow.Received(r.Context(), user, id))
}

func (s *shopper) askRefund(r *http.Request, id string) (answer, error) {
	user, err := s.owner(r, id)
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
	return told(s.flow.AskRefund(r.Context(), user, id, string(asked.Reason)))
}

// owner returns the caller, and refuses what is no order's id.
func (s *shopper) owner(r *http.Request, id string) (string, error) {
	user, err := s.caller.user(r)
	if err == nil && !seckill.ValidOrderID(id) {
		err = seckill.Refuse(seckill.CodeOrderUnknown)
	}
	return user, err
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
	if *f != "" || !ok {
		return seckill.CheckLine("reason", "", shop.MaxReason)
	}
	*f = reasonField(s)
	return nil
}
