package local

import (
	"net/http"

	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// money adds the operator's routes about money.
func (s *System) money(mux *http.ServeMux) {
	mux.HandleFunc("GET /_local/payments", s.getPayments)
	mux.HandleFunc("GET /_local/payments/{order}", s.getCase)
	for _, what := range []string{"refund", "again", "ask", "record-trade"} {
		mux.HandleFunc("POST /_local/payments/{order}/"+what, s.postMoney(what))
	}
}

func (s *System) getPayments(w http.ResponseWriter, r *http.Request) {
	open, err := s.payments.Open(r.Context())
	s.answer(w, r, open, err)
}

// getCase gives one order's money, with ?raw=1 also its notifications as they came.
func (s *System) getCase(w http.ResponseWriter, r *http.Request) {
	c, err := s.payments.Case(r.Context(), r.PathValue("order"), r.URL.Query().Get("raw") == "1")
	s.answer(w, r, c, err)
}

// postMoney does what an operator wants for an order.
func (s *System) postMoney(what string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Who     string `json:"who"`
			Why     string `json:"why"`
			Restock bool   `json:"restock"`
			TradeNo string `json:"trade_no"`
		}
		if err := decode(r, &body); err != nil {
			s.refuse(w, r, seckill.Invalid("body", ""))
			return
		}
		if body.Restock && what != "refund" {
			s.refuse(w, r, seckill.Invalid("restock", ""))
			return
		}
		if (body.TradeNo != "") != (what == "record-trade") {
			s.refuse(w, r, seckill.Invalid("trade_no", ""))
			return
		}
		var out operator.MoneyChange
		var err error
		switch id := r.PathValue("order"); what {
		case "refund":
			out, err = s.payments.Refund(r.Context(), id, body.Who, body.Why, body.Restock)
		case "again":
			out, err = s.payments.Again(r.Context(), id, body.Who, body.Why)
		case "record-trade":
			out, err = s.payments.RecordTrade(r.Context(), id, body.TradeNo, body.Who, body.Why)
		default:
			out, err = s.payments.Ask(r.Context(), id, body.Who, body.Why)
		}
		s.answer(w, r, out, err)
	}
}

// answer replies with a result, or refuses.
func (s *System) answer(w http.ResponseWriter, r *http.Request, result any, err error) {
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.reply(w, result)
}
