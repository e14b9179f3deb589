package itemfile

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// written is an item in a JSON file, in the order of the columns.
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

	Checks    seckill.Checks `json:"checks,omitempty"`
	Questions []question     `json:"questions,omitempty"`
	Version   int64          `json:"version,omitempty"`

	Family     *string `json:"family,omitempty"`
	Options    *string `json:"options,omitempty"`
	LimitSpans *bool   `json:"limit_spans,omitempty"`
}

// question is a question in a JSON file.
type question struct {
	Text    string   `json:"text"`
	Answers []string `json:"answers,omitempty"` // none: who exported it may not see them
}

// Format writes items as a JSON file that Parse reads: one column per line, times in UTC. It omits what a file cannot
// set: the stop switch, the time of creation.
func Format(items []seckill.Listing) []byte {
	rows := make([]written, len(items))
	for i, it := range items {
		rows[i] = written{ID: it.ID, Title: it.Commodity.Title, Price: it.Commodity.Price, SalePrice: it.Price,
			Start: it.Start.UTC(), End: it.End.UTC(),
			Stock: it.Stock, Limit: it.Limit, Covers: it.Covers, Detail: it.Detail,
			CommodityID: it.Commodity.ID, Checks: it.Checks, Version: it.Base}
		if v := it.Variant; !it.KeepsVariant {
			options := v.Options.String()
			rows[i].Family, rows[i].Options = &v.Family, &options
			if !it.KeepsSpans {
				rows[i].LimitSpans = &v.LimitSpans
			}
		}
		for _, q := range it.Questions {
			rows[i].Questions = append(rows[i].Questions, question{q.Text, q.Answers})
		}
		if rows[i].Covers == nil {
			rows[i].Covers = []string{}
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // detail is HTML for human readers
	enc.SetIndent("", "  ")
	if err := enc.Encode(rows); err != nil {
		panic(err) // cannot happen: strings and numbers always marshal; a valid item's years have four digits
	}
	return b.Bytes()
}
