package audit

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// add processes a line.
func (s *sale) add(l *record.Line) error {
	switch {
	case l.Table != "":
		return s.addRow(l)
	case l.Key != "":
		s.read[record.PartRedis]++
		s.addKey(l)
	case l.Queue != "":
		s.queues[l.Queue] = l.Depth
		s.read[record.PartQueues]++
	case l.Missing != "":
		s.missing[l.Missing] = l.Why
	case l.End != "":
		s.whole[l.End] = true
	default:
		s.now = l.Now
		s.ahead = l.Now - time.Now().UnixMilli()
	}
	return nil
}

func (s *sale) addRow(l *record.Line) error {
	first := l.Table == record.PartItems || l.Table == record.PartTrades
	switch {
	case !first && s.item.stock == 0:
		return fmt.Errorf("item %s: %w", s.id, ErrNoItem)
	case !first && l.Table != ledger.TableOrders && !s.whole[ledger.TableOrders]:
		return nil // without all orders, rows cannot be attributed to the item, and no guarantee holds anyway
	}
	d := &decoder{sale: s, row: l.Row, newest: ledger.Version}
	if l.Table == record.PartItems || l.Table == ledger.TableOrders {
		d.newest = ledger.SpanVersion // of variants and their orders
	}
	switch l.Table {
	case record.PartItems:
		s.addItem(d)
	case record.PartTrades:
		s.addTrade(d)
	case ledger.TableOrders:
		s.addOrder(d)
	case ledger.TableUnits:
		s.addUnit(d)
	case ledger.TableQuotas:
		s.addQuota(d)
	case ledger.TablePayments:
		s.addPayment(d)
	case ledger.TableBlocks:
		s.addBlock(d)
	case ledger.TableReturns:
		s.addReturn(d)
	default:
		return fmt.Errorf("audit: a row of the unknown table %q", l.Table)
	}
	if d.ours {
		s.read[l.Table]++
	}
	return nil
}

func (s *sale) addItem(d *decoder) {
	if id, _ := d.row["id"].(string); id != s.id {
		return
	}
	d.ours = true
	s.item = item{title: d.text("title"), cover: d.optional("cover"),
		options: d.optional("options"),
		price:   d.number("sk_price"), start: d.number("start"), end: d.number("end"),
		stock: int(d.number("stock")), limit: int(d.number("limit")), buckets: int(d.number("buckets")),
		version: d.number("version"), checks: d.optional("checks"), stopped: d.number("stopped") != 0}
	if d.row["price"] != nil { // older dumps of a seckill run lack the price
		s.item.listPrice = d.number("price")
	}
	if d.row["limit_spans"] != nil {
		s.item.span = d.text("family")
	}
	if d.row["stops"] != nil {
		s.item.stops, s.item.noted = d.stops()
	}
	s.item.stock = min(max(s.item.stock, 0), seckill.MaxStock)
	s.owner, s.lister = make([]*order, s.item.stock+1), make([]*order, s.item.stock+1)
	s.stock.held = make([]string, s.item.stock+1)
	d.done(i3, "items "+s.id)
}
