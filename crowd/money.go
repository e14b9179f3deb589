package crowd

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const dumpTimeout = 10 * time.Minute

// Money is where the money of a `seckill run` is, that of all its items and of earlier crowds included; known only
// there. The first four are by the ledger's payment rows.
type Money struct {
	Known    bool        `json:"known"`
	Captured seckill.Fen `json:"captured_yuan"`
	Kept     seckill.Fen `json:"kept_yuan"`
	DueBack  seckill.Fen `json:"due_back_yuan"`
	Refunded seckill.Fen `json:"refunded_yuan"`

	Gateway  GatewayMoney `json:"gateway"`
	Differ   int          `json:"trades_that_differ"` // of which trades and rows do not say the same
	Balanced bool         `json:"balanced"`           // to the fen
}

// GatewayMoney is the same money by the gateway's trades, which do not know what the shop means to give back.
type GatewayMoney struct {
	Captured seckill.Fen `json:"captured_yuan"`
	Left     seckill.Fen `json:"left_yuan"` // kept and due back
	Refunded seckill.Fen `json:"refunded_yuan"`
}

// twoSides is a trade's money by the gateway and by the ledger.
type twoSides struct {
	captured, refunded       int64
	rowCaptured, rowRefunded int64
}

// balance adds up trades and payment rows.
type balance struct {
	trades map[string]*twoSides
	money  Money
}

func (b *balance) of(order, tradeNo string) *twoSides {
	key := order + "/" + tradeNo
	if b.trades[key] == nil {
		b.trades[key] = &twoSides{}
	}
	return b.trades[key]
}

// take enters a line of a dump; others than trades and payments do not count.
func (b *balance) take(l *dump.Line) error {
	switch l.Table {
	case dump.PartTrades:
		b.trade(l.Row)
	case ledger.TablePayments:
		b.payment(l.Row)
	}
	return nil
}

func (b *balance) trade(row ledger.Row) {
	key, _ := row["out_trade_no"].(string)
	order, _, _ := strings.Cut(key, "#")
	no, _ := row["trade_no"].(string)
	if row["paid"] == nil {
		return
	}
	t, g := b.of(order, no), &b.money.Gateway
	t.captured, _ = row["amount"].(int64)
	refunds, _ := row["refunds"].([]string)
	for _, entry := range refunds {
		var back struct {
			Amount int64 `json:"amount"`
		}
		if json.Unmarshal([]byte(entry), &back) == nil {
			t.refunded += back.Amount
		}
	}
	g.Captured += seckill.Fen(t.captured)
	g.Refunded += seckill.Fen(t.refunded)
	g.Left = g.Captured - g.Refunded
}

func (b *balance) payment(row ledger.Row) {
	order, _ := row["order"].(string)
	no, _ := row["trade_no"].(string)
	fen, _ := row["amount"].(int64)
	state, _ := row["state"].(string)
	t, m, amount := b.of(order, no), &b.money, seckill.Fen(fen)
	t.rowCaptured = fen
	m.Captured += amount
	switch seckill.PaymentState(state) {
	case seckill.Captured:
		m.Kept += amount
	case seckill.RefundDue:
		m.DueBack += amount
	case seckill.RefundDone:
		m.Refunded += amount
		t.rowRefunded = fen
	}
}

// close compares.
func (b *balance) close() Money {
	m := &b.money
	for _, t := range b.trades {
		if t.captured != t.rowCaptured || t.refunded != t.rowRefunded {
			m.Differ++
		}
	}
	m.Known = true
	m.Balanced = m.Differ == 0 && m.Captured == m.Kept+m.DueBack+m.Refunded && m.Captured == m.Gateway.Captured &&
		m.Refunded == m.Gateway.Refunded
	return *m
}

// money reads where the money is from what a `seckill run` tells of its rows and trades.
func (d *operatorClient) money(ctx context.Context, item string) Money {
	b := balance{trades: map[string]*twoSides{}}
	ends := 0
	err := d.dump(ctx, item, func(l *dump.Line) error {
		if l.End == dump.PartTrades || l.End == ledger.TablePayments {
			ends++
		}
		return b.take(l)
	})
	if err != nil || ends != 2 {
		return Money{}
	}
	return b.close()
}

func (d *operatorClient) dump(ctx context.Context, item string, each func(*dump.Line) error) error {
	ctx, stop := context.WithTimeout(ctx, dumpTimeout)
	defer stop()
	address := d.base + "/_local/dump?item=" + url.QueryEscape(item)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	patient := http.Client{Transport: d.http.Transport}
	resp, err := patient.Do(req)
	if err != nil {
		return err
	}
	defer func() {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection can be used again
		_ = resp.Body.Close()
	}()
	if resp.StatusCode != http.StatusOK {
		return errStatus{address, resp.StatusCode}
	}
	return dump.Lines(resp.Body, each)
}
