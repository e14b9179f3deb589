package crowd

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const dumpTimeout = 10 * time.Minute

// Money is where the money of a `seckill run` is, all its items and earlier crowds included; elsewhere it is unknown.
// The first four figures are from the ledger's payment rows.
type Money struct {
	Known    bool        `json:"known"`
	Captured seckill.Fen `json:"captured_yuan"`
	Kept     seckill.Fen `json:"kept_yuan"`
	DueBack  seckill.Fen `json:"due_back_yuan"`
	Refunded seckill.Fen `json:"refunded_yuan"`

	Gateway  GatewayMoney `json:"gateway"`
	Differ   int          `json:"trades_that_differ"` // between gateway and ledger
	Balanced bool         `json:"balanced"`           // no trade differs and all sums are equal
}

// GatewayMoney is the same money from the gateway's trades, which do not know what is due back.
type GatewayMoney struct {
	Captured seckill.Fen `json:"captured_yuan"`
	Left     seckill.Fen `json:"left_yuan"` // kept or due back
	Refunded seckill.Fen `json:"refunded_yuan"`
}

// twoSides is a trade's money in fen: by the gateway's trade, and by the ledger's row.
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

// take adds a line of a dump and ignores all but trades and payments.
func (b *balance) take(l *record.Line) error {
	switch l.Table {
	case record.PartTrades:
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

// close compares both sides of each trade.
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

// money reads where the money is from the rows and trades of a `seckill run`.
func (d *operatorClient) money(ctx context.Context, item string) Money {
	b := balance{trades: map[string]*twoSides{}}
	ends := 0
	err := d.dump(ctx, item, func(l *record.Line) error {
		if l.End == record.PartTrades || l.End == ledger.TablePayments {
			ends++
		}
		return b.take(l)
	})
	if err != nil || ends != 2 {
		return Money{}
	}
	return b.close()
}

func (d *operatorClient) dump(ctx context.Context, item string, each func(*record.Line) error) error {
	ctx, stop := context.WithTimeout(ctx, dumpTimeout)
	defer stop()
	resp, err := d.request(ctx, http.MethodGet, "/_local/dump?item="+url.QueryEscape(item), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return record.Lines(resp.Body, each)
}
