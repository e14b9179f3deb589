package fakegateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// ControlPaths are the paths that Control serves.
var ControlPaths = []string{"/faults", "/trades"}

// Control lets people and tests on one machine see what a gateway did, and change what goes wrong. It serves
// ControlPaths, and logs faults of the store.
func Control(g *Gateway) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /faults", g.serveFaults)
	mux.HandleFunc("PUT /faults", g.putFaults)
	mux.HandleFunc("GET /trades", g.serveTrades)
	return mux
}

// serveFaults answers GET /faults with a FaultReport.
func (g *Gateway) serveFaults(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, g.Faults())
}

// putFaults replaces the fault plan by a Faults. It answers 400 with {"error": …}, which lists the known faults.
func (g *Gateway) putFaults(w http.ResponseWriter, r *http.Request) {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	var plan Faults
	err := dec.Decode(&plan)
	if err == nil && !errors.Is(dec.Decode(new(json.RawMessage)), io.EOF) {
		err = errors.New("more than one value")
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest,
			map[string]string{"error": `want {"seed": 7, "shares": {"notification-lost": 0.2}}; known: ` + known() + ": " +
				err.Error()})
		return
	}
	if err := g.SetFaults(plan); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, g.Faults())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // if this fails, the client has disconnected
}

// line is a trade in the output of /trades: amounts in yuan, times in RFC 3339.
type line struct {
	OutTradeNo string      `json:"out_trade_no"`
	TradeNo    string      `json:"trade_no"`
	Subject    string      `json:"subject"`
	Amount     seckill.Fen `json:"amount"`
	Status     Status      `json:"status"`
	Created    time.Time   `json:"created"`
	Expires    time.Time   `json:"expires"`
	Paid       *time.Time  `json:"paid,omitempty"`
	Refunded   seckill.Fen `json:"refunded"`
	Kept       seckill.Fen `json:"kept"`
	Refunds    []lineBack  `json:"refunds"`
}

type lineBack struct {
	RequestNo string      `json:"out_request_no"`
	Amount    seckill.Fen `json:"amount"`
	At        time.Time   `json:"at"`
}

// serveTrades lists all trades, one JSON object per line, oldest first; with ?out_trade_no= those of one order. 501
// if the store is not a Lister, 503 if it fails.
func (g *Gateway) serveTrades(w http.ResponseWriter, r *http.Request) {
	trades, err := g.List(r.Context())
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		writeJSON(w, http.StatusNotImplemented,
			map[string]string{"error": "the trades are in a store that cannot be listed"})
		return
	case err != nil:
		g.opt.Log.WarnContext(r.Context(), "trades cannot be listed", "err", err)
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": "the trades cannot be read now"})
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	enc := json.NewEncoder(w)
	only := r.URL.Query().Get("out_trade_no")
	for _, t := range trades {
		if only != "" && only != t.OutTradeNo {
			continue
		}
		l := line{t.OutTradeNo, t.TradeNo, t.Subject, t.Amount, t.Status, t.Created, t.Expires, nil, t.Refunded(),
			t.Kept(), []lineBack{}}
		if !t.Paid.IsZero() {
			l.Paid = &t.Paid
		}
		for _, back := range t.Refunds {
			l.Refunds = append(l.Refunds, lineBack(back))
		}
		if enc.Encode(l) != nil {
			return // the client has disconnected
		}
	}
}
