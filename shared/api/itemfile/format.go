package itemfile

import (
	"bytes"
	"cmp"
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
	Covers      []string    `json:"covers,omitzero"` // as all below, left out: the item keeps its own
	Detail      *string     `json:"detail,omitempty"`
	CommodityID string      `json:"commodity_id,omitempty"`

	Checks    seckill.Checks `json:"checks,omitempty"` // or "off"
	Questions []question     `json:"questions,omitzero"`
	Version   int64          `json:"version,omitempty"`

	Family     *string `json:"family,omitempty"`
	Options    *string `json:"options,omitempty"`
	LimitSpans *bool   `json:"limit_spans,omitempty"`
}

// question is a question in a JSON file.
type question struct {
	Text    string   `json:"text"`
	Answers []string `json:"answers,omitempty"` // none if whoever exported the file may not see them
}

// Format writes items as a JSON file that Parse reads: one column per line, times in UTC. It omits what a file cannot
// set: the stop switch, the time of creation.
//
// A tool of before this was so sends every column but checks, which it leaves out for "off". Of a file without covers,
// detail or commodity_id it still clears these, and it turns no checks off. An export of that time, too, has no checks
// where they are off: its import keeps those that the item has.
func Format(items []seckill.Listing) []byte {
	rows := make([]written, len(items))
	for i, it := range items {
		rows[i] = written{ID: it.ID, Title: it.Commodity.Title, Price: it.Commodity.Price, SalePrice: it.Price,
			Start: it.Start.UTC(), End: it.End.UTC(),
			Stock: it.Stock, Limit: it.Limit, Version: it.Base}
		if !it.KeepsCovers {
			rows[i].Covers = append([]string{}, it.Covers...)
		}
		if !it.KeepsDetail {
			rows[i].Detail = &it.Detail
		}
		if !it.KeepsCommodity {
			rows[i].CommodityID = it.Commodity.ID
		}
		if !it.KeepsChecks {
			rows[i].Checks = cmp.Or(it.Checks, "off")
		}
		if v := it.Variant; !it.KeepsVariant {
			options := v.Options.String()
			rows[i].Family, rows[i].Options = &v.Family, &options
			if !it.KeepsSpans {
				rows[i].LimitSpans = &v.LimitSpans
			}
		}
		if it.Questions != nil {
			rows[i].Questions = []question{}
		}
		for _, q := range it.Questions {
			rows[i].Questions = append(rows[i].Questions, question{q.Text, q.Answers})
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
