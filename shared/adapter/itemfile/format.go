package itemfile

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// written is an item as a JSON file has it, in the order of the columns.
type written struct {
	ID          string      `json:"id"`
	Title       string      `json:"title"`
	Price       seckill.Fen `json:"price"`
	SalePrice   seckill.Fen `json:"sk_price"`
	Start       time.Time   `json:"start_time"`
	End         time.Time   `json:"end_time"`
	Stock       int         `json:"stock"`
	Limit       int         `json:"limit"`
	Covers      []string    `json:"covers"`
	Detail      string      `json:"detail"`
	CommodityID string      `json:"commodity_id"`
}

// Format writes items as a JSON file that Parse reads: one column a line, times in UTC. What a file does not say is
// left out: whether an item is stopped, its version, its time of creation.
func Format(items []seckill.Listing) []byte {
	rows := make([]written, len(items))
	for i, it := range items {
		rows[i] = written{ID: it.ID, Title: it.Commodity.Title, Price: it.Commodity.Price, SalePrice: it.Price,
			Start: it.Start.UTC(), End: it.End.UTC(),
			Stock: it.Stock, Limit: it.Limit, Covers: it.Covers, Detail: it.Detail, CommodityID: it.Commodity.ID}
		if rows[i].Covers == nil {
			rows[i].Covers = []string{}
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // detail is HTML that people read
	enc.SetIndent("", "  ")
	if err := enc.Encode(rows); err != nil {
		panic(err) // texts and numbers always marshal; a valid item's years have four digits
	}
	return b.Bytes()
}
